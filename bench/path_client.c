/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Benchmarks B8 and B9 for libibsa: path queries through its public functions.
 */
#include <stdio.h>
#include <stdlib.h>

#include <ibsa/ibsa.h>

#include "bench.h"
#include "path.h"

struct asker {
	struct path_run run;
	struct ibsa_client *client;
	struct ibsa_gid source;
};

/* A query in flight, and the time at which it was submitted. */
struct slot {
	struct asker *asker;
	uint64_t asked_ns;
};

static void path_submit(struct slot *slot);

static void answered(const struct ibsa_reply *reply, void *arg)
{
	struct slot *slot = arg;
	struct path_run *run = &slot->asker->run;

	if (ibsa_reply_outcome(reply) != IBSA_OUTCOME_OK) {
		fprintf(stderr, "err %d, status %#x\n", reply->err,
			reply->status);
		exit(EXIT_FAILURE);
	}
	path_run_answered(run, slot->asked_ns);
	if (run->asked < run->count)
		path_submit(slot);
}

static void path_submit(struct slot *slot)
{
	struct asker *asker = slot->asker;
	struct ibsa_path want = {
		.sgid = asker->source,
		.dgid = asker->source,
		.reversible = 1,
		.numb_path = 1,
	};
	const struct ibsa_query query = {
		.record = &ibsa_path_record,
		.match = &want,
		.mask = IBSA_PATH_CM(dgid) | IBSA_PATH_CM(sgid) |
			IBSA_PATH_CM(numb_path),
	};
	int err;

	ibsa_put_be64(want.dgid.raw + 8,
		      path_run_target(&asker->run, asker->run.asked++));
	slot->asked_ns = bench_now_ns();
	err = ibsa_query_start(asker->client, &query, answered, slot, NULL);
	if (err) {
		fprintf(stderr, "ibsa_query_start: %d\n", err);
		exit(EXIT_FAILURE);
	}
}

static int open_client(struct asker *asker)
{
	const struct ibsa_options options = {
		.window = asker->run.window,
		/* The peers send each one, too. */
		.no_sharing = !asker->run.is_shared,
	};
	struct ibsa_port_state port;
	struct ibsa_error error;

	if (ibsa_open(&options, &error, &asker->client)) {
		fprintf(stderr, "%s\n", error.text);
		return -1;
	}
	if (ibsa_port_get(asker->client, false, &port))
		return -1;
	asker->source = port.gid;
	return 0;
}

int main(int argc, char **argv)
{
	struct asker asker = { 0 };
	struct slot *slots;

	if (path_run_init(&asker.run, argc, argv) || open_client(&asker))
		return EXIT_FAILURE;
	slots = calloc(asker.run.window, sizeof(*slots));
	if (!slots)
		return EXIT_FAILURE;
	asker.run.start_ns = bench_now_ns();
	for (unsigned int i = 0; i < asker.run.window; i++) {
		slots[i].asker = &asker;
		if (asker.run.asked < asker.run.count)
			path_submit(&slots[i]);
	}
	while (asker.run.answered < asker.run.count)
		if (ibsa_wait(asker.client, -1))
			return EXIT_FAILURE;
	path_run_print(&asker.run);
	ibsa_close(asker.client);
	free(slots);
	free(asker.run.latency_ns);
	return EXIT_SUCCESS;
}
