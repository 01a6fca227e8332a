/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Two rings of bytes in memory that a server and a client share, one in each
 * direction. Each ring has one writer and one reader, which use it without
 * locks and without system calls.
 *
 * Each side treats the other side as hostile: it keeps its own position in its
 * own memory, loads each value of the other side once, checks it, and copies
 * bytes out of a ring before it examines them. If the other side has written an
 * invalid position, the functions return -EPROTO; only the packets of that
 * client are lost.
 *
 * A side that finds nothing to do announces that it waits, and checks again:
 * ibsa__ring_idle_begin() and ibsa__ring_room_await(). The other side then has
 * to wake it: ibsa__ring_publish() and ibsa__ring_release() return whether the
 * wait was announced.
 */
#ifndef REMOTE_RING_H
#define REMOTE_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <ibsa/types.h>

enum {
	/*
	 * Bytes of the ring to the server and to the client; powers of two.
	 * Waking a process on another core takes as long as copying a quarter
	 * of a megabyte. During a reply that is larger than the ring, the
	 * client wakes the server each time that half of the ring is free, and
	 * reads the other half meanwhile.
	 */
	RING_BYTES = 65536,
	RING_CLIENT_BYTES = 524288,
	/*
	 * Maximum number of bytes that are copied before they are published to
	 * the other side.
	 */
	RING_PART_BYTES = 65536,
	/* Number of bytes before the bytes of the first ring. */
	RING_PAGE = 4096,
	RING_CACHE_LINE = 64,
};

/*
 * The shared positions of one ring: the number of bytes that were written and
 * read since the start, modulo 2^32. Members that the writer stores and members
 * that the reader stores are on different cache lines.
 */
struct ring_shared {
	_Alignas(RING_CACHE_LINE) _Atomic uint32_t head; /* bytes written */
	/* The writer waits for room. The reader clears it. */
	_Atomic uint32_t is_full;
	_Alignas(RING_CACHE_LINE) _Atomic uint32_t tail; /* bytes read */
	/* The reader waits for bytes. The writer clears it. */
	_Atomic uint32_t is_idle;
};

/* The shared memory. */
struct ring_memory {
	struct ring_shared to_server;
	struct ring_shared to_client;
	_Alignas(RING_PAGE) uint8_t to_server_bytes[RING_BYTES];
	uint8_t to_client_bytes[RING_CLIENT_BYTES];
};

/* One side's end of a ring. */
struct ring_end {
	struct ring_shared *shared;
	uint8_t *bytes;
	uint32_t size; /* of the ring */
	uint32_t at;   /* position of this side */
	/* The last position of the other side that was loaded and is valid. */
	uint32_t seen;
};

/* One side's ends of both rings. @memory NULL: there are no rings. */
struct rings {
	struct ring_memory *memory;
	struct ring_end in;
	struct ring_end out;
};

/*
 * Server: create rings. *@out_fd is a descriptor of the memory, which the
 * caller passes to the client and closes. Return: 0 or -errno.
 */
int ibsa__rings_new(struct rings *out, int *out_fd) IBSA_MUST_USE;

/*
 * Client: use the rings in the memory @fd. Return: 0; -EPROTO the memory is
 * too small, or the server can still make it smaller; or another -errno.
 */
int ibsa__rings_open(struct rings *out, int fd) IBSA_MUST_USE;

void ibsa__rings_close(struct rings *rings);

/*
 * Writer: copy up to @len bytes to the ring, without publishing them. Return:
 * the number of bytes; 0 the ring is full; -EPROTO.
 */
ssize_t ibsa__ring_write(struct ring_end *end, const void *data, size_t len);

/*
 * Writer: whether the ring has room for @len bytes. False if the reader has
 * stored an invalid position.
 */
bool ibsa__ring_has_room(struct ring_end *end, size_t len);

/*
 * Writer: let the reader see what was written. Return: whether the reader
 * waits for bytes and must be woken.
 */
bool ibsa__ring_publish(struct ring_end *end) IBSA_MUST_USE;

/*
 * Writer: announce that this side waits until there is more room than now.
 * Return: whether it must wait; false: there is more room by now, or the reader
 * has stored an invalid position.
 */
bool ibsa__ring_room_await(struct ring_end *end) IBSA_MUST_USE;

/*
 * Reader: copy up to @len bytes from the ring, beginning @skip bytes after the
 * first unread byte, and leave them in the ring. Return: the number of bytes;
 * -EPROTO.
 */
ssize_t ibsa__ring_peek(struct ring_end *end, size_t skip, void *to,
			size_t len);

/* Reader: copy up to @len bytes and remove them from the ring. */
ssize_t ibsa__ring_read(struct ring_end *end, void *to, size_t len);

/*
 * Reader: call this after reading. Return: whether the writer must be woken: it
 * has announced that it waits for room, and at least half of the ring is free.
 * The announcement is then cleared.
 */
bool ibsa__ring_release(struct ring_end *end) IBSA_MUST_USE;

/* Reader: whether the ring has no bytes to read. */
bool ibsa__ring_is_empty(const struct ring_end *end);

/*
 * Reader: whether this side has announced that it waits, and the writer has
 * not answered that yet.
 */
bool ibsa__ring_is_idle(const struct ring_end *end);

/*
 * Reader: ibsa__ring_idle_begin() announces that this side waits for bytes.
 * ibsa__ring_idle_end() withdraws the announcement and returns true; false: the
 * writer has answered the announcement already, and wakes this side.
 */
void ibsa__ring_idle_begin(struct ring_end *end);
bool ibsa__ring_idle_end(struct ring_end *end);

#endif
