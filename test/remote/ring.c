/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rings in shared memory between a client and a fabric server. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "remote/ring.h"

struct pair {
	struct rings server;
	struct rings client;
};

static int pair_open(void **state)
{
	static struct pair pair;
	int fd;

	assert_int_equal(ibsa__rings_new(&pair.server, &fd), 0);
	assert_int_equal(ibsa__rings_open(&pair.client, fd), 0);
	close(fd);
	*state = &pair;
	return 0;
}

static int pair_close(void **state)
{
	struct pair *pair = *state;

	ibsa__rings_close(&pair->server);
	ibsa__rings_close(&pair->client);
	return 0;
}

static uint8_t byte_at(size_t at)
{
	return (uint8_t)(at * 7 + (at >> 8));
}

/* Write up to @len bytes of the sequence, beginning with number @at. */
static size_t sequence_write(struct ring_end *out, size_t at, size_t len)
{
	uint8_t bytes[1000];
	ssize_t done;

	if (len > sizeof(bytes))
		len = sizeof(bytes);
	for (size_t i = 0; i < len; i++)
		bytes[i] = byte_at(at + i);
	done = ibsa__ring_write(out, bytes, len);
	assert_true(done >= 0);
	return (size_t)done;
}

static size_t sequence_read(struct ring_end *in, size_t at, size_t len)
{
	uint8_t bytes[777];
	ssize_t got;

	if (len > sizeof(bytes))
		len = sizeof(bytes);
	got = ibsa__ring_read(in, bytes, len);
	assert_true(got >= 0);
	for (size_t i = 0; i < (size_t)got; i++)
		assert_int_equal(bytes[i], byte_at(at + i));
	return (size_t)got;
}

/* Bytes keep their order across the end of the ring, in both directions. */
static void bytes_arrive_in_order(void **state)
{
	struct pair *pair = *state;
	struct ring_end *ends[][2] = {
		{ &pair->client.out, &pair->server.in },
		{ &pair->server.out, &pair->client.in },
	};

	for (int i = 0; i < 2; i++) {
		size_t written = 0;
		size_t got = 0;

		while (got < 3 * RING_CLIENT_BYTES) {
			written += sequence_write(ends[i][0], written, 1000);
			(void)!ibsa__ring_publish(ends[i][0]);
			got += sequence_read(ends[i][1], got, 777);
		}
	}
}

static void ring_fill(struct ring_end *out)
{
	size_t written = 0;
	size_t now;

	while ((now = sequence_write(out, written, 1000)))
		written += now;
	assert_int_equal(written, RING_CLIENT_BYTES);
	(void)!ibsa__ring_publish(out);
}

/* Let both sides of a ring begin at this position. */
static void ends_begin_at(struct ring_end *writer, struct ring_end *reader,
			  uint32_t at)
{
	writer->at = writer->seen = at;
	reader->at = reader->seen = at;
	atomic_store(&writer->shared->head, at);
	atomic_store(&writer->shared->tail, at);
}

/* Positions are modulo 2^32: the one after UINT32_MAX is 0. */
static void positions_wrap_around(void **state)
{
	struct pair *pair = *state;
	struct ring_end *out = &pair->server.out;
	struct ring_end *in = &pair->client.in;
	size_t got = 0;

	ends_begin_at(out, in, UINT32_MAX - RING_CLIENT_BYTES / 2);
	ring_fill(out);
	assert_int_equal(out->at, RING_CLIENT_BYTES / 2 - 1);
	assert_true(ibsa__ring_room_await(out));
	assert_false(ibsa__ring_has_room(out, 1));
	while (!ibsa__ring_is_empty(in))
		got += sequence_read(in, got, 777);
	assert_int_equal(got, RING_CLIENT_BYTES);
	assert_true(ibsa__ring_release(in));
	assert_true(ibsa__ring_has_room(out, RING_CLIENT_BYTES));
	assert_false(ibsa__ring_has_room(out, RING_CLIENT_BYTES + 1));
}

/* What was written but not published cannot be read. */
static void reader_sees_published_bytes(void **state)
{
	struct pair *pair = *state;
	char byte;

	assert_int_equal(ibsa__ring_write(&pair->client.out, "x", 1), 1);
	assert_true(ibsa__ring_is_empty(&pair->server.in));
	assert_int_equal(ibsa__ring_read(&pair->server.in, &byte, 1), 0);
	(void)!ibsa__ring_publish(&pair->client.out);
	assert_false(ibsa__ring_is_empty(&pair->server.in));
	assert_int_equal(ibsa__ring_read(&pair->server.in, &byte, 1), 1);
	assert_int_equal(byte, 'x');
}

/* Peeked bytes stay in the ring. */
static void peek_leaves_the_bytes(void **state)
{
	struct pair *pair = *state;
	char text[8] = "";

	assert_int_equal(ibsa__ring_write(&pair->client.out, "packet", 6), 6);
	(void)!ibsa__ring_publish(&pair->client.out);
	assert_int_equal(ibsa__ring_peek(&pair->server.in, 2, text, 8), 4);
	assert_memory_equal(text, "cket", 4);
	assert_int_equal(ibsa__ring_peek(&pair->server.in, 6, text, 8), 0);
	assert_int_equal(ibsa__ring_read(&pair->server.in, text, 8), 6);
	assert_memory_equal(text, "packet", 6);
}

/* The reader is woken once for each announcement. */
static void reader_is_woken_if_it_waits(void **state)
{
	struct pair *pair = *state;
	struct ring_end *out = &pair->client.out;
	struct ring_end *in = &pair->server.in;

	/* At first, it waits. */
	assert_int_equal(ibsa__ring_write(out, "1", 1), 1);
	assert_true(ibsa__ring_publish(out));
	assert_false(ibsa__ring_is_idle(in));
	assert_int_equal(ibsa__ring_write(out, "2", 1), 1);
	assert_false(ibsa__ring_publish(out));

	ibsa__ring_idle_begin(in);
	assert_int_equal(ibsa__ring_write(out, "3", 1), 1);
	assert_true(ibsa__ring_publish(out));
	assert_false(ibsa__ring_idle_end(in));

	ibsa__ring_idle_begin(in);
	assert_true(ibsa__ring_idle_end(in));
	assert_int_equal(ibsa__ring_write(out, "4", 1), 1);
	assert_false(ibsa__ring_publish(out));
}

/* A full ring accepts no byte; its writer is woken when half of it is free. */
static void writer_is_woken_at_half(void **state)
{
	struct pair *pair = *state;
	struct ring_end *out = &pair->server.out;
	struct ring_end *in = &pair->client.in;
	size_t got = 0;
	bool is_woken = false;

	ring_fill(out);
	assert_true(ibsa__ring_room_await(out));
	while (got < RING_CLIENT_BYTES / 2) {
		assert_false(is_woken);
		got += sequence_read(in, got, 777);
		is_woken = ibsa__ring_release(in);
	}
	assert_true(is_woken);
	assert_false(ibsa__ring_release(in));
	assert_false(ibsa__ring_room_await(out));
	assert_int_equal(ibsa__ring_write(out, "x", 1), 1);
}

/* A writer that puts its position out of reach of the reader is refused. */
static void invalid_head_is_refused(void **state)
{
	struct pair *pair = *state;
	char byte;

	atomic_store(&pair->client.memory->to_server.head, RING_BYTES + 1);
	assert_int_equal(ibsa__ring_read(&pair->server.in, &byte, 1), -EPROTO);
	atomic_store(&pair->client.memory->to_server.head, UINT32_MAX);
	assert_int_equal(ibsa__ring_peek(&pair->server.in, 0, &byte, 1),
			 -EPROTO);
}

/* A reader that claims to have read what was not written is refused. */
static void invalid_tail_is_refused(void **state)
{
	struct pair *pair = *state;

	ring_fill(&pair->server.out);
	atomic_store(&pair->client.memory->to_client.tail,
		     RING_CLIENT_BYTES + 1);
	assert_int_equal(ibsa__ring_write(&pair->server.out, "x", 1), -EPROTO);
	assert_false(ibsa__ring_room_await(&pair->server.out));
}

/* A client does not use memory that the server could still make smaller. */
static void memory_must_be_sealed(void **state)
{
	const int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct rings rings;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, sizeof(struct ring_memory)), 0);
	assert_int_equal(ibsa__rings_open(&rings, fd), -EPROTO);
	assert_int_equal(ftruncate(fd, sizeof(struct ring_memory) - 1), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	assert_int_equal(ibsa__rings_open(&rings, fd), -EPROTO);
	assert_int_equal(ftruncate(fd, sizeof(struct ring_memory)), 0);
	assert_int_equal(ibsa__rings_open(&rings, fd), 0);
	ibsa__rings_close(&rings);
	close(fd);
}

enum { STREAM_BYTES = 40 * RING_CLIENT_BYTES };

/* A writer and a reader, each of which the other wakes by a semaphore. */
struct stream {
	struct ring_end writer;
	struct ring_end reader;
	sem_t has_bytes;
	sem_t has_room;
};

static void *stream_write(void *arg)
{
	struct stream *stream = arg;
	struct ring_end *out = &stream->writer;
	size_t written = 0;

	while (written < STREAM_BYTES) {
		const size_t now = sequence_write(out, written,
						  STREAM_BYTES - written);

		written += now;
		if (ibsa__ring_publish(out))
			sem_post(&stream->has_bytes);
		if (!now && ibsa__ring_room_await(out))
			sem_wait(&stream->has_room);
	}
	return NULL;
}

static void stream_read(struct stream *stream)
{
	struct ring_end *in = &stream->reader;
	size_t got = 0;

	while (got < STREAM_BYTES) {
		const size_t now = sequence_read(in, got, STREAM_BYTES);

		got += now;
		if (ibsa__ring_release(in))
			sem_post(&stream->has_room);
		if (now)
			continue;
		if (!ibsa__ring_is_idle(in))
			ibsa__ring_idle_begin(in);
		if (ibsa__ring_is_empty(in) || !ibsa__ring_idle_end(in))
			sem_wait(&stream->has_bytes);
	}
}

/* No wake-up is lost between two threads that wait for each other. */
static void threads_wake_each_other(void **state)
{
	struct pair *pair = *state;
	/*
	 * Both ends use one mapping: ThreadSanitizer compares addresses.
	 */
	struct stream stream = {
		.writer = pair->server.out,
		.reader = {
			.shared = pair->server.out.shared,
			.bytes = pair->server.out.bytes,
			.size = pair->server.out.size,
		},
	};
	pthread_t thread;

	sem_init(&stream.has_bytes, 0, 0);
	sem_init(&stream.has_room, 0, 0);
	pthread_create(&thread, NULL, stream_write, &stream);
	stream_read(&stream);
	pthread_join(thread, NULL);
	assert_true(ibsa__ring_is_empty(&stream.reader));
	sem_destroy(&stream.has_bytes);
	sem_destroy(&stream.has_room);
}

#define PAIR_TEST(test) \
	cmocka_unit_test_setup_teardown(test, pair_open, pair_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PAIR_TEST(bytes_arrive_in_order),
		PAIR_TEST(positions_wrap_around),
		PAIR_TEST(reader_sees_published_bytes),
		PAIR_TEST(peek_leaves_the_bytes),
		PAIR_TEST(reader_is_woken_if_it_waits),
		PAIR_TEST(writer_is_woken_at_half),
		PAIR_TEST(invalid_head_is_refused),
		PAIR_TEST(invalid_tail_is_refused),
		cmocka_unit_test(memory_must_be_sealed),
		PAIR_TEST(threads_wake_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
