/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* libibumad's calls at a fabric server that ends, and at the one after it. */
#include "served_rig.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <infiniband/umad.h>

#include <ibsa/sa.h>

enum { MAD_BYTES = 256, ROOM = 64 + MAD_BYTES, REST_MS = 100 };

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* A port at the server, and an agent of the SA's class. */
static int port_open(int *agent)
{
	const int portid = umad_open_port(NULL, 0);

	assert_true(portid >= 0);
	*agent = umad_register(portid, IBSA_CLASS_SA, 2, 1, NULL);
	assert_true(*agent >= 0);
	return portid;
}

static void port_close(int portid)
{
	assert_int_equal(umad_close_port(portid), 0);
}

/* What umad_recv() says, and after how long. */
static int recv_timed(int portid, int timeout_ms, int64_t *out_ms)
{
	_Alignas(8) uint8_t packet[ROOM];
	int length = MAD_BYTES;
	const int64_t start_ms = now_ms();
	const int result = umad_recv(portid, packet, &length, timeout_ms);

	*out_ms = now_ms() - start_ms;
	return result;
}

/* Whether a ClassPortInfo comes of the SA at LID 1. */
static bool is_answered(int portid, int agent)
{
	_Alignas(8) uint8_t packet[ROOM] = { 0 };
	uint8_t *mad = umad_get_mad(packet);
	int length = MAD_BYTES;

	mad[0] = 1;
	mad[1] = IBSA_CLASS_SA;
	mad[2] = 2;
	mad[3] = IBSA_METHOD_GET;
	mad[15] = 7;
	mad[17] = 1;
	umad_set_addr(packet, 1, 1, 0, IBSA_QKEY_GSI);
	return !umad_send(portid, agent, packet, MAD_BYTES, 10000, 0) &&
	       umad_recv(portid, packet, &length, -1) == agent &&
	       !umad_status(packet) && mad[3] == IBSA_METHOD_GET_RESP;
}

static void answer_comes(int portid, int agent)
{
	assert_true(is_answered(portid, agent));
}

/* A loop around umad_recv(), as OpenSM has, goes round ten times a second. */
static void waiting_for_a_server_that_has_gone_takes_time(void **state)
{
	struct served *served = *state;
	int64_t took_ms;
	int agent;
	int portid = port_open(&agent);

	answer_comes(portid, agent);
	served_end(served);
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
	served_again(served);
}

/* It is another device: what was open stays dead, what is opened is not. */
static void another_server_is_another_device(void **state)
{
	struct served *served = *state;
	int64_t took_ms;
	int old_agent;
	int old = port_open(&old_agent);
	int agent;
	int portid;

	served_end(served);
	assert_true(umad_open_port(NULL, 0) < 0);
	served_again(served);
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

/* As of a device, of which the child has the descriptor. */
static void a_child_uses_its_parents_port(void **state)
{
	int status = -1;
	pid_t child;
	int agent;
	int portid = port_open(&agent);

	(void)state;
	answer_comes(portid, agent);
	child = fork();
	assert_true(child >= 0);
	if (!child)
		run_child(portid, agent);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	answer_comes(portid, agent);
	port_close(portid);
}

static int start(void **state)
{
	struct served *served = served_start(served_pair);

	*state = served;
	return setenv("IBSA_FABRIC", served_name(served), 1);
}

static int stop(void **state)
{
	served_stop(*state);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			waiting_for_a_server_that_has_gone_takes_time, start,
			stop),
		cmocka_unit_test_setup_teardown(a_child_uses_its_parents_port,
						start, stop),
		cmocka_unit_test_setup_teardown(
			another_server_is_another_device, start, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
