/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The transport over a umad file: how it is created and closed, how it waits,
 * and how it gets the state of the port.
 */
#include <errno.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/sized.h"
#include "umad/transport.h"

/*
 * Least size of the buffer for a reply: one Omni-Path MAD. If not even the
 * first segment of a reply fits into the buffer, the kernel returns no part of
 * the reply and keeps it at the head of the queue.
 */
enum { FIRST_SEGMENT_BYTES = 2048 };

enum {
	/*
	 * Milliseconds between attempts to open the file again: RENEW_MS after
	 * a shortage of resources, GONE_MS after the port has disappeared.
	 */
	RENEW_MS = 100,
	GONE_MS = 500,
};

/*
 * Size of the largest reply: its length must fit the 32 bits of the umad
 * header.
 */
#define REPLY_BYTES_MAX ((size_t)UINT32_MAX - UMAD_HEADER_BYTES)

static uint64_t transport_now(struct ibsa_transport *transport)
{
	struct umad_file *file = umad_of(transport)->file;

	return file->ops->now_ns ? file->ops->now_ns(file) : clock_now_ns();
}

static bool transport_holds(struct ibsa_transport *transport)
{
	struct umad_file *file = umad_of(transport)->file;

	return !file->ops->holds || file->ops->holds(file);
}

static int transport_fd(struct ibsa_transport *transport)
{
	struct umad_file *file = umad_of(transport)->file;

	return file->ops->fd(file);
}

/*
 * Return: how long to wait in ms. While no file is open, this is at most the
 * time until the next attempt to open it.
 */
static int wait_limit(const struct umad_transport *umad, int timeout_ms)
{
	/*
	 * If all buffers were filled, the file may have more packets, although
	 * its descriptor is not readable: some files have their own queue.
	 */
	if (umad->loss || umad->at < umad->held || umad->held == UMAD_BUFFERS)
		return 0;
	if (umad->is_open)
		return timeout_ms;
	return sooner_ms(timeout_ms, umad->is_gone ? GONE_MS : RENEW_MS);
}

int ibsa__umad_pause_ms(struct ibsa_transport *transport)
{
	return wait_limit(umad_of(transport), -1);
}

static int transport_wait(struct ibsa_transport *transport, int timeout_ms)
{
	struct umad_transport *umad = umad_of(transport);
	const struct umad_file_ops *ops = umad->file->ops;

	umad->expected = UMAD_EXPECTED_ANY;
	if (ops->reads_singly && umad->outstanding)
		umad->expected = umad->outstanding;
	return ops->wait(umad->file, wait_limit(umad, timeout_ms));
}

static void transport_wake(struct ibsa_transport *transport)
{
	struct umad_file *file = umad_of(transport)->file;

	file->ops->wake(file);
}

static int transport_port(struct ibsa_transport *transport,
			  struct ibsa_port_state *out, size_t size)
{
	struct umad_transport *umad = umad_of(transport);
	struct ibsa_port_state state;
	int err = umad->is_gone ? umad_have(umad) : 0;

	if (!err)
		err = umad->file->ops->port(umad->file, &state);
	if (err == -EPIPE)
		return ibsa__umad_lose(umad, -ENODEV);
	if (err)
		return err;
	state.reregisters += umad->reregisters;
	ibsa__sized_write(out, size, &state, sizeof(state));
	return 0;
}

static bool transport_changed(struct ibsa_transport *transport)
{
	struct umad_transport *umad = umad_of(transport);
	const struct umad_file_ops *ops = umad->file->ops;
	const int changed = ops->changed ? ops->changed(umad->file) : 0;
	bool is_changed;

	if (changed < 0)
		(void)ibsa__umad_lose(umad, -ENODEV);
	umad_agents_poll(umad);
	is_changed = umad->has_changed || changed > 0;
	umad->has_changed = false;
	return is_changed;
}

static int transport_gid(struct ibsa_transport *transport, uint32_t index,
			 struct ibsa_gid_entry *out)
{
	struct umad_file *file = umad_of(transport)->file;

	return file->ops->gid(file, index, out);
}

static int transport_pkey(struct ibsa_transport *transport, uint32_t index,
			  uint16_t *out)
{
	struct umad_file *file = umad_of(transport)->file;

	return file->ops->pkey(file, index, out);
}

static bool transport_holder(struct ibsa_transport *transport,
			     struct ibsa_error *out)
{
	struct umad_file *file = umad_of(transport)->file;

	return file->ops->holder && file->ops->holder(file, out);
}

static void transport_inherited(struct ibsa_transport *transport)
{
	struct umad_file *file = umad_of(transport)->file;

	file->ops->inherited(file);
}

static void transport_close(struct ibsa_transport *transport)
{
	struct umad_transport *umad = umad_of(transport);

	ibsa__umad_transport_done(umad);
	umad->file->ops->close(umad->file);
}

static const struct ibsa_transport_ops transport_ops = {
	.size = sizeof(struct ibsa_transport_ops),
	.now_ns = transport_now,
	.send = ibsa__umad_send,
	.holds = transport_holds,
	.recv = ibsa__umad_recv,
	.fd = transport_fd,
	.wait = transport_wait,
	.wake = transport_wake,
	.port = transport_port,
	.changed = transport_changed,
	.gid = transport_gid,
	.pkey = transport_pkey,
	.listen = ibsa__umad_listen,
	.holder = transport_holder,
	.inherited = transport_inherited,
	.close = transport_close,
};

int ibsa__umad_transport_init(struct umad_transport *umad,
			      struct umad_file *file, size_t reply_bytes)
{
	*umad = (struct umad_transport){
		.base.ops = &transport_ops,
		.file = file,
		.expected = UMAD_EXPECTED_ANY,
		.packet_room = UMAD_HEADER_BYTES + FIRST_SEGMENT_BYTES,
	};
	umad->packet_max = umad->packet_room;
	if (reply_bytes > REPLY_BYTES_MAX)
		reply_bytes = REPLY_BYTES_MAX;
	if (reply_bytes > FIRST_SEGMENT_BYTES)
		umad->packet_max += reply_bytes - FIRST_SEGMENT_BYTES;
	umad->packet = ibsa__calloc(1, umad->packet_room);
	return umad->packet ? 0 : -ENOMEM;
}

void ibsa__umad_transport_done(struct umad_transport *umad)
{
	ibsa__free(umad->packet);
}

void ibsa__umad_fresh_set(struct ibsa_transport *transport)
{
	if (transport->ops == &transport_ops &&
	    !umad_of(transport)->file->ops->reads_singly)
		umad_of(transport)->is_fresh = true;
}
