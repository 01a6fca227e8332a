/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* libibumad's calls on a fabric in another process. */
#include "rig.h"

#include "absent.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

enum { NODE_RECORD = 0x0011, CAP_IS_SM = 1 << 1, TABLE_BYTES = 56 + 3 * 112 };

static void the_device_has_its_name_and_port(void **state)
{
	char names[4][UMAD_CA_NAME_LEN];
	__be64 guids[4];
	umad_port_t port;
	umad_ca_t ca;

	(void)state;
	assert_int_equal(umad_get_cas_names(names, 4), 1);
	assert_string_equal(names[0], "ibsa0");
	assert_int_equal(umad_get_ca(NULL, &ca), 0);
	assert_int_equal(ca.numports, 1);
	assert_int_equal(ca.node_type, 1);
	assert_int_equal(umad_release_ca(&ca), 0);
	assert_int_equal(umad_get_port("ibsa0", 1, &port), 0);
	assert_int_equal(port.base_lid, 2);
	assert_int_equal(port.state, 4);
	assert_int_equal(port.rate, 10);
	assert_int_equal(port.pkeys_size, 1);
	assert_int_equal(port.pkeys[0], 0xffff);
	assert_int_equal(umad_get_ca_portguids("ibsa0", guids, 4), 2);
	assert_int_equal(guids[0], 0);
	assert_true(guids[1] == port.port_guid);
	assert_int_equal(umad_release_port(&port), 0);
}

/* The records of three nodes take more than one MAD. */
static void a_table_comes_whole(void **state)
{
	struct umad_packet request = sa_request(IBSA_METHOD_GET_TABLE,
						NODE_RECORD);
	_Alignas(8) uint8_t answer[ROOM + TABLE_BYTES];
	int length = MAD_BYTES;
	int agent;
	const int portid = port_open(&agent);

	(void)state;
	assert_int_equal(umad_get_fd(portid), portid);
	assert_int_equal(umad_recv(portid, answer, &length, 1), -ETIMEDOUT);
	assert_int_equal(
		umad_send(portid, agent, request.bytes, MAD_BYTES, 1000, 3), 0);
	assert_int_equal(umad_poll(portid, 10000), 0);
	length = MAD_BYTES;
	assert_int_equal(umad_recv(portid, answer, &length, 1000), -ENOSPC);
	assert_int_equal(length, TABLE_BYTES);
	assert_int_equal(umad_recv(portid, answer, &length, 1000), agent);
	assert_int_equal(length, TABLE_BYTES);
	assert_int_equal(umad_status(answer), 0);
	assert_int_equal(umad_unregister(portid, agent), 0);
	assert_int_equal(umad_unregister(portid, agent), -1);
	port_close(portid);
}

/* The request goes to a LID that no port has. */
static void a_request_without_reply_times_out(void **state)
{
	struct umad_packet packet = sa_request(IBSA_METHOD_GET_TABLE,
					       NODE_RECORD);
	const int portid = umad_open_port("ibsa0", 1);
	const int agent = umad_register(portid, IBSA_CLASS_SA, 2, 1, NULL);
	int length = MAD_BYTES;

	(void)state;
	assert_int_equal(umad_set_addr(packet.bytes, 999, 1, 0, IBSA_QKEY_GSI),
			 0);
	assert_int_equal(
		umad_send(portid, agent, packet.bytes, MAD_BYTES, 10, 1), 0);
	assert_int_equal(umad_recv(portid, packet.bytes, &length, 10000),
			 agent);
	assert_int_equal(umad_status(packet.bytes), ETIMEDOUT);
	assert_int_equal(length, 24);
	port_close(portid);
}

static void methods_are_one_agents(void **state)
{
	long methods[16 / sizeof(long)] = { 1L << IBSA_METHOD_REPORT };
	const int one = umad_open_port(NULL, 0);
	const int two = umad_open_port(NULL, 0);

	(void)state;
	assert_true(one >= 0 && two >= 0 && one != two);
	assert_true(umad_register(one, IBSA_CLASS_SA, 2, 1, methods) >= 0);
	assert_int_equal(umad_register(two, IBSA_CLASS_SA, 2, 1, methods),
			 -EPERM);
	port_close(one);
	assert_true(umad_register(two, IBSA_CLASS_SA, 2, 1, methods) >= 0);
	port_close(two);
}

static bool has_sm_bit(void)
{
	umad_port_t port;
	bool is_sm;

	assert_int_equal(umad_get_port(NULL, 0, &port), 0);
	is_sm = be32toh(port.capmask) & CAP_IS_SM;
	umad_release_port(&port);
	return is_sm;
}

/*
 * Return: whether the port's IsSM becomes @wanted after its issm file was
 * opened or closed, which the server detects without a request.
 */
static bool becomes_sm(bool wanted)
{
	for (int ms = 0; ms < 10000 && has_sm_bit() != wanted; ms++)
		poll(NULL, 0, 1);
	return has_sm_bit() == wanted;
}

static void an_open_file_says_that_there_is_an_sm(void **state)
{
	struct server_rig *server = *state;
	char path[256];
	int fd;

	assert_false(has_sm_bit());
	assert_int_equal(umad_get_issm_path("no_such_ca", 1, path, 256),
			 -EINVAL);
	assert_int_equal(umad_get_issm_path(NULL, 0, path, 5), -ENAMETOOLONG);
	assert_int_equal(umad_get_issm_path(NULL, 0, path, sizeof(path)), 0);
	assert_false(has_sm_bit());
	fd = open(path, O_RDONLY | O_NONBLOCK);
	assert_true(fd >= 0);
	assert_true(becomes_sm(true));
	close(fd);
	assert_true(becomes_sm(false));
	fd = open(path, O_RDWR);
	assert_true(becomes_sm(true));
	server_end(server);
	server_restart(server);
	assert_true(becomes_sm(true));
	close(fd);
	assert_true(becomes_sm(false));
	server_end(server);
	/* Over TCP, the file belongs to this process. */
	if (!getenv("IBSA_TEST_TCP"))
		assert_int_equal(access(path, F_OK), -1);
}

/*
 * libibumad returns the same error for a device and for a port that does not
 * exist.
 */
static void a_port_that_is_not_there_is_no_device(void **state)
{
	umad_ca_t ca;

	(void)state;
	setenv("IBSA_NODE", "right/9", 1);
	assert_int_equal(umad_get_ca("ibsa0", &ca), -ENODEV);
	assert_int_equal(umad_get_ca(NULL, &ca), -ENODEV);
	assert_int_equal(umad_open_port("ibsa0", 1), -ENODEV);
	assert_int_equal(umad_get_ca_portguids("ibsa0", NULL, 0), -1);
	unsetenv("IBSA_NODE");
}

static void missing_names_are_enoent_in_errno(void **state)
{
	(void)state;
	assert_absent_is_enoent("ibsa0");
}

#define AT_RIGHT(name)                                            \
	cmocka_unit_test_setup_teardown(name, libibumad_at_right, \
					libibumad_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		AT_RIGHT(the_device_has_its_name_and_port),
		AT_RIGHT(a_table_comes_whole),
		AT_RIGHT(a_request_without_reply_times_out),
		AT_RIGHT(methods_are_one_agents),
		AT_RIGHT(an_open_file_says_that_there_is_an_sm),
		AT_RIGHT(a_port_that_is_not_there_is_no_device),
		AT_RIGHT(missing_names_are_enoent_in_errno),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
