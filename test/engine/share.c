/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Queries that share a request, cancellation, and callbacks. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/share.h"
#include "test/support/puppet.h"

static struct puppet puppet;

/*
 * Identical queries at the same time send one request, and each gets the reply.
 */
static void identical_queries_send_one_request(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct puppet_mad answer;
	struct seen first = { 0 }, second = { 0 }, other = { 0 };

	(void)state;
	assert_int_equal(puppet_query(engine, 4, &first), 0);
	assert_int_equal(puppet_query(engine, 4, &second), 0);
	assert_int_equal(puppet_query(engine, 5, &other), 0);
	assert_int_equal(puppet.sent_count, 2);
	answer = puppet_answer(puppet_sent(&puppet, 0));
	puppet_deliver(&puppet, &answer);
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(first.calls, 1);
	assert_int_equal(second.calls, 1);
	assert_int_not_equal(first.id, second.id);
	assert_int_equal(other.calls, 0);
	assert_int_equal(ibsa__engine_stats(engine)->shared, 1);
	ibsa__engine_free(engine);
}

/* A query with no_sharing neither shares a request nor lets others share its
 * own. */
static void query_may_be_sent_alone(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct ibsa_query query = { .record = &ibsa_node_record,
				    .method = IBSA_METHOD_GET_TABLE };
	struct seen seen = { 0 };

	(void)state;
	for (int i = 0; i < 3; i++) {
		query.no_sharing = i == 1;
		assert_int_equal(ibsa__engine_query(engine, &query, puppet_note,
						    &seen, NULL),
				 0);
	}
	assert_int_equal(puppet.sent_count, 2);
	assert_int_equal(ibsa__engine_stats(engine)->shared, 1);
	ibsa__engine_free(engine);
	assert_int_equal(seen.calls, 3);
}

/* Identical Sets are never shared. */
static void sets_are_never_shared(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	const struct ibsa_service service = { .service_id = 1 };
	const struct ibsa_query query = {
		.record = &ibsa_service_record,
		.match = &service,
		.mask = IBSA_SERVICE_CM(service_id),
		.method = IBSA_METHOD_SET,
	};
	struct seen seen = { 0 };

	(void)state;
	for (int i = 0; i < 2; i++)
		assert_int_equal(ibsa__engine_query(engine, &query, puppet_note,
						    &seen, NULL),
				 0);
	assert_int_equal(puppet.sent_count, 2);
	ibsa__engine_free(engine);
	assert_int_equal(seen.calls, 2);
}

static int service_query(struct ibsa__engine *engine, uint8_t method,
			 struct seen *seen, uint64_t *out_id)
{
	const struct ibsa_service service = { .service_id = 1 };
	const struct ibsa_query query = {
		.record = &ibsa_service_record,
		.match = &service,
		.mask = IBSA_SERVICE_CM(service_id),
		.method = method,
		.deadline_ms = method == IBSA_METHOD_SET ? 50 : 0,
	};

	return ibsa__engine_query(engine, &query, puppet_note, seen, out_id);
}

/* A Get after a Set has ended does not get a reply from before the Set. */
static void get_after_set_is_its_own_request(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct puppet_mad answer;
	struct seen get = { 0 }, set = { 0 };

	(void)state;
	assert_int_equal(puppet_query(engine, 4, &get), 0);
	assert_int_equal(service_query(engine, IBSA_METHOD_SET, &set, NULL), 0);
	answer = puppet_answer(puppet_sent(&puppet, 1));
	puppet_deliver(&puppet, &answer);
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(set.calls, 1);
	assert_int_equal(puppet_query(engine, 4, &get), 0);
	assert_int_equal(puppet.sent_count, 3);
	ibsa__engine_free(engine);
}

/*
 * A Get after a Set that ended without a reply sends its own request, because
 * the SA may have carried out the Set.
 */
static void get_after_set_without_answer_is_its_own_request(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct seen get = { 0 }, set = { 0 };
	uint64_t id = 0;

	(void)state;
	assert_int_equal(puppet_query(engine, 4, &get), 0);
	assert_int_equal(service_query(engine, IBSA_METHOD_SET, &set, NULL), 0);
	puppet_advance(&puppet, engine, 50);
	assert_int_equal(set.err, -ETIMEDOUT);
	assert_int_equal(puppet_query(engine, 4, &get), 0);
	assert_int_equal(puppet.sent_count, 3);
	assert_int_equal(service_query(engine, IBSA_METHOD_DELETE, &set, &id),
			 0);
	assert_int_equal(puppet_query(engine, 4, &get), 0);
	assert_int_equal(puppet.sent_count, 4);
	assert_int_equal(ibsa__engine_cancel(engine, id), 0);
	assert_int_equal(puppet_query(engine, 4, &get), 0);
	assert_int_equal(puppet.sent_count, 5);
	ibsa__engine_free(engine);
}

/* A request for records that clients write is shared only while it is queued:
 * after it was sent, another client may have changed the records. */
static void records_of_clients_are_shared_only_in_the_queue(void **state)
{
	struct ibsa__engine *engine = puppet_engine_of_one(&puppet);
	const struct ibsa_stats *stats = ibsa__engine_stats(engine);
	struct puppet_mad answer;
	struct seen first = { 0 }, seen = { 0 };

	(void)state;
	assert_int_equal(puppet_query(engine, 4, &first), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(
			service_query(engine, IBSA_METHOD_GET, &seen, NULL), 0);
	assert_int_equal(stats->shared, 1);
	answer = puppet_answer(puppet_sent(&puppet, 0));
	puppet_deliver(&puppet, &answer);
	puppet_advance(&puppet, engine, 0);
	assert_int_equal(puppet.sent_count, 2);
	assert_int_equal(service_query(engine, IBSA_METHOD_GET, &seen, NULL),
			 0);
	assert_int_equal(stats->shared, 1);
	answer = puppet_answer(puppet_sent(&puppet, 1));
	puppet_deliver(&puppet, &answer);
	puppet_advance(&puppet, engine, 0);
	assert_int_equal(seen.calls, 2);
	assert_int_equal(puppet.sent_count, 3);
	ibsa__engine_free(engine);
	assert_int_equal(seen.calls, 3);
}

static void records_have_their_writer(void **state)
{
	static const struct ibsa_record *const written[] = {
		&ibsa_service_record,	  &ibsa_mcmember_record,
		&ibsa_inform_info_record, &ibsa_inform_info_rec_record,
		&ibsa_guid_info_record,
	};
	static const struct ibsa_record *const stable[] = {
		&ibsa_path_record,	 &ibsa_opa_path_record,
		&ibsa_node_record,	 &ibsa_port_info_record,
		&ibsa_pkey_table_record, &ibsa_class_port_info_record,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(written) / sizeof(written[0]); i++)
		assert_int_equal(written[i]->writer, IBSA_WRITER_CLIENTS);
	for (size_t i = 0; i < sizeof(stable) / sizeof(stable[0]); i++)
		assert_int_equal(stable[i]->writer, IBSA_WRITER_SM);
}

/* A cancelled query ends with -ECANCELED in the next dispatch, exactly once. */
static void cancel_ends_a_query_once(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	const struct ibsa_query query = { .record = &ibsa_node_record };
	struct puppet_mad answer;
	struct seen seen = { 0 }, later = { 0 };
	uint64_t id = 0;

	(void)state;
	assert_int_equal(
		ibsa__engine_query(engine, &query, puppet_note, &seen, &id), 0);
	assert_int_equal(ibsa__engine_cancel(engine, id), 0);
	assert_int_equal(ibsa__engine_cancel(engine, id), -ENOENT);
	assert_int_equal(seen.calls, 0);
	assert_int_equal(ibsa__engine_timeout_ms(engine), 0);
	answer = puppet_answer(puppet_sent(&puppet, 0));
	puppet_deliver(&puppet, &answer);
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.err, -ECANCELED);
	assert_int_equal(seen.tries, 1);
	assert_int_equal(ibsa__engine_cancel(engine, id), -ENOENT);
	assert_int_equal(ibsa__engine_stats(engine)->ignored_id, 1);
	/* The id of the cancelled query does not find a later query. */
	assert_int_equal(puppet_query(engine, 4, &later), 0);
	assert_int_not_equal(later.id, id);
	assert_int_equal(ibsa__engine_cancel(engine, id), -ENOENT);
	assert_int_equal(ibsa__engine_cancel(engine, 0), -ENOENT);
	assert_int_equal(ibsa__engine_cancel(engine, later.id + 1), -ENOENT);
	assert_int_equal(ibsa__engine_cancel(engine, later.id), 0);
	ibsa__engine_free(engine);
}

/*
 * If one of two queries that share a request is cancelled, the other query
 * continues.
 */
static void cancel_leaves_the_sharer(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	const struct ibsa_query query = { .record = &ibsa_node_record };
	struct puppet_mad answer;
	struct seen gone = { 0 }, stays = { 0 };
	uint64_t id = 0;

	(void)state;
	assert_int_equal(
		ibsa__engine_query(engine, &query, puppet_note, &gone, &id), 0);
	assert_int_equal(ibsa__engine_query(engine, &query, puppet_note, &stays,
					    NULL),
			 0);
	assert_int_equal(ibsa__engine_cancel(engine, id), 0);
	answer = puppet_answer(puppet_sent(&puppet, 0));
	puppet_deliver(&puppet, &answer);
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(gone.err, -ECANCELED);
	assert_int_equal(stays.err, 0);
	assert_int_equal(gone.calls + stays.calls, 2);
	ibsa__engine_free(engine);
}

/* A queued query that is cancelled is never sent. */
static void cancel_takes_from_the_queue(void **state)
{
	struct ibsa__engine *engine = puppet_engine_of_one(&puppet);
	const struct ibsa_query query = { .record = &ibsa_node_record };
	struct seen first = { 0 }, queued = { 0 };
	uint64_t id = 0;

	(void)state;
	assert_int_equal(puppet_query(engine, 4, &first), 0);
	assert_int_equal(ibsa__engine_query(engine, &query, puppet_note,
					    &queued, &id),
			 0);
	assert_int_equal(ibsa__engine_cancel(engine, id), 0);
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(queued.err, -ECANCELED);
	assert_int_equal(queued.tries, 0);
	assert_int_equal(puppet.sent_count, 1);
	ibsa__engine_free(engine);
}

struct chain {
	struct ibsa__engine *engine;
	uint64_t victim;
	struct seen seen;
	struct seen next;
	int free_err, dispatch_err, query_err;
};

/* A callback that uses all functions that a callback may use, and those that it
 * may not. */
static void busy_callback(const struct ibsa_reply *reply, void *arg)
{
	struct chain *chain = arg;

	puppet_note(reply, &chain->seen);
	chain->free_err = ibsa__engine_free(chain->engine);
	chain->dispatch_err = ibsa__engine_dispatch(chain->engine);
	chain->query_err = puppet_query(chain->engine, 99, &chain->next);
	ibsa__engine_cancel(chain->engine, chain->victim);
}

/* In a callback, query and cancel succeed; close and dispatch return -EBUSY. */
static void callback_may_submit_and_cancel(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	const struct ibsa_query query = { .record = &ibsa_node_record };
	struct chain chain = { .engine = engine };
	struct puppet_mad answer;
	struct seen victim = { 0 };

	(void)state;
	assert_int_equal(ibsa__engine_query(engine, &query, busy_callback,
					    &chain, NULL),
			 0);
	/*
	 * The second query shares the request. The first query's callback
	 * cancels it before its own callback would run.
	 */
	assert_int_equal(ibsa__engine_query(engine, &query, puppet_note,
					    &victim, &chain.victim),
			 0);
	answer = puppet_answer(puppet_sent(&puppet, 0));
	puppet_deliver(&puppet, &answer);
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(chain.seen.calls, 1);
	assert_int_equal(chain.free_err, -EBUSY);
	assert_int_equal(chain.dispatch_err, -EBUSY);
	assert_int_equal(chain.query_err, 0);
	assert_int_equal(victim.calls, 1);
	assert_int_equal(victim.err, -ECANCELED);
	assert_int_equal(chain.next.calls, 0);
	chain.victim = 0;
	ibsa__engine_free(engine);
	assert_int_equal(chain.next.calls, 1);
	assert_int_equal(chain.next.err, -ECANCELED);
}

/* Queries of callbacks are refused while the engine is freed. */
static void closing_refuses_new_queries(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	const struct ibsa_query query = { .record = &ibsa_node_record };
	struct chain chain = { .engine = engine };

	(void)state;
	assert_int_equal(ibsa__engine_query(engine, &query, busy_callback,
					    &chain, NULL),
			 0);
	assert_int_equal(ibsa__engine_free(engine), 0);
	assert_int_equal(chain.seen.calls, 1);
	assert_int_equal(chain.query_err, -ESHUTDOWN);
	assert_int_equal(chain.next.calls, 0);
}

/* Return: whether the bucket of @hash has an entry with this hash. */
static bool share_has(const struct share *share, uint64_t hash)
{
	const struct share_bucket *bucket = share_bucket(share, hash);

	for (int i = 0; i < SHARE_WAYS; i++) {
		if (bucket->entries[i].txn && bucket->entries[i].hash == hash)
			return true;
	}
	return false;
}

/*
 * A new entry of the table overwrites no entry while its bucket has room, and
 * later the oldest entry of its bucket, whatever is added to other buckets.
 */
static void full_bucket_loses_its_oldest_entry(void **state)
{
	/* Hashes of one bucket; all others belong to the next bucket. */
	const uint64_t step = SHARE_BUCKETS_MIN;
	struct txn *txn = (struct txn *)&puppet;
	struct share share;

	(void)state;
	assert_int_equal(ibsa__share_init(&share), 0);
	for (uint64_t i = 0; i <= SHARE_WAYS; i++) {
		for (uint64_t j = 0; j < i; j++)
			assert_int_equal(share_has(&share, j * step),
					 i - j <= SHARE_WAYS);
		share_add(&share, txn, i * step);
		for (int j = 1; j < SHARE_WAYS; j++)
			share_add(&share, txn, 1);
	}
	assert_false(share_has(&share, 0));
	ibsa__share_grow(&share);
	share_add(&share, txn, 2 * SHARE_WAYS * step);
	share_add(&share, txn, 4 * SHARE_WAYS * step);
	share_add(&share, txn, 6 * SHARE_WAYS * step);
	assert_false(share_has(&share, 2 * step));
	assert_true(share_has(&share, 4 * step));
	ibsa__share_done(&share);
}

#define TEST(name) PUPPET_TEST(name, &puppet)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(identical_queries_send_one_request),
		TEST(query_may_be_sent_alone),
		TEST(sets_are_never_shared),
		TEST(get_after_set_is_its_own_request),
		TEST(get_after_set_without_answer_is_its_own_request),
		TEST(records_of_clients_are_shared_only_in_the_queue),
		TEST(records_have_their_writer),
		TEST(cancel_ends_a_query_once),
		TEST(cancel_leaves_the_sharer),
		TEST(cancel_takes_from_the_queue),
		TEST(callback_may_submit_and_cancel),
		TEST(closing_refuses_new_queries),
		TEST(full_bucket_loses_its_oldest_entry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
