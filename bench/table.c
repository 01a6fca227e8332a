/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Benchmark B15: all paths of a fabric are queried, from the query to decoded
 * records.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibsa/ibsa.h>

#include "bench.h"

struct table {
	size_t count;
	/* How long a copy of all records of the reply takes. */
	uint64_t copy_ns;
	/*
	 * Sum of the decoded values; it keeps the compiler from removing the
	 * decoding.
	 */
	uint64_t sum;
};

/* The lower bound: the bytes of the records, copied to new memory. */
static uint64_t copy_time(const struct ibsa_reply *reply)
{
	const size_t bytes = reply->count * reply->stride;
	const uint64_t start_ns = bench_now_ns();
	uint8_t *copy = malloc(bytes);

	if (!copy)
		exit(EXIT_FAILURE);
	memcpy(copy, reply->records, bytes);
	BENCH_USE(copy);
	free(copy);
	return bench_now_ns() - start_ns;
}

static void decode_all(const struct ibsa_reply *reply, void *arg)
{
	struct table *table = arg;

	if (ibsa_reply_outcome(reply) != IBSA_OUTCOME_OK) {
		fprintf(stderr, "err %d, status %#x\n", reply->err,
			reply->status);
		exit(EXIT_FAILURE);
	}
	for (size_t i = 0; i < reply->count; i++) {
		struct ibsa_path path;

		reply->record->decode(reply->records + i * reply->stride,
				      &path);
		table->sum += path.dlid;
	}
	table->count = reply->count;
	table->copy_ns = copy_time(reply);
}

int main(void)
{
	const struct ibsa_query query = {
		.record = &ibsa_path_record,
		.method = IBSA_METHOD_GET_TABLE,
		.deadline_ms = 60000,
		.first_interval_ms = 60000,
	};
	struct ibsa_client *client;
	struct ibsa_error error;
	struct table table = { 0 };
	uint64_t start_ns;

	bench_pin();
	if (ibsa_open(NULL, &error, &client)) {
		fprintf(stderr, "%s\n", error.text);
		return EXIT_FAILURE;
	}
	start_ns = bench_now_ns();
	if (ibsa_query_wait(client, &query, decode_all, &table))
		return EXIT_FAILURE;
	printf("seconds %.6f\ncopy %.6f\nrecords %zu\n",
	       (double)(bench_now_ns() - start_ns - table.copy_ns) / 1e9,
	       (double)table.copy_ns / 1e9, table.count);
	BENCH_USE(&table);
	return ibsa_close(client) ? EXIT_FAILURE : EXIT_SUCCESS;
}
