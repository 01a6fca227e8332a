/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A preload in front of ibsim's, which makes its umad devices behave as the
 * kernel's do:
 *
 * 	LD_PRELOAD=umtap.so:libumad2sim.so UMTAP_DIR=folder program
 *
 * ibsim carries 256 bytes of a MAD and delivers 224. It has no RMPP, no
 * timeouts and no errno on an empty read, its poll() checks one fd, and it
 * crashes on an answer that arrives after close(). This preload also stores
 * each SA MAD that is written in a file of the directory, and completes a MAD
 * that is read from there. So all programs of one fabric, including OpenSM, must
 * run with it and with the same directory. umtap_sysfs.c updates their copies of
 * sysfs; umtap_issm.c makes ibsim deliver Reports.
 *
 * Source of the behaviour: Linux Documentation/infiniband/user_mad.rst.
 */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <ibsa/types.h>

#include "umad/header.h"
#include "test/counterpart/umtap.h"
#include "wire/mad.h"

enum {
	FD_MIN = 1024, /* ibsim's descriptors */
	FD_MAX = 2047,
	POLL_US = 500,
	NULL_BYTES = 4096, /* that are not mapped at address 0 */
	TIMED_OUT_BYTES = UMAD_HEADER_BYTES + MAD_HEADER_BYTES,
	SEGMENT_BYTES = UMAD_HEADER_BYTES + IBSA_MAD_BYTES,

	/*
	 * Bytes that an RMPP payload length counts besides the records: 36 to
	 * 55 of a MAD, the SA header.
	 */
	RMPP_CLASS_BYTES = 20,
};

/* A packet (umad header and MAD) and its state. */
struct packet {
	struct packet *next;
	int fd;
	uint64_t due_ms; /* of a request: when its timeout expires */
	size_t len;
	union {
		struct umad_header header;
		uint8_t bytes[SEGMENT_BYTES];
	} * data;
};

/* The functions that this preload replaces. */
struct real {
	ssize_t (*read)(int, void *, size_t);
	ssize_t (*write)(int, const void *, size_t);
	int (*poll)(struct pollfd *, nfds_t, int);
	int (*close)(int);
	int (*mutex_lock)(pthread_mutex_t *);
	int (*mutex_unlock)(pthread_mutex_t *);
};

static struct real real;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct packet *ready; /* may be read, oldest first */
static struct packet *sent;  /* wait for their answers */

static void real_find(void)
{
	*(void **)&real.read = dlsym(RTLD_NEXT, "read");
	*(void **)&real.write = dlsym(RTLD_NEXT, "write");
	*(void **)&real.poll = dlsym(RTLD_NEXT, "poll");
	*(void **)&real.close = dlsym(RTLD_NEXT, "close");
	*(void **)&real.mutex_lock = dlsym(RTLD_NEXT, "pthread_mutex_lock");
	*(void **)&real.mutex_unlock = dlsym(RTLD_NEXT, "pthread_mutex_unlock");
}

/*
 * ibsim's library has a thread that receives. For a packet that no open file
 * is registered for, such as an answer after close(), this thread locks the
 * mutex of the file at NULL, and only then checks for NULL and drops the
 * packet. So the functions below ignore such a mutex.
 */
static bool is_in_null(const pthread_mutex_t *mutex)
{
	pthread_once(&once, real_find);
	return (uintptr_t)mutex < NULL_BYTES;
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	return is_in_null(mutex) ? EINVAL : real.mutex_lock(mutex);
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	return is_in_null(mutex) ? EINVAL : real.mutex_unlock(mutex);
}

static bool is_umad(int fd)
{
	pthread_once(&once, real_find);
	return fd >= FD_MIN && fd <= FD_MAX;
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static uint8_t *mad_of(const struct packet *packet)
{
	return packet->data->bytes + UMAD_HEADER_BYTES;
}

/* Return: a zeroed packet, with room for at least one MAD. */
static struct packet *packet_new(int fd, size_t len)
{
	struct packet *packet = calloc(1, sizeof(*packet));

	if (!packet)
		abort();
	packet->data = calloc(1, len < SEGMENT_BYTES ? SEGMENT_BYTES : len);
	if (!packet->data)
		abort();
	packet->fd = fd;
	packet->len = len;
	return packet;
}

static void packet_free(struct packet *packet)
{
	free(packet->data);
	free(packet);
}

static void append(struct packet **list, struct packet *packet)
{
	while (*list)
		list = &(*list)->next;
	packet->next = NULL;
	*list = packet;
}

static struct packet **find(struct packet **list, int fd)
{
	while (*list && (*list)->fd != fd)
		list = &(*list)->next;
	return list;
}

static struct packet *take(struct packet **at)
{
	struct packet *packet = *at;

	*at = packet->next;
	return packet;
}

/*
 * Write the path of the file that has the complete MAD into @out. Return:
 * false: MADs of this class are not stored.
 */
static bool whole_path(const uint8_t *mad, char *out, size_t size)
{
	const char *folder = getenv("UMTAP_DIR");

	if (!folder || mad[MAD_CLASS] != IBSA_CLASS_SA)
		return false;
	snprintf(out, size, "%s/%08x-%04x-%02x", folder,
		 ibsa_be32(mad + MAD_TID_LOW), ibsa_be16(mad + MAD_ATTRIBUTE),
		 mad[MAD_METHOD]);
	return true;
}

static void whole_store(const uint8_t *mad, size_t len)
{
	char path[4096];
	FILE *file;

	if (!whole_path(mad, path, sizeof(path)))
		return;
	file = fopen(path, "w");
	if (!file || fwrite(mad, 1, len, file) != len || fclose(file))
		abort();
}

/*
 * Fill in the RMPP header as the receiving kernel does: that of the first
 * segment.
 */
static void rmpp_fill(uint8_t *mad, size_t len)
{
	const size_t records = len - IBSA_SA_HEADER_BYTES;
	size_t segments = (records + IBSA_SA_DATA_BYTES - 1) /
			  IBSA_SA_DATA_BYTES;
	uint8_t flags = IBSA_RMPP_ACTIVE | IBSA_RMPP_FIRST;

	if (segments < 2) {
		segments = 1;
		flags |= IBSA_RMPP_LAST;
	}
	mad[MAD_RMPP_VERSION] = 1;
	mad[MAD_RMPP_TYPE] = IBSA_RMPP_TYPE_DATA;
	mad[MAD_RMPP_FLAGS] = (uint8_t)((mad[MAD_RMPP_FLAGS] & 0xf8) | flags);
	ibsa_put_be32(mad + MAD_RMPP_SEGMENT, 1);
	ibsa_put_be32(mad + MAD_RMPP_LENGTH,
		      (uint32_t)(records + segments * RMPP_CLASS_BYTES));
}

static bool is_rmpp(const uint8_t *mad, size_t len)
{
	return len >= IBSA_SA_HEADER_BYTES &&
	       (mad[MAD_METHOD] & METHOD_RESPONSE) &&
	       (mad[MAD_RMPP_FLAGS] & IBSA_RMPP_ACTIVE);
}

/*
 * Return: the complete MAD of which @packet is the beginning, as a packet;
 * NULL if it was not stored.
 */
static struct packet *whole_read(const struct packet *packet)
{
	struct packet *whole;
	char path[4096];
	FILE *file;
	long len;

	if (!whole_path(mad_of(packet), path, sizeof(path)))
		return NULL;
	file = fopen(path, "r");
	if (!file)
		return NULL;
	if (fseek(file, 0, SEEK_END) || (len = ftell(file)) < 0)
		abort();
	rewind(file);
	whole = packet_new(packet->fd, UMAD_HEADER_BYTES + (size_t)len);
	if (fread(mad_of(whole), 1, (size_t)len, file) != (size_t)len)
		abort();
	fclose(file);
	return whole;
}

/*
 * Return: @packet with all bytes that its sender has written, if they were
 * stored; otherwise @packet itself.
 */
static struct packet *whole_get(struct packet *packet)
{
	struct packet *whole = whole_read(packet);
	size_t len;

	if (!whole)
		return packet;
	whole->data->header = packet->data->header;
	/*
	 * The MAD was stored with its sender's transaction ID, which is
	 * different in the MAD that has arrived.
	 */
	memcpy(mad_of(whole), mad_of(packet), MAD_HEADER_BYTES);
	len = whole->len - UMAD_HEADER_BYTES;
	if (is_rmpp(mad_of(whole), len))
		rmpp_fill(mad_of(whole), len);
	else
		whole->len = SEGMENT_BYTES;
	whole->data->header.length = (uint32_t)whole->len;
	packet_free(packet);
	return whole;
}

static bool is_answer(const struct packet *packet)
{
	uint8_t method = mad_of(packet)[MAD_METHOD];

	return (method & METHOD_RESPONSE) || method == METHOD_TRAP_REPRESS;
}

/* Remove the request that @packet answers. */
static void answer(const struct packet *packet)
{
	for (struct packet **at = &sent; *at; at = &(*at)->next) {
		const uint8_t *request = mad_of(*at);

		if ((*at)->fd != packet->fd ||
		    request[MAD_CLASS] != mad_of(packet)[MAD_CLASS] ||
		    memcmp(request + MAD_TID_LOW, mad_of(packet) + MAD_TID_LOW,
			   4) != 0)
			continue;
		packet_free(take(at));
		return;
	}
}

/* Receive from the simulator for @fd. */
static void pull(int fd)
{
	struct pollfd one = { .fd = fd, .events = POLLIN };
	struct packet *packet;
	ssize_t len;

	if (real.poll(&one, 1, 0) <= 0)
		return;
	packet = packet_new(fd, SEGMENT_BYTES);
	len = real.read(fd, packet->data, SEGMENT_BYTES);
	if (len <= TIMED_OUT_BYTES) {
		packet_free(packet);
		return;
	}
	if (umtap_issm_answer(packet->data)) {
		real.write(fd, packet->data, SEGMENT_BYTES);
		packet_free(packet);
		return;
	}
	/*
	 * ibsim returns a packet at once if no client receives it. A kernel
	 * would not: it would send a request again, and return it with
	 * ETIMEDOUT when its tries are used up. This packet is dropped here,
	 * and expire() does the same as the kernel.
	 */
	if (packet->data->header.status) {
		packet_free(packet);
		return;
	}
	packet->len = (size_t)len;
	if (is_answer(packet))
		answer(packet);
	append(&ready, whole_get(packet));
}

/* Return a request without an answer: its header, and a status. */
static void time_out(struct packet *packet)
{
	packet->len = TIMED_OUT_BYTES;
	packet->data->header.status = ETIMEDOUT;
	packet->data->header.length = TIMED_OUT_BYTES;
	append(&ready, packet);
}

/* Send again, or return, each request whose timeout has expired. */
static void expire(void)
{
	const uint64_t now = now_ms();
	struct packet **at = &sent;

	while (*at) {
		struct packet *packet = *at;

		if (packet->due_ms > now) {
			at = &packet->next;
		} else if (packet->data->header.retries) {
			packet->data->header.retries--;
			packet->due_ms = now + packet->data->header.timeout_ms;
			real.write(packet->fd, packet->data, packet->len);
			at = &packet->next;
		} else {
			time_out(take(at));
		}
	}
}

/* Whether a request with this transaction ID waits for its answer. */
static bool is_in_flight(const struct packet *packet)
{
	for (const struct packet *at = sent; at; at = at->next) {
		if (at->fd == packet->fd &&
		    mad_of(at)[MAD_CLASS] == mad_of(packet)[MAD_CLASS] &&
		    !memcmp(mad_of(at) + MAD_TID_LOW,
			    mad_of(packet) + MAD_TID_LOW, 4))
			return true;
	}
	return false;
}

/* Return: false: the kernel would refuse it. */
static bool note_sent(int fd, const void *bytes, size_t len)
{
	struct packet *packet = packet_new(fd, len);
	const uint8_t *mad = mad_of(packet);

	memcpy(packet->data, bytes, len);
	expire();
	if (!packet->data->header.timeout_ms ||
	    (mad[MAD_METHOD] & METHOD_RESPONSE)) {
		whole_store(mad, len - UMAD_HEADER_BYTES);
		packet_free(packet);
		return true;
	}
	if (is_in_flight(packet)) {
		packet_free(packet);
		return false;
	}
	whole_store(mad, len - UMAD_HEADER_BYTES);
	packet->due_ms = now_ms() + packet->data->header.timeout_ms;
	append(&sent, packet);
	return true;
}

ssize_t write(int fd, const void *bytes, size_t len)
{
	bool good = true;

	if (!is_umad(fd))
		return real.write(fd, bytes, len);
	pthread_mutex_lock(&lock);
	if (len < UMAD_HEADER_BYTES + MAD_RMPP_END)
		good = false;
	else
		good = note_sent(fd, bytes, len);
	pthread_mutex_unlock(&lock);
	if (!good) {
		errno = EINVAL;
		return -1;
	}
	return real.write(fd, bytes, len);
}

/* Return: 0 with *@out_len; or an errno, and the packet stays in the queue. */
static int hand_over(int fd, void *bytes, size_t room, size_t *out_len)
{
	struct packet **at = find(&ready, fd);
	struct packet *packet;

	if (!*at)
		pull(fd);
	packet = *at;
	if (!packet)
		return EAGAIN;
	if (packet->len > room) {
		if (room < SEGMENT_BYTES)
			return EINVAL;
		memcpy(bytes, packet->data, SEGMENT_BYTES);
		return ENOSPC;
	}
	*out_len = packet->len;
	memcpy(bytes, packet->data, packet->len);
	packet_free(take(at));
	return 0;
}

ssize_t read(int fd, void *bytes, size_t room)
{
	size_t len = 0;
	int err;

	if (!is_umad(fd))
		return real.read(fd, bytes, room);
	pthread_mutex_lock(&lock);
	expire();
	err = hand_over(fd, bytes, room, &len);
	pthread_mutex_unlock(&lock);
	if (err) {
		errno = err;
		return -1;
	}
	return (ssize_t)len;
}

static void forget(struct packet **list, int fd)
{
	struct packet **at;

	while (*(at = find(list, fd)))
		packet_free(take(at));
}

/*
 * Packets of the file are dropped; the next file may have the same descriptor.
 */
int close(int fd)
{
	if (is_umad(fd)) {
		pthread_mutex_lock(&lock);
		forget(&ready, fd);
		forget(&sent, fd);
		pthread_mutex_unlock(&lock);
	}
	return real.close(fd);
}

/* Return: the events of one fd, without waiting. */
static short poll_one(struct pollfd *one)
{
	short events = POLLOUT;

	if (!is_umad(one->fd)) {
		one->revents = 0;
		return real.poll(one, 1, 0) > 0 ? one->revents : 0;
	}
	if (!*find(&ready, one->fd))
		pull(one->fd);
	if (*find(&ready, one->fd))
		events |= POLLIN;
	return events & one->events;
}

static int poll_all(struct pollfd *fds, nfds_t count)
{
	int found = 0;

	pthread_mutex_lock(&lock);
	expire();
	for (nfds_t i = 0; i < count; i++) {
		fds[i].revents = poll_one(&fds[i]);
		found += fds[i].revents != 0;
	}
	pthread_mutex_unlock(&lock);
	return found;
}

int poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
	const uint64_t start = now_ms();
	bool any = false;

	for (nfds_t i = 0; i < count; i++)
		any = is_umad(fds[i].fd) || any;
	if (!any) {
		pthread_once(&once, real_find);
		return real.poll(fds, count, timeout_ms);
	}
	for (;;) {
		int found = poll_all(fds, count);

		if (found || (timeout_ms >= 0 &&
			      now_ms() - start >= (uint64_t)timeout_ms))
			return found;
		usleep(POLL_US);
	}
}
