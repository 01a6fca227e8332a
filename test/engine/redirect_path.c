/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The SA redirects to a GID, and the engine queries the path to it from the SA.
 */
#include "test/engine/redirect.h"

static void gid_is_resolved_by_a_path(void **state)
{
	struct ibsa_class_port_info info = target_of(0);
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct ibsa_path path;
	struct puppet_mad answer;
	struct seen seen;

	(void)state;
	info.redirect_gid.raw[0] = 0xfe;
	info.redirect_gid.raw[15] = 9;
	node_query(engine, &seen);
	redirect_as(engine, &info);
	assert_int_equal(puppet.sent_count, 2);
	assert_int_equal(last_lid(), PUPPET_SM_LID);
	answer = puppet_answer(puppet_sent(&puppet, 1));
	ibsa_path_record.decode(answer.mad + IBSA_SA_HEADER_BYTES, &path);
	assert_memory_equal(&path.dgid, &info.redirect_gid, 16);
	path.dlid = TARGET;
	assert_int_equal(ibsa_record_encode(&ibsa_path_record, &path,
					    sizeof(path),
					    answer.mad + IBSA_SA_HEADER_BYTES,
					    IBSA_SA_DATA_BYTES),
			 0);
	deliver(engine, &answer);
	assert_int_equal(puppet.sent_count, 3);
	assert_int_equal(last_lid(), TARGET);
	assert_int_equal(puppet_sent(&puppet, 2)->address.qpn, QPN);
	assert_int_equal(puppet_sent(&puppet, 2)->address.sl, SL);
	answer_last(engine);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.status, 0);
	ibsa__engine_free(engine);
}

/*
 * The engine gets no path: the path to the target does not exist, or the path
 * query itself is redirected.
 */
static void gid_without_a_path_ends_the_query(void **state)
{
	struct ibsa_class_port_info info = target_of(0);

	(void)state;
	info.redirect_gid.raw[15] = 9;
	for (int i = 0; i < 2; i++) {
		struct ibsa__engine *engine;
		struct puppet_mad answer;
		struct seen seen;

		puppet_init(&puppet);
		engine = puppet_engine(&puppet, &puppet_options);
		node_query(engine, &seen);
		for (int k = 0; k < 3; k++) {
			redirect_as(engine, &info);
			assert_int_equal(seen.calls, 0);
			answer = puppet_answer(
				puppet_sent(&puppet, puppet.sent_count - 1));
			ibsa_put_be16(answer.mad + MAD_STATUS,
				      IBSA_STATUS_NO_RECORDS);
			if (i)
				redirect_as(engine, &info);
			else
				deliver(engine, &answer);
			puppet_advance(&puppet, engine, 800);
		}
		redirect_as(engine, &info);
		assert_int_equal(seen.calls, 1);
		assert_int_equal(seen.status, IBSA_STATUS_REDIRECT);
		ibsa__engine_free(engine);
	}
}

/* If the SM moves during the path query, its reply is ignored. */
static void path_that_comes_after_a_move_is_ignored(void **state)
{
	struct ibsa_class_port_info info = target_of(0);
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct ibsa_port_state now;
	struct ibsa_path path = { .dlid = TARGET };
	struct puppet_mad answer;
	struct seen seen;

	(void)state;
	info.redirect_gid.raw[15] = 9;
	node_query(engine, &seen);
	redirect_as(engine, &info);
	puppet.port.sm_lid = PUPPET_SM_LID + 1;
	assert_int_equal(ibsa__engine_port(engine, true, &now), 0);
	puppet_advance(&puppet, engine, 0);
	/* The request and the path query were sent again to the new SM. */
	assert_int_equal(puppet.sent_count, 4);
	for (unsigned int i = 2; i < 4; i++) {
		answer = puppet_answer(puppet_sent(&puppet, i));
		assert_int_equal(answer.address.lid, PUPPET_SM_LID + 1);
		assert_int_equal(ibsa_record_encode(
					 &ibsa_path_record, &path, sizeof(path),
					 answer.mad + IBSA_SA_HEADER_BYTES,
					 IBSA_SA_DATA_BYTES),
				 0);
		deliver(engine, &answer);
	}
	assert_int_equal(seen.calls, 1);
	node_query(engine, &seen);
	assert_int_equal(last_lid(), PUPPET_SM_LID + 1);
	ibsa__engine_free(engine);
}

/* Answer the path query that was sent as the @n-th request. */
static void answer_path(struct ibsa__engine *engine, unsigned int n,
			uint16_t dlid)
{
	const struct ibsa_path path = { .dlid = dlid };
	struct puppet_mad answer = puppet_answer(puppet_sent(&puppet, n));

	assert_int_equal(ibsa_record_encode(&ibsa_path_record, &path,
					    sizeof(path),
					    answer.mad + IBSA_SA_HEADER_BYTES,
					    IBSA_SA_DATA_BYTES),
			 0);
	deliver(engine, &answer);
}

static struct ibsa_class_port_info target_by_gid(void)
{
	struct ibsa_class_port_info info = target_of(0);

	info.redirect_gid.raw[0] = 0xfe;
	info.redirect_gid.raw[15] = 9;
	return info;
}

/* The redirected request stays in the window until the path is known. */
static void path_is_asked_for_when_the_window_is_full(void **state)
{
	const struct ibsa_class_port_info info = target_by_gid();
	struct ibsa__engine *engine = puppet_engine_of_one(&puppet);
	struct seen seen[3] = { { 0 } };

	(void)state;
	for (uint16_t i = 0; i < 3; i++)
		assert_int_equal(puppet_query(engine, 4 + i, &seen[i]), 0);
	assert_int_equal(puppet.sent_count, 1);
	redirect_as(engine, &info);
	assert_int_equal(puppet.sent_count, 2);
	answer_path(engine, 1, TARGET);
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(puppet.sent_count, 3 + i);
		assert_int_equal(last_lid(), TARGET);
		answer_last(engine);
		assert_int_equal(seen[i].calls, 1);
		assert_int_equal(seen[i].status, 0);
	}
	ibsa__engine_free(engine);
}

/* Until the path is known, the request may be redirected to the same target
 * again; this counts once. */
static void path_may_take_several_tries(void **state)
{
	const struct ibsa_class_port_info info = target_by_gid();
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct ibsa_path asked;
	unsigned int answered = 1;
	struct seen seen;

	(void)state;
	node_query(engine, &seen);
	redirect_as(engine, &info);
	for (int i = 0; i < 40; i++) {
		puppet_advance(&puppet, engine, 50);
		for (; answered < puppet.sent_count; answered++) {
			ibsa_path_record.decode(
				puppet_sent(&puppet, answered)->mad +
					IBSA_SA_HEADER_BYTES,
				&asked);
			if (asked.dlid)
				redirect_nth_as(engine, answered, &info);
		}
		assert_int_equal(seen.calls, 0);
	}
	for (unsigned int i = puppet.sent_count; i-- > 0;) {
		ibsa_path_record.decode(puppet_sent(&puppet, i)->mad +
						IBSA_SA_HEADER_BYTES,
					&asked);
		if (!asked.dlid) {
			answer_path(engine, i, TARGET);
			break;
		}
	}
	assert_int_equal(last_lid(), TARGET);
	answer_last(engine);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.status, 0);
	ibsa__engine_free(engine);
}

/* A path with a multicast LID is not used. */
static void path_by_multicast_is_not_taken(void **state)
{
	const struct ibsa_class_port_info info = target_by_gid();
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct seen seen;

	(void)state;
	node_query(engine, &seen);
	redirect_as(engine, &info);
	answer_path(engine, 1, 0xc001);
	assert_int_equal(puppet.sent_count, 2);
	puppet_advance(&puppet, engine, 100);
	assert_int_equal(last_lid(), PUPPET_SM_LID);
	ibsa__engine_free(engine);
}

/*
 * The path to the first target needs a GRH, the path to the next one does not.
 */
static void grh_is_not_that_of_the_target_before(void **state)
{
	const struct ibsa_class_port_info info = target_by_gid();
	const struct ibsa_path path = { .dlid = TARGET, .hop_limit = 64 };
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct puppet_mad answer;
	struct seen seen;

	(void)state;
	node_query(engine, &seen);
	redirect_as(engine, &info);
	answer = puppet_answer(puppet_sent(&puppet, 1));
	assert_int_equal(ibsa_record_encode(&ibsa_path_record, &path,
					    sizeof(path),
					    answer.mad + IBSA_SA_HEADER_BYTES,
					    IBSA_SA_DATA_BYTES),
			 0);
	deliver(engine, &answer);
	assert_true(puppet_sent(&puppet, 2)->address.has_grh);
	redirect_to(engine, TARGET + 1);
	assert_int_equal(seen.calls, 0);
	assert_int_equal(last_lid(), TARGET + 1);
	assert_false(puppet_sent(&puppet, 3)->address.has_grh);
	ibsa__engine_free(engine);
}

#define TEST(name) PUPPET_TEST(name, &puppet)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(gid_is_resolved_by_a_path),
		TEST(gid_without_a_path_ends_the_query),
		TEST(path_that_comes_after_a_move_is_ignored),
		TEST(path_is_asked_for_when_the_window_is_full),
		TEST(path_may_take_several_tries),
		TEST(path_by_multicast_is_not_taken),
		TEST(grh_is_not_that_of_the_target_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
