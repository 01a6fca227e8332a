/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rings of bytes in shared memory.
 *
 * The loads and stores of positions and announcements are sequentially
 * consistent: one side stores its position and then loads the announcement, the
 * other side stores the announcement and then loads the position, so at least
 * one of them sees what the other has stored.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/large.h"
#include "remote/ring.h"

enum { SEALS = F_SEAL_SHRINK | F_SEAL_GROW };

_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "positions without a lock");
_Static_assert((RING_BYTES & (RING_BYTES - 1)) == 0 &&
		       (RING_CLIENT_BYTES & (RING_CLIENT_BYTES - 1)) == 0,
	       "powers of two");
_Static_assert(sizeof(struct ring_shared) == (size_t)2 * RING_CACHE_LINE,
	       "a cache line for each side");
_Static_assert(sizeof(struct ring_memory) ==
		       RING_PAGE + RING_BYTES + RING_CLIENT_BYTES,
	       "ring memory");

static int rings_map(struct rings *out, int fd)
{
	struct ring_memory *memory = mmap(NULL, sizeof(*memory),
					  PROT_READ | PROT_WRITE, MAP_SHARED,
					  fd, 0);

	if (memory == MAP_FAILED)
		return -errno;
	*out = (struct rings){ .memory = memory };
	return 0;
}

static struct ring_end to_server_end(struct ring_memory *memory)
{
	return (struct ring_end){
		.shared = &memory->to_server,
		.bytes = memory->to_server_bytes,
		.size = RING_BYTES,
	};
}

static struct ring_end to_client_end(struct ring_memory *memory)
{
	return (struct ring_end){
		.shared = &memory->to_client,
		.bytes = memory->to_client_bytes,
		.size = RING_CLIENT_BYTES,
	};
}

int ibsa__rings_new(struct rings *out, int *out_fd)
{
	const int fd = memfd_create("ibsa-ring",
				    MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct ring_memory *memory;
	int err = 0;

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, sizeof(*memory)) || fcntl(fd, F_ADD_SEALS, SEALS))
		err = -errno;
	if (!err)
		err = rings_map(out, fd);
	if (err) {
		close(fd);
		return err;
	}
	memory = out->memory;
	atomic_store(&memory->to_server.is_idle, 1);
	atomic_store(&memory->to_client.is_idle, 1);
	out->in = to_server_end(memory);
	out->out = to_client_end(memory);
	*out_fd = fd;
	return 0;
}

/*
 * Whether the memory is large enough and stays so: access behind the end of a
 * file ends the process.
 */
static bool memory_is_fixed(int fd)
{
	const int seals = fcntl(fd, F_GET_SEALS);
	large_stat info;

	return seals >= 0 && seals & F_SEAL_SHRINK && !large_fstat(fd, &info) &&
	       info.st_size >= (off_t)sizeof(struct ring_memory);
}

int ibsa__rings_open(struct rings *out, int fd)
{
	struct ring_memory *memory;
	int err = memory_is_fixed(fd) ? rings_map(out, fd) : -EPROTO;

	if (err)
		return err;
	memory = out->memory;
	out->in = to_client_end(memory);
	out->out = to_server_end(memory);
	return 0;
}

void ibsa__rings_close(struct rings *rings)
{
	if (rings->memory)
		munmap(rings->memory, sizeof(*rings->memory));
	*rings = (struct rings){ .memory = NULL };
}

/*
 * Load the position of the writer, or of the reader. Return: false: the
 * position is invalid.
 */
static bool head_load(struct ring_end *end)
{
	const uint32_t head = atomic_load(&end->shared->head);

	if (head - end->at > end->size)
		return false;
	end->seen = head;
	return true;
}

static bool tail_load(struct ring_end *end)
{
	const uint32_t tail = atomic_load(&end->shared->tail);

	if (end->at - tail > end->size)
		return false;
	end->seen = tail;
	return true;
}

/* Copy bytes to or from the ring; they may continue at its beginning. */
static void bytes_put(struct ring_end *end, const uint8_t *data, size_t len)
{
	const size_t at = end->at & (end->size - 1);
	const size_t first = len < end->size - at ? len : end->size - at;

	memcpy(end->bytes + at, data, first);
	memcpy(end->bytes, data + first, len - first);
}

static void bytes_get(const struct ring_end *end, uint32_t from, uint8_t *to,
		      size_t len)
{
	const size_t at = from & (end->size - 1);
	const size_t first = len < end->size - at ? len : end->size - at;

	memcpy(to, end->bytes + at, first);
	memcpy(to + first, end->bytes, len - first);
}

ssize_t ibsa__ring_write(struct ring_end *end, const void *data, size_t len)
{
	size_t room = end->size - (end->at - end->seen);

	if (room < len) {
		if (!tail_load(end))
			return -EPROTO;
		room = end->size - (end->at - end->seen);
	}
	if (len > room)
		len = room;
	bytes_put(end, data, len);
	end->at += (uint32_t)len;
	return (ssize_t)len;
}

bool ibsa__ring_has_room(struct ring_end *end, size_t len)
{
	return end->size - (end->at - end->seen) >= len ||
	       (tail_load(end) && end->size - (end->at - end->seen) >= len);
}

bool ibsa__ring_publish(struct ring_end *end)
{
	atomic_store(&end->shared->head, end->at);
	return atomic_load(&end->shared->is_idle) &&
	       atomic_exchange(&end->shared->is_idle, 0);
}

bool ibsa__ring_room_await(struct ring_end *end)
{
	const uint32_t seen = end->seen;

	atomic_store(&end->shared->is_full, 1);
	return tail_load(end) && end->seen == seen;
}

ssize_t ibsa__ring_peek(struct ring_end *end, size_t skip, void *to, size_t len)
{
	size_t used = end->seen - end->at;

	if (used < skip + len) {
		if (!head_load(end))
			return -EPROTO;
		used = end->seen - end->at;
	}
	if (used <= skip)
		return 0;
	if (len > used - skip)
		len = used - skip;
	bytes_get(end, end->at + (uint32_t)skip, to, len);
	return (ssize_t)len;
}

ssize_t ibsa__ring_read(struct ring_end *end, void *to, size_t len)
{
	const ssize_t got = ibsa__ring_peek(end, 0, to, len);

	if (got <= 0)
		return got;
	end->at += (uint32_t)got;
	atomic_store(&end->shared->tail, end->at);
	return got;
}

bool ibsa__ring_release(struct ring_end *end)
{
	return end->seen - end->at <= end->size / 2 &&
	       atomic_load(&end->shared->is_full) &&
	       atomic_exchange(&end->shared->is_full, 0);
}

bool ibsa__ring_is_empty(const struct ring_end *end)
{
	return atomic_load(&end->shared->head) == end->at;
}

bool ibsa__ring_is_idle(const struct ring_end *end)
{
	return atomic_load(&end->shared->is_idle);
}

void ibsa__ring_idle_begin(struct ring_end *end)
{
	atomic_store(&end->shared->is_idle, 1);
}

bool ibsa__ring_idle_end(struct ring_end *end)
{
	return atomic_exchange(&end->shared->is_idle, 0);
}
