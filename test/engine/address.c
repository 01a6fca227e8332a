/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Addresses of requests: the SA of the port's SM, or the SA from the options.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "test/support/puppet.h"

static struct puppet puppet;

/* Without an SM, a query is refused with -EAGAIN; with an SM, it is accepted at
 * once. */
static void no_sm_is_eagain(void **state)
{
	struct ibsa__engine *engine;
	struct seen seen = { 0 };

	(void)state;
	puppet.port.sm_lid = 0;
	engine = puppet_engine(&puppet, &puppet_options);
	assert_int_equal(puppet_query(engine, 4, &seen), -EAGAIN);
	puppet.port.sm_lid = 9;
	puppet_advance(&puppet, engine, 100);
	assert_int_equal(puppet_query(engine, 4, &seen), 0);
	assert_int_equal(puppet_sent(&puppet, 0)->address.lid, 9);
	ibsa__engine_free(engine);
}

/* After the SM has moved, the next try goes to the new SM. */
static void retry_follows_the_sm(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct puppet_mad answer;
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(puppet_query(engine, 4, &seen), 0);
	puppet.port.sm_lid = 12;
	puppet_advance(&puppet, engine, 100);
	assert_int_equal(puppet_sent(&puppet, 1)->address.lid, 12);
	answer = puppet_answer(puppet_sent(&puppet, 1));
	puppet_deliver(&puppet, &answer);
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(seen.err, 0);
	assert_int_equal(seen.calls, 1);
	ibsa__engine_free(engine);
}

/*
 * On an InfiniBand port that needs a GRH, the DGID has the SA's interface id.
 */
static void needed_grh_names_the_sm(void **state)
{
	static const struct ibsa_gid sm = { { 0xfe, 0x80, [8] = 2, [15] = 2 } };
	const struct ibsa_address *to;
	struct ibsa__engine *engine;
	struct seen seen = { 0 };

	(void)state;
	puppet.port.needs_grh = true;
	puppet.port.gid = (struct ibsa_gid){ { 0xfe, 0x80, [15] = 7 } };
	engine = puppet_engine(&puppet, &puppet_options);
	assert_int_equal(puppet_query(engine, 4, &seen), 0);
	to = &puppet_sent(&puppet, 0)->address;
	assert_int_equal(to->lid, PUPPET_SM_LID);
	assert_true(to->has_grh);
	assert_memory_equal(&to->gid, &sm, sizeof(sm));
	ibsa__engine_free(engine);
}

/* The program's grh option has priority over the port's state. */
static void grh_option_has_priority(void **state)
{
	struct ibsa__engine_options options = puppet_options;
	struct seen seen = { 0 };

	(void)state;
	for (unsigned int needed = 0; needed < 2; needed++) {
		struct ibsa__engine *engine;

		options.access.grh = needed ? IBSA_GRH_NEVER : IBSA_GRH_ALWAYS;
		puppet.port.needs_grh = needed;
		engine = puppet_engine(&puppet, &options);
		assert_int_equal(puppet_query(engine, 4, &seen), 0);
		assert_int_equal(puppet_sent(&puppet, needed)->address.has_grh,
				 !needed);
		ibsa__engine_free(engine);
	}
}

/* Ports without an SM: down, not configured, RoCE, or an SM LID that is not
 * unicast. */
static void ports_without_sm_are_told_apart(void **state)
{
	struct ibsa_port_state port = { .sm_lid = 7, .port_state = 4 };

	(void)state;
	assert_true(ibsa_port_has_sm(&port));
	port.port_state = IBSA_PORT_INIT;
	assert_false(ibsa_port_has_sm(&port));
	port.port_state = IBSA_PORT_ACTIVE;
	port.sm_lid = 0xc000;
	assert_false(ibsa_port_has_sm(&port));
	port.link = IBSA_LINK_OPA;
	assert_true(ibsa_port_has_sm(&port));
	port.sm_lid = 0;
	assert_false(ibsa_port_has_sm(&port));
	port.sm_lid = 7;
	port.link = IBSA_LINK_ETHERNET;
	assert_false(ibsa_port_has_sm(&port));
}

/* The driver treats LID 0xffff as the permissive LID unless there is a GID.
 * Source: Linux drivers/infiniband/hw/hfi1/hfi.h, hfi1_make_opa_lid(). */
static void sm_at_the_permissive_lid_is_asked_by_gid(void **state)
{
	const struct ibsa_port_state opa = {
		.gid.raw = { 0xfe, 0x80, [15] = 1 },
		.lid = 3,
		.sm_lid = 0xffff,
		.sm_sl = 31,
		.port_state = IBSA_PORT_ACTIVE,
		.link = IBSA_LINK_OPA,
	};
	const uint8_t id[] = { 0, 6, 0x6a, 0, 0, 0, 0xff, 0xff };
	struct ibsa__engine *engine;
	const struct ibsa_address *sent;
	struct puppet_mad answer;
	struct seen seen = { 0 };

	(void)state;
	puppet.port = opa;
	engine = puppet_engine(&puppet, &puppet_options);
	assert_int_equal(puppet_query(engine, 4, &seen), 0);
	sent = &puppet_sent(&puppet, 0)->address;
	assert_int_equal(sent->lid, 0xffff);
	assert_int_equal(sent->sl, 31);
	assert_true(sent->has_grh);
	assert_memory_equal(sent->gid.raw, opa.gid.raw, 8);
	assert_memory_equal(sent->gid.raw + 8, id, sizeof(id));
	answer = puppet_answer(puppet_sent(&puppet, 0));
	puppet_deliver(&puppet, &answer);
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.err, 0);
	ibsa__engine_free(engine);
}

/* An SA from the options is used whatever the port's state is. */
static void sa_of_the_options_stays(void **state)
{
	const struct ibsa_address sa = { .lid = 33, .qpn = 1, .sl = 5 };
	struct ibsa__engine_options options = puppet_options;
	struct ibsa__engine *engine;
	struct seen seen = { 0 };

	(void)state;
	options.access.sa = &sa;
	puppet.port.sm_lid = 0;
	engine = puppet_engine(&puppet, &options);
	assert_int_equal(puppet_query(engine, 4, &seen), 0);
	assert_int_equal(puppet_sent(&puppet, 0)->address.lid, 33);
	puppet_advance(&puppet, engine, 100);
	assert_int_equal(puppet_sent(&puppet, 1)->address.lid, 33);
	ibsa__engine_free(engine);
}

#define TEST(name) PUPPET_TEST(name, &puppet)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(no_sm_is_eagain),
		TEST(retry_follows_the_sm),
		TEST(grh_option_has_priority),
		TEST(needed_grh_names_the_sm),
		TEST(ports_without_sm_are_told_apart),
		TEST(sm_at_the_permissive_lid_is_asked_by_gid),
		TEST(sa_of_the_options_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
