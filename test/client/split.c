/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A transport whose Reports come from another server than its port: here, of
 * another fabric, so that each fabric's events and answers are told apart.
 */
#include <errno.h>
#include <unistd.h>

#include <ibsa/event.h>

#include "base/clock.h"
#include "client/split.h"
#include "remote/transport.h"
#include "test/support/server_rig.h"

enum { WAIT_S = 20, NODES = 4 };

/* Three hosts; the SA is at "left". */
static const char topology[] = "Switch 4 \"S\"\n[1] \"H1\"[1]\n[2] \"H2\"[1]\n"
			       "[3] \"H3\"[1]\n"
			       "Ca 1 \"H1\" # \"left\"\n[1] \"S\"[1]\n"
			       "Ca 1 \"H2\" # \"right\"\n[1] \"S\"[2]\n"
			       "Ca 1 \"H3\" # \"third\"\n[1] \"S\"[3]\n";

/* @seen: the kinds of events since it was last cleared */
struct rig {
	struct server_rig *port;
	struct server_rig *reports;
	struct ibsa_client *client;
	unsigned int seen;
};

static struct remote_address address_of(const struct server_rig *server)
{
	struct remote_address address;

	assert_int_equal(ibsa__remote_address_find(server_address(server),
						   "right", NULL, 1, NULL,
						   &address),
			 0);
	return address;
}

static void on_event(const struct ibsa_event *event, void *arg)
{
	struct rig *rig = arg;

	rig->seen |= (unsigned int)event->kind;
}

static void await_kinds(struct rig *rig, unsigned int kinds)
{
	const uint64_t end_ns = clock_now_ns() + WAIT_S * NS_PER_S;

	while ((rig->seen & kinds) != kinds && clock_now_ns() < end_ns)
		(void)!ibsa_wait(rig->client, 100);
	assert_int_equal(rig->seen & kinds, kinds);
	rig->seen = 0;
}

static void rig_open(struct rig *rig)
{
	const struct ibsa_event_options options = { .kinds = IBSA_EVENT_OF_SM };
	struct remote_address address = address_of(rig->port);
	const struct remote_address reports = address_of(rig->reports);
	struct ibsa_options opening = { .deadline_ms = 5000 };
	struct ibsa_transport *device;

	assert_int_equal(ibsa__remote_open(&address, 1 << 20, NULL, &device),
			 0);
	assert_int_equal(ibsa__split_new(device, &reports, &opening.transport),
			 0);
	assert_int_equal(ibsa_open(&opening, NULL, &rig->client), 0);
	assert_int_equal(ibsa_event_watch_start(rig->client, &options, on_event,
						rig, NULL, NULL),
			 0);
	await_kinds(rig, IBSA_EVENT_SUBSCRIBED);
}

static void rig_start(struct rig *rig)
{
	*rig = (struct rig){
		.port = server_start(topology),
		.reports = server_start(topology),
	};
}

static void rig_stop(struct rig *rig)
{
	ibsa_close(rig->client);
	server_stop(rig->port);
	server_stop(rig->reports);
}

static void count(const struct ibsa_reply *reply, void *arg)
{
	size_t *nodes = arg;

	*nodes = reply->count;
}

/* Return: how many nodes the SA of the client's port has. */
static size_t nodes_count(struct rig *rig)
{
	const struct ibsa_query query = {
		.record = &ibsa_node_record,
		.method = IBSA_METHOD_GET_TABLE,
	};
	size_t nodes = 0;

	assert_int_equal(ibsa_query_wait(rig->client, &query, count, &nodes),
			 0);
	return nodes;
}

static void reports_and_answers_come_from_their_servers(void **state)
{
	struct rig rig;

	(void)state;
	rig_start(&rig);
	rig_open(&rig);
	server_command(rig.port, "link down third/1");
	assert_int_equal(nodes_count(&rig), NODES - 1);
	assert_int_equal(rig.seen, 0);
	server_command(rig.reports, "link down third/1");
	await_kinds(&rig, IBSA_EVENT_GID_OUT);
	rig_stop(&rig);
}

static void answers_come_while_the_server_of_reports_is_away(void **state)
{
	struct rig rig;

	(void)state;
	rig_start(&rig);
	rig_open(&rig);
	server_end(rig.reports);
	assert_int_equal(nodes_count(&rig), NODES);
	server_restart(rig.reports);
	await_kinds(&rig,
		    IBSA_EVENT_LOST | IBSA_EVENT_SUBSCRIBED | IBSA_EVENT_GAP);
	server_command(rig.reports, "link down third/1");
	await_kinds(&rig, IBSA_EVENT_GID_OUT);
	rig_stop(&rig);
}

static void port_itself_receives_without_a_server(void **state)
{
	struct rig rig;

	(void)state;
	rig_start(&rig);
	server_end(rig.reports);
	rig_open(&rig);
	server_command(rig.port, "link down third/1");
	await_kinds(&rig, IBSA_EVENT_GID_OUT);
	rig_stop(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reports_and_answers_come_from_their_servers),
		cmocka_unit_test(
			answers_come_while_the_server_of_reports_is_away),
		cmocka_unit_test(port_itself_receives_without_a_server),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
