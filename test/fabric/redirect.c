/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The embedded SA redirects, and a client follows. */
#include <errno.h>

#include <ibsa/ibsa.h>

#include "support.h"

/*
 * Six hosts, so that four redirections do not lead back to an earlier target.
 */
static const char topology[] = "Switch 8 \"s\"\n"
			       "[1] \"a\"\n[2] \"b\"\n[3] \"c\"\n"
			       "[4] \"d\"\n[5] \"e\"\n[6] \"f\"\n"
			       "Ca 1 \"a\"\nCa 1 \"b\"\nCa 1 \"c\"\n"
			       "Ca 1 \"d\"\nCa 1 \"e\"\nCa 1 \"f\"\n";

struct rig {
	struct ibsa_fabric *fabric;
	struct ibsa_client *client;
	struct ibsa_error error; /* of the last query */
	int err;
	int outcome;
};

static void rig_start(struct rig *rig)
{
	const struct ibsa_fabric_options on = { .virtual_clock = true,
						.seed = 1 };
	struct ibsa_options options = { .device = "b", .seed = 1 };

	*rig = (struct rig){ .err = 0 };
	assert_int_equal(ibsa_fabric_parse(topology, sizeof(topology) - 1, &on,
					   NULL, &rig->fabric),
			 0);
	options.on = rig->fabric;
	assert_int_equal(ibsa_open(&options, NULL, &rig->client), 0);
}

static void rig_stop(struct rig *rig)
{
	assert_int_equal(ibsa_close(rig->client), 0);
	ibsa_fabric_put(rig->fabric);
}

static void rig_fault(struct rig *rig, const char *text)
{
	struct ibsa_fault fault;

	assert_int_equal(ibsa_fault_parse(text, &fault, NULL), 0);
	assert_int_equal(ibsa_fabric_fault(rig->fabric, &fault), 0);
}

static void rig_note(const struct ibsa_reply *reply, void *arg)
{
	struct rig *rig = arg;

	rig->err = reply->err;
	rig->outcome = (int)ibsa_reply_outcome(reply);
	ibsa_reply_explain(reply, &rig->error);
}

/* Query a path, and wait. */
static void rig_query(struct rig *rig)
{
	const struct ibsa_path match = { .slid = 1, .dlid = 2 };
	const struct ibsa_query query = {
		.record = &ibsa_path_record,
		.match = &match,
		.mask = IBSA_PATH_CM(slid) | IBSA_PATH_CM(dlid),
	};

	rig->outcome = -1;
	assert_int_equal(
		ibsa_query_start(rig->client, &query, rig_note, rig, NULL), 0);
	while (rig->outcome < 0)
		assert_int_equal(ibsa_wait(rig->client, 10000), 0);
}

/* Query paths by GetMulti, and wait. */
static void rig_query_multi(struct rig *rig)
{
	struct ibsa_multi_path match = { .sgid_count = 1, .dgid_count = 1 };
	const struct ibsa_query query = {
		.record = &ibsa_multi_path_record,
		.match = &match,
		.mask = IBSA_MULTI_PATH_CM(sgid_count) |
			IBSA_MULTI_PATH_CM(dgid_count),
		.method = IBSA_METHOD_GET_MULTI,
	};
	struct ibsa_port_state port;

	assert_int_equal(ibsa_port_get(rig->client, false, &port), 0);
	match.gid[0] = match.gid[1] = port.gid;
	rig->outcome = -1;
	assert_int_equal(
		ibsa_query_start(rig->client, &query, rig_note, rig, NULL), 0);
	while (rig->outcome < 0)
		assert_int_equal(ibsa_wait(rig->client, 10000), 0);
}

static uint64_t rig_redirections(const struct rig *rig)
{
	struct ibsa_fabric_stats stats;

	ibsa_fabric_stats_get(rig->fabric, &stats);
	return stats.faults[IBSA_FAULT_REDIRECT];
}

/* One and three redirections are followed, and cached until the SM moves. */
static void redirections_are_followed(void **state)
{
	static const char *const faults[] = { "redirect=100,0,1",
					      "redirect=100,0,3",
					      "redirect-gid=100",
					      "redirect-gid=100,0,3" };
	static const unsigned int hops[] = { 1, 3, 1, 3 };

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct rig rig;

		rig_start(&rig);
		rig_fault(&rig, faults[i]);
		for (int k = 0; k < 3; k++) {
			rig_query(&rig);
			assert_int_equal(rig.outcome, IBSA_OUTCOME_OK);
			assert_int_equal(rig_redirections(&rig), hops[i]);
		}
		assert_int_equal(ibsa_fabric_sa_move(rig.fabric, "d"), 0);
		rig_query(&rig);
		assert_int_equal(rig.outcome, IBSA_OUTCOME_OK);
		assert_int_equal(rig_redirections(&rig), 2 * hops[i]);
		rig_stop(&rig);
	}
}

/*
 * Four redirections and a loop end with an error that names the last target,
 * and the next query starts at the SA. The ports have the first LIDs, the
 * switch has the last.
 */
static void too_many_redirections_are_an_error(void **state)
{
	struct ibsa_error last = { .text = "none" };
	struct rig rig;

	(void)state;
	rig_start(&rig);
	rig_fault(&rig, "redirect=100,0,3");
	rig_query(&rig);
	assert_int_equal(ibsa_redirect_explain(rig.client, &last), -ENOENT);
	assert_string_equal(last.text, "none");
	rig_stop(&rig);
	rig_start(&rig);
	rig_fault(&rig, "redirect=100,0,4");
	rig_query(&rig);
	assert_int_equal(ibsa_redirect_explain(rig.client, &last), 0);
	assert_string_equal(last.text, rig.error.text);
	assert_int_equal(rig.outcome, IBSA_OUTCOME_REFUSED);
	assert_non_null(strstr(rig.error.text, "too often"));
	assert_int_equal(rig_redirections(&rig), 4);
	rig_fault(&rig, "redirect=100,0,1000");
	rig_query(&rig);
	assert_int_equal(rig.outcome, IBSA_OUTCOME_REFUSED);
	assert_int_equal(rig_redirections(&rig), 8);
	rig_fault(&rig, "redirect-gid=100,0,1000");
	rig_query(&rig);
	assert_int_equal(rig.outcome, IBSA_OUTCOME_REFUSED);
	assert_non_null(strstr(rig.error.text, "to GID fe80::"));
	rig_fault(&rig, "redirect=0");
	rig_query(&rig);
	assert_int_equal(rig.outcome, IBSA_OUTCOME_OK);
	rig_stop(&rig);
}

/*
 * A cached target is used after the SA stops to redirect, and dropped if it
 * does not answer.
 */
static void lost_target_is_removed_from_the_cache(void **state)
{
	struct rig rig;

	(void)state;
	rig_start(&rig);
	rig_fault(&rig, "redirect=100,1");
	rig_query(&rig);
	rig_query(&rig);
	assert_int_equal(rig.outcome, IBSA_OUTCOME_OK);
	assert_int_equal(rig_redirections(&rig), 1);
	rig_fault(&rig, "redirect=0");
	rig_query(&rig);
	assert_int_equal(rig.outcome, IBSA_OUTCOME_OK);
	rig_stop(&rig);
}

/*
 * A GetMulti is redirected by a reply with the attribute of the request instead
 * of ClassPortInfo.
 */
static void get_multi_is_redirected(void **state)
{
	struct rig rig;

	(void)state;
	rig_start(&rig);
	rig_fault(&rig, "redirect=100,0,2");
	rig_query_multi(&rig);
	assert_int_equal(rig.err, 0);
	assert_int_equal(rig.outcome, IBSA_OUTCOME_OK);
	assert_int_equal(rig_redirections(&rig), 2);
	rig_stop(&rig);
}

static void faults_of_text(void **state)
{
	struct ibsa_fault fault;

	(void)state;
	assert_int_equal(ibsa_fault_parse("redirect=50%,2,3", &fault, NULL), 0);
	assert_int_equal(fault.kind, IBSA_FAULT_REDIRECT);
	assert_int_equal(fault.count, 2);
	assert_int_equal(fault.hops, 3);
	assert_int_equal(fault.delay_ms, 0);
	assert_false(fault.by_gid);
	assert_int_equal(ibsa_fault_parse("redirect-gid=1", &fault, NULL), 0);
	assert_true(fault.by_gid);
	assert_int_equal(ibsa_fault_parse("delay=1,2,3", &fault, NULL), 0);
	assert_int_equal(fault.delay_ms, 3);
	assert_int_equal(fault.hops, 0);
	assert_int_equal(ibsa_fault_parse("redirect-lid=1", &fault, NULL),
			 -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(redirections_are_followed),
		cmocka_unit_test(too_many_redirections_are_an_error),
		cmocka_unit_test(lost_target_is_removed_from_the_cache),
		cmocka_unit_test(get_multi_is_redirected),
		cmocka_unit_test(faults_of_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
