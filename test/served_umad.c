/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* libibumad's calls on a fabric in another process. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include <infiniband/umad.h>

#include <ibsa/bits.h>
#include <ibsa/sa.h>

#include "served_rig.h"

enum { NODE_RECORD = 0x0011, CAP_IS_SM = 1 << 1, MAD_BYTES = 256 };

static struct served *start(const char *node)
{
	struct served *served = served_start(served_pair);

	setenv("IBSA_FABRIC", served_name(served), 1);
	setenv("IBSA_NODE", node, 1);
	return served;
}

static void stop(struct served *served)
{
	unsetenv("IBSA_FABRIC");
	unsetenv("IBSA_NODE");
	served_stop(served);
}

static void the_device_has_its_name_and_port(void **state)
{
	struct served *served = start("right");
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
	stop(served);
}

/* A request to the SA for all nodes, three of them. */
static void *table_request(void)
{
	uint8_t *umad = umad_alloc(1, umad_size() + MAD_BYTES);
	uint8_t *mad = umad_get_mad(umad);

	mad[0] = 1;
	mad[1] = IBSA_CLASS_SA;
	mad[2] = IBSA_CLASS_VERSION;
	mad[3] = IBSA_METHOD_GET_TABLE;
	mad[15] = 1;
	ibsa_put_be16(mad + 16, NODE_RECORD);
	assert_int_equal(umad_set_addr(umad, 1, 1, 0, 0x80010000), 0);
	return umad;
}

static void a_table_comes_whole(void **state)
{
	struct served *served = start("right");
	const int portid = umad_open_port(NULL, 0);
	const int agent = umad_register(portid, IBSA_CLASS_SA, 2, 1, NULL);
	void *request = table_request();
	void *answer = umad_alloc(1, umad_size() + 4096);
	int length = MAD_BYTES;

	(void)state;
	assert_true(portid >= 0);
	assert_true(agent >= 0);
	assert_int_equal(umad_get_fd(portid), portid);
	assert_int_equal(umad_recv(portid, answer, &length, 1), -ETIMEDOUT);
	assert_int_equal(umad_send(portid, agent, request, MAD_BYTES, 1000, 3),
			 0);
	assert_int_equal(umad_poll(portid, 10000), 0);
	length = MAD_BYTES;
	assert_int_equal(umad_recv(portid, answer, &length, 1000), -ENOSPC);
	assert_int_equal(length, 56 + 3 * 112);
	assert_int_equal(umad_recv(portid, answer, &length, 1000), agent);
	assert_int_equal(length, 56 + 3 * 112);
	assert_int_equal(umad_status(answer), 0);
	assert_int_equal(umad_unregister(portid, agent), 0);
	assert_int_equal(umad_unregister(portid, agent), -1);
	umad_free(request);
	umad_free(answer);
	assert_int_equal(umad_close_port(portid), 0);
	stop(served);
}

/* Nobody has that LID. */
static void a_request_in_vain_times_out(void **state)
{
	struct served *served = start("right");
	const int portid = umad_open_port("ibsa0", 1);
	const int agent = umad_register(portid, IBSA_CLASS_SA, 2, 1, NULL);
	void *request = table_request();
	int length = MAD_BYTES;

	(void)state;
	assert_int_equal(umad_set_addr(request, 999, 1, 0, 0x80010000), 0);
	assert_int_equal(umad_send(portid, agent, request, MAD_BYTES, 10, 1),
			 0);
	assert_int_equal(umad_recv(portid, request, &length, 10000), agent);
	assert_int_equal(umad_status(request), ETIMEDOUT);
	assert_int_equal(length, 24);
	umad_free(request);
	assert_int_equal(umad_close_port(portid), 0);
	stop(served);
}

static void methods_are_one_agents(void **state)
{
	struct served *served = start("right");
	long methods[16 / sizeof(long)] = { 1L << IBSA_METHOD_REPORT };
	const int one = umad_open_port(NULL, 0);
	const int two = umad_open_port(NULL, 0);

	(void)state;
	assert_true(one >= 0 && two >= 0 && one != two);
	assert_true(umad_register(one, IBSA_CLASS_SA, 2, 1, methods) >= 0);
	assert_int_equal(umad_register(two, IBSA_CLASS_SA, 2, 1, methods),
			 -EPERM);
	assert_int_equal(umad_close_port(one), 0);
	assert_true(umad_register(two, IBSA_CLASS_SA, 2, 1, methods) >= 0);
	assert_int_equal(umad_close_port(two), 0);
	stop(served);
}

/* As the device of a driver that was taken out. */
static void a_port_ends_with_its_server(void **state)
{
	struct served *served = start("right");
	const int portid = umad_open_port(NULL, 0);
	char packet[512];
	int length = MAD_BYTES;

	(void)state;
	assert_true(portid >= 0);
	served_end(served);
	assert_int_equal(umad_recv(portid, packet, &length, 10000), -EIO);
	assert_true(umad_register(portid, IBSA_CLASS_SA, 2, 1, NULL) < 0);
	assert_int_equal(umad_close_port(portid), 0);
	assert_true(umad_open_port(NULL, 0) < 0);
	stop(served);
}

static bool says_sm(void)
{
	umad_port_t port;
	bool is_sm;

	assert_int_equal(umad_get_port(NULL, 0, &port), 0);
	is_sm = be32toh(port.capmask) & CAP_IS_SM;
	umad_release_port(&port);
	return is_sm;
}

/* The server is told of it beside what it is asked. */
static bool becomes_sm(bool wanted)
{
	for (int ms = 0; ms < 10000 && says_sm() != wanted; ms++)
		poll(NULL, 0, 1);
	return says_sm() == wanted;
}

static void an_open_file_says_that_there_is_an_sm(void **state)
{
	struct served *served = start("right");
	char path[256];
	int fd;

	(void)state;
	assert_false(says_sm());
	assert_int_equal(umad_get_issm_path(NULL, 0, path, 5), -ENAMETOOLONG);
	assert_int_equal(umad_get_issm_path(NULL, 0, path, sizeof(path)), 0);
	assert_false(says_sm());
	fd = open(path, O_RDONLY | O_NONBLOCK);
	assert_true(fd >= 0);
	assert_true(becomes_sm(true));
	close(fd);
	assert_true(becomes_sm(false));
	fd = open(path, O_RDWR);
	assert_true(becomes_sm(true));
	served_end(served);
	close(fd);
	assert_int_equal(access(path, F_OK), -1);
	stop(served);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_device_has_its_name_and_port),
		cmocka_unit_test(a_table_comes_whole),
		cmocka_unit_test(a_request_in_vain_times_out),
		cmocka_unit_test(methods_are_one_agents),
		cmocka_unit_test(a_port_ends_with_its_server),
		cmocka_unit_test(an_open_file_says_that_there_is_an_sm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
