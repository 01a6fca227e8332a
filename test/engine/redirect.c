/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The SA redirects requests, which are sent to the target up to a limit. */
#include "test/engine/redirect.h"

/* Requests use the target's QPN, P_Key and SL, and so does the next query. */
static void target_is_asked_until_the_sm_moves(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	const struct ibsa_address *to;
	struct ibsa_port_state now;
	struct seen seen;

	(void)state;
	node_query(engine, &seen);
	redirect_to(engine, TARGET);
	assert_int_equal(seen.calls, 0);
	assert_int_equal(puppet.sent_count, 2);
	to = &puppet_sent(&puppet, 1)->address;
	assert_int_equal(to->lid, TARGET);
	assert_int_equal(to->qpn, QPN);
	assert_int_equal(to->sl, SL);
	assert_int_equal(to->pkey_index, 1);
	assert_false(to->has_grh);
	answer_last(engine);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.err, 0);
	assert_int_equal(seen.status, 0);
	assert_int_equal(seen.tries, 2);
	node_query(engine, &seen);
	assert_int_equal(last_lid(), TARGET);
	answer_last(engine);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(puppet.sent_count, 3);

	puppet.port.sm_lid = PUPPET_SM_LID + 1;
	assert_int_equal(ibsa__engine_port(engine, true, &now), 0);
	node_query(engine, &seen);
	assert_int_equal(last_lid(), PUPPET_SM_LID + 1);
	answer_last(engine);
	assert_int_equal(ibsa__engine_stats(engine)->redirected, 1);
	ibsa__engine_free(engine);
}

/* If the SM asks the port's clients to register again, the redirection ends. */
static void target_is_dropped_with_a_reregistration(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct ibsa_port_state now;
	struct seen seen;

	(void)state;
	node_query(engine, &seen);
	redirect_to(engine, TARGET);
	answer_last(engine);
	puppet.port.reregisters++;
	assert_int_equal(ibsa__engine_port(engine, true, &now), 0);
	node_query(engine, &seen);
	assert_int_equal(last_lid(), PUPPET_SM_LID);
	ibsa__engine_free(engine);
}

static void three_redirections_are_followed_and_four_are_not(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct seen seen;

	(void)state;
	node_query(engine, &seen);
	for (uint16_t i = 0; i < 3; i++) {
		redirect_to(engine, TARGET + i);
		assert_int_equal(last_lid(), TARGET + i);
	}
	answer_last(engine);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.status, 0);
	assert_int_equal(puppet.sent_count, 4);

	/*
	 * The target of the redirection redirects to another target, and so
	 * on.
	 */
	node_query(engine, &seen);
	for (uint16_t i = 3; i < 6; i++)
		redirect_to(engine, TARGET + i);
	assert_int_equal(seen.calls, 0);
	redirect_to(engine, TARGET + 6);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.err, 0);
	assert_int_equal(seen.status, IBSA_STATUS_REDIRECT);
	assert_int_equal(seen.redirect_lid, TARGET + 6);
	assert_int_equal(seen.redirects, 3);
	assert_int_equal(puppet.sent_count, 8);
	node_query(engine, &seen);
	assert_int_equal(last_lid(), PUPPET_SM_LID);
	ibsa__engine_free(engine);
}

static void loop_ends(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct seen seen;

	(void)state;
	node_query(engine, &seen);
	for (int i = 0; i < 2; i++) {
		redirect_to(engine, TARGET);
		redirect_to(engine, PUPPET_SM_LID);
	}
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.status, IBSA_STATUS_REDIRECT);
	assert_int_equal(seen.redirect_lid, PUPPET_SM_LID);
	assert_int_equal(puppet.sent_count, 4);
	ibsa__engine_free(engine);
}

/* All requests in flight follow the first redirection; replies of the SA to the
 * old ids are ignored. */
static void requests_follow_together(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct puppet_mad late;
	struct seen seen[2] = { { 0 } };

	(void)state;
	assert_int_equal(puppet_query(engine, 4, &seen[0]), 0);
	assert_int_equal(puppet_query(engine, 5, &seen[1]), 0);
	redirect_to(engine, TARGET);
	assert_int_equal(puppet.sent_count, 4);
	assert_int_equal(puppet_sent(&puppet, 2)->address.lid, TARGET);
	assert_int_equal(puppet_sent(&puppet, 3)->address.lid, TARGET);
	late = puppet_answer(puppet_sent(&puppet, 0));
	deliver(engine, &late);
	assert_int_equal(seen[0].calls, 0);
	for (unsigned int i = 2; i < 4; i++) {
		struct puppet_mad answer =
			puppet_answer(puppet_sent(&puppet, i));

		deliver(engine, &answer);
	}
	assert_int_equal(seen[0].calls, 1);
	assert_int_equal(seen[1].calls, 1);
	assert_int_equal(ibsa__engine_stats(engine)->redirected, 1);
	ibsa__engine_free(engine);
}

/* If the target does not answer, the SA gets the request again: it may redirect
 * elsewhere now. */
static void silent_target_has_the_sa_asked_again(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct seen seen;

	(void)state;
	node_query(engine, &seen);
	redirect_to(engine, TARGET);
	assert_int_equal(last_lid(), TARGET);
	puppet_advance(&puppet, engine, 400);
	assert_int_equal(puppet.sent_count, 3);
	assert_int_equal(last_lid(), PUPPET_SM_LID);
	for (uint16_t i = 1; i < 4; i++)
		redirect_to(engine, TARGET + i);
	answer_last(engine);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.status, 0);
	ibsa__engine_free(engine);
}

static void target_out_of_reach_ends_the_query(void **state)
{
	enum { COUNT = 9 };
	struct ibsa_class_port_info infos[COUNT];
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct seen seen;

	(void)state;
	for (int i = 0; i < COUNT; i++)
		infos[i] = target_of(TARGET);
	infos[0].redirect_pkey = 0x8002;
	infos[1].redirect_qkey = 1;
	infos[2].redirect_qp = 0;
	infos[3].redirect_lid = 0;
	infos[4].redirect_lid = 0xffff;
	/* a multicast LID */
	infos[5].redirect_lid = 0xc000;
	infos[6].redirect_lid = 0xfffe;
	infos[7].redirect_qp = 0xffffff;
	infos[8].redirect_lid = 0;
	infos[8].redirect_gid.raw[0] = 0xff;
	for (int i = 0; i < COUNT; i++) {
		node_query(engine, &seen);
		assert_int_equal(last_lid(), PUPPET_SM_LID);
		redirect_as(engine, &infos[i]);
		assert_int_equal(seen.calls, 1);
		assert_int_equal(seen.status, IBSA_STATUS_REDIRECT);
		assert_int_equal(seen.redirects, 0);
	}
	assert_int_equal(ibsa__engine_stats(engine)->redirected, 0);
	ibsa__engine_free(engine);
}

/* If the port has a P_Key with limited and with full membership, the full one
 * is used. */
static void full_membership_is_used(void **state)
{
	struct ibsa_class_port_info info = target_of(TARGET);
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct seen seen;

	(void)state;
	info.redirect_pkey = 0x7003;
	node_query(engine, &seen);
	redirect_as(engine, &info);
	assert_int_equal(last_lid(), TARGET);
	assert_int_equal(puppet_sent(&puppet, 1)->address.pkey_index, 3);
	ibsa__engine_free(engine);
}

/*
 * If the target is a node without an SA, which refuses the request, the next
 * query goes to the SM's SA.
 */
static void target_without_an_sa_is_not_used_again(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct puppet_mad answer;
	struct seen seen;

	(void)state;
	node_query(engine, &seen);
	redirect_to(engine, TARGET);
	answer = puppet_answer(puppet_sent(&puppet, 1));
	ibsa_put_be16(answer.mad + MAD_STATUS,
		      IBSA_STATUS_BAD_METHOD_ATTRIBUTE);
	deliver(engine, &answer);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.status, IBSA_STATUS_BAD_METHOD_ATTRIBUTE);
	node_query(engine, &seen);
	assert_int_equal(last_lid(), PUPPET_SM_LID);
	ibsa__engine_free(engine);
}

/* An Omni-Path LID of more than 16 bits is sent as a GID. */
static void long_lid_is_sent_as_a_gid(void **state)
{
	const struct ibsa_opa_class_port_info info = {
		.redirect_lid = 0x12345,
		.redirect_qp = QPN,
		.redirect_qkey = IBSA_QKEY_GSI,
		.redirect_pkey = 0x8001,
	};
	const struct ibsa_query query = { .record = &ibsa_opa_path_record };
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct seen seen = { 0 };
	struct puppet_mad answer;

	(void)state;
	assert_int_equal(ibsa__engine_query(engine, &query, puppet_note, &seen,
					    NULL),
			 0);
	answer = puppet_answer(puppet_sent(&puppet, 0));
	ibsa_put_be16(answer.mad + MAD_STATUS, IBSA_STATUS_REDIRECT);
	assert_int_equal(ibsa_record_encode(&ibsa_opa_class_port_info_record,
					    &info, sizeof(info),
					    answer.mad + IBSA_SA_HEADER_BYTES,
					    IBSA_SA_DATA_BYTES),
			 0);
	deliver(engine, &answer);
	assert_int_equal(puppet.sent_count, 2);
	assert_int_equal(last_lid(), 0x12345);
	assert_true(puppet_sent(&puppet, 1)->address.has_grh);
	assert_int_equal(
		ibsa_be64(puppet_sent(&puppet, 1)->address.gid.raw + 8),
		UINT64_C(0x00066a0000012345));
	ibsa__engine_free(engine);
}

static void roce_sends_to_the_gid(void **state)
{
	const struct ibsa_address sa = { .qpn = 1,
					 .has_grh = true,
					 .gid.raw = { 1 } };
	struct ibsa__engine_options options = puppet_options;
	struct ibsa_class_port_info info = target_of(0);
	struct ibsa__engine *engine;
	struct seen seen;

	(void)state;
	info.redirect_gid.raw[15] = 9;
	puppet.port.link = IBSA_LINK_ETHERNET;
	options.access.sa = &sa;
	engine = puppet_engine(&puppet, &options);
	node_query(engine, &seen);
	redirect_as(engine, &info);
	assert_int_equal(puppet.sent_count, 2);
	assert_true(puppet_sent(&puppet, 1)->address.has_grh);
	assert_memory_equal(&puppet_sent(&puppet, 1)->address.gid,
			    &info.redirect_gid, 16);
	answer_last(engine);
	assert_int_equal(seen.calls, 1);
	ibsa__engine_free(engine);
}

#define TEST(name) PUPPET_TEST(name, &puppet)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(target_is_asked_until_the_sm_moves),
		TEST(target_is_dropped_with_a_reregistration),
		TEST(three_redirections_are_followed_and_four_are_not),
		TEST(loop_ends),
		TEST(requests_follow_together),
		TEST(silent_target_has_the_sa_asked_again),
		TEST(target_out_of_reach_ends_the_query),
		TEST(full_membership_is_used),
		TEST(target_without_an_sa_is_not_used_again),
		TEST(long_lid_is_sent_as_a_gid),
		TEST(roce_sends_to_the_gid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
