/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the benchmark programs share. A program is a list of cases; it runs
 * them in turn, round after round, and prints "CASE NANOSECONDS" for each.
 * What the numbers are worth is scripts/bench's to say.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stddef.h>
#include <stdint.h>

/* Make the compiler believe that what @pointer points to is used. */
#define BENCH_KEEP(pointer) __asm__ volatile("" : : "r"(pointer) : "memory")

/**
 * struct bench_case - one thing to measure
 * @name:  the first word of its lines
 * @run:   do it @count times
 * @count: how often in one round; the result is nanoseconds for one
 */
struct bench_case {
	const char *name;
	void (*run)(uint64_t count);
	uint64_t count;
};

/* The clock, in nanoseconds. */
uint64_t bench_now_ns(void);

/* Stay on the first core, so that nothing is measured across two. */
void bench_pin(void);

/**
 * bench_main - run the cases, as the command line says
 * @argc, @argv: "[-r ROUNDS]", or "-c CASE COUNT" to do one case so often and
 *               print nothing, for an instruction counter
 * @cases: what to measure
 * @count: of them
 *
 * The first round warms up and is not printed.
 *
 * Return: the program's exit status.
 */
int bench_main(int argc, char **argv, const struct bench_case *cases,
	       size_t count);

#endif
