/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A process that queries for ever, compares, and reports the results. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ibsa/ibsa.h>
#include <ibsa/records.h>
#include <ibsa/text.h>

#include "many.h"
#include "test/support/random.h"

enum {
	/* Pause after a failure, which may come at once each time. */
	REST_MS = 20,
	DEADLINE_MS = 20000,
	BATCH_MS = 50,
};

struct worker {
	const struct many_host *hosts;
	unsigned int number;
	uint64_t random;
	struct ibsa_client *client;
	int to;
	int server; /* process */
	struct many_report batch[REPORTS_MAX];
	size_t batched;
	struct many_report now; /* report of the current query */
};

static void worker_note_wrong(struct worker *worker, const char *format, ...)
{
	va_list args;

	worker->now.result = MANY_WRONG;
	fprintf(stderr, "worker %u, of %u: ", worker->number,
		worker->now.target);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

/*
 * Reports are written in batches, each as soon as it is full or BATCH_MS old: a
 * killed process loses the reports that it has not written.
 */
static bool worker_report(struct worker *worker)
{
	const size_t bytes = sizeof(worker->now);

	worker->batch[worker->batched++] = worker->now;
	if (worker->batched < REPORTS_MAX &&
	    worker->now.end_ns - worker->batch[0].end_ns <
		    BATCH_MS * UINT64_C(1000000))
		return true;
	if (write(worker->to, worker->batch, worker->batched * bytes) !=
	    (ssize_t)(worker->batched * bytes))
		return false;
	worker->batched = 0;
	return true;
}

static struct ibsa_gid gid_of(const struct many_host *host)
{
	struct ibsa_gid gid = { .raw = { 0xfe, 0x80 } };

	for (int i = 0; i < 8; i++)
		gid.raw[8 + i] = (uint8_t)(host->guid >> (56 - 8 * i));
	return gid;
}

/*
 * Handle replies without records. Return: false: there is nothing to compare.
 */
static bool is_answered(struct worker *worker, const struct ibsa_reply *reply)
{
	worker->now.tries = (uint8_t)reply->tries;
	switch (ibsa_reply_outcome(reply)) {
	case IBSA_OUTCOME_OK:
		worker->now.result = MANY_ANSWERED;
		return true;
	case IBSA_OUTCOME_NONE:
		worker->now.result = MANY_NONE;
		return false;
	case IBSA_OUTCOME_REFUSED:
		/*
		 * The SM has left the node, whose kernel then answers the
		 * request itself.
		 */
		if (reply->status == IBSA_STATUS_BAD_METHOD_ATTRIBUTE) {
			worker->now.result = MANY_LOST;
			return false;
		}
		worker_note_wrong(worker, "refused, %s",
				  ibsa_status_text(reply->status));
		return false;
	default:
		worker->now.result = MANY_LOST;
		if (reply->err == -EPROTO)
			worker_note_wrong(worker, "malformed");
		return false;
	}
}

static void see_path(const struct ibsa_reply *reply, void *arg)
{
	struct worker *worker = arg;
	const struct many_host *here = &worker->hosts[worker->number];
	const struct many_host *target = &worker->hosts[worker->now.target];
	const struct ibsa_gid dgid = gid_of(target);
	struct ibsa_path path;

	if (!is_answered(worker, reply))
		return;
	if (reply->count != 1 ||
	    ibsa_reply_decode(reply, 0, &path, sizeof(path)))
		worker_note_wrong(worker, "%zu paths", reply->count);
	else if (path.slid != here->lid || path.dlid != target->lid ||
		 memcmp(&path.dgid, &dgid, sizeof(dgid)) != 0)
		worker_note_wrong(worker, "path from %u to %u", path.slid,
				  path.dlid);
}

static void see_node(const struct ibsa_reply *reply, void *arg)
{
	struct worker *worker = arg;
	const struct many_host *target = &worker->hosts[worker->now.target];
	struct ibsa_node node;

	if (!is_answered(worker, reply))
		return;
	if (reply->count != 1 ||
	    ibsa_reply_decode(reply, 0, &node, sizeof(node)))
		worker_note_wrong(worker, "%zu nodes", reply->count);
	else if (node.lid != target->lid || node.port_guid != target->guid ||
		 strncmp((char *)node.node_description, target->name, 4) != 0)
		worker_note_wrong(worker, "node %u, 0x%" PRIx64, node.lid,
				  node.port_guid);
}

/*
 * Check a table: it contains each host at most once, with the host's own LID;
 * switches are ignored.
 */
static void see_table(const struct ibsa_reply *reply, void *arg)
{
	struct worker *worker = arg;

	if (!is_answered(worker, reply))
		return;
	for (size_t i = 0; i < reply->count; i++) {
		struct ibsa_node node;
		uint64_t host;

		if (ibsa_reply_decode(reply, i, &node, sizeof(node)) ||
		    node.node_type != 1)
			continue;
		host = (node.node_guid - 0xabc000) / 16;
		if (host >= HOSTS || worker->now.seen >> host & 1 ||
		    worker->hosts[host].guid != node.port_guid ||
		    worker->hosts[host].lid != node.lid)
			worker_note_wrong(worker,
					  "record %zu: LID %u, 0x%" PRIx64, i,
					  node.lid, node.port_guid);
		else
			worker->now.seen |= UINT64_C(1) << host;
	}
}

static int path_query(struct worker *worker)
{
	struct ibsa_path match = {
		.sgid = gid_of(&worker->hosts[worker->number]),
		.dgid = gid_of(&worker->hosts[worker->now.target]),
		.reversible = 1,
		.numb_path = 1,
	};
	const struct ibsa_query query = {
		.record = &ibsa_path_record,
		.match = &match,
		.mask = IBSA_PATH_CM(sgid) | IBSA_PATH_CM(dgid) |
			IBSA_PATH_CM(reversible) | IBSA_PATH_CM(numb_path),
	};

	return ibsa_query_wait(worker->client, &query, see_path, worker);
}

static int node_query(struct worker *worker)
{
	struct ibsa_node match = {
		.lid = worker->hosts[worker->now.target].lid,
	};
	const struct ibsa_query query = {
		.record = &ibsa_node_record,
		.match = &match,
		.mask = IBSA_NODE_CM(lid),
	};

	return ibsa_query_wait(worker->client, &query, see_node, worker);
}

static int table_query(struct worker *worker)
{
	const struct ibsa_query query = {
		.record = &ibsa_node_record,
		.method = IBSA_METHOD_GET_TABLE,
	};

	worker->now.target = HOSTS;
	return ibsa_query_wait(worker->client, &query, see_table, worker);
}

/*
 * Return: how long the process has waited for a processor so far.
 * Source: Linux Documentation/scheduler/sched-stats.rst.
 */
static uint64_t process_stall_ns(int pid)
{
	unsigned long long stall_ns = 0;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (fscanf(file, "%*u %llu", &stall_ns) != 1)
		stall_ns = 0;
	fclose(file);
	return stall_ns;
}

static uint64_t stall_ns(const struct worker *worker)
{
	return process_stall_ns(getpid()) + process_stall_ns(worker->server);
}

/* A query that could not be submitted counts as lost, too. */
static void worker_query(struct worker *worker)
{
	const uint64_t draw = random_next(&worker->random);
	const uint64_t stall_before_ns = stall_ns(worker);
	int err;

	worker->now = (struct many_report){
		.start_ns = many_now_ns(),
		.worker = (uint8_t)worker->number,
		.target = (uint8_t)(draw >> 32) % HOSTS,
		.result = MANY_LOST,
	};
	if (draw % 16 == 0)
		err = table_query(worker);
	else if (draw % 2)
		err = node_query(worker);
	else
		err = path_query(worker);
	if (err && err != -EREMOTEIO && worker->now.result == MANY_ANSWERED)
		worker_note_wrong(worker, "an answer with %s", strerror(-err));
	worker->now.end_ns = many_now_ns();
	worker->now.stall_ns = stall_ns(worker) - stall_before_ns;
	if (worker->now.result == MANY_LOST)
		poll(NULL, 0, REST_MS);
}

static bool open_client(struct worker *worker)
{
	const struct ibsa_options options = {
		.device = worker->hosts[worker->number].name,
		.first_interval_ms = INTERVAL_MS,
		.max_interval_ms = INTERVAL_MS,
		.deadline_ms = DEADLINE_MS,
		.jitter_percent = -1,
		.seed = random_next(&worker->random),
	};
	struct ibsa_error error = { .text = "" };
	int err;

	/* On a busy machine, the server may need longer than a client waits. */
	do
		err = ibsa_open(&options, &error, &worker->client);
	while (err == -ETIMEDOUT);
	if (err)
		fprintf(stderr, "worker %u: %s: %s\n", worker->number,
			strerror(-err), error.text);
	return !err;
}

static void saquery_query(struct worker *worker, const char *saquery)
{
	worker->now = (struct many_report){
		.start_ns = many_now_ns(),
		.worker = (uint8_t)worker->number,
		.target = HOSTS,
		.tries = 1,
		.result = MANY_LOST,
	};
	many_saquery(worker->hosts, saquery, &worker->now);
	worker->now.end_ns = many_now_ns();
	if (worker->now.result == MANY_LOST)
		poll(NULL, 0, REST_MS);
}

int many_work(const struct many_host hosts[HOSTS], unsigned int number,
	      uint64_t seed, int to, int server, const char *saquery)
{
	struct worker worker = {
		.hosts = hosts,
		.number = number,
		.random = seed,
		.to = to,
		.server = server,
	};

	if (!saquery && !open_client(&worker))
		return 1;
	do {
		if (saquery)
			saquery_query(&worker, saquery);
		else
			worker_query(&worker);
	} while (worker_report(&worker));
	return 1;
}
