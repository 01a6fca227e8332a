/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "inherited.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include <ibsa/reach.h>
#include <ibsa/ibsa.h>
#include <ibsa/topology.h>

static const struct ibsa_query table = {
	.record = &ibsa_node_record,
	.method = IBSA_METHOD_GET_TABLE,
};

static void note_port(unsigned int changes, const struct ibsa_port_state *state,
		      void *arg)
{
	(void)changes;
	(void)state;
	(void)arg;
}

static void note_reach(const struct ibsa_reach_answer *answer, void *arg)
{
	struct inherited *inherited = arg;

	(void)answer;
	inherited->reached++;
}

static struct ibsa_gid own_gid(struct ibsa_client *client)
{
	struct ibsa_port_state state;

	assert_int_equal(ibsa_port_get(client, false, &state), 0);
	return state.gid;
}

void inherited_start(struct ibsa_client *client, struct inherited *out)
{
	const struct ibsa_gid gid = own_gid(client);

	memset(out, 0, sizeof(*out));
	out->client = client;
	told_watch(client, 77, &out->told);
	assert_int_equal(ibsa_port_watch_start(client, 1000, note_port, out,
					       &out->port_watch),
			 0);
	assert_int_equal(ibsa_reach_start(client, NULL, &gid, 1, note_reach,
					  out, &out->batch),
			 0);
	assert_int_equal(ibsa_query_start(client, &table, told_reply,
					  &out->told, &out->query_id),
			 0);
}

static void note_event(const struct ibsa_event *event, void *arg)
{
	(void)event;
	(void)arg;
}

static void note_topology(int err, struct ibsa_topology *topology,
			  const struct ibsa_reply *reply, void *arg)
{
	(void)err;
	(void)topology;
	(void)reply;
	(void)arg;
}

/* Names a call that was not refused; its error is then not @err. */
static bool is_refused(const char *call, int err)
{
	if (err != -EINVAL)
		fprintf(stderr, "%s: %d, expected %d\n", call, err, -EINVAL);
	return err == -EINVAL;
}

#define REFUSED(call) is_refused(#call, call)

static bool queries_are_refused(struct ibsa_client *client)
{
	const struct ibsa_gid gid = { { 0xfe, 0x80, [15] = 1 } };
	const struct ibsa_path ends = { .slid = 1, .dlid = 2 };
	const struct ibsa_query path = {
		.record = &ibsa_path_record,
		.match = &ends,
		.mask = IBSA_PATH_CM(slid) | IBSA_PATH_CM(dlid),
	};
	struct ibsa_reach_answer answer;
	struct ibsa_topology *topology;
	struct ibsa_reason reason;
	struct ibsa_error error;
	struct ibsa_node *nodes;
	struct ibsa_path found;
	size_t count;
	bool good;

	good = REFUSED(ibsa_query_start(client, &table, NULL, NULL, NULL));
	good &= REFUSED(ibsa_query_wait(client, &table, NULL, NULL));
	good &= REFUSED(
		ibsa_query_one(client, &path, &error, &found, sizeof(found)));
	good &= strstr(error.text, "parent process") != NULL;
	good &= REFUSED(ibsa_path_wait(client, NULL, &gid, &error, &found));
	good &= strstr(error.text, "parent process") != NULL;
	good &= REFUSED(ibsa_reach_wait(client, NULL, &gid, &answer));
	good &= REFUSED(ibsa_reach_start(client, NULL, &gid, 1, note_reach,
					 NULL, NULL));
	good &= REFUSED(ibsa_reason_wait(client, &path, &reason));
	good &= REFUSED(ibsa_host_ports(client, "x", &nodes, &count));
	good &= REFUSED(ibsa_topology_read(client, NULL, note_topology, NULL));
	return good & REFUSED(ibsa_topology_wait(client, NULL, &topology));
}

static bool registrations_are_refused(struct inherited *inherited)
{
	const struct ibsa_service service = { .service_id = 78 };
	const struct ibsa_service_options options = {
		.service = &service,
		.mask = IBSA_SERVICE_CM(service_id),
	};
	struct ibsa_client *client = inherited->client;
	struct ibsa_registration *registration;
	struct ibsa_port_watch *port_watch;
	struct ibsa_event_watch *watch;
	struct ibsa_error error;
	bool good;

	good = REFUSED(ibsa_service_register(client, &options, NULL, NULL,
					     &registration));
	good &= REFUSED(ibsa_service_release(inherited->told.registration));
	good &= REFUSED(ibsa_event_watch_start(client, NULL, note_event, NULL,
					       &error, &watch));
	good &= strstr(error.text, "parent process") != NULL;
	ibsa_event_watch_stop(inherited->told.watch);
	good &= REFUSED(
		ibsa_port_watch_start(client, 0, note_port, NULL, &port_watch));
	ibsa_port_watch_stop(inherited->port_watch);
	return good & REFUSED(ibsa_reach_stop(inherited->batch));
}

static bool waits_are_refused(struct inherited *inherited)
{
	struct ibsa_client *client = inherited->client;
	struct ibsa_port_state state;
	struct ibsa_gid_entry gid;
	struct ibsa_stats stats;
	struct ibsa_error error;
	uint16_t pkey;
	bool good;

	good = REFUSED(ibsa_cancel(client, inherited->query_id));
	good &= REFUSED(ibsa_dispatch(client));
	good &= REFUSED(ibsa_wait(client, -1));
	good &= REFUSED(ibsa_port_get(client, true, &state));
	good &= REFUSED(ibsa_gid_get(client, 0, &gid));
	good &= REFUSED(ibsa_pkey_get(client, 0, &pkey));
	good &= REFUSED(ibsa_redirect_explain(client, &error));
	ibsa_stats_get(client, &stats);
	ibsa_wake(client);
	return good && ibsa_fd(client) == -1 && ibsa_timeout_ms(client) == -1;
}

bool inherited_is_refused(struct inherited *inherited)
{
	const struct told *told = &inherited->told;

	bool good = queries_are_refused(inherited->client);

	good &= registrations_are_refused(inherited);
	good &= waits_are_refused(inherited);
	return good && !ibsa_close(inherited->client) && !told->answers &&
	       !told->released && !told->ended && !inherited->reached;
}

void inherited_finish(struct inherited *inherited)
{
	struct ibsa_client *client = inherited->client;
	const struct told *told = &inherited->told;
	const struct ibsa_query one = {
		.record = &ibsa_node_record,
		.method = IBSA_METHOD_GET_TABLE,
		.deadline_ms = 1000,
	};

	told_await(client, &told->answers, 1);
	told_await(client, &inherited->reached, 1);
	assert_int_equal(told->good, 1);
	assert_int_equal(ibsa_query_wait(client, &one, NULL, NULL), 0);
	assert_int_equal(told->released + told->ended + told->lost + told->gaps,
			 0);
	assert_int_equal(ibsa_close(client), 0);
	assert_int_equal(told->released, 1);
	assert_int_equal(told->ended, 1);
}
