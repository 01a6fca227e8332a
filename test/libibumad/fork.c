/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A port at a fabric server in a forked child without memory: each call fails
 * with ENOMEM, and the parent's port still works.
 */
#include "../support/child.h"
#include "../support/fail_alloc.h"
#include "rig.h"

#include <unistd.h>

#include <ibsa/records.h>

/* Whether the last call failed because memory was short. */
static bool is_memory(int result)
{
	return result < 0 && errno == ENOMEM;
}

static bool receive_fails(int portid)
{
	struct umad_packet packet;
	int length = MAD_BYTES;

	return is_memory(umad_recv(portid, packet.bytes, &length, 0));
}

static bool send_fails(int portid, int agent)
{
	struct umad_packet packet = sa_request(
		IBSA_METHOD_GET, ibsa_class_port_info_record.attribute);

	return is_memory(
		umad_send(portid, agent, packet.bytes, MAD_BYTES, 100, 0));
}

/* Return: the number of the check that failed, or 0. */
static int child_run(int portid, int agent)
{
	fail_alloc_after(0);
	if (!send_fails(portid, agent))
		return 1;
	if (!receive_fails(portid))
		return 2;
	if (!is_memory(umad_register(portid, IBSA_CLASS_SA, 2, 1, NULL)))
		return 3;
	if (!is_memory(umad_unregister(portid, agent)))
		return 4;
	fail_alloc_after(-1);
	return 0;
}

static void a_child_without_memory_leaves_the_port_alone(void **state)
{
	struct umad_packet packet = sa_request(
		IBSA_METHOD_GET, ibsa_class_port_info_record.attribute);
	int length = MAD_BYTES;
	int agent;
	const int portid = port_open(&agent);
	const pid_t child = fork();

	(void)state;
	if (!child)
		_exit(child_run(portid, agent));
	child_end(child);
	assert_int_equal(
		umad_send(portid, agent, packet.bytes, MAD_BYTES, 1000, 0), 0);
	assert_int_equal(umad_recv(portid, packet.bytes, &length, 10000),
			 agent);
	assert_int_equal(umad_status(packet.bytes), 0);
	port_close(portid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_child_without_memory_leaves_the_port_alone,
			libibumad_at_right, libibumad_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
