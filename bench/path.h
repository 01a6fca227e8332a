/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * B8 and B9: functions of the programs that query a real SA for paths, on a
 * fabric that scripts/gen-fabric wrote.
 */
#ifndef BENCH_PATH_H
#define BENCH_PATH_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct path_run - one program's run
 * @window: maximum number of queries in flight
 * @count:  number of queries in the run
 * @hosts:  number of hosts of the fabric
 * @asked, @answered: number of queries that were sent, and answered, so far
 * @is_shared: queries may have the answer to an earlier one
 * @latency_ns: time from each answered query to its reply
 * @start_ns: time just before the first query is sent
 */
struct path_run {
	unsigned int window;
	unsigned int count;
	unsigned int hosts;
	unsigned int asked;
	unsigned int answered;
	bool is_shared;
	uint64_t *latency_ns;
	uint64_t start_ns;
};

/*
 * Initialise a run from the arguments "WINDOW COUNT HOSTS"; pin the thread to
 * the first core unless "free" follows; "shared" sets @is_shared. Return: 0 or -1.
 */
int path_run_init(struct path_run *run, int argc, char **argv);

/* Return: the destination port GUID of query number @index. */
uint64_t path_run_target(const struct path_run *run, unsigned int index);

/* Record that the reply has come to a query that was sent at @asked_ns. */
void path_run_answered(struct path_run *run, uint64_t asked_ns);

/* Print "p50 MICROSECONDS" and "rate QUERIES_A_SECOND". */
void path_run_print(const struct path_run *run);

#endif
