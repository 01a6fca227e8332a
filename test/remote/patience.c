/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fabric servers that answer too late, or never: how long a program waits. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <ibsa/ibsa.h>

#include "remote/connection.h"
#include "remote/control.h"
#include "remote/protocol.h"

/* Without a deadline of the caller, opening would take 10 s. */
enum { PATIENCE_MS = 200, LATE_MS = 9000 };

/* A listening socket with a backlog of one. */
struct stopped {
	char folder[32];
	char name[64];
	struct sockaddr_un address;
	int fd;
};

static void stopped_start(struct stopped *stopped)
{
	*stopped = (struct stopped){
		.folder = "/tmp/ibsa-XXXXXX",
		.address.sun_family = AF_UNIX,
		.fd = socket(AF_UNIX, SOCK_STREAM, 0),
	};
	assert_non_null(mkdtemp(stopped->folder));
	snprintf(stopped->name, sizeof(stopped->name), "unix:%s/s",
		 stopped->folder);
	strcpy(stopped->address.sun_path, stopped->name + strlen("unix:"));
	assert_int_equal(bind(stopped->fd, (struct sockaddr *)&stopped->address,
			      sizeof(stopped->address)),
			 0);
	assert_int_equal(listen(stopped->fd, 0), 0);
}

static void stopped_end(struct stopped *stopped)
{
	close(stopped->fd);
	assert_int_equal(unlink(stopped->address.sun_path), 0);
	assert_int_equal(rmdir(stopped->folder), 0);
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Opening ends at its deadline; the rest of the time is for a busy machine. */
static void check_late(const struct stopped *stopped)
{
	const struct ibsa_options options = { .fabric = stopped->name,
					      .deadline_ms = PATIENCE_MS };
	const uint64_t start_ms = now_ms();
	struct ibsa_error error = { .text = "" };
	struct ibsa_client *client;

	assert_int_equal(ibsa_open(&options, &error, &client), -ETIMEDOUT);
	assert_in_range(now_ms() - start_ms, PATIENCE_MS, LATE_MS);
	assert_non_null(strstr(error.text, "answer"));
	assert_non_null(strstr(error.text, stopped->address.sun_path));
}

static void a_server_that_accepts_and_is_silent_times_out(void **state)
{
	struct stopped stopped;

	(void)state;
	stopped_start(&stopped);
	check_late(&stopped);
	stopped_end(&stopped);
}

static void a_server_with_a_full_backlog_times_out(void **state)
{
	const int first = socket(AF_UNIX, SOCK_STREAM, 0);
	struct stopped stopped;

	(void)state;
	stopped_start(&stopped);
	assert_int_equal(connect(first, (struct sockaddr *)&stopped.address,
				 sizeof(stopped.address)),
			 0);
	check_late(&stopped);
	close(first);
	stopped_end(&stopped);
}

/*
 * Sends the head of a long refusal, and then its body byte by byte until the
 * client closes the connection.
 */
struct chatter {
	int listener;
	bool has_begun;
	unsigned int times;
};

static void *chatter_run(void *arg)
{
	struct chatter *chatter = arg;
	const struct timespec pause = { .tv_nsec = 20000000 };
	const struct remote_head head = { .type = REMOTE_HELLO,
					  .length = 60000,
					  .err = -EACCES };
	const int fd = accept(chatter->listener, NULL, NULL);

	if (fd < 0)
		return NULL;
	chatter->has_begun = send(fd, &head, sizeof(head), MSG_NOSIGNAL) ==
			     sizeof(head);
	for (unsigned int i = 0; chatter->has_begun && i < 1000; i++) {
		if (send(fd, "x", 1, MSG_NOSIGNAL) < 0)
			break;
		chatter->times++;
		nanosleep(&pause, NULL);
	}
	close(fd);
	return NULL;
}

/* Bytes that arrive do not extend the deadline of the request. */
static void single_bytes_do_not_extend_the_deadline(void **state)
{
	struct stopped stopped;
	struct chatter chatter = { .times = 0 };
	pthread_t thread;

	(void)state;
	stopped_start(&stopped);
	chatter.listener = stopped.fd;
	assert_int_equal(pthread_create(&thread, NULL, chatter_run, &chatter),
			 0);
	check_late(&stopped);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_true(chatter.has_begun);
	assert_in_range(chatter.times, 2, 500);
	stopped_end(&stopped);
}

/*
 * Answers the hello message, but no request. A client that gives up closes the
 * connection.
 */
static void *silence_run(void *arg)
{
	const int fd = accept(*(int *)arg, NULL, NULL);
	struct {
		struct remote_head head;
		struct remote_hello hello;
	} frame;
	char rest[256];

	if (fd < 0)
		return NULL;
	if (recv(fd, &frame, sizeof(frame), MSG_WAITALL) == sizeof(frame) &&
	    send(fd, &frame, sizeof(frame), MSG_NOSIGNAL) == sizeof(frame))
		while (recv(fd, rest, sizeof(rest), 0) > 0)
			;
	close(fd);
	return NULL;
}

/* -ENODEV would mean that the server has ended. */
static void a_server_that_does_not_answer_a_command_times_out(void **state)
{
	static const char line[] = "stats";
	char answer[64];
	struct remote_request request = {
		.type = REMOTE_CONTROL,
		.body = line,
		.len = strlen(line),
		.answer = answer,
		.room = sizeof(answer),
	};
	struct remote_address address;
	struct ibsa_error error = { .text = "" };
	struct stopped stopped;
	pthread_t thread;
	int err;

	(void)state;
	stopped_start(&stopped);
	assert_int_equal(ibsa__remote_address_find(stopped.name, "", NULL, 0,
						   NULL, &address),
			 0);
	address.patience_ms = PATIENCE_MS;
	assert_int_equal(
		pthread_create(&thread, NULL, silence_run, &stopped.fd), 0);
	err = ibsa__remote_request_once(&address, &request, &error);
	assert_int_equal(pthread_join(thread, NULL), 0);
	stopped_end(&stopped);
	assert_int_equal(err, -ETIMEDOUT);
	assert_non_null(strstr(error.text, "answer"));
}

/* Only a limited number of events is read at once. */
static void events_without_end_do_not_block_a_call(void **state)
{
	struct {
		struct remote_head head;
		struct remote_state state;
	} event = { .head = { .type = REMOTE_EVENT,
			      .length = sizeof(event.state) } };
	struct remote_control control;
	unsigned int calls = 0;
	size_t sent = 0;
	char byte;
	int ends[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	while (send(ends[0], &event, sizeof(event),
		    MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof(event))
		sent += sizeof(event);
	assert_in_range(sent, 128 * sizeof(event), 1 << 30);
	ibsa__control_init(&control);
	do {
		assert_int_equal(ibsa__control_read(&control, ends[1]), 0);
		assert_true(control.has_event);
		calls++;
	} while (recv(ends[1], &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 1);
	assert_in_range(calls, 2, sent / sizeof(event));
	ibsa__control_free(&control);
	close(ends[0]);
	close(ends[1]);
}

/*
 * Return: the result of ibsa__control_read() for these bytes while a request
 * of type @asked is in flight.
 */
static int control_read_bytes(uint32_t asked, const void *bytes, size_t len)
{
	struct remote_control control;
	int ends[2];
	int err;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	ibsa__control_init(&control);
	control.asked = asked;
	assert_int_equal(send(ends[0], bytes, len, MSG_NOSIGNAL), len);
	err = ibsa__control_read(&control, ends[1]);
	ibsa__control_free(&control);
	close(ends[0]);
	close(ends[1]);
	return err;
}

/* An answer with a wrong length must not be taken as the id of an agent. */
static void an_answer_of_a_wrong_size_is_refused(void **state)
{
	struct {
		struct remote_head head;
		struct umad_agent_request2 request;
	} answer = { .head = { .type = REMOTE_REGISTER,
			       .length = sizeof(answer.request) } };

	(void)state;
	assert_int_equal(control_read_bytes(REMOTE_REGISTER, &answer,
					    sizeof(answer)),
			 0);
	answer.head.length = 2;
	assert_int_equal(control_read_bytes(REMOTE_REGISTER, &answer,
					    sizeof(answer.head) + 2),
			 -ENODEV);
	answer.head.type = REMOTE_DETACH;
	assert_int_equal(control_read_bytes(REMOTE_DETACH, &answer,
					    sizeof(answer.head) + 2),
			 -ENODEV);
	answer.head.length = 0;
	assert_int_equal(control_read_bytes(REMOTE_DETACH, &answer,
					    sizeof(answer.head)),
			 0);
}

static void an_error_that_cannot_be_one_is_refused(void **state)
{
	struct remote_head refusal = { .type = REMOTE_REGISTER, .err = -4095 };

	(void)state;
	assert_int_equal(control_read_bytes(REMOTE_REGISTER, &refusal,
					    sizeof(refusal)),
			 0);
	refusal.err = -4096;
	assert_int_equal(control_read_bytes(REMOTE_REGISTER, &refusal,
					    sizeof(refusal)),
			 -ENODEV);
	refusal.err = EIO;
	assert_int_equal(control_read_bytes(REMOTE_REGISTER, &refusal,
					    sizeof(refusal)),
			 -ENODEV);
}

static void an_event_that_is_a_refusal_is_refused(void **state)
{
	struct {
		struct remote_head head;
		struct remote_state state;
	} event = { .head = { .type = REMOTE_EVENT,
			      .length = sizeof(event.state),
			      .err = -EIO } };

	(void)state;
	assert_int_equal(control_read_bytes(CONTROL_IDLE, &event,
					    sizeof(event)),
			 -ENODEV);
}

/*
 * After the head of a damaged refusal, the start of the next frame is unknown.
 */
static void a_refusal_that_is_damaged_ends_the_connection(void **state)
{
	static const int32_t errs[] = { EIO, -4096, -EIO };
	char frame[sizeof(struct remote_head) + 8] = { 0 };
	int ends[2];

	(void)state;
	for (size_t i = 0; i < sizeof(errs) / sizeof(errs[0]); i++) {
		const struct remote_head head = { .type = REMOTE_FILE,
						  .length = 9,
						  .err = errs[i] };
		struct remote_connection connection = { .patience_ms = 50 };
		struct remote_request request = { .type = REMOTE_FILE };

		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
		connection.fd = ends[1];
		memcpy(frame, &head, sizeof(head));
		assert_int_equal(send(ends[0], frame, sizeof(frame), 0),
				 sizeof(frame));
		assert_int_equal(ibsa__remote_request(&connection, &request,
						      NULL),
				 -ENODEV);
		assert_int_equal(connection.fd, -1);
		close(ends[0]);
	}
}

/*
 * If a late answer stayed in the socket, a forked child would take it as the
 * answer to its next request.
 */
static void no_process_receives_an_answer_that_is_late(void **state)
{
	const struct remote_head head = { .type = REMOTE_UNREGISTER };
	struct remote_connection connection = { .patience_ms = 50 };
	struct remote_request request = { .type = REMOTE_UNREGISTER };
	int ends[2];
	int childs;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	connection.fd = ends[1];
	childs = dup(ends[1]);
	assert_int_equal(ibsa__remote_request(&connection, &request, NULL),
			 -ENODEV);
	assert_true(send(ends[0], &head, sizeof(head), MSG_NOSIGNAL) < 0);
	connection.fd = childs;
	assert_int_equal(ibsa__remote_request(&connection, &request, NULL),
			 -ENODEV);
	close(ends[0]);
}

/* UTF-8 stays; an escape sequence is removed. */
static void the_text_of_a_refusal_is_cleaned(void **state)
{
	static const char text[] = "n\303\244me\033[2J";
	const struct remote_head head = { .type = REMOTE_FILE,
					  .length = sizeof(text) - 1,
					  .err = -EACCES };
	struct remote_connection connection = { .patience_ms = 50 };
	struct remote_request request = { .type = REMOTE_FILE };
	struct ibsa_error error = { .text = "" };
	int ends[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	connection.fd = ends[1];
	assert_int_equal(send(ends[0], &head, sizeof(head), 0), sizeof(head));
	assert_int_equal(send(ends[0], text, head.length, 0), head.length);
	assert_int_equal(ibsa__remote_request(&connection, &request, &error),
			 -EACCES);
	assert_string_equal(error.text, "n\303\244me\\x1b[2J");
	close(ends[0]);
	close(ends[1]);
}

static void a_refusal_without_a_text_has_that_of_its_errno(void **state)
{
	const struct remote_head head = { .type = REMOTE_FILE, .err = -EMFILE };
	struct remote_connection connection = { .patience_ms = 50 };
	struct remote_request request = { .type = REMOTE_FILE };
	struct ibsa_error error = { .text = "" };
	int ends[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	connection.fd = ends[1];
	assert_int_equal(send(ends[0], &head, sizeof(head), 0), sizeof(head));
	assert_int_equal(ibsa__remote_request(&connection, &request, &error),
			 -EMFILE);
	assert_non_null(strstr(error.text, strerror(EMFILE)));
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_server_that_accepts_and_is_silent_times_out),
		cmocka_unit_test(a_server_with_a_full_backlog_times_out),
		cmocka_unit_test(single_bytes_do_not_extend_the_deadline),
		cmocka_unit_test(
			a_server_that_does_not_answer_a_command_times_out),
		cmocka_unit_test(events_without_end_do_not_block_a_call),
		cmocka_unit_test(an_answer_of_a_wrong_size_is_refused),
		cmocka_unit_test(a_refusal_that_is_damaged_ends_the_connection),
		cmocka_unit_test(no_process_receives_an_answer_that_is_late),
		cmocka_unit_test(an_event_that_is_a_refusal_is_refused),
		cmocka_unit_test(the_text_of_a_refusal_is_cleaned),
		cmocka_unit_test(
			a_refusal_without_a_text_has_that_of_its_errno),
		cmocka_unit_test(an_error_that_cannot_be_one_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
