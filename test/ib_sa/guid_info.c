/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* GUIDs of a port: requests to the SA, and callbacks. */
#include "test/ib_sa/plug.h"

enum { LID = 5, REQ_INVALID = IBSA_STATUS_REQ_INVALID };

#define INDEX (IB_SA_GUIDINFO_REC_LID | IB_SA_GUIDINFO_REC_BLOCK_NUM)

static int guid_query(struct rig *rig, uint8_t method,
		      struct ib_sa_guidinfo_rec *rec, ib_sa_comp_mask mask,
		      struct told *told)
{
	struct ib_sa_query *query;

	told->device = rig->device;
	return ib_sa_guid_info_rec_query(&rig->client, rig->device, 1, rec,
					 mask, method, RIG_TIMEOUT_MS, 0,
					 told_guid_info, told, &query);
}

static uint64_t guid_at(const struct ib_sa_guidinfo_rec *rec, size_t entry)
{
	return ibsa_be64(rec->guid_info_list + 8 * entry);
}

static void set_guid(struct ib_sa_guidinfo_rec *rec, size_t entry,
		     uint64_t guid)
{
	ibsa_put_be64(rec->guid_info_list + 8 * entry, guid);
}

/*
 * Send the request of a captured exchange with OpenSM, and answer it with the
 * captured reply.
 */
static void replay(uint8_t method, struct ib_sa_guidinfo_rec *rec,
		   ib_sa_comp_mask mask, const char *request,
		   const char *answer, struct told *told)
{
	uint8_t mad[PUPPET_BYTES];
	struct plug plug;

	*told = (struct told){ 0 };
	plug_start(&plug, NULL);
	assert_int_equal(guid_query(&plug.rig, method, rec, mask, told), 0);
	memset(rec, 0xff, sizeof(*rec));
	plug_run(&plug, 0);
	plug_assert_sent(&plug, 0, request);
	plug_answer(&plug, 0, mad, plug_vector(answer, mad));
	assert_int_equal(told->calls, 1);
	assert_memory_equal(&told->guid_info, mad + IBSA_SA_HEADER_BYTES,
			    sizeof(told->guid_info));
	plug_stop(&plug);
}

static void guids_are_assigned_as_captured(void **state)
{
	struct ib_sa_guidinfo_rec rec = { .lid = htobe16(LID) };
	struct told told;

	(void)state;
	set_guid(&rec, 1, UINT64_C(0x80f1040398f01));
	set_guid(&rec, 3, UINT64_C(0x8f10403980f03));
	replay(IB_MGMT_METHOD_SET, &rec,
	       INDEX | IB_SA_GUIDINFO_REC_GID1 | IB_SA_GUIDINFO_REC_GID2 |
		       IB_SA_GUIDINFO_REC_GID3,
	       "42_guidinfo_set.req.hex", "42_guidinfo_set.rsp.hex", &told);
	assert_int_equal(told.status, 0);
	assert_int_equal(guid_at(&told.guid_info, 0),
			 UINT64_C(0x8f10403980031));
	assert_int_equal(guid_at(&told.guid_info, 2),
			 UINT64_C(0x14050000000001));
}

static void guids_are_removed_as_captured(void **state)
{
	struct ib_sa_guidinfo_rec rec = { .lid = htobe16(LID) };
	struct told told;

	(void)state;
	replay(IB_SA_METHOD_DELETE, &rec,
	       INDEX | IB_SA_GUIDINFO_REC_GID1 | IB_SA_GUIDINFO_REC_GID2,
	       "45_guidinfo_delete.req.hex", "45_guidinfo_delete.rsp.hex",
	       &told);
	assert_int_equal(told.status, 0);
	assert_int_equal(guid_at(&told.guid_info, 1), 0);
	assert_int_equal(guid_at(&told.guid_info, 3),
			 UINT64_C(0x8f10403980f03));
}

/*
 * The SA refuses to set entry 0 of the block, the port's own GUID: the callback
 * gets -EINVAL and the SA's record.
 */
static void refusal_is_told(void **state)
{
	struct ib_sa_guidinfo_rec rec = { .lid = htobe16(LID) };
	struct told told;

	(void)state;
	set_guid(&rec, 0, UINT64_C(0x8f10403980f99));
	replay(IB_MGMT_METHOD_SET, &rec, INDEX | IB_SA_GUIDINFO_REC_GID0,
	       "44_guidinfo_set_own.req.hex", "44_guidinfo_set_own.rsp.hex",
	       &told);
	assert_int_equal(told.status, -EINVAL);
	assert_true(told.has_resp);
	assert_int_equal(told.reply.status, REQ_INVALID);
}

/*
 * The reply to Get, Set and Delete has one record; other methods are rejected.
 */
static void other_methods_are_refused(void **state)
{
	struct ib_sa_guidinfo_rec rec = { .lid = htobe16(LID) };
	struct told told = { 0 };
	struct plug plug;
	int accepted = 0;

	(void)state;
	plug_start(&plug, NULL);
	for (int method = 0; method < 256; method++) {
		const int err = guid_query(&plug.rig, (uint8_t)method, &rec,
					   INDEX, &told);

		assert_true(err >= 0 || err == -EINVAL);
		accepted += err >= 0;
	}
	plug_run(&plug, 0);
	assert_int_equal(accepted, 3);
	assert_int_equal(plug.puppet.sent_count, 3);
	plug_stop(&plug);
}

static void timeout_is_reported_without_a_record(void **state)
{
	struct ib_sa_guidinfo_rec rec = { .lid = htobe16(1) };
	struct told told = { 0 };
	struct rig rig;

	(void)state;
	rig_start(&rig);
	rig_silence(&rig, true);
	assert_int_equal(
		guid_query(&rig, IB_MGMT_METHOD_GET, &rec, INDEX, &told), 0);
	rig_run(&rig, &told);
	assert_int_equal(told.status, -ETIMEDOUT);
	assert_false(told.has_resp);
	rig_stop(&rig);
}

/* An assigned GUID can be read until it is removed. */
static void assigned_guid_is_looked_up(void **state)
{
	struct ib_sa_guidinfo_rec rec = { .lid = htobe16(1) };
	struct told told = { 0 };
	struct rig rig;

	(void)state;
	rig_start(&rig);
	set_guid(&rec, 2, 0xa1);
	(void)guid_query(&rig, IB_MGMT_METHOD_SET, &rec,
			 INDEX | IB_SA_GUIDINFO_REC_GID2, &told);
	rig_run(&rig, &told);
	assert_int_equal(told.status, 0);
	(void)guid_query(&rig, IB_MGMT_METHOD_GET, &rec, INDEX, &told);
	rig_run(&rig, &told);
	assert_int_equal(told.status, 0);
	assert_int_equal(guid_at(&told.guid_info, 2), 0xa1);
	(void)guid_query(&rig, IB_SA_METHOD_DELETE, &rec,
			 INDEX | IB_SA_GUIDINFO_REC_GID2, &told);
	rig_run(&rig, &told);
	assert_int_equal(told.status, 0);
	(void)guid_query(&rig, IB_MGMT_METHOD_GET, &rec, INDEX, &told);
	rig_run(&rig, &told);
	assert_int_equal(told.status, 0);
	assert_int_equal(guid_at(&told.guid_info, 2), 0);
	rig_stop(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(guids_are_assigned_as_captured),
		cmocka_unit_test(guids_are_removed_as_captured),
		cmocka_unit_test(refusal_is_told),
		cmocka_unit_test(other_methods_are_refused),
		cmocka_unit_test(timeout_is_reported_without_a_record),
		cmocka_unit_test(assigned_guid_is_looked_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
