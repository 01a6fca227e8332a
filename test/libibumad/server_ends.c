/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libibumad's calls at a fabric server that ends, if IBSA_UMAD_REOPEN is 0: as
 * those of a device that was removed.
 */
#include "../support/child.h"
#include "rig.h"
#include "wire/mad.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { CLASS_PORT_INFO = 0x0001, REST_MS = 100 };

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The result of umad_recv(), and its duration. */
static int recv_timed(int portid, int timeout_ms, int64_t *out_ms)
{
	struct umad_packet packet;
	int length = MAD_BYTES;
	const int64_t start_ms = now_ms();
	const int result = umad_recv(portid, packet.bytes, &length, timeout_ms);

	*out_ms = now_ms() - start_ms;
	return result;
}

/* Whether the SA at LID 1 answers a query for ClassPortInfo. */
static bool is_answered(int portid, int agent)
{
	struct umad_packet packet = sa_request(IBSA_METHOD_GET,
					       CLASS_PORT_INFO);
	const uint8_t *mad = umad_get_mad(packet.bytes);
	int length = MAD_BYTES;

	return !umad_send(portid, agent, packet.bytes, MAD_BYTES, 10000, 0) &&
	       umad_recv(portid, packet.bytes, &length, -1) == agent &&
	       !umad_status(packet.bytes) &&
	       mad[MAD_METHOD] == IBSA_METHOD_GET_RESP;
}

static void answer_comes(int portid, int agent)
{
	assert_true(is_answered(portid, agent));
}

/* A port whose server has ended fails like a device without its driver. */
static void a_port_ends_with_its_server(void **state)
{
	const int portid = umad_open_port(NULL, 0);
	struct server_rig *server = *state;
	int64_t took_ms;

	assert_true(portid >= 0);
	server_end(server);
	assert_int_equal(recv_timed(portid, 10000, &took_ms), -EIO);
	assert_true(umad_register(portid, IBSA_CLASS_SA, 2, 1, NULL) < 0);
	port_close(portid);
	assert_true(umad_open_port(NULL, 0) < 0);
}

/*
 * The first packet after the server's end may still be accepted; the next
 * umad_recv() and the next umad_send() fail.
 */
static void a_server_that_has_gone_accepts_no_packets(void **state)
{
	struct umad_packet packet = sa_request(IBSA_METHOD_GET,
					       CLASS_PORT_INFO);
	struct server_rig *server = *state;
	int64_t took_ms;
	int agent;
	int portid = port_open(&agent);

	answer_comes(portid, agent);
	server_end(server);
	(void)umad_send(portid, agent, packet.bytes, MAD_BYTES, 0, 0);
	assert_int_equal(recv_timed(portid, 0, &took_ms), -EIO);
	assert_int_equal(
		umad_send(portid, agent, packet.bytes, MAD_BYTES, 0, 0), -EIO);
	port_close(portid);
	server_restart(server);
}

/*
 * When the server has ended, umad_recv() fails only after a tenth of a second,
 * so a loop around it, like OpenSM's, does not spin.
 */
static void waiting_for_a_server_that_has_gone_takes_time(void **state)
{
	struct server_rig *server = *state;
	int64_t took_ms;
	int agent;
	int portid = port_open(&agent);

	answer_comes(portid, agent);
	server_end(server);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(recv_timed(portid, -1, &took_ms), -EIO);
		assert_true(took_ms >= REST_MS - 1);
	}
	assert_int_equal(recv_timed(portid, 60000, &took_ms), -EIO);
	assert_in_range(took_ms, REST_MS - 1, 30000);
	assert_int_equal(recv_timed(portid, 20, &took_ms), -EIO);
	assert_true(took_ms >= 19);
	assert_int_equal(errno, EIO);
	assert_int_equal(recv_timed(portid, 0, &took_ms), -EIO);
	port_close(portid);
	server_restart(server);
}

/*
 * When the server is back, a portid that was open does not work again; a portid
 * that is opened now does.
 */
static void another_server_is_another_device(void **state)
{
	struct server_rig *server = *state;
	int64_t took_ms;
	int old_agent;
	int old = port_open(&old_agent);
	int agent;
	int portid;

	server_end(server);
	assert_true(umad_open_port(NULL, 0) < 0);
	server_restart(server);
	assert_int_equal(recv_timed(old, 1, &took_ms), -EIO);
	assert_true(umad_register(old, IBSA_CLASS_SA, 2, 1, NULL) < 0);
	portid = port_open(&agent);
	answer_comes(portid, agent);
	assert_int_equal(recv_timed(old, 1, &took_ms), -EIO);
	port_close(old);
	answer_comes(portid, agent);
	port_close(portid);
}

static void run_child(int portid, int agent)
{
	bool is_fine = is_answered(portid, agent);
	const int other = umad_register(portid, IBSA_CLASS_SA, 2, 1, NULL);

	is_fine = is_fine && other >= 0 && is_answered(portid, other) &&
		  !umad_close_port(portid);
	_exit(is_fine ? 0 : 1);
}

/* A child has its parent's descriptor and uses the port, as with a device. */
static void a_child_uses_its_parents_port(void **state)
{
	pid_t child;
	int agent;
	int portid = port_open(&agent);

	(void)state;
	answer_comes(portid, agent);
	child = fork();
	if (!child)
		run_child(portid, agent);
	child_end(child);
	answer_comes(portid, agent);
	port_close(portid);
}

#define TEST(name)                                                \
	cmocka_unit_test_setup_teardown(name, libibumad_anywhere, \
					libibumad_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_port_ends_with_its_server,
						libibumad_at_right,
						libibumad_tear_down),
		TEST(a_server_that_has_gone_accepts_no_packets),
		TEST(waiting_for_a_server_that_has_gone_takes_time),
		TEST(a_child_uses_its_parents_port),
		TEST(another_server_is_another_device),
	};

	setenv("IBSA_UMAD_REOPEN", "0", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
