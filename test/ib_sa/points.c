/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a client of the SA has to get right, and the test that shows it. Tests
 * that belong to no other file are here.
 *
 * id 0 works                       ib_sa.c ids_begin_at_zero
 * cancel twice                     ib_sa.c canceled_query_is_interrupted
 * cancel in a callback             reentry.c callback_cancels_itself,
 *                                  callback_cancels_another
 * cancel after completion          ib_sa.c late_cancel_has_no_effect
 * -EAGAIN without an SM            path.c port_without_an_sm_is_eagain
 * a status is -EINVAL, no record   path.c status_of_the_sa_is_einval
 * a timeout is within a tenth      path.c query_ends_at_its_timeout
 * late reply after a cancel        cancel.c
 *                                  canceled_query_is_not_answered
 * reply with a foreign id,
 * from a wrong LID                 engine/reply.c replies_to_others_are_ignored
 * no id twice at a time            here
 * a late answer to an early try    engine/tries.c
 *                                  late_answer_to_first_try_counts
 * GetTable of no records           service.c empty_table_is_enodata
 * stride above the struct's size,
 * truncated last record            service.c
 *                                  records_stand_where_the_stride_says
 * a table of a megabyte            here
 * a packet that does not fit       umad/kernel.c
 *                                  large_reply_is_taken_up_to_the_limit
 * the device is unplugged          umad/plug.c
 *                                  device_that_goes_takes_its_port_with_it,
 *                                  path.c removed_device_ends_queries
 * the SM moves                     engine/move.c
 * OPA LIDs from 0xC000             opa.c
 * hop limit and GRH, LMC bits      ah_path.c
 * byte order of component masks    headers_ib_sa.c
 */
#include <stdlib.h>

#include "test/ib_sa/plug.h"
#include "wire/mad.h"

enum { WINDOW = 16, ROUNDS = 200, SERVICES = 6000, INTERVAL_MS = 1000 };

static uint32_t tid_of(const struct plug *plug, unsigned int n)
{
	const uint8_t *at = puppet_sent(&plug->puppet, n)->mad + MAD_TID_LOW;

	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 |
	       (uint32_t)at[2] << 8 | at[3];
}

static int compare(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/*
 * Fill the window with queries: sent, their ids noted, cancelled; and wait as
 * long as a kernel would still wait for their replies.
 */
static void fill_window(struct plug *plug, uint32_t tids[WINDOW])
{
	struct ib_sa_query *queries[WINDOW];
	const unsigned int sent = plug->puppet.sent_count;
	struct told told = { 0 };
	int ids[WINDOW];

	for (uint16_t i = 0; i < WINDOW; i++)
		ids[i] = rig_query(&plug->rig, 2 + i, &told, &queries[i]);
	plug_run(plug, 0);
	assert_int_equal(plug->puppet.sent_count, sent + WINDOW);
	for (unsigned int i = 0; i < WINDOW; i++) {
		tids[i] = tid_of(plug, sent + i);
		ib_sa_cancel_query(ids[i], queries[i]);
	}
	plug_run(plug, 0);
	assert_int_equal(told.calls, WINDOW);
	plug_run(plug, INTERVAL_MS);
}

/*
 * The lower half of the id, which is all that the kernel leaves, is never 0 and
 * never the same for two requests: a cancelled one may still be answered.
 */
static void no_two_requests_have_one_id(void **state)
{
	static uint32_t tids[ROUNDS * WINDOW];
	struct plug plug;

	(void)state;
	plug_start(&plug, NULL);
	for (unsigned int n = 0; n < ROUNDS; n++)
		fill_window(&plug, &tids[n * WINDOW]);
	qsort(tids, ROUNDS * WINDOW, sizeof(tids[0]), compare);
	assert_int_not_equal(tids[0], 0);
	for (unsigned int i = 1; i < ROUNDS * WINDOW; i++)
		assert_int_not_equal(tids[i], tids[i - 1]);
	plug_stop(&plug);
}

static void count(int status, struct ib_sa_service_rec *resp, void *context)
{
	(void)resp;
	assert_int_equal(status, 0);
	++*(int *)context;
}

static void fill(struct rig *rig)
{
	struct ib_sa_service_rec rec = { .name = "one of many" };
	struct ib_sa_query *query;
	int registered = 0;

	rec.gid.global.subnet_prefix = htobe64(UINT64_C(0xfe80) << 48);
	rec.gid.global.interface_id = htobe64(7);
	for (uint64_t i = 0; i < SERVICES; i++) {
		rec.id = htobe64(i + 1);
		assert_true(ib_sa_service_rec_query(
				    &rig->client, rig->device, 1,
				    IB_MGMT_METHOD_SET, &rec,
				    IB_SA_SERVICE_REC_SERVICE_ID |
					    IB_SA_SERVICE_REC_SERVICE_GID,
				    60000, 0, count, &registered, &query) >= 0);
	}
	while (registered < SERVICES)
		assert_int_equal(ibsa_ib_device_wait(rig->device, -1), 0);
}

/* Every service, and each once. */
struct census {
	bool seen[SERVICES + 1];
	unsigned int count;
	int status;
	int calls;
};

static void take_census(int status, struct sa_service_rec *resp,
			unsigned int num, void *context)
{
	struct census *census = context;

	census->calls++;
	census->status = status;
	census->count = num;
	for (unsigned int i = 0; i < num; i++) {
		const uint64_t id = be64toh(resp[i].id);

		assert_true(id >= 1 && id <= SERVICES);
		assert_false(census->seen[id]);
		census->seen[id] = true;
		assert_string_equal((char *)resp[i].name, "one of many");
	}
}

static void table_of_a_megabyte_comes_whole(void **state)
{
	static struct census census;
	struct sa_service_rec rec = { 0 };
	struct ib_sa_query *query;
	struct rig rig;

	(void)state;
	_Static_assert(SERVICES * sizeof(rec) > 1 << 20, "a megabyte");
	rig_start(&rig);
	fill(&rig);
	memset(rec.name, 0, sizeof(rec.name));
	memcpy(rec.name, "one of many", 11);
	assert_true(ib_sa_service_rec_get(&rig.client, rig.device, 1, &rec,
					  IB_SA_SERVICE_REC_SERVICE_NAME, 60000,
					  0, take_census, &census,
					  &query) >= 0);
	while (!census.calls)
		assert_int_equal(ibsa_ib_device_wait(rig.device, -1), 0);
	assert_int_equal(census.status, 0);
	assert_int_equal(census.count, SERVICES);
	rig_stop(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_two_requests_have_one_id),
		cmocka_unit_test(table_of_a_megabyte_comes_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
