/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel transport: opening and closing. */
#include <errno.h>
#include <unistd.h>

#include <ibsa/sa.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "umad_dev/transport.h"
#include "umad_dev/umad.h"

/*
 * One OPA MAD. Where not even a reply's first segment fits, the kernel gives
 * no part of it and keeps it at the head of the queue.
 */
enum { FIRST_SEGMENT_BYTES = 2048 };

/* What the header's 32 bits of length can say. */
#define REPLY_BYTES_MAX ((size_t)UINT32_MAX - UMAD_HEADER_BYTES)

static uint64_t now_ns(struct ibsa_transport *transport)
{
	(void)transport;
	return clock_now_ns();
}

static int port_get(struct ibsa_transport *transport,
		    struct ibsa_port_state *out)
{
	struct umad_transport *umad = umad_of(transport);
	int err = umad->is_gone ? ibsa__umad_have(umad) : 0;

	if (!err)
		err = ibsa__port_read(umad->files, umad_device(umad),
				      umad->place.port, out);
	/* It may have another name by now, which does not end the file. */
	if (err == -ENOENT && !ibsa__umad_find(umad))
		err = ibsa__port_read(umad->files, umad_device(umad),
				      umad->place.port, out);
	/* ibsim's copy, which never changes, is found in one folder only. */
	if (err == -ENOENT && umad->file.simulated) {
		*out = umad->place.state;
		err = 0;
	}
	if (err)
		return err;
	out->port_num = (uint8_t)umad->place.port;
	out->reregisters = umad->reregisters;
	out->needs_grh = out->needs_grh || umad->needs_grh;
	return 0;
}

static int gid_get(struct ibsa_transport *transport, uint32_t index,
		   struct ibsa_gid_entry *out)
{
	const struct umad_transport *umad = umad_of(transport);
	int err = ibsa__gid_read(umad->files, umad_device(umad),
				 umad->place.port, index, out);

	return err == -ENOENT ? -EINVAL : err;
}

static int pkey_get(struct ibsa_transport *transport, uint32_t index,
		    uint16_t *out)
{
	const struct umad_transport *umad = umad_of(transport);
	int err = ibsa__pkey_read(umad->files, umad_device(umad),
				  umad->place.port, index, out);

	return err == -ENOENT ? -EINVAL : err;
}

/* ibsim's copy of the kernel takes no notice of timeouts. */
static bool holds(struct ibsa_transport *transport)
{
	return !umad_of(transport)->file.simulated;
}

static void transport_free(struct umad_transport *umad)
{
	ibsa__umad_names_free(umad);
	ibsa__files_put(umad->files);
	ibsa__free(umad->packet);
	ibsa__free(umad);
}

/* The kernel has one file for parent and child, whose agents end with the last
 * of them: nothing is unregistered here. */
static void files_close(struct ibsa_transport *transport)
{
	struct umad_transport *umad = umad_of(transport);

	ibsa__umad_wait_done(umad);
	if (umad->event_fd >= 0)
		close(umad->event_fd);
	if (umad->file.fd >= 0)
		close(umad->file.fd);
}

static void transport_close(struct ibsa_transport *transport)
{
	files_close(transport);
	transport_free(umad_of(transport));
}

static const struct ibsa_transport_ops umad_ops = {
	.now_ns = now_ns,
	.send = ibsa__umad_send,
	.holds = holds,
	.recv = ibsa__umad_recv,
	.fd = ibsa__umad_fd,
	.wait = ibsa__umad_wait,
	.wake = ibsa__umad_wake,
	.port = port_get,
	.changed = ibsa__umad_changed,
	.gid = gid_get,
	.pkey = pkey_get,
	.listen = ibsa__umad_listen,
	.holder = ibsa__umad_holder,
	.inherited = files_close,
	.close = transport_close,
};

static int place_open(struct umad_transport *umad, struct ibsa_error *error)
{
	unsigned int version;
	int err;

	err = ibsa__umad_version(umad->files, error, &version);
	if (err)
		return err;
	err = ibsa__umad_rename(umad, umad->place.device);
	if (err)
		return ibsa__fail(error, err, "no memory for a transport");
	if (ibsa__guid_read(umad->files, umad->place.device, "node_guid",
			    &umad->node_guid))
		umad->node_guid = 0;
	if (!umad->place.umad[0])
		return ibsa__fail(error, -ENODEV,
				  "port %u of %.64s takes no MADs: it is "
				  "neither InfiniBand nor RoCE",
				  umad->place.port, umad->place.device);
	return ibsa__umad_device_open(umad->place.umad, umad->place.state.link,
				      error, &umad->file);
}

/*
 * Of several ports that would do the first that can be opened, unless its
 * device was named. If none can, *@error is about the first.
 */
static int port_open(struct umad_transport *umad, const char *device,
		     unsigned int port, struct ibsa_error *error)
{
	int first;
	int err;

	err = ibsa__place_find(umad->files, device, port, error, &umad->place);
	if (err)
		return err;
	first = place_open(umad, error);
	err = first;
	for (unsigned int skip = 1; err && !device; skip++) {
		if (ibsa__place_find_next(umad->files, NULL, port, skip, NULL,
					  &umad->place))
			break;
		err = place_open(umad, NULL);
	}
	return err ? first : 0;
}

static struct umad_transport *transport_new(struct device_files *files,
					    size_t reply_bytes)
{
	struct umad_transport *umad = ibsa__calloc(1, sizeof(*umad));

	if (!umad)
		return NULL;
	umad->base.ops = &umad_ops;
	umad->files = ibsa__files_get(files);
	umad->event_fd = -1;
	umad->packet_room = UMAD_HEADER_BYTES + FIRST_SEGMENT_BYTES;
	umad->packet_max = umad->packet_room;
	if (reply_bytes > REPLY_BYTES_MAX)
		reply_bytes = REPLY_BYTES_MAX;
	if (reply_bytes > FIRST_SEGMENT_BYTES)
		umad->packet_max += reply_bytes - FIRST_SEGMENT_BYTES;
	umad->packet = ibsa__calloc(1, umad->packet_room);
	if (!umad->packet) {
		transport_free(umad);
		return NULL;
	}
	return umad;
}

int ibsa__umad_open(struct device_files *files, const char *device,
		    unsigned int port, size_t reply_bytes,
		    struct ibsa_error *error, struct ibsa_transport **out)
{
	struct umad_transport *umad = transport_new(files, reply_bytes);
	int err;

	if (!umad)
		return ibsa__fail(error, -ENOMEM, "no memory for a transport");
	err = port_open(umad, device, port, error);
	if (err) {
		transport_free(umad);
		return err;
	}
	err = ibsa__umad_wait_init(umad);
	if (err) {
		close(umad->file.fd);
		transport_free(umad);
		return ibsa__fail(error, err, "no descriptors to wait with");
	}
	*out = &umad->base;
	return 0;
}
