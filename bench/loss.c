/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Benchmark B35: COUNT path queries with all defaults, submitted at once. The
 * fabric server may lose MADs.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <ibsa/ibsa.h>

#include "bench.h"

enum { COUNT = 10000 };

static unsigned int ended, timed_out;

static void path_ended(const struct ibsa_reply *reply, void *arg)
{
	(void)arg;
	ended++;
	timed_out += reply->err == -ETIMEDOUT;
}

static void path_submit(struct ibsa_client *client, uint16_t dlid)
{
	const struct ibsa_path want = { .slid = 1, .dlid = dlid };
	const struct ibsa_query query = {
		.record = &ibsa_path_record,
		.match = &want,
		.mask = IBSA_PATH_CM(slid) | IBSA_PATH_CM(dlid),
		.no_sharing = true,
	};

	if (ibsa_query_start(client, &query, path_ended, NULL, NULL))
		abort();
}

int main(void)
{
	struct ibsa_client *client;
	struct ibsa_error error;
	uint64_t start_ns;

	if (ibsa_open(NULL, &error, &client)) {
		fprintf(stderr, "%s\n", error.text);
		return EXIT_FAILURE;
	}
	start_ns = bench_now_ns();
	for (unsigned int i = 0; i < COUNT; i++)
		path_submit(client, (uint16_t)(1 + i % 600));
	while (ended < COUNT)
		if (ibsa_wait(client, -1))
			return EXIT_FAILURE;
	printf("seconds %.6f\ntimeouts %u\n",
	       (double)(bench_now_ns() - start_ns) / 1e9, timed_out);
	ibsa_close(client);
	return EXIT_SUCCESS;
}
