/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A port at a fabric server that ends and starts again: the portid and its
 * agents work again, and only what was in flight is lost.
 */
#include "../support/child.h"
#include "../support/descriptors.h"
#include "rig.h"
#include "base/clock.h"
#include "wire/mad.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <ibsa/types.h>

enum {
	CLASS_PORT_INFO = 0x0001,
	NOWHERE = 999, /* a LID that no port has */
	LONG_MS = 20000,
};

static int packet_send(int portid, int agent, uint32_t tid, uint16_t lid,
		       int timeout_ms)
{
	struct umad_packet packet = sa_request(IBSA_METHOD_GET,
					       CLASS_PORT_INFO);

	ibsa_put_be32((uint8_t *)umad_get_mad(packet.bytes) + MAD_TID_LOW, tid);
	umad_set_addr(packet.bytes, lid, 1, 0, IBSA_QKEY_GSI);
	return umad_send(portid, agent, packet.bytes, MAD_BYTES, timeout_ms, 0);
}

/* Receive the result of a request. Return: its status, or -errno. */
static int result_receive(int portid, uint32_t *out_tid, int timeout_ms)
{
	struct umad_packet packet;
	int length = MAD_BYTES;
	const int got = umad_recv(portid, packet.bytes, &length, timeout_ms);

	if (got < 0)
		return got;
	*out_tid =
		ibsa_be32((uint8_t *)umad_get_mad(packet.bytes) + MAD_TID_LOW);
	return umad_status(packet.bytes);
}

/*
 * Send requests until one is answered: those that are sent while there is no
 * server time out.
 */
static bool is_answered(int portid, int agent)
{
	const uint64_t start_ns = clock_now_ns();

	for (uint32_t tid = 1000;
	     clock_now_ns() - start_ns < LONG_MS * NS_PER_MS; tid++) {
		uint32_t got = 0;
		int status;

		if (packet_send(portid, agent, tid, 1, 200))
			return false;
		do
			status = result_receive(portid, &got, LONG_MS);
		while (status >= 0 && got != tid);
		if (!status)
			return true;
	}
	return false;
}

/* Return: 0 after the server has answered. */
static void check_answered(int portid, int agent)
{
	assert_true(is_answered(portid, agent));
}

static void check_agents_work_again(struct server_rig *server)
{
	int agents[3];
	const int portid = port_open(&agents[0]);

	for (int i = 1; i < 3; i++)
		agents[i] = umad_register(portid, IBSA_CLASS_SA, 2, 1, NULL);
	assert_int_equal(umad_unregister(portid, agents[1]), 0);
	check_answered(portid, agents[2]);
	for (int round = 0; round < 3; round++) {
		server_end(server);
		server_restart(server);
		check_answered(portid, agents[2]);
		check_answered(portid, agents[0]);
	}
	assert_int_equal(umad_register(portid, IBSA_CLASS_SA, 2, 1, NULL),
			 agents[1]);
	assert_int_equal(umad_unregister(portid, agents[2]), 0);
	port_close(portid);
}

/* Their numbers are the same, although there was a gap. */
static void agents_have_their_numbers_again(void **state)
{
	check_agents_work_again(*state);
	setenv("IBSA_RING", "0", 1);
	server_end(*state);
	server_restart(*state);
	check_agents_work_again(*state);
	unsetenv("IBSA_RING");
	server_end(*state);
	server_restart(*state);
}

/* Unsolicited MADs come to the agent that has registered for them. */
static void methods_are_registered_again(void **state)
{
	long methods[16 / sizeof(long)] = { 1L << IBSA_METHOD_REPORT };
	const int one = umad_open_port(NULL, 0);
	const int two = umad_open_port(NULL, 0);
	const int agent = umad_register(one, IBSA_CLASS_SA, 2, 1, methods);

	assert_true(agent >= 0);
	server_end(*state);
	server_restart(*state);
	check_answered(one, agent);
	assert_int_equal(umad_register(two, IBSA_CLASS_SA, 2, 1, methods),
			 -EPERM);
	port_close(two);
	port_close(one);
}

/*
 * What was sent before the server ended comes back when the next server runs,
 * each request once, and before its own timeout.
 */
static void requests_in_flight_time_out_with_the_next_server(void **state)
{
	enum { REQUESTS = 100 };
	bool is_back[REQUESTS] = { false };
	uint32_t tid = 0;
	int agent;
	const int portid = port_open(&agent);

	for (uint32_t i = 0; i < REQUESTS; i++)
		assert_int_equal(packet_send(portid, agent, i, NOWHERE,
					     10 * LONG_MS),
				 0);
	server_end(*state);
	assert_int_equal(result_receive(portid, &tid, 0), -EAGAIN);
	server_restart(*state);
	for (int i = 0; i < REQUESTS; i++) {
		assert_int_equal(result_receive(portid, &tid, LONG_MS),
				 ETIMEDOUT);
		assert_true(tid < REQUESTS && !is_back[tid]);
		is_back[tid] = true;
	}
	assert_int_equal(result_receive(portid, &tid, 0), -EAGAIN);
	check_answered(portid, agent);
	port_close(portid);
}

/* A request that had its reply does not come back. */
static void answered_requests_do_not_come_back(void **state)
{
	uint32_t tid = 0;
	int agent;
	const int portid = port_open(&agent);

	assert_int_equal(packet_send(portid, agent, 7, 1, LONG_MS), 0);
	assert_int_equal(result_receive(portid, &tid, LONG_MS), 0);
	assert_int_equal(tid, 7);
	server_end(*state);
	server_restart(*state);
	assert_int_equal(result_receive(portid, &tid, 300), -ETIMEDOUT);
	check_answered(portid, agent);
	port_close(portid);
}

/* Without a server, calls do what they do at a port whose link is down. */
static void
calls_without_a_server_are_those_of_a_port_without_link(void **state)
{
	uint64_t start_ns;
	uint32_t tid = 0;
	int agent;
	const int portid = port_open(&agent);

	server_end(*state);
	assert_int_equal(result_receive(portid, &tid, 0), -EAGAIN);
	start_ns = clock_now_ns();
	assert_int_equal(result_receive(portid, &tid, 150), -ETIMEDOUT);
	assert_true(clock_now_ns() - start_ns >= 149 * NS_PER_MS);
	start_ns = clock_now_ns();
	assert_int_equal(umad_poll(portid, 150), -ETIMEDOUT);
	assert_true(clock_now_ns() - start_ns >= 149 * NS_PER_MS);
	start_ns = clock_now_ns();
	assert_int_equal(packet_send(portid, agent, 5, 1, 150), 0);
	assert_int_equal(umad_poll(portid, -1), 0);
	assert_int_equal(result_receive(portid, &tid, -1), ETIMEDOUT);
	assert_int_equal(tid, 5);
	assert_true(clock_now_ns() - start_ns >= 149 * NS_PER_MS);
	assert_int_equal(umad_register(portid, IBSA_CLASS_SA, 2, 1, NULL),
			 -EPERM);
	assert_int_equal(errno, ENODEV);
	assert_int_equal(umad_unregister(portid, agent), 0);
	assert_int_equal(umad_unregister(portid, agent), -1);
	server_restart(*state);
	while (umad_register(portid, IBSA_CLASS_SA, 2, 1, NULL) != agent)
		;
	check_answered(portid, agent);
	port_close(portid);
}

static void *thread_receive(void *arg)
{
	const int *portid = arg;
	static uint32_t tid;
	int status;

	do
		status = result_receive(*portid, &tid, -1);
	while (status == ETIMEDOUT);
	return status ? NULL : &tid;
}

/* A thread that waits without a timeout gets the replies of the next server. */
static void a_thread_that_waits_goes_on(void **state)
{
	pthread_t thread;
	void *result = NULL;
	uint32_t tid = 1;
	int agent;
	int portid = port_open(&agent);

	assert_int_equal(pthread_create(&thread, NULL, thread_receive, &portid),
			 0);
	server_end(*state);
	poll(NULL, 0, 50);
	server_restart(*state);
	while (pthread_tryjoin_np(thread, &result)) {
		assert_int_equal(packet_send(portid, agent, tid++, 1, 200), 0);
		poll(NULL, 0, 20);
	}
	assert_non_null(result);
	port_close(portid);
}

/* Wait with the program's epoll set, as long as nothing can be received. */
static bool set_receives(int set_fd, int portid, uint32_t wanted)
{
	const uint64_t start_ns = clock_now_ns();
	struct epoll_event event;
	uint32_t tid = 0;
	int status = -EAGAIN;

	while (clock_now_ns() - start_ns < LONG_MS * NS_PER_MS) {
		assert_true(epoll_wait(set_fd, &event, 1, LONG_MS) == 1);
		do
			status = result_receive(portid, &tid, 0);
		while (status >= 0 && (status || tid != wanted));
		if (!status && tid == wanted)
			return true;
		assert_int_equal(status, -EAGAIN);
	}
	return false;
}

static void check_set(struct server_rig *server, uint32_t events)
{
	struct epoll_event event = { .events = events };
	const int set_fd = epoll_create1(EPOLL_CLOEXEC);
	uint32_t tid = 0;
	int agent;
	const int portid = port_open(&agent);

	assert_int_equal(epoll_ctl(set_fd, EPOLL_CTL_ADD, umad_get_fd(portid),
				   &event),
			 0);
	assert_int_equal(packet_send(portid, agent, 1, 1, LONG_MS), 0);
	assert_true(set_receives(set_fd, portid, 1));
	for (int round = 0; round < 2; round++) {
		server_end(server);
		assert_int_equal(epoll_wait(set_fd, &event, 1, LONG_MS), 1);
		assert_int_equal(result_receive(portid, &tid, 0), -EAGAIN);
		server_restart(server);
		/* The request in flight comes back when the port works again. */
		assert_int_equal(packet_send(portid, agent, 2, NOWHERE,
					     10 * LONG_MS),
				 0);
		while (result_receive(portid, &tid, 0) != ETIMEDOUT)
			assert_int_equal(epoll_wait(set_fd, &event, 1, LONG_MS),
					 1);
		assert_int_equal(packet_send(portid, agent, 3, 1, LONG_MS), 0);
		assert_true(set_receives(set_fd, portid, 3));
		assert_int_equal(epoll_wait(set_fd, &event, 1, 20), 0);
	}
	port_close(portid);
	close(set_fd);
}

static void a_registration_in_an_epoll_set_stays_valid(void **state)
{
	check_set(*state, EPOLLIN);
	check_set(*state, EPOLLIN | EPOLLET);
}

static void the_portid_is_not_changed(void **state)
{
	struct pollfd fd = { .events = POLLIN };
	uint32_t tid = 0;
	int agent;
	const int portid = port_open(&agent);

	fd.fd = umad_get_fd(portid);
	assert_int_equal(fcntl(fd.fd, F_SETFL, O_NONBLOCK), 0);
	server_end(*state);
	server_restart(*state);
	check_answered(portid, agent);
	assert_int_equal(umad_get_fd(portid), fd.fd);
	assert_true(fcntl(fd.fd, F_GETFL) & O_NONBLOCK);
	assert_int_equal(poll(&fd, 1, 20), 0);
	assert_int_equal(result_receive(portid, &tid, 0), -EAGAIN);
	assert_int_equal(packet_send(portid, agent, 9, 1, LONG_MS), 0);
	assert_int_equal(poll(&fd, 1, LONG_MS), 1);
	assert_int_equal(result_receive(portid, &tid, 0), 0);
	assert_int_equal(tid, 9);
	port_close(portid);
}

/* After the time in IBSA_UMAD_REOPEN, calls fail until there is a server. */
static void calls_fail_after_the_time_to_reopen(void **state)
{
	uint32_t tid = 0;
	int status;
	int agent;
	int portid;

	setenv("IBSA_UMAD_REOPEN", "1", 1);
	portid = port_open(&agent);
	unsetenv("IBSA_UMAD_REOPEN");
	server_end(*state);
	do
		status = result_receive(portid, &tid, -1);
	while (status >= 0);
	assert_int_equal(status, -EIO);
	assert_int_equal(umad_poll(portid, -1), 0);
	assert_int_equal(packet_send(portid, agent, 1, 1, 100), -EIO);
	server_restart(*state);
	while (packet_send(portid, agent, 2, 1, 100))
		poll(NULL, 0, 10);
	check_answered(portid, agent);
	port_close(portid);
}

static void run_child(int go, int portid, int agent)
{
	char byte;

	if (read(go, &byte, 1) != 1)
		_exit(1);
	_exit(is_answered(portid, agent) ? 0 : 2);
}

/* A daemon that has opened the port before it forked. */
static void a_child_opens_its_parents_port_again(void **state)
{
	int agent, go[2];
	int portid = port_open(&agent);
	pid_t child;

	assert_int_equal(pipe(go), 0);
	check_answered(portid, agent);
	child = fork();
	if (!child)
		run_child(go[0], portid, agent);
	port_close(portid);
	server_end(*state);
	server_restart(*state);
	assert_int_equal(write(go[1], "", 1), 1);
	child_end(child);
	close(go[0]);
	close(go[1]);
}

static void restarts_leave_no_descriptors(void **state)
{
	unsigned int before = 0;
	int agent;
	const int portid = port_open(&agent);

	for (int round = 0; round < 12; round++) {
		check_answered(portid, agent);
		if (round == 2)
			before = descriptors_count();
		server_end(*state);
		server_restart(*state);
	}
	check_answered(portid, agent);
	assert_int_equal(descriptors_count(), before);
	port_close(portid);
}

#define TEST(name)                                                \
	cmocka_unit_test_setup_teardown(name, libibumad_at_right, \
					libibumad_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(agents_have_their_numbers_again),
		TEST(methods_are_registered_again),
		TEST(requests_in_flight_time_out_with_the_next_server),
		TEST(answered_requests_do_not_come_back),
		TEST(calls_without_a_server_are_those_of_a_port_without_link),
		TEST(a_thread_that_waits_goes_on),
		TEST(a_registration_in_an_epoll_set_stays_valid),
		TEST(the_portid_is_not_changed),
		TEST(calls_fail_after_the_time_to_reopen),
		TEST(a_child_opens_its_parents_port_again),
		TEST(restarts_leave_no_descriptors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
