/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions of the benchmark programs that query a real SA for paths. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "path.h"

#define HOST_PORT_GUID UINT64_C(0x0002c90300100001)

int path_run_init(struct path_run *run, int argc, char **argv)
{
	if (argc != 4 && argc != 5) {
		fprintf(stderr, "usage: %s WINDOW COUNT HOSTS [free|shared]\n",
			argv[0]);
		return -1;
	}
	*run = (struct path_run){
		.window = (unsigned int)strtoul(argv[1], NULL, 0),
		.count = (unsigned int)strtoul(argv[2], NULL, 0),
		.hosts = (unsigned int)strtoul(argv[3], NULL, 0),
	};
	run->latency_ns = calloc(run->count, sizeof(*run->latency_ns));
	run->is_shared = argc == 5 && !strcmp(argv[4], "shared");
	if (argc == 4 || run->is_shared)
		bench_pin();
	run->start_ns = bench_now_ns();
	return run->latency_ns ? 0 : -1;
}

uint64_t path_run_target(const struct path_run *run, unsigned int index)
{
	return HOST_PORT_GUID +
	       16ull * ((index * 2654435761u >> 8) % run->hosts);
}

void path_run_answered(struct path_run *run, uint64_t asked_ns)
{
	run->latency_ns[run->answered++] = bench_now_ns() - asked_ns;
}

static int compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a;
	const uint64_t y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

void path_run_print(const struct path_run *run)
{
	double seconds = (double)(bench_now_ns() - run->start_ns) / 1e9;

	qsort(run->latency_ns, run->answered, sizeof(*run->latency_ns),
	      compare);
	printf("p50 %.2f\n", (double)run->latency_ns[run->answered / 2] / 1000);
	printf("rate %.0f\n", run->answered / seconds);
}
