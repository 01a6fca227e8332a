/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Blocking queries for one record: results, and each error with its text. */
#include <errno.h>
#include <string.h>

#include <ibsa/ibsa.h>

#include "test/client/reach_support.h"

static struct rig rig;

static int start(void **state)
{
	const struct ibsa_options options = { .seed = 1, .deadline_ms = 300 };

	(void)state;
	rig_start(&rig, &options);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	rig_stop(&rig);
	return 0;
}

/*
 * Check that the call fails, does not change the record, and returns an error
 * text with @word.
 */
static void one_fails(struct ibsa_client *client,
		      const struct ibsa_query *query, int err, const char *word)
{
	struct ibsa_error error = { .text = "" };
	struct ibsa_node node, before;

	memset(&node, 0x5a, sizeof(node));
	before = node;
	assert_int_equal(ibsa_query_one(client, query, &error, &node,
					sizeof(node)),
			 err);
	assert_memory_equal(&node, &before, sizeof(node));
	if (!strstr(error.text, word))
		fail_msg("'%s' lacks '%s'", error.text, word);
	assert_int_equal(
		ibsa_query_one(client, query, NULL, &node, sizeof(node)), err);
}

static void set_fault(enum ibsa_fault_kind kind)
{
	const struct ibsa_fault fault = { .kind = kind, .percent = 100 };

	assert_int_equal(ibsa_fabric_fault(rig.fabric, &fault), 0);
}

static const struct ibsa_node host3 = { .node_description = "host3" };

static const struct ibsa_query host3_query = {
	.record = &ibsa_node_record,
	.match = &host3,
	.mask = IBSA_NODE_CM(node_description),
};

static void record_is_decoded(void **state)
{
	struct ibsa_error error = { .text = "unchanged" };
	struct ibsa_query query = host3_query;
	struct ibsa_node node = { .lid = 0 };

	(void)state;
	assert_int_equal(ibsa_query_one(rig.client, &query, &error, &node,
					sizeof(node)),
			 0);
	assert_string_equal(node.node_description, "host3");
	assert_string_equal(error.text, "unchanged");
	node.lid = 0;
	query.method = IBSA_METHOD_GET_TABLE;
	assert_int_equal(ibsa_query_one(rig.client, &query, NULL, &node,
					sizeof(node)),
			 0);
	assert_true(node.lid);
}

/*
 * ibsa_query_one() returns different errors for no record, for several records,
 * and for a refusal.
 */
static void none_many_and_refused_differ(void **state)
{
	const struct ibsa_node nobody = { .node_description = "nobody" };
	struct ibsa_query query = host3_query;

	(void)state;
	query.match = &nobody;
	one_fails(rig.client, &query, -ENOENT, "no such record");
	query.method = IBSA_METHOD_GET_TABLE;
	one_fails(rig.client, &query, -ENOENT, "no such record");
	query = (struct ibsa_query){ .record = &ibsa_node_record };
	one_fails(rig.client, &query, -ENOTUNIQ, "more than one record");
	query.method = IBSA_METHOD_GET_TABLE;
	one_fails(rig.client, &query, -ENOTUNIQ, "more than one record");
	query = (struct ibsa_query){
		.record = &ibsa_service_record,
		.method = IBSA_METHOD_SET,
	};
	one_fails(rig.client, &query, -EREMOTEIO, "refused");
}

static void busy_and_redirected_are_refused(void **state)
{
	(void)state;
	set_fault(IBSA_FAULT_BUSY);
	one_fails(rig.client, &host3_query, -EREMOTEIO, "busy");
	assert_int_equal(ibsa_fabric_fault(rig.fabric,
					   &(struct ibsa_fault){
						   .kind = IBSA_FAULT_BUSY }),
			 0);
	assert_int_equal(ibsa_fabric_fault(rig.fabric,
					   &(struct ibsa_fault){
						   .kind = IBSA_FAULT_REDIRECT,
						   .percent = 100,
						   .hops = HOSTS }),
			 0);
	one_fails(rig.client, &host3_query, -EREMOTEIO, "redirected");
}

static void silence_is_told(void **state)
{
	(void)state;
	set_fault(IBSA_FAULT_SILENCE);
	one_fails(rig.client, &host3_query, -ETIMEDOUT, "did not answer");
}

static void queries_that_cannot_be_sent(void **state)
{
	const struct ibsa_fabric_port_change down = {
		.mask = IBSA_CHANGE_LINK,
	};
	struct ibsa_fabric_port end;
	struct ibsa_port_state port;

	(void)state;
	ibsa_fabric_sa_set(rig.fabric, false);
	assert_int_equal(ibsa_port_get(rig.client, true, &port), 0);
	one_fails(rig.client, &host3_query, -EAGAIN, "no subnet manager");
	assert_int_equal(ibsa_fabric_port_at(rig.fabric, 0, &end), 0);
	assert_int_equal(ibsa_fabric_port_set(rig.fabric, end.node, 1, &down),
			 0);
	assert_int_equal(ibsa_port_get(rig.client, true, &port), 0);
	one_fails(rig.client, &host3_query, -ENETDOWN, "check its cable");
}

/* Each refusal of a query names what is wrong with it. */
static void refusals_name_the_field(void **state)
{
	struct ibsa_path path = { .flow_label = 1 << 20 };
	struct ibsa_node node = host3;
	struct ibsa_query query = host3_query;

	(void)state;
	query.mask = UINT64_C(1) << 63 | UINT64_C(1) << 50;
	one_fails(rig.client, &query, -EINVAL,
		  "bit 50, which the NodeRecord does not define");
	query = host3_query;
	query.record = NULL;
	one_fails(rig.client, &query, -EINVAL, "no record");
	query = host3_query;
	query.jitter_percent = 101;
	one_fails(rig.client, &query, -EINVAL, "jitter is 101");
	query = host3_query;
	query.method = IBSA_METHOD_REPORT;
	one_fails(rig.client, &query, -EINVAL, "method is 0x06");
	memset(node.node_description, 'x', sizeof(node.node_description));
	query = host3_query;
	query.match = &node;
	one_fails(rig.client, &query, -ERANGE,
		  "node_description of the NodeRecord does not end");
	query = (struct ibsa_query){ .record = &ibsa_path_record,
				     .match = &path };
	one_fails(rig.client, &query, -ERANGE,
		  "flow_label of the PathRecord is 1048576, but has only 20");
	query = (struct ibsa_query){ .record = &ibsa_opa_path_record };
	one_fails(rig.client, &query, -EOPNOTSUPP,
		  "OpaPathRecord is a record of Omni-Path");
}

/* ibsa_path_wait() names the fields of its options in the same way. */
static void refused_path_names_the_field(void **state)
{
	const struct ibsa_path match = { .sl = 16 };
	struct ibsa_path_options options = { .match = &match };
	struct ibsa_error error;
	struct ibsa_path path;

	(void)state;
	assert_int_equal(ibsa_path_wait(rig.client, &options, &rig.gids[1],
					&error, &path),
			 -ERANGE);
	assert_non_null(strstr(error.text, "sl of the PathRecord is 16"));
	options = (struct ibsa_path_options){ .mask = UINT64_C(1) << 60 };
	assert_int_equal(ibsa_path_wait(rig.client, &options, &rig.gids[1],
					&error, &path),
			 -EINVAL);
	assert_non_null(strstr(error.text, "bit 60"));
}

/* What happens to the fabric during a query. */
static void sm_stops(const struct ibsa_reply *reply, void *arg)
{
	(void)reply;
	(void)arg;
	ibsa_fabric_sa_set(rig.fabric, false);
}

static void link_goes_down(const struct ibsa_reply *reply, void *arg)
{
	const struct ibsa_fabric_port_change down = {
		.mask = IBSA_CHANGE_LINK,
	};
	struct ibsa_fabric_port end;

	(void)reply;
	(void)arg;
	assert_int_equal(ibsa_fabric_port_at(rig.fabric, 0, &end), 0);
	assert_int_equal(ibsa_fabric_port_set(rig.fabric, end.node, 1, &down),
			 0);
}

/* Let @happens be called 100 ms after now, when the SA is silent. */
static void soon(ibsa_reply_fn happens)
{
	struct ibsa_query query = { .record = &ibsa_class_port_info_record,
				    .deadline_ms = 100 };

	assert_int_equal(
		ibsa_query_start(rig.client, &query, happens, NULL, NULL), 0);
}

static void loss_during_a_query_is_told(ibsa_reply_fn happens, int err,
					const char *words)
{
	struct ibsa_error error = { .text = "" };
	struct ibsa_reach_answer answer;
	struct ibsa_path path;
	struct ibsa_node node;

	rig_stop(&rig);
	start(NULL);
	set_fault(IBSA_FAULT_SILENCE);
	soon(happens);
	assert_int_equal(ibsa_query_one(rig.client, &host3_query, &error, &node,
					sizeof(node)),
			 err);
	assert_non_null(strstr(error.text, words));

	rig_stop(&rig);
	start(NULL);
	set_fault(IBSA_FAULT_SILENCE);
	soon(happens);
	assert_int_equal(ibsa_path_wait(rig.client, NULL, &rig.gids[1], &error,
					&path),
			 err);
	assert_non_null(strstr(error.text, words));

	rig_stop(&rig);
	start(NULL);
	set_fault(IBSA_FAULT_SILENCE);
	soon(happens);
	assert_int_equal(
		ibsa_reach_wait(rig.client, NULL, &rig.gids[1], &answer), 0);
	assert_int_equal(answer.reach, IBSA_REACH_UNKNOWN);
	assert_int_equal(answer.err, err);
}

/*
 * A query that loses its SM, or its link, ends at its deadline with what
 * happened, not as if the SA were silent.
 */
static void losses_during_a_query_are_told(void **state)
{
	(void)state;
	loss_during_a_query_is_told(sm_stops, -EAGAIN, "no subnet manager");
	loss_during_a_query_is_told(link_goes_down, -ENETDOWN,
				    "this port was down");
}

static void from_callback(const struct ibsa_reply *reply, void *arg)
{
	struct ibsa_path path;

	(void)reply;
	(void)arg;
	one_fails(rig.client, &host3_query, -EBUSY, "callback");
	assert_int_equal(ibsa_path_wait(rig.client, NULL, &rig.gids[1], NULL,
					&path),
			 -EBUSY);
}

static void callbacks_cannot_wait(void **state)
{
	(void)state;
	assert_int_equal(ibsa_query_wait(rig.client, &host3_query,
					 from_callback, NULL),
			 0);
}

/* How wrap_recv() changes each reply. */
static enum { WHOLE, SHORT, FIRST_PART, GONE, BROKEN } wrap;
static const struct ibsa_transport_ops *wrapped;

static int wrap_recv(struct ibsa_transport *transport, struct ibsa_message *out)
{
	int got = wrapped->recv(transport, out);

	if (got != 1)
		return got;
	switch (wrap) {
	case SHORT:
		out->len = IBSA_SA_HEADER_BYTES;
		break;
	case FIRST_PART:
		out->err = -EMSGSIZE;
		break;
	case GONE:
		return -ENODEV;
	case BROKEN:
		return -EIO;
	default:
		break;
	}
	return 1;
}

/*
 * ibsa_query_one() returns each error of a reply, and of receiving a reply,
 * unchanged.
 */
static void errors_of_receiving_pass(void **state)
{
	const struct ibsa_query table = { .record = &ibsa_node_record,
					  .method = IBSA_METHOD_GET_TABLE };
	struct ibsa_options options = { .seed = 1, .deadline_ms = 300 };
	struct ibsa_transport_ops ops;
	struct ibsa_client *client;

	(void)state;
	assert_int_equal(
		ibsa_fabric_attach(rig.fabric, NULL, 0, &options.transport), 0);
	wrapped = options.transport->ops;
	ops = *wrapped;
	ops.recv = wrap_recv;
	options.transport->ops = &ops;
	assert_int_equal(ibsa_open(&options, NULL, &client), 0);
	wrap = SHORT;
	one_fails(client, &host3_query, -EPROTO, "malformed");
	wrap = FIRST_PART;
	one_fails(client, &table, -EMSGSIZE, "larger than accepted");
	wrap = BROKEN;
	one_fails(client, &host3_query, -EIO, "Input/output error");
	wrap = GONE;
	one_fails(client, &host3_query, -ENODEV, "No such device");
	assert_int_equal(ibsa_close(client), 0);
}

static void path_is_queried(void **state)
{
	const struct ibsa_path_options from = { .from = rig.gids[3],
						.timeout_ms = 200 };
	struct ibsa_path path;

	(void)state;
	assert_int_equal(
		ibsa_path_wait(rig.client, NULL, &rig.gids[5], NULL, &path), 0);
	assert_memory_equal(&path.sgid, &rig.gids[0], sizeof(path.sgid));
	assert_memory_equal(&path.dgid, &rig.gids[5], sizeof(path.dgid));
	assert_int_equal(path.reversible, 1);
	assert_int_equal(ibsa_path_wait(rig.client, &from, &rig.gids[5], NULL,
					&path),
			 0);
	assert_memory_equal(&path.sgid, &rig.gids[3], sizeof(path.sgid));
}

static void path_fails(const struct ibsa_path_options *options,
		       const struct ibsa_gid *to, int err, const char *word)
{
	struct ibsa_error error = { .text = "" };
	struct ibsa_path path, before;

	memset(&path, 0x5a, sizeof(path));
	before = path;
	assert_int_equal(ibsa_path_wait(rig.client, options, to, &error, &path),
			 err);
	assert_memory_equal(&path, &before, sizeof(path));
	if (!strstr(error.text, word))
		fail_msg("'%s' lacks '%s'", error.text, word);
	assert_int_equal(ibsa_path_wait(rig.client, options, to, NULL, &path),
			 err);
}

static void path_may_have_constraints(void **state)
{
	struct ibsa_path match = { .pkey = 0xffff, .reversible = 0 };
	struct ibsa_path_options options = {
		.match = &match,
		.mask = IBSA_PATH_CM(pkey) | IBSA_PATH_CM(reversible),
	};
	struct ibsa_path path;

	(void)state;
	assert_int_equal(ibsa_path_wait(rig.client, &options, &rig.gids[5],
					NULL, &path),
			 0);
	assert_int_equal(path.pkey, 0xffff);
	match.pkey = 0x8123;
	path_fails(&options, &rig.gids[5], -ENOENT, "no such path");
	options.mask |= IBSA_PATH_CM(sgid);
	path_fails(&options, &rig.gids[5], -EINVAL, "sgid");
	options.mask = UINT64_C(1) << 63;
	path_fails(&options, &rig.gids[5], -EINVAL, "bit 63");
}

static void paths_that_do_not_exist(void **state)
{
	const struct ibsa_gid zero = { { 0 } };
	struct ibsa_port_state port;

	(void)state;
	path_fails(NULL, NULL, -EINVAL, "missing or zero");
	path_fails(NULL, &zero, -EINVAL, "missing or zero");
	path_fails(NULL, &(struct ibsa_gid){ { 0xfe, 0x80, [15] = 9 } },
		   -ENOENT, "no such path");
	set_fault(IBSA_FAULT_BUSY);
	path_fails(NULL, &rig.gids[1], -EREMOTEIO, "busy");
	set_fault(IBSA_FAULT_SILENCE);
	path_fails(NULL, &rig.gids[1], -ETIMEDOUT, "did not answer");
	ibsa_fabric_sa_set(rig.fabric, false);
	assert_int_equal(ibsa_port_get(rig.client, true, &port), 0);
	path_fails(NULL, &rig.gids[1], -EAGAIN, "no subnet manager");
}

static int port_fail(struct ibsa_transport *transport,
		     struct ibsa_port_state *out, size_t size)
{
	static int calls;
	int err = wrapped->port(transport, out, size);

	out->gid = (struct ibsa_gid){ { 0 } };
	return calls++ ? -EIO : err;
}

/*
 * If the port has no GID, ibsa_query_one() reads the port again; if this fails,
 * it returns the error of the read.
 */
static void source_must_have_a_gid(void **state)
{
	struct ibsa_options options = { .seed = 1 };
	struct ibsa_transport_ops ops;
	struct ibsa_client *client;
	struct ibsa_error error;
	struct ibsa_path path;

	(void)state;
	assert_int_equal(
		ibsa_fabric_attach(rig.fabric, NULL, 0, &options.transport), 0);
	wrapped = options.transport->ops;
	ops = *wrapped;
	ops.port = port_fail;
	options.transport->ops = &ops;
	assert_int_equal(ibsa_open(&options, NULL, &client), 0);
	assert_int_equal(ibsa_path_wait(client, NULL, &rig.gids[1], &error,
					&path),
			 -EIO);
	assert_non_null(strstr(error.text, "Input/output error"));
	assert_int_equal(ibsa_close(client), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define ON_RIG(test) cmocka_unit_test_setup_teardown(test, start, stop)
		ON_RIG(record_is_decoded),
		ON_RIG(none_many_and_refused_differ),
		ON_RIG(busy_and_redirected_are_refused),
		ON_RIG(silence_is_told),
		ON_RIG(queries_that_cannot_be_sent),
		ON_RIG(refusals_name_the_field),
		ON_RIG(refused_path_names_the_field),
		ON_RIG(losses_during_a_query_are_told),
		ON_RIG(callbacks_cannot_wait),
		ON_RIG(errors_of_receiving_pass),
		ON_RIG(path_is_queried),
		ON_RIG(path_may_have_constraints),
		ON_RIG(paths_that_do_not_exist),
		ON_RIG(source_must_have_a_gid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
