/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Benchmarks B5 and B6: a query from submission to callback, with 64 and with
 * a million queries in flight, on a transport that takes almost no time.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/engine.h"

#include "bench.h"
#include "count_alloc.h"
#include "engine_floor.h"
#include "loop.h"

enum {
	WINDOW = 64,
	MILLION = 1000 * 1000,
	RING = 1 << 20,
	COUNT = 500 * 1000,
};

/*
 * An engine with a constant number of queries in flight: each reply's callback
 * submits the next query.
 */
struct load {
	struct loop loop;
	struct ibsa__engine *engine;
	unsigned int window;
	uint64_t asked;
	uint64_t answered;
};

static struct load small = { .window = WINDOW };
static struct load large = { .window = MILLION };

static void query_submit(struct load *load);

static void answered(const struct ibsa_reply *reply, void *arg)
{
	struct load *load = arg;

	if (reply->err == -ECANCELED)
		return;
	if (reply->err || reply->count != 1)
		abort();
	load->answered++;
	query_submit(load);
}

/* Submit a query. All queries differ, so that none shares a request. */
static void query_submit(struct load *load)
{
	struct ibsa_path want = { .reversible = 1, .numb_path = 1 };
	const struct ibsa_query query = {
		.record = &ibsa_path_record,
		.match = &want,
		.mask = IBSA_PATH_CM(dgid) | IBSA_PATH_CM(sgid) |
			IBSA_PATH_CM(numb_path),
	};

	want.dgid.raw[0] = want.sgid.raw[0] = 0xfe;
	want.dgid.raw[1] = want.sgid.raw[1] = 0x80;
	ibsa_put_be64(want.dgid.raw + 8, load->asked++);
	if (ibsa__engine_query(load->engine, &query, answered, load, NULL))
		abort();
}

/* The first time, fill the window. */
static void load_start(struct load *load)
{
	const struct ibsa__engine_options options = {
		.seed = 1,
		.reply_bytes = IBSA_MAD_BYTES,
		.window = load->window,
		.queue = 1,
		.deadline_ms = 3600 * 1000,
		.first_interval_ms = 3600 * 1000,
		.max_interval_ms = 3600 * 1000,
		.jitter_percent = 25,
		.sharing = true,
	};

	if (load->engine)
		return;
	if (loop_init(&load->loop, RING) ||
	    ibsa__engine_new(&options, &load->loop.transport, &load->engine))
		abort();
	while (load->asked < load->window)
		query_submit(load);
}

static void load_run(struct load *load, uint64_t count)
{
	uint64_t goal;

	load_start(load);
	goal = load->answered + count;
	while (load->answered < goal)
		if (ibsa__engine_dispatch(load->engine))
			abort();
}

static void run_small(uint64_t count)
{
	load_run(&small, count);
}

static void run_large(uint64_t count)
{
	load_run(&large, count);
}

static void run_syscall(uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		syscall(SYS_getppid);
}

static const struct bench_case cases[] = {
	{ "engine-64", run_small, COUNT },
	{ "engine-million", run_large, MILLION },
	{ "engine-syscall", run_syscall, COUNT },
	{ "engine-floor-64", engine_floor_small, COUNT },
	{ "engine-floor-million", engine_floor_large, MILLION },
};

/*
 * Print the results that do not depend on time: the number of allocations of
 * COUNT queries when the memory pools are filled, and the bytes for each query
 * in flight.
 */
static void print_memory(void)
{
	struct alloc_count before = alloc_counted(), after;
	size_t bytes;

	run_small(COUNT);
	after = alloc_counted();
	printf("engine-allocations %llu\n",
	       (unsigned long long)(after.calls - before.calls));
	bytes = after.bytes;
	ibsa__engine_free(large.engine);
	bytes -= alloc_counted().bytes;
	printf("engine-bytes %.1f\n", (double)bytes / MILLION);
	printf("engine-floor-bytes %zu\n", engine_floor_bytes());
}

int main(int argc, char **argv)
{
	int status = bench_main(argc, argv, cases,
				sizeof(cases) / sizeof(cases[0]));

	if (large.engine)
		print_memory();
	return status;
}
