/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counters of a port count its packets and the errors of its cable, and a Set
 * clears the selected ones.
 * Source: IBA vol 1, 16.1.3.
 */
#include <errno.h>

#include "fabric/server/server.h"
#include "file_rig.h"

#define SECOND UINT64_C(1000000000)

enum {
	GET = 1,
	SET = 2,
	GET_TABLE = 0x12, /* no method of performance agents */
	CLASS_PORT_INFO = 0x0001,
	SAMPLES_CONTROL = 0x0010,
	SAMPLES_RESULT = 0x0011,
	PORT_COUNTERS = 0x0012,
	ERROR_DETAILS = 0x0015,
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

/* The errors of @port of the switch, as one number. */
static uint32_t damage(const struct rig *rig, uint8_t port)
{
	enum { SYMBOLS_AT = 4, RCV_ERRORS_AT = 8, PHYSICAL_AT = 4 };
	const uint32_t symbols = plain(rig, port, SYMBOLS_AT) >> 16;
	const uint32_t received = plain(rig, port, RCV_ERRORS_AT) >> 16;
	const uint8_t *mad = exchange(rig, rig->lid_s, GET, ERROR_DETAILS, port,
				      0);

	assert_int_equal(ibsa_be16(mad + DATA + PHYSICAL_AT), received);
	assert_int_equal(symbols, received);
	return received;
}

static void fault(const struct rig *rig, enum ibsa_fault_kind kind)
{
	const struct ibsa_fault once = { .kind = kind,
					 .percent = 100,
					 .count = 1 };

	assert_int_equal(ibsa_fabric_fault(rig->fabric, &once), 0);
}

/* A MAD that a fault affects is an error of the port that it reaches first. */
static void a_damaged_mad_is_an_error_of_its_receiver(void **state)
{
	const struct rig *rig = *state;
	struct packet_out packet = file_request(rig->agent, rig->lid_b,
						CLASS_VENDOR, GET, 1, 9);
	struct packet_in answer;

	fault(rig, IBSA_FAULT_LOSE);
	assert_int_equal(file_write(rig->a, &packet), 0);
	assert_int_equal(damage(rig, 1), 1);
	assert_int_equal(damage(rig, 2), 0);
	/* The first request still waits for its response. */
	packet = file_request(rig->agent, rig->lid_b, CLASS_VENDOR, GET, 1, 10);
	fault(rig, IBSA_FAULT_CORRUPT);
	assert_int_equal(file_write(rig->a, &packet), 0);
	while (file_read(rig->a, &answer))
		;
	assert_int_equal(damage(rig, 1), 2);
}

/* Two counters of 4 bits share a byte; XmitWait has its bit elsewhere. */
static void narrow_counters_are_set_by_themselves(void **state)
{
	enum { NIBBLES_AT = 19, WAIT_AT = 40, SELECT2_AT = 18 };
	const struct rig *rig = *state;
	struct packet_out packet = file_request(
		rig->agent, rig->lid_s, CLASS_PERF, SET, PORT_COUNTERS, 7);
	const uint8_t *mad;

	packet.mad[DATA + 1] = 2;
	ibsa_put_be16(packet.mad + DATA + 2, 1 << 9 | 1 << 10);
	packet.mad[DATA + SELECT2_AT] = 1;
	packet.mad[DATA + NIBBLES_AT] = 0xa5;
	ibsa_put_be32(packet.mad + DATA + WAIT_AT, 1234567);
	mad = file_exchange(rig->a, &packet);
	assert_int_equal(mad[DATA + NIBBLES_AT], 0xa5);
	assert_int_equal(ibsa_be32(mad + DATA + WAIT_AT), 1234567);
	mad = exchange(rig, rig->lid_s, SET, PORT_COUNTERS, 2, 1 << 9);
	assert_int_equal(mad[DATA + NIBBLES_AT], 0x05);
	assert_int_equal(ibsa_be32(mad + DATA + WAIT_AT), 1234567);
}

static void errors(const struct rig *rig, const char *args)
{
	struct ibsa_error error;

	assert_int_equal(ibsa__fabric_errors(rig->fabric, args, &error), 0);
}

static uint64_t symbols(const struct rig *rig, uint8_t port)
{
	enum { AT = 4, AT_EXTENDED = 72 };
	const uint64_t value = plain(rig, port, AT) >> 16;

	return extended(rig, port, AT_EXTENDED) << 16 | value;
}

/* Symbol errors: in PortCountersExtended, and in PortCounters. */
#define SYMBOLS(extended, plain) ((uint64_t)(extended) << 16 | (plain))

/* A rate adds by the fabric's clock; a Set restarts one attribute's sum. */
static void a_rate_adds_by_the_clock(void **state)
{
	const struct rig *rig = *state;

	errors(rig, "s/3 SymbolErrors +3/s");
	assert_int_equal(symbols(rig, 3), 0);
	assert_int_equal(ibsa_fabric_advance(rig->fabric, SECOND), 0);
	assert_int_equal(symbols(rig, 3), SYMBOLS(3, 3));
	assert_int_equal(ibsa_fabric_advance(rig->fabric, SECOND / 2), 0);
	assert_int_equal(symbols(rig, 3), SYMBOLS(4, 4));
	(void)exchange(rig, rig->lid_s, SET, PORT_COUNTERS, 3, 1);
	assert_int_equal(symbols(rig, 3), SYMBOLS(4, 0));
	assert_int_equal(ibsa_fabric_advance(rig->fabric, SECOND / 2), 0);
	assert_int_equal(symbols(rig, 3), SYMBOLS(6, 2));
	errors(rig, "s/3 SymbolErrorCounter +1/s");
	assert_int_equal(ibsa_fabric_advance(rig->fabric, SECOND), 0);
	assert_int_equal(symbols(rig, 3), SYMBOLS(7, 3));
	errors(rig, "s/3 SymbolError 0/s");
	assert_int_equal(ibsa_fabric_advance(rig->fabric, 10 * SECOND), 0);
	assert_int_equal(symbols(rig, 3), SYMBOLS(7, 3));
	errors(rig, "s/3 \t SymbolErrorCounter  +70000 ");
	assert_int_equal(symbols(rig, 3), SYMBOLS(70007, 0xffff));
	assert_int_equal(symbols(rig, 2), 0);
}

static void a_sum_beyond_64_bits_stays_at_its_maximum(void **state)
{
	enum { XMIT_DATA_AT = 8 };
	const struct rig *rig = *state;

	errors(rig, "s/3 PortXmitData +999999999999999999/s");
	assert_int_equal(ibsa_fabric_advance(rig->fabric, SECOND / 4), 0);
	assert_int_equal(extended(rig, 3, XMIT_DATA_AT), 249999999999999999);
	for (int i = 0; i < 100; i++)
		assert_int_equal(ibsa_fabric_advance(rig->fabric, SECOND), 0);
	assert_true(extended(rig, 3, XMIT_DATA_AT) == UINT64_MAX);
	errors(rig, "s/3 PortXmitData +1");
	assert_true(extended(rig, 3, XMIT_DATA_AT) == UINT64_MAX);
	/* The sum over all ports stays there, too. */
	assert_true(extended(rig, 0xff, XMIT_DATA_AT) == UINT64_MAX);
}

static void wrong_errors_are_refused(void **state)
{
	static const struct {
		const char *args;
		int err;
		const char *text;
	} wrong[] = {
		{ "", -EINVAL, "needs NODE/PORT" },
		{ "s/2", -EINVAL, "needs NODE/PORT" },
		{ "s/2 PortRcvErrors", -EINVAL, "needs NODE/PORT" },
		{ "s/2 +3", -EINVAL, "needs NODE/PORT" },
		{ "s/2 PortRcvErrors 3", -EINVAL, "'3' is not a number" },
		{ "s/2 PortRcvErrors 3/s", -EINVAL, "'3/s' is not a number" },
		{ "s/2 PortRcvErrors -3", -EINVAL, "'-3' is not a number" },
		{ "s/2 PortRcvErrors +", -EINVAL, "'+' is not a number" },
		{ "s/2 PortRcvErrors +/s", -EINVAL, "'+/s' is not a number" },
		{ "s/2 PortRcvErrors ++3", -EINVAL, "'++3' is not" },
		{ "s/2 PortRcvErrors +3/m", -EINVAL, "'+3/m' is not" },
		{ "s/2 PortRcvErrors +3/s/s", -EINVAL, "'+3/s/s' is not" },
		{ "s/2 PortRcvErrors +1000000000000000000", -EINVAL,
		  "at most 18 digits" },
		{ "s/2 Symbol +3", -EINVAL, "'Symbol' is not a counter" },
		{ "s/2 SymbolErrorss +3", -EINVAL, "is not a counter" },
		{ "s/2 PortRcv +3", -EINVAL, "is not a counter" },
		{ "s/2 PortRcvErrorss +3", -EINVAL, "is not a counter" },
		{ "s PortRcvErrors +3", -EINVAL, "'s' is not a port" },
		{ "s/x PortRcvErrors +3", -EINVAL, "'s/x' is not a port" },
		{ "s/0 PortRcvErrors +3", -EINVAL, "'s/0' has no cable" },
		{ "s/256 PortRcvErrors +3", -EINVAL, "is not a port" },
		{ "s/5 PortRcvErrors +3", -ENXIO, "no port s/5" },
		{ "x/1 PortRcvErrors +3", -ENODEV, "cannot find x/1" },
	};
	const struct rig *rig = *state;
	struct ibsa_error error;
	char line[1000];

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(ibsa__fabric_errors(rig->fabric, wrong[i].args,
						     &error),
				 wrong[i].err);
		assert_non_null(strstr(error.text, wrong[i].text));
	}
	snprintf(line, sizeof(line), "%900s/1 PortRcvErrors +3", "x");
	assert_int_equal(ibsa__fabric_errors(rig->fabric, line, &error),
			 -EINVAL);
	assert_int_equal(plain(rig, 2, 8), 0);
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
	mad = exchange(rig, rig->lid_s, GET_TABLE, PORT_COUNTERS, 1, 0);
	assert_int_equal(ibsa_be16(mad + MAD_STATUS), 0x08);
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
		TEST(a_damaged_mad_is_an_error_of_its_receiver),
		TEST(narrow_counters_are_set_by_themselves),
		TEST(a_rate_adds_by_the_clock),
		TEST(a_sum_beyond_64_bits_stays_at_its_maximum),
		TEST(wrong_errors_are_refused),
		TEST(request_for_a_missing_object_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
