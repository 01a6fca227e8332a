/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A transport whose SA answers what it has answered in a capture. Answers
 * wait in a queue; an eventfd is readable while there are any.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ibsa/bits.h>
#include <ibsa/sim.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "sim/parse.h"
#include "sim/pcap.h"
#include "sim/replay.h"
#include "sim/tape.h"
#include "wire/request.h"

enum {
	METHOD = 3, /* where these are in a MAD */
	STATUS = 4,
	TRANSACTION = 8,
	TRANSACTION_BYTES = 8,
	RESPONSE = 0x80,
	WAITING_MAX = 65536,
};

/* An answer that has not been taken. */
struct waiting {
	struct waiting *next;
	struct ibsa_address from;
	size_t len;
	uint8_t mad[];
};

struct replay {
	struct ibsa_transport base;
	struct tape tape;
	struct waiting *first;
	struct waiting **last;
	size_t count;
	struct waiting *received; /* the client reads it */
	int fd;
	atomic_bool is_woken;
};

static struct replay *of(struct ibsa_transport *transport)
{
	return (struct replay *)transport;
}

static uint64_t replay_now(struct ibsa_transport *transport)
{
	(void)transport;
	return clock_now_ns();
}

static void signal_fd(struct replay *replay)
{
	const uint64_t one = 1;

	/* A counter that is full is as readable as it can be. */
	(void)!write(replay->fd, &one, sizeof(one));
}

static int enqueue(struct replay *replay, const struct ibsa_address *from,
		   const uint8_t *mad, size_t len)
{
	struct waiting *waiting = ibsa__calloc(1, sizeof(*waiting) + len);

	if (!waiting)
		return -ENOMEM;
	waiting->from = *from;
	waiting->len = len;
	memcpy(waiting->mad, mad, len);
	*replay->last = waiting;
	replay->last = &waiting->next;
	replay->count++;
	signal_fd(replay);
	return 0;
}

/* Nobody has asked that: neither that it is there nor that it is not. */
static int refuse(struct replay *replay, const struct ibsa_address *from,
		  const uint8_t *request)
{
	uint8_t answer[IBSA_MAD_BYTES];

	memcpy(answer, request, IBSA_MAD_BYTES);
	answer[METHOD] = ibsa__response_method(request[METHOD]);
	ibsa_put_be16(answer + STATUS, IBSA_STATUS_BAD_METHOD_ATTRIBUTE);
	return enqueue(replay, from, answer, sizeof(answer));
}

static int answer(struct replay *replay, const struct ibsa_address *from,
		  const uint8_t *request)
{
	const struct exchange *exchange = ibsa__tape_ask(&replay->tape,
							 request);

	if (!exchange)
		return refuse(replay, from, request);
	if (!exchange->is_whole)
		return 0;
	memcpy(exchange->answer + TRANSACTION, request + TRANSACTION,
	       TRANSACTION_BYTES);
	return enqueue(replay, from, exchange->answer, exchange->len);
}

static int replay_send(struct ibsa_transport *transport,
		       const struct ibsa_address *to, const uint8_t *mad,
		       size_t len, unsigned int timeout_ms)
{
	struct replay *replay = of(transport);
	uint8_t request[IBSA_MAD_BYTES] = { 0 };

	(void)timeout_ms;
	if (!mad || len < IBSA_SA_HEADER_BYTES || len > IBSA_MAD_BYTES)
		return -EINVAL;
	if (replay->count == WAITING_MAX)
		return -ENOBUFS;
	memcpy(request, mad, len);
	/* An answer to an answer never comes. */
	if (request[METHOD] & RESPONSE)
		return 0;
	return answer(replay, to, request);
}

static void drain_fd(struct replay *replay)
{
	uint64_t count;

	if (!atomic_load(&replay->is_woken))
		(void)!read(replay->fd, &count, sizeof(count));
}

static int replay_recv(struct ibsa_transport *transport,
		       struct ibsa_message *out)
{
	struct replay *replay = of(transport);
	struct waiting *first = replay->first;

	ibsa__free(replay->received);
	replay->received = first;
	if (!first) {
		drain_fd(replay);
		return 0;
	}
	replay->first = first->next;
	if (!replay->first)
		replay->last = &replay->first;
	replay->count--;
	*out = (struct ibsa_message){
		.from = first->from,
		.mad = first->mad,
		.len = first->len,
	};
	return 1;
}

static int replay_fd(struct ibsa_transport *transport)
{
	return of(transport)->fd;
}

static int replay_wait(struct ibsa_transport *transport, int timeout_ms)
{
	struct replay *replay = of(transport);
	struct pollfd fd = { .fd = replay->fd, .events = POLLIN };

	if (!replay->first && !atomic_load(&replay->is_woken) &&
	    poll(&fd, 1, timeout_ms) < 0)
		return -errno;
	atomic_store(&replay->is_woken, false);
	return 0;
}

static void replay_wake(struct ibsa_transport *transport)
{
	struct replay *replay = of(transport);

	atomic_store(&replay->is_woken, true);
	signal_fd(replay);
}

static int replay_port(struct ibsa_transport *transport,
		       struct ibsa_port_state *out)
{
	*out = of(transport)->tape.port;
	return 0;
}

static int replay_gid(struct ibsa_transport *transport, uint32_t index,
		      struct ibsa_gid_entry *out)
{
	if (index)
		return -EINVAL;
	*out = (struct ibsa_gid_entry){ .gid = of(transport)->tape.port.gid };
	return 0;
}

static int replay_pkey(struct ibsa_transport *transport, uint32_t index,
		       uint16_t *out)
{
	if (index)
		return -EINVAL;
	*out = of(transport)->tape.pkey;
	return 0;
}

static void replay_close(struct ibsa_transport *transport)
{
	struct replay *replay = of(transport);

	while (replay->first) {
		struct waiting *first = replay->first;

		replay->first = first->next;
		ibsa__free(first);
	}
	ibsa__free(replay->received);
	if (replay->fd >= 0)
		close(replay->fd);
	ibsa__tape_done(&replay->tape);
	ibsa__free(replay);
}

static const struct ibsa_transport_ops ops = {
	.now_ns = replay_now,
	.send = replay_send,
	.recv = replay_recv,
	.fd = replay_fd,
	.wait = replay_wait,
	.wake = replay_wake,
	.port = replay_port,
	.gid = replay_gid,
	.pkey = replay_pkey,
	.close = replay_close,
};

static int read_capture(const char *path, struct ibsa_error *error,
			struct tape *out)
{
	char *bytes = NULL;
	size_t len = 0;
	int err = ibsa__read_file(path, &bytes, &len);

	if (err)
		return ibsa__fail(error, err, "%.100s: cannot be read: %s",
				  path, strerror(-err));
	err = ibsa__tape_read(path, (const uint8_t *)bytes, len, error, out);
	ibsa__free(bytes);
	return err;
}

int ibsa_replay_open(const char *path, struct ibsa_error *error,
		     struct ibsa_transport **out)
{
	struct replay *replay;
	int err;

	if (!path)
		return ibsa__fail(error, -EINVAL,
				  "there is no capture: none was named");
	replay = ibsa__calloc(1, sizeof(*replay));
	if (!replay)
		return ibsa__fail(error, -ENOMEM, "out of memory");
	replay->base.ops = &ops;
	replay->last = &replay->first;
	replay->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	err = replay->fd < 0 ? ibsa__fail(error, -errno, "no eventfd: %s",
					  strerror(errno))
			     : read_capture(path, error, &replay->tape);
	if (err)
		replay_close(&replay->base);
	else
		*out = &replay->base;
	return err;
}

/* What is no file, such as a pipe, can be read once only: no capture. */
bool ibsa__is_capture(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	uint8_t magic[4];
	struct pcap pcap;
	struct stat is;
	bool has_magic;

	if (fd < 0)
		return false;
	has_magic = !fstat(fd, &is) && S_ISREG(is.st_mode) &&
		    read(fd, magic, sizeof(magic)) == sizeof(magic);
	close(fd);
	return has_magic &&
	       ibsa__pcap_start(magic, sizeof(magic), &pcap) != PCAP_NONE;
}
