/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* umad files on a fabric of Omni-Path: MADs have LIDs of 32 bits. */
#include "file_rig.h"

enum { LONG_LID = 70000, FIRST_LID = 0x12345, CPI = 0x0001 };

/* LIDs: the port of the SA on "a" has the first LID, "b" has a long LID. */
static const char text[] = "Switch 4 \"s\"\n"
			   "[1] \"a\"[1]\n"
			   "[2] \"b\"[1]\n"
			   "Ca 1 \"a\"\n"
			   "Ca 1 \"b\"\n"
			   "[1] \"s\"[2] # lid 70000\n";

static struct ibsa_fabric *start(uint32_t first_lid)
{
	const struct ibsa_fabric_options options = {
		.virtual_clock = true,
		.opa = true,
		.first_lid = first_lid,
	};

	return file_fabric(text, &options);
}

static struct packet_out request(struct port_file *file, uint32_t lid)
{
	return file_request(file_agent(file, IBSA_CLASS_SA, 2, 0), lid,
			    IBSA_CLASS_SA, IBSA_METHOD_GET, CPI, 1);
}

/* Address the packet to the GID that stands for a LID. */
static void set_gid(struct packet_out *packet, uint32_t lid)
{
	packet->header.grh_present = 1;
	packet->header.gid[0] = 0xfe;
	packet->header.gid[1] = 0x80;
	ibsa_put_be64(packet->header.gid + 8,
		      UINT64_C(0x00066a0000000000) | lid);
}

static void answers_reach_a_long_lid(void **state)
{
	struct ibsa_fabric *fabric = start(1);
	struct port_file *file = file_open(fabric, "b", 0);
	const struct packet_out packet = request(file, 1);
	const uint8_t *mad;

	(void)state;
	assert_int_equal(file_lid(fabric, "b", 1), LONG_LID);
	mad = file_exchange(file, &packet);
	assert_int_equal(ibsa_be16(mad + MAD_STATUS), 0);
	assert_int_equal(file_drops(fabric, IBSA_DROP_NO_LID), 0);
	ibsa__port_file_close(file);
	ibsa_fabric_put(fabric);
}

/* The header has 16 bits for a LID; a GID has room for it. */
static void long_lid_is_reached_by_its_gid(void **state)
{
	struct ibsa_fabric *fabric = start(FIRST_LID);
	struct port_file *file = file_open(fabric, "b", 0);
	struct packet_out packet = request(file, 0);
	struct packet_in in;

	(void)state;
	assert_int_equal(file_lid(fabric, "a", 1), FIRST_LID);
	set_gid(&packet, FIRST_LID);
	assert_int_equal(file_write(file, &packet), 0);
	assert_true(file_read(file, &in));
	assert_int_equal(in.header.status, 0);
	assert_int_equal(ibsa_be16(in.mad + MAD_STATUS), 0);
	assert_int_equal(ibsa_be16((const uint8_t *)&in.header.lid),
			 FIRST_LID & UINT16_MAX);
	assert_int_equal(in.header.grh_present, 1);
	assert_memory_equal(in.header.gid, packet.header.gid, 16);
	ibsa__port_file_close(file);
	ibsa_fabric_put(fabric);
}

/*
 * A MAD to a GID that stands for a number above the last unicast LID reaches no
 * port.
 */
static void no_port_has_a_lid_beyond_the_last(void **state)
{
	struct ibsa_fabric *fabric = start(1);
	struct port_file *file = file_open(fabric, "b", 0);
	struct packet_out packet = request(file, 0);

	(void)state;
	set_gid(&packet, UINT32_C(0xc0000000));
	assert_int_equal(file_write(file, &packet), 0);
	assert_int_equal(file_drops(fabric, IBSA_DROP_NO_LID), 1);
	ibsa__port_file_close(file);
	ibsa_fabric_put(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_reach_a_long_lid),
		cmocka_unit_test(long_lid_is_reached_by_its_gid),
		cmocka_unit_test(no_port_has_a_lid_beyond_the_last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
