/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Path records of Omni-Path: their LIDs in IB form, and back. */
#include <endian.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "ib_sa/opa.h"

enum { SMALL = 0xbfff, LARGE = 0xc000 };

#define PREFIX UINT64_C(0xfe80000000000000)
#define OTHER UINT64_C(0xfec0000000000000)
#define OPA_ID(lid) (UINT64_C(0x00066a) << 40 | (lid))

#define BOTH_LIDS (IB_SA_PATH_REC_DLID | IB_SA_PATH_REC_SLID)
#define BOTH_GIDS (IB_SA_PATH_REC_DGID | IB_SA_PATH_REC_SGID)

static struct sa_path_rec opa_path(uint32_t dlid, uint32_t slid)
{
	struct sa_path_rec rec = { .rec_type = SA_PATH_REC_TYPE_OPA };

	rec.opa.dlid = htobe32(dlid);
	rec.opa.slid = htobe32(slid);
	rec.opa.raw_traffic = 1;
	rec.opa.l2_9B = 1;
	return rec;
}

static void set_gid(union ib_gid *gid, uint64_t prefix, uint64_t id)
{
	gid->global.subnet_prefix = htobe64(prefix);
	gid->global.interface_id = htobe64(id);
}

static void assert_gid(const union ib_gid *gid, uint64_t prefix, uint64_t id)
{
	assert_int_equal(be64toh(gid->global.subnet_prefix), prefix);
	assert_int_equal(be64toh(gid->global.interface_id), id);
}

static ib_sa_comp_mask to_ib(const struct sa_path_rec *opa,
			     ib_sa_comp_mask mask, struct sa_path_rec *out)
{
	return ibsa__opa_path_to_ib(opa, htobe64(PREFIX), mask, out);
}

/* LIDs that fit into an IB record are not converted to GIDs. */
static void small_lids_are_lids(void **state)
{
	struct sa_path_rec opa = opa_path(SMALL, 1);
	struct sa_path_rec ib;

	(void)state;
	set_gid(&opa.dgid, OTHER, 5);
	assert_int_equal(to_ib(&opa, BOTH_LIDS, &ib), BOTH_LIDS);
	assert_int_equal(ib.rec_type, SA_PATH_REC_TYPE_IB);
	assert_int_equal(be16toh(ib.ib.dlid), SMALL);
	assert_int_equal(be16toh(ib.ib.slid), 1);
	assert_int_equal(ib.ib.raw_traffic, 1);
	assert_gid(&ib.dgid, OTHER, 5);
	ibsa__opa_path_from_ib(&ib, &ib);
	assert_int_equal(ib.rec_type, SA_PATH_REC_TYPE_OPA);
	assert_int_equal(be32toh(ib.opa.dlid), SMALL);
	assert_int_equal(be32toh(ib.opa.slid), 1);
	assert_int_equal(ib.opa.raw_traffic, 1);
	assert_int_equal(ib.opa.l2_9B, 0);
}

/*
 * If one LID does not fit, both are sent as GIDs; the reply is converted back.
 */
static void large_lids_are_gids(void **state)
{
	static const uint32_t lids[][2] = { { LARGE, 1 },
					    { 1, LARGE },
					    { 0xbfffffff, LARGE } };

	(void)state;
	for (size_t i = 0; i < sizeof(lids) / sizeof(lids[0]); i++) {
		const uint32_t dlid = lids[i][0];
		const uint32_t slid = lids[i][1];
		struct sa_path_rec opa = opa_path(dlid, slid);
		struct sa_path_rec ib;

		assert_int_equal(to_ib(&opa, BOTH_LIDS, &ib), BOTH_GIDS);
		assert_int_equal(ib.ib.dlid, 0);
		assert_int_equal(ib.ib.slid, 0);
		assert_gid(&ib.dgid, PREFIX, OPA_ID(dlid));
		assert_gid(&ib.sgid, PREFIX, OPA_ID(slid));
		ibsa__opa_path_from_ib(&ib, &opa);
		assert_int_equal(be32toh(opa.opa.dlid), dlid);
		assert_int_equal(be32toh(opa.opa.slid), slid);
	}
}

/* If a LID is not in the mask, its GID is not changed. */
static void other_end_keeps_its_gid(void **state)
{
	struct sa_path_rec opa = opa_path(LARGE, 0);
	struct sa_path_rec ib;

	(void)state;
	set_gid(&opa.sgid, OTHER, 7);
	assert_int_equal(to_ib(&opa,
			       IB_SA_PATH_REC_DLID | IB_SA_PATH_REC_SGID |
				       IB_SA_PATH_REC_PKEY,
			       &ib),
			 BOTH_GIDS | IB_SA_PATH_REC_PKEY);
	assert_gid(&ib.dgid, PREFIX, OPA_ID(LARGE));
	assert_gid(&ib.sgid, OTHER, 7);
}

/*
 * A LID of more than 16 bits that the component mask does not select is not
 * converted to a GID.
 */
static void lid_outside_the_mask_moves_nothing(void **state)
{
	struct sa_path_rec opa = opa_path(LARGE, 1);
	struct sa_path_rec ib;
	const ib_sa_comp_mask mask = IB_SA_PATH_REC_DGID | IB_SA_PATH_REC_SLID;

	(void)state;
	set_gid(&opa.dgid, OTHER, 7);
	assert_int_equal(to_ib(&opa, mask, &ib), mask);
	assert_gid(&ib.dgid, OTHER, 7);
	assert_int_equal(be16toh(ib.ib.slid), 1);
}

/*
 * If the component mask selects both LID and GID, the GID that is made from the
 * LID has the prefix of the caller's GID.
 */
static void lid_wins_over_the_gid(void **state)
{
	struct sa_path_rec opa = opa_path(LARGE, 0);
	struct sa_path_rec ib;

	(void)state;
	set_gid(&opa.dgid, OTHER, 7);
	assert_int_equal(to_ib(&opa, IB_SA_PATH_REC_DLID | IB_SA_PATH_REC_DGID,
			       &ib),
			 IB_SA_PATH_REC_DGID);
	assert_gid(&ib.dgid, OTHER, OPA_ID(LARGE));
}

/* The two ends of a reply are converted separately. */
static void answer_has_one_opa_gid(void **state)
{
	struct sa_path_rec ib = { .rec_type = SA_PATH_REC_TYPE_IB };
	struct sa_path_rec opa;

	(void)state;
	set_gid(&ib.dgid, PREFIX, OPA_ID(LARGE));
	set_gid(&ib.sgid, PREFIX, 7);
	ib.ib.slid = htobe16(3);
	ibsa__opa_path_from_ib(&ib, &opa);
	assert_int_equal(be32toh(opa.opa.dlid), LARGE);
	assert_int_equal(be32toh(opa.opa.slid), 3);
	assert_gid(&opa.dgid, PREFIX, OPA_ID(LARGE));
	assert_gid(&opa.sgid, PREFIX, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_lids_are_lids),
		cmocka_unit_test(large_lids_are_gids),
		cmocka_unit_test(other_end_keeps_its_gid),
		cmocka_unit_test(lid_outside_the_mask_moves_nothing),
		cmocka_unit_test(lid_wins_over_the_gid),
		cmocka_unit_test(answer_has_one_opa_gid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
