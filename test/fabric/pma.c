/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counters of a port count its packets, and a Set clears the selected ones.
 * Source: IBA vol 1, 16.1.3.
 */
#include "file_rig.h"

enum {
	GET = 1,
	SET = 2,
	CLASS_PORT_INFO = 0x0001,
	SAMPLES_CONTROL = 0x0010,
	SAMPLES_RESULT = 0x0011,
	PORT_COUNTERS = 0x0012,
	EXTENDED = 0x001d,
	DATA = 64,
	PACKET_WORDS = 72, /* words of 4 bytes: a MAD of 256 bytes, 32 bytes of
			    * headers */
	CLASS_VENDOR = 0x09,
};

struct rig {
	struct ibsa_fabric *fabric;
	struct port_file *a;
	uint32_t agent;
	uint32_t lid_s;
	uint32_t lid_b;
};

static int start(void **state)
{
	static struct rig rig;

	rig.fabric = file_fabric(file_two_hosts, NULL);
	rig.a = file_open(rig.fabric, "a", 1);
	rig.agent = file_agent(rig.a, 0, 0, 0);
	rig.lid_s = file_lid(rig.fabric, "s", 0);
	rig.lid_b = file_lid(rig.fabric, "b", 1);
	*state = &rig;
	return 0;
}

static int stop(void **state)
{
	struct rig *rig = *state;

	ibsa__port_file_close(rig->a);
	ibsa_fabric_put(rig->fabric);
	return 0;
}

/*
 * Send a request to the port's performance agent. Return: the response, from
 * the MAD header on.
 */
static const uint8_t *exchange(const struct rig *rig, uint32_t lid,
			       uint8_t method, uint16_t attribute, uint8_t port,
			       uint16_t select)
{
	struct packet_out packet = file_request(rig->agent, lid, CLASS_PERF,
						method, attribute, 7);

	packet.mad[DATA + 1] = port;
	ibsa_put_be16(packet.mad + DATA + 2, select);
	return file_exchange(rig->a, &packet);
}

static uint64_t extended(const struct rig *rig, uint8_t port, size_t at)
{
	const uint8_t *mad = exchange(rig, rig->lid_s, GET, EXTENDED, port, 0);

	assert_int_equal(ibsa_be16(mad + MAD_STATUS), 0);
	return ibsa_be64(mad + DATA + at);
}

static uint32_t plain(const struct rig *rig, uint8_t port, size_t at)
{
	const uint8_t *mad = exchange(rig, rig->lid_s, GET, PORT_COUNTERS, port,
				      0);

	assert_int_equal(ibsa_be16(mad + MAD_STATUS), 0);
	return ibsa_be32(mad + DATA + at);
}

/*
 * Send a request to b that is refused: one packet passes port 2 in each
 * direction.
 */
static void ping(const struct rig *rig)
{
	const struct packet_out packet = file_request(rig->agent, rig->lid_b,
						      CLASS_VENDOR, GET, 1, 9);

	(void)file_exchange(rig->a, &packet);
}

static void packets_of_a_port_are_counted(void **state)
{
	const struct rig *rig = *state;

	assert_int_equal(extended(rig, 2, 24), 0);
	ping(rig);
	ping(rig);
	for (size_t at = 24; at <= 48; at += 8)
		assert_int_equal(extended(rig, 2, at), 2);
	assert_int_equal(extended(rig, 2, 8), 2 * PACKET_WORDS);
	assert_int_equal(extended(rig, 2, 16), 2 * PACKET_WORDS);
	assert_int_equal(extended(rig, 2, 56), 0);
	assert_int_equal(plain(rig, 2, 24), 2 * PACKET_WORDS);
	assert_int_equal(plain(rig, 2, 36), 2);
	/* Port number 0xff stands for the sum over all ports of a switch. */
	assert_true(plain(rig, 0xff, 36) > 2);
}

/* Both attributes count the same packets, but are cleared separately. */
static void a_set_clears_the_selected_counters(void **state)
{
	const struct rig *rig = *state;
	const uint8_t *mad;

	ping(rig);
	mad = exchange(rig, rig->lid_s, SET, PORT_COUNTERS, 2, 1 << 14);
	assert_int_equal(ibsa_be16(mad + MAD_STATUS), 0);
	assert_int_equal(ibsa_be32(mad + DATA + 32), 0);
	assert_int_equal(ibsa_be32(mad + DATA + 36), 1);
	assert_int_equal(extended(rig, 2, 24), 1);
	(void)exchange(rig, rig->lid_s, SET, EXTENDED, 2, 0xff);
	for (size_t at = 8; at <= 64; at += 8)
		assert_int_equal(extended(rig, 2, at), 0);
	ping(rig);
	assert_int_equal(extended(rig, 2, 24), 1);
	assert_int_equal(extended(rig, 2, 40), 1);
	assert_int_equal(plain(rig, 2, 32), 1);
	assert_int_equal(plain(rig, 2, 36), 2);
}

/*
 * Each counter is stored by itself: a counter that is computed from others
 * would change when those are cleared.
 */
static void each_counter_is_set_by_itself(void **state)
{
	enum {
		PACKETS_BIT = 1 << 2,
		UNICAST_BIT = 1 << 4,
		PACKETS_AT = 24,
		UNICAST_AT = 40,
	};
	const struct rig *rig = *state;

	ping(rig);
	(void)exchange(rig, rig->lid_s, SET, EXTENDED, 2, UNICAST_BIT);
	assert_int_equal(extended(rig, 2, PACKETS_AT), 1);
	assert_int_equal(extended(rig, 2, UNICAST_AT), 0);
	ping(rig);
	(void)exchange(rig, rig->lid_s, SET, EXTENDED, 2, PACKETS_BIT);
	assert_int_equal(extended(rig, 2, PACKETS_AT), 0);
	assert_int_equal(extended(rig, 2, UNICAST_AT), 1);
}

/* The sum over all ports of a switch also stops at the maximum of its field. */
static void a_sum_stays_at_its_highest_value(void **state)
{
	enum {
		ALL_PORTS = 0xff,
		LINK_DOWNED_BIT = 1 << 2,
		LINK_DOWNED_AT = 7,
	};
	const struct rig *rig = *state;
	struct packet_out packet = file_request(
		rig->agent, rig->lid_s, CLASS_PERF, SET, PORT_COUNTERS, 7);

	packet.mad[DATA + 1] = ALL_PORTS;
	ibsa_put_be16(packet.mad + DATA + 2, LINK_DOWNED_BIT);
	packet.mad[DATA + LINK_DOWNED_AT] = 100;
	assert_int_equal(file_exchange(rig->a, &packet)[DATA + LINK_DOWNED_AT],
			 UINT8_MAX);
}

/* Packets without a route and failures of the link are counted. */
static void errors_are_counted(void **state)
{
	struct ibsa_fabric_port_change change = { .mask = IBSA_CHANGE_LINK };
	const struct rig *rig = *state;
	struct packet_out packet = file_request(rig->agent, 99, CLASS_VENDOR,
						GET, 1, 9);

	assert_int_equal(file_write(rig->a, &packet), 0);
	assert_int_equal(plain(rig, 1, 12), 1 << 16);
	assert_int_equal(ibsa_fabric_port_set(rig->fabric, "b", 1, &change), 0);
	assert_int_equal(plain(rig, 2, 4), 1);
	change.link_up = true;
	assert_int_equal(ibsa_fabric_port_set(rig->fabric, "b", 1, &change), 0);
	assert_int_equal(plain(rig, 2, 4), 1);
}

static void request_for_a_missing_object_is_refused(void **state)
{
	const struct rig *rig = *state;
	const uint8_t *mad = exchange(rig, rig->lid_s, GET, CLASS_PORT_INFO, 0,
				      0);

	assert_int_equal(mad[DATA], 1);
	assert_int_equal(ibsa_be16(mad + DATA + 2), 0x9300);
	mad = exchange(rig, rig->lid_b, GET, CLASS_PORT_INFO, 0, 0);
	assert_int_equal(ibsa_be16(mad + DATA + 2), 0x9200);
	mad = exchange(rig, rig->lid_b, SET, CLASS_PORT_INFO, 0, 0);
	assert_int_equal(ibsa_be16(mad + MAD_STATUS), 0x0c);
	mad = exchange(rig, rig->lid_s, SET, SAMPLES_CONTROL, 1, 0);
	assert_int_equal(ibsa_be16(mad + MAD_STATUS), 0x0c);
	mad = exchange(rig, rig->lid_s, GET, SAMPLES_RESULT, 1, 0);
	assert_int_equal(ibsa_be16(mad + MAD_STATUS), 0x0c);
	mad = exchange(rig, rig->lid_s, GET, PORT_COUNTERS, 5, 0);
	assert_int_equal(ibsa_be16(mad + MAD_STATUS), 0x1c);
	mad = exchange(rig, rig->lid_b, GET, PORT_COUNTERS, 0xff, 0);
	assert_int_equal(ibsa_be16(mad + MAD_STATUS), 0x1c);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(packets_of_a_port_are_counted),
		TEST(a_set_clears_the_selected_counters),
		TEST(each_counter_is_set_by_itself),
		TEST(a_sum_stays_at_its_highest_value),
		TEST(errors_are_counted),
		TEST(request_for_a_missing_object_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
