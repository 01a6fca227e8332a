/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Runs and times the cases of a benchmark program in several rounds. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"

uint64_t bench_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void bench_pin(void)
{
	cpu_set_t first;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	if (sched_setaffinity(0, sizeof(first), &first))
		perror("sched_setaffinity");
}

static double time_one(const struct bench_case *one)
{
	uint64_t start = bench_now_ns();

	one->run(one->count);
	return (double)(bench_now_ns() - start) / (double)one->count;
}

static void run_rounds(const struct bench_case *cases, size_t count,
		       unsigned long rounds)
{
	for (size_t i = 0; i < count; i++)
		time_one(&cases[i]);
	for (unsigned long round = 0; round < rounds; round++) {
		for (size_t i = 0; i < count; i++)
			printf("%s %.3f\n", cases[i].name, time_one(&cases[i]));
		fflush(stdout);
	}
}

static int run_counted(const struct bench_case *cases, size_t count,
		       const char *name, const char *times)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(cases[i].name, name))
			continue;
		cases[i].run(strtoull(times, NULL, 0));
		return EXIT_SUCCESS;
	}
	fprintf(stderr, "no case %s\n", name);
	return EXIT_FAILURE;
}

int bench_main(int argc, char **argv, const struct bench_case *cases,
	       size_t count)
{
	unsigned long rounds = 7;

	bench_pin();
	if (argc == 4 && !strcmp(argv[1], "-c"))
		return run_counted(cases, count, argv[2], argv[3]);
	if (argc == 3 && !strcmp(argv[1], "-r"))
		rounds = strtoul(argv[2], NULL, 0);
	else if (argc != 1)
		return fprintf(stderr,
			       "usage: %s [-r ROUNDS | -c CASE COUNT]\n",
			       argv[0]),
		       2;
	run_rounds(cases, count, rounds);
	return EXIT_SUCCESS;
}
