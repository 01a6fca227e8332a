/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Alias GUIDs of ports: which requests may set them, and which records use
 * them.
 */
#include <errno.h>

#include "support.h"

#define S(status) IBSA_STATUS_##status
#define CM(field) IBSA_GUID_INFO_CM(field)
#define ENTRY(index) (CM(guid) << (index))
#define ALIAS UINT64_C(0x8f10403980a51)
#define HOST1 UINT64_C(0x8f10403980011)
#define HOST3 UINT64_C(0x8f10403980031)

/* LIDs of the client's port, of a switch, and of no port. */
enum { OWN = 5, SWITCH = 2, NOBODY = 99 };

static const uint64_t block_mask = CM(lid) | CM(block_num);

static int exchange(struct bench *bench, uint8_t method, uint16_t lid,
		    uint8_t block, unsigned int index, uint64_t guid)
{
	struct ibsa_guid_info info = { .lid = lid, .block_num = block };

	info.guid[index] = guid;
	return bench_query(bench, method, &ibsa_guid_info_record, &info,
			   block_mask | ENTRY(index));
}

static int set(struct bench *bench, uint16_t lid, uint8_t block,
	       unsigned int index, uint64_t guid)
{
	return exchange(bench, IBSA_METHOD_SET, lid, block, index, guid);
}

static int delete (struct bench *bench, unsigned int index)
{
	return exchange(bench, IBSA_METHOD_DELETE, OWN, 0, index, 0);
}

/* A GUID of the answer's first record. */
static uint64_t guid_of(const struct bench *bench, unsigned int index)
{
	return ibsa_be64(bench_record(bench, 0) + 8 + 8 * (size_t)index);
}

static size_t count(struct bench *bench, uint16_t lid, uint8_t block,
		    uint64_t mask)
{
	const struct ibsa_guid_info info = { .lid = lid, .block_num = block };

	assert_int_equal(bench_query(bench, IBSA_METHOD_GET_TABLE,
				     &ibsa_guid_info_record, &info, mask),
			 0);
	return bench_count(bench);
}

static struct ibsa_gid gid(uint64_t guid)
{
	struct ibsa_gid gid = { { 0xfe, 0x80 } };

	ibsa_put_be64(gid.raw + 8, guid);
	return gid;
}

static void ports_have_blocks_as_they_have_room(void **state)
{
	struct bench *bench = *state;

	/*
	 * Two switches have one block each, four ports of adapters four each.
	 */
	assert_int_equal(count(bench, 0, 0, 0), 18);
	assert_int_equal(count(bench, OWN, 0, CM(lid)), 4);
	assert_int_equal(guid_of(bench, 0), HOST3);
	assert_int_equal(count(bench, SWITCH, 0, CM(lid)), 1);
	assert_int_equal(count(bench, 0, 1, CM(block_num)), 4);
	assert_int_equal(count(bench, OWN, 4, block_mask), 0);
	assert_int_equal(count(bench, OWN, 255, block_mask), 4);
	assert_int_equal(count(bench, NOBODY, 0, CM(lid)), 0);
}

static void assigned_guid_stays_until_deleted(void **state)
{
	struct bench *bench = *state;

	assert_int_equal(set(bench, OWN, 0, 3, ALIAS), 0);
	assert_int_equal(guid_of(bench, 0), HOST3);
	assert_int_equal(guid_of(bench, 3), ALIAS);
	assert_int_equal(set(bench, OWN, 0, 3, ALIAS + 1), 0);
	assert_int_equal(guid_of(bench, 3), ALIAS + 1);
	assert_int_equal(count(bench, OWN, 0, block_mask), 1);
	assert_int_equal(guid_of(bench, 3), ALIAS + 1);
	assert_int_equal(delete (bench, 3), 0);
	assert_int_equal(guid_of(bench, 3), 0);
	assert_int_equal(count(bench, OWN, 0, block_mask), 1);
	assert_int_equal(guid_of(bench, 3), 0);
}

static void guid_in_use_is_not_assigned(void **state)
{
	struct bench *bench = *state;

	assert_int_equal(set(bench, OWN, 0, 1, ALIAS), 0);
	assert_int_equal(set(bench, OWN, 0, 2, ALIAS), 0);
	assert_int_equal(guid_of(bench, 2), 0);
	assert_int_equal(set(bench, 1, 0, 2, ALIAS), 0);
	assert_int_equal(guid_of(bench, 2), 0);
	assert_int_equal(set(bench, OWN, 0, 2, HOST1), 0);
	assert_int_equal(guid_of(bench, 2), 0);
}

static void sa_assigns_guids_and_stores_their_entries(void **state)
{
	struct bench *bench = *state;
	uint64_t first;

	assert_int_equal(set(bench, OWN, 1, 0, 0), 0);
	first = guid_of(bench, 0);
	assert_int_equal(first >> 40, 0x1405);
	assert_int_equal(set(bench, OWN, 0, 2, 0), 0);
	assert_true(guid_of(bench, 2) && guid_of(bench, 2) != first);
	first = guid_of(bench, 2);
	assert_int_equal(delete (bench, 2), 0);
	assert_int_equal(set(bench, OWN, 0, 2, 0), 0);
	assert_int_equal(guid_of(bench, 2), first);
	/*
	 * Another port has now the GUID that the SA would choose for this
	 * entry, so the SA chooses none.
	 */
	assert_int_equal(delete (bench, 2), 0);
	assert_int_equal(set(bench, 1, 0, 2, first), 0);
	assert_int_equal(set(bench, OWN, 0, 2, 0), 0);
	assert_int_equal(guid_of(bench, 2), 0);
}

static void missing_guid_blocks_cannot_be_set(void **state)
{
	const struct ibsa_guid_info info = { .lid = OWN };
	struct bench *bench = *state;

	assert_int_equal(bench_query(bench, IBSA_METHOD_SET,
				     &ibsa_guid_info_record, &info, CM(lid)),
			 S(REQ_INSUFFICIENT));
	assert_int_equal(bench_query(bench, IBSA_METHOD_DELETE,
				     &ibsa_guid_info_record, &info, CM(lid)),
			 S(REQ_INSUFFICIENT));
	assert_int_equal(set(bench, NOBODY, 0, 1, ALIAS), S(NO_RECORDS));
	assert_int_equal(set(bench, OWN, 4, 1, ALIAS), S(NO_RECORDS));
	assert_int_equal(set(bench, SWITCH, 1, 1, ALIAS), S(NO_RECORDS));
	assert_int_equal(set(bench, OWN, 0, 0, ALIAS), S(REQ_INVALID));
	assert_int_equal(delete (bench, 0), S(REQ_INVALID));
	/* A switch has only entry 0. */
	assert_int_equal(set(bench, SWITCH, 0, 1, ALIAS), 0);
	assert_int_equal(guid_of(bench, 1), 0);
}

static void paths_may_end_at_an_alias(void **state)
{
	const uint64_t ends = IBSA_PATH_CM(sgid) | IBSA_PATH_CM(dgid);
	const struct ibsa_path path = { .sgid = gid(ALIAS),
					.dgid = gid(HOST1) };
	struct bench *bench = *state;

	assert_int_equal(bench_query(bench, IBSA_METHOD_GET, &ibsa_path_record,
				     &path, ends),
			 S(NO_RECORDS));
	assert_int_equal(set(bench, OWN, 0, 1, ALIAS), 0);
	assert_int_equal(bench_query(bench, IBSA_METHOD_GET, &ibsa_path_record,
				     &path, ends),
			 0);
	assert_int_equal(IBSA_GET(path, slid, bench_record(bench, 0)), OWN);
	assert_int_equal(bench_query(bench, IBSA_METHOD_GET_TABLE,
				     &ibsa_path_record, &path, 0),
			 0);
	assert_int_equal(bench_count(bench), 7 * 7);
}

static void port_is_found_by_all_its_guids(void **state)
{
	const struct ibsa_path path = { .slid = OWN, .dlid = 1 };
	const uint64_t ends = IBSA_PATH_CM(slid) | IBSA_PATH_CM(dlid);
	struct bench *bench = *state;

	assert_int_equal(set(bench, OWN, 0, 1, ALIAS), 0);
	assert_int_equal(set(bench, 1, 0, 1, ALIAS + 1), 0);
	assert_int_equal(bench_query(bench, IBSA_METHOD_GET_TABLE,
				     &ibsa_path_record, &path, ends),
			 0);
	assert_int_equal(bench_count(bench), 4);
	assert_memory_equal(bench_record(bench, 0) + 24, gid(HOST3).raw, 16);
	assert_memory_equal(bench_record(bench, 1) + 24, gid(HOST3).raw, 16);
	assert_memory_equal(bench_record(bench, 1) + 8, gid(ALIAS + 1).raw, 16);
	assert_memory_equal(bench_record(bench, 2) + 24, gid(ALIAS).raw, 16);
	assert_int_equal(bench_query(bench, IBSA_METHOD_GET, &ibsa_path_record,
				     &path, ends),
			 0);
}

static void alias_in_a_group_cannot_be_deleted(void **state)
{
	const struct ibsa_mcmember group = {
		.mgid.raw = { 0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, [12] = 0xff,
			      0xff, 0xff, 0xff },
		.port_gid = gid(ALIAS),
		.join_state = 1,
	};
	const uint64_t mask = IBSA_MCMEMBER_CM(mgid) |
			      IBSA_MCMEMBER_CM(port_gid) |
			      IBSA_MCMEMBER_CM(join_state);
	struct bench *bench = *state;

	assert_int_equal(set(bench, OWN, 0, 1, ALIAS), 0);
	assert_int_equal(bench_query(bench, IBSA_METHOD_SET,
				     &ibsa_mcmember_record, &group, mask),
			 0);
	assert_int_equal(delete (bench, 1), S(REQ_DENIED));
	assert_int_equal(bench_query(bench, IBSA_METHOD_DELETE,
				     &ibsa_mcmember_record, &group, mask),
			 0);
	assert_int_equal(delete (bench, 1), 0);
}

/* OpenSM does not answer a request of a port without a common partition. */
static void ports_without_a_common_partition_get_no_answer(void **state)
{
	static const uint16_t pkeys[] = { 0x8001 };
	const struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_PKEYS,
		.pkeys = pkeys,
		.pkey_count = 1,
	};
	struct bench *bench = *state;

	assert_int_equal(count(bench, 4, 0, block_mask), 1);
	assert_int_equal(ibsa_fabric_port_set(bench->fabric, "host-r2 mlx4_0",
					      1, &change),
			 0);
	assert_int_equal(count(bench, 4, 0, block_mask), 0);
	assert_int_equal(set(bench, 4, 0, 1, ALIAS), -1);
	assert_int_equal(exchange(bench, IBSA_METHOD_DELETE, 4, 0, 1, 0), -1);
	assert_int_equal(set(bench, OWN, 0, 1, ALIAS), 0);
}

static void lost_port_has_no_alias(void **state)
{
	struct ibsa_fabric_port_change change = { .mask = IBSA_CHANGE_LINK };
	struct bench *bench = *state;

	assert_int_equal(set(bench, 4, 0, 1, ALIAS), 0);
	assert_int_equal(ibsa_fabric_port_set(bench->fabric, "host-r2 mlx4_0",
					      1, &change),
			 0);
	change.link_up = true;
	assert_int_equal(ibsa_fabric_port_set(bench->fabric, "host-r2 mlx4_0",
					      1, &change),
			 0);
	assert_int_equal(count(bench, 4, 0, block_mask), 1);
	assert_int_equal(guid_of(bench, 1), 0);
	assert_int_equal(set(bench, OWN, 0, 1, ALIAS), 0);
	assert_int_equal(guid_of(bench, 1), ALIAS);
}

static void table_of_the_port_has_its_assigned_guids(void **state)
{
	struct bench *bench = *state;
	struct ibsa_transport *port = bench->transport;
	struct ibsa_gid_entry entry = { .index = 7 };

	assert_int_equal(port->ops->gid(port, 0, &entry), 0);
	assert_memory_equal(entry.gid.raw, gid(HOST3).raw, 16);
	assert_int_equal(entry.index, 0);
	assert_int_equal(port->ops->gid(port, 9, &entry), -ENODATA);
	assert_int_equal(set(bench, OWN, 1, 1, ALIAS), 0);
	assert_int_equal(port->ops->gid(port, 9, &entry), 0);
	assert_memory_equal(entry.gid.raw, gid(ALIAS).raw, 16);
	assert_int_equal(entry.index, 9);
	assert_int_equal(port->ops->gid(port, 31, &entry), -ENODATA);
	assert_int_equal(port->ops->gid(port, 32, &entry), -EINVAL);
	ibsa_fabric_sa_set(bench->fabric, false);
	ibsa_fabric_sa_set(bench->fabric, true);
	assert_int_equal(port->ops->gid(port, 9, &entry), -ENODATA);
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, bench_setup_b, bench_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(ports_have_blocks_as_they_have_room),
		TEST(assigned_guid_stays_until_deleted),
		TEST(guid_in_use_is_not_assigned),
		TEST(sa_assigns_guids_and_stores_their_entries),
		TEST(missing_guid_blocks_cannot_be_set),
		TEST(paths_may_end_at_an_alias),
		TEST(port_is_found_by_all_its_guids),
		TEST(alias_in_a_group_cannot_be_deleted),
		TEST(ports_without_a_common_partition_get_no_answer),
		TEST(lost_port_has_no_alias),
		TEST(table_of_the_port_has_its_assigned_guids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
