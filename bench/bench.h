/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Types and functions of the benchmark programs. A program is a list of cases.
 * It runs the cases one after the other in each round, and prints "CASE
 * NANOSECONDS" for each. scripts/bench computes the results from these lines.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stddef.h>
#include <stdint.h>

/* Keep the compiler from removing code that writes to *@pointer. */
#define BENCH_USE(pointer) __asm__ volatile("" : : "r"(pointer) : "memory")

/**
 * struct bench_case - a case to measure
 * @name:  first word of its output lines
 * @run:   runs the case @count times
 * @count: runs in one round; the result is nanoseconds per run
 */
struct bench_case {
	const char *name;
	void (*run)(uint64_t count);
	uint64_t count;
};

/* The clock, in nanoseconds. */
uint64_t bench_now_ns(void);

/*
 * Pin the calling thread to the first core, so that a measurement does not
 * move to another core.
 */
void bench_pin(void);

/*
 * bench_main - run the cases that the command line names
 *
 * @argc, @argv: "[-r ROUNDS]"; or "-c CASE COUNT" to run one case COUNT times
 * and print nothing, for an instruction counter
 *
 * @cases: the cases to measure
 *
 * @count: number of cases
 *
 * The first round warms up and is not printed. Return: the program's exit
 * status.
 */
int bench_main(int argc, char **argv, const struct bench_case *cases,
	       size_t count);

#endif
