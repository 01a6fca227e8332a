/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Many queries on a fabric with all faults: each gets exactly one callback,
 * with the right result. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include <ibsa/ibsa.h>
#include <ibsa/fabric.h>

#include "wire/mad.h"

enum { QUERIES = 10000, HOSTS = 16, MS = 1000000, DEADLINE_MS = 60000 };

/* Write a topology of sixteen hosts on one switch. */
static size_t write_topology(char *text, size_t size)
{
	size_t len = 0;

	len += (size_t)snprintf(text + len, size - len, "Switch 36 \"S\"\n");
	for (int i = 1; i <= HOSTS; i++)
		len += (size_t)snprintf(text + len, size - len,
					"[%d] \"H%d\"[1]\n", i, i);
	for (int i = 1; i <= HOSTS; i++)
		len += (size_t)snprintf(text + len, size - len,
					"\nCa 1 \"H%d\"\n[1] \"S\"[%d]\n", i,
					i);
	return len;
}

struct world {
	struct ibsa_fabric *fabric;
	struct ibsa_client *client;
	uint64_t now_ns;
	uint16_t lids[HOSTS];
};

struct sent_query {
	struct world *world;
	uint16_t dlid;
	int calls;
	int err;
	uint16_t status;
	uint64_t ended_ns;
	bool right;
};

/* A port of the embedded fabric that answers requests to other nodes than the
 * SA's with a refusal, as a kernel there does, instead of losing them. */
struct strict {
	struct ibsa_transport base;
	struct ibsa_transport *under;
	uint8_t refusals[QUERIES][IBSA_MAD_BYTES];
	struct ibsa_address from[QUERIES];
	unsigned int count, taken;
};

static struct strict strict;

static uint64_t strict_now(struct ibsa_transport *transport)
{
	(void)transport;
	return strict.under->ops->now_ns(strict.under);
}

static int strict_port(struct ibsa_transport *transport,
		       struct ibsa_port_state *out, size_t size)
{
	(void)transport;
	return strict.under->ops->port(strict.under, out, size);
}

static int strict_send(struct ibsa_transport *transport,
		       const struct ibsa_address *to, const uint8_t *mad,
		       size_t len, unsigned int timeout_ms)
{
	struct ibsa_port_state port;
	uint8_t *refusal = strict.refusals[strict.count % QUERIES];

	assert_int_equal(strict_port(transport, &port, sizeof(port)), 0);
	if (to->lid == port.sm_lid)
		return strict.under->ops->send(strict.under, to, mad, len,
					       timeout_ms);
	memcpy(refusal, mad, len);
	refusal[MAD_METHOD] = IBSA_METHOD_GET_RESP;
	ibsa_put_be16(refusal + MAD_STATUS, IBSA_STATUS_BAD_METHOD_ATTRIBUTE);
	strict.from[strict.count++ % QUERIES] = *to;
	return 0;
}

static int strict_recv(struct ibsa_transport *transport,
		       struct ibsa_message *out)
{
	const unsigned int next = strict.taken % QUERIES;

	(void)transport;
	if (strict.taken == strict.count)
		return strict.under->ops->recv(strict.under, out);
	strict.taken++;
	*out = (struct ibsa_message){ .from = strict.from[next],
				      .mad = strict.refusals[next],
				      .len = IBSA_MAD_BYTES };
	return 1;
}

static int strict_fd(struct ibsa_transport *transport)
{
	(void)transport;
	return strict.under->ops->fd(strict.under);
}

static void strict_close(struct ibsa_transport *transport)
{
	(void)transport;
	strict.under->ops->close(strict.under);
}

static const struct ibsa_transport_ops strict_ops = {
	.size = sizeof(struct ibsa_transport_ops),
	.now_ns = strict_now,
	.send = strict_send,
	.recv = strict_recv,
	.fd = strict_fd,
	.port = strict_port,
	.close = strict_close,
};

static struct ibsa_transport *strict_over(struct ibsa_transport *under)
{
	strict.base.ops = &strict_ops;
	strict.under = under;
	strict.count = 0;
	strict.taken = 0;
	return &strict.base;
}

static void world_start(struct world *world, uint64_t seed, bool is_strict)
{
	const struct ibsa_fabric_options options = { .virtual_clock = true,
						     .seed = seed };
	struct ibsa_options client_options = { .seed = seed,
					       .window = 256,
					       .queue = QUERIES,
					       .deadline_ms = DEADLINE_MS,
					       .first_interval_ms = 50,
					       .max_interval_ms = 400,
					       .no_sharing = true };
	struct ibsa_fabric_port port;
	char text[4096];
	size_t len = write_topology(text, sizeof(text));

	assert_int_equal(ibsa_fabric_parse(text, len, &options, NULL,
					   &world->fabric),
			 0);
	for (size_t i = 0; i < HOSTS; i++) {
		assert_int_equal(ibsa_fabric_port_at(world->fabric, i, &port),
				 0);
		world->lids[i] = (uint16_t)port.state.lid;
	}
	assert_int_equal(ibsa_fabric_attach(world->fabric, NULL, 0,
					    &client_options.transport),
			 0);
	if (is_strict)
		client_options.transport =
			strict_over(client_options.transport);
	assert_int_equal(ibsa_open(&client_options, NULL, &world->client), 0);
	world->now_ns = 0;
}

static void world_open(struct world *world, uint64_t seed)
{
	world_start(world, seed, false);
}

static void world_close(struct world *world)
{
	assert_int_equal(ibsa_close(world->client), 0);
	ibsa_fabric_put(world->fabric);
}

static void fault_set(struct world *world, enum ibsa_fault_kind kind,
		      double percent)
{
	const struct ibsa_fault fault = { .kind = kind, .percent = percent };

	assert_int_equal(ibsa_fabric_fault(world->fabric, &fault), 0);
}

static void reply_note(const struct ibsa_reply *reply, void *arg)
{
	struct sent_query *sent_query = arg;
	struct ibsa_path path;

	sent_query->calls++;
	sent_query->err = reply->err;
	sent_query->status = reply->status;
	sent_query->ended_ns = sent_query->world->now_ns;
	sent_query->right = reply->count == 1 &&
			    !ibsa_reply_decode(reply, 0, &path, sizeof(path)) &&
			    path.dlid == sent_query->dlid;
}

static void path_query(struct world *world, struct sent_query *sent_query,
		       uint16_t dlid)
{
	const struct ibsa_path match = { .slid = world->lids[0], .dlid = dlid };
	const struct ibsa_query query = {
		.record = &ibsa_path_record,
		.match = &match,
		.mask = IBSA_PATH_CM(slid) | IBSA_PATH_CM(dlid),
	};

	*sent_query = (struct sent_query){ .world = world, .dlid = dlid };
	assert_int_equal(ibsa_query_start(world->client, &query, reply_note,
					  sent_query, NULL),
			 0);
}

static void advance_ms(struct world *world, unsigned int ms)
{
	for (unsigned int i = 0; i < ms; i++) {
		world->now_ns += MS;
		assert_int_equal(ibsa_fabric_advance(world->fabric, MS), 0);
		do
			assert_int_equal(ibsa_dispatch(world->client), 0);
		while (!ibsa_timeout_ms(world->client));
	}
}

static struct sent_query all[QUERIES];

static void all_paths_query(struct world *world)
{
	for (int i = 0; i < QUERIES; i++)
		path_query(world, &all[i], world->lids[i % HOSTS]);
}

static int count_ended(void)
{
	int ended = 0;

	for (int i = 0; i < QUERIES; i++)
		ended += all[i].calls > 0;
	return ended;
}

static void every_query_is_right_under(enum ibsa_fault_kind kind)
{
	struct world world;

	world_open(&world, 42 + kind);
	fault_set(&world, kind, 30);
	all_paths_query(&world);
	for (int i = 0; i < 6000 && count_ended() < QUERIES; i++)
		advance_ms(&world, 10);
	/* Late duplicates must not cause another callback. */
	fault_set(&world, kind, 0);
	advance_ms(&world, 1000);
	for (int i = 0; i < QUERIES; i++) {
		assert_int_equal(all[i].calls, 1);
		assert_int_equal(all[i].err, 0);
		assert_int_equal(all[i].status, 0);
		assert_true(all[i].right);
	}
	world_close(&world);
}

static void a_third_lost(void **state)
{
	(void)state;
	every_query_is_right_under(IBSA_FAULT_LOSE);
}

static void a_third_delayed(void **state)
{
	(void)state;
	every_query_is_right_under(IBSA_FAULT_DELAY);
}

static void a_third_duplicated(void **state)
{
	(void)state;
	every_query_is_right_under(IBSA_FAULT_DUPLICATE);
}

static void a_third_reordered(void **state)
{
	(void)state;
	every_query_is_right_under(IBSA_FAULT_REORDER);
}

static void a_third_busy(void **state)
{
	(void)state;
	every_query_is_right_under(IBSA_FAULT_BUSY);
}

static void a_third_redirected(void **state)
{
	(void)state;
	every_query_is_right_under(IBSA_FAULT_REDIRECT);
}

/*
 * Flipped bits may produce any reply, but each query still ends exactly once.
 */
static void corrupted_queries_end_once(void **state)
{
	struct world world;

	(void)state;
	world_open(&world, 7);
	fault_set(&world, IBSA_FAULT_CORRUPT, 30);
	fault_set(&world, IBSA_FAULT_LOSE, 10);
	all_paths_query(&world);
	for (int i = 0; i < 7000 && count_ended() < QUERIES; i++)
		advance_ms(&world, 10);
	advance_ms(&world, 1000);
	for (int i = 0; i < QUERIES; i++)
		assert_int_equal(all[i].calls, 1);
	world_close(&world);
}

/* If the SA does not answer, each query ends at its deadline: not early, and
 * less than 10 ms late. */
static void silence_ends_each_at_its_deadline(void **state)
{
	struct world world;

	(void)state;
	world_open(&world, 9);
	fault_set(&world, IBSA_FAULT_SILENCE, 100);
	all_paths_query(&world);
	advance_ms(&world, DEADLINE_MS + 20);
	for (int i = 0; i < QUERIES; i++) {
		assert_int_equal(all[i].calls, 1);
		assert_int_equal(all[i].err, -ETIMEDOUT);
		assert_in_range(all[i].ended_ns, (uint64_t)DEADLINE_MS * MS,
				(uint64_t)(DEADLINE_MS + 10) * MS);
	}
	world_close(&world);
}

/* The SA stops and starts again; requests in flight are answered. */
static void restarted_sa_answers_what_waited(void **state)
{
	struct world world;
	struct sent_query sent_query;

	(void)state;
	world_open(&world, 3);
	fault_set(&world, IBSA_FAULT_SILENCE, 100);
	path_query(&world, &sent_query, world.lids[5]);
	ibsa_fabric_sa_set(world.fabric, false);
	fault_set(&world, IBSA_FAULT_SILENCE, 0);
	advance_ms(&world, 2000);
	assert_int_equal(sent_query.calls, 0);
	ibsa_fabric_sa_set(world.fabric, true);
	advance_ms(&world, 1000);
	assert_int_equal(sent_query.calls, 1);
	assert_true(sent_query.right);
	world_close(&world);
}

/*
 * The SM moves repeatedly while many requests are in flight. They go to the old
 * SM until the engine detects the change. No query ends with the refusal of a
 * node without an SA.
 */
static void moving_sm_causes_no_refusal(void **state)
{
	enum { MOVES = 100, EACH = QUERIES / MOVES };
	struct world world;
	char node[8];

	(void)state;
	world_start(&world, 11, true);
	for (int move = 0; move < MOVES; move++) {
		for (int i = move * EACH; i < (move + 1) * EACH; i++) {
			if (i % EACH == EACH / 2) {
				snprintf(node, sizeof(node), "H%d",
					 1 + move % HOSTS);
				assert_int_equal(
					ibsa_fabric_sa_move(world.fabric, node),
					0);
			}
			path_query(&world, &all[i], world.lids[i % HOSTS]);
		}
		advance_ms(&world, 1);
	}
	advance_ms(&world, 1000);
	assert_true(strict.count > MOVES);
	for (int i = 0; i < QUERIES; i++) {
		assert_int_equal(all[i].calls, 1);
		assert_int_equal(all[i].err, 0);
		assert_int_equal(all[i].status, 0);
		assert_true(all[i].right);
	}
	world_close(&world);
}

/* On a simulated clock, the blocking call advances the clock to the reply. */
static void query_wait_runs_on_a_virtual_clock(void **state)
{
	const struct ibsa_query query = {
		.record = &ibsa_class_port_info_record,
		.deadline_ms = 300,
	};
	struct world world;

	(void)state;
	world_open(&world, 3);
	assert_int_equal(ibsa_query_wait(world.client, &query, NULL, NULL), 0);
	fault_set(&world, IBSA_FAULT_SILENCE, 100);
	assert_int_equal(ibsa_query_wait(world.client, &query, NULL, NULL),
			 -ETIMEDOUT);
	world_close(&world);
}

/* Return: the result of ibsa_query_wait() with the SA at @sa. */
static int query_wait_at(const struct ibsa_address *sa)
{
	static const char text[] = "Switch 4 \"s\"\n"
				   "[1] \"sm\"[1]\n"
				   "[2] \"b\"[1]\n"
				   "Ca 1 \"sm\"\n"
				   "[1] \"s\"[1] # lid 4 lmc 1\n"
				   "Ca 1 \"b\"\n";
	const struct ibsa_fabric_options options = { .virtual_clock = true };
	const struct ibsa_query query = {
		.record = &ibsa_class_port_info_record
	};
	struct ibsa_options client_options = { .access.sa = sa };
	struct ibsa_fabric *fabric;
	struct ibsa_client *client;
	int err;

	assert_int_equal(ibsa_fabric_parse(text, sizeof(text) - 1, &options,
					   NULL, &fabric),
			 0);
	assert_int_equal(ibsa_fabric_attach(fabric, "b", 0,
					    &client_options.transport),
			 0);
	assert_int_equal(ibsa_open(&client_options, NULL, &client), 0);
	err = ibsa_query_wait(client, &query, NULL, NULL);
	assert_int_equal(ibsa_close(client), 0);
	ibsa_fabric_put(fabric);
	return err;
}

/* The SA answers from its base LID, whichever of its LIDs and GIDs gets the
 * request. This port has an LMC of 0, the SA's port an LMC of 1. */
static void sa_answers_from_its_base_lid(void **state)
{
	const struct ibsa_address by_lid = { .lid = 4, .qpn = 1 };
	const struct ibsa_address by_alias = { .lid = 5, .qpn = 1 };
	const struct ibsa_address by_known_alias = {
		.lid = 5,
		.qpn = 1,
		.lmc = 1,
	};
	const struct ibsa_address by_gid = {
		.lid = 4,
		.qpn = 1,
		.has_grh = true,
		.gid.raw = { 0xfe, 0x80, [8] = 2, [15] = 2 },
	};

	(void)state;
	assert_int_equal(query_wait_at(NULL), 0);
	assert_int_equal(query_wait_at(&by_lid), 0);
	assert_int_equal(query_wait_at(&by_alias), -ETIMEDOUT);
	assert_int_equal(query_wait_at(&by_known_alias), 0);
	assert_int_equal(query_wait_at(&by_gid), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_third_lost),
		cmocka_unit_test(a_third_delayed),
		cmocka_unit_test(a_third_duplicated),
		cmocka_unit_test(a_third_reordered),
		cmocka_unit_test(a_third_busy),
		cmocka_unit_test(a_third_redirected),
		cmocka_unit_test(corrupted_queries_end_once),
		cmocka_unit_test(silence_ends_each_at_its_deadline),
		cmocka_unit_test(restarted_sa_answers_what_waited),
		cmocka_unit_test(moving_sm_causes_no_refusal),
		cmocka_unit_test(query_wait_runs_on_a_virtual_clock),
		cmocka_unit_test(sa_answers_from_its_base_lid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
