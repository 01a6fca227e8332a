/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Many processes at one fabric server, while the fabric changes: what the
 * driver, which changes it and kills processes, and the workers, which ask and
 * compare, have in common.
 */
#ifndef MANY_H
#define MANY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	LEAVES = 6,
	HOSTS_PER_LEAF = 10,
	HOSTS = LEAVES * HOSTS_PER_LEAF,
	WORKERS = 50, /* each at the host of its number */
	SPINES = 2,
	NAME_BYTES = 8,
	REPORTS_MAX = 64, /* in a batch, which a pipe takes in one piece */
};

#define MANY_SM "h50" /* where the SM is at first */

/* What the topology says of a host. */
struct many_host {
	char name[NAME_BYTES];
	uint64_t guid;
	uint16_t lid;
};

enum many_result {
	MANY_ANSWERED, /* rightly, as far as a worker can tell */
	MANY_NONE,     /* there is no such record */
	MANY_LOST,     /* no answer came */
	MANY_WRONG,    /* the worker has said why */
};

/* What became of one question. */
struct many_report {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t seen; /* of a table: a bit for each host in it, else 0 */
	uint8_t worker;
	uint8_t result; /* enum many_result */
	uint8_t target; /* a host; HOSTS: a table was asked for */
	uint8_t tries;
};

_Static_assert(sizeof(struct many_report) * REPORTS_MAX <= 4096, "PIPE_BUF");

uint64_t many_now_ns(void);

/* The topology as text, and what it means for its hosts. */
bool many_topology_write(const char *path);
bool many_hosts_read(const char *path, struct many_host hosts[HOSTS]);

/*
 * Ask for ever, and report to the file @to: with libibsa, or by running
 * @saquery. Return: something is wrong with the worker itself.
 */
int many_work(const struct many_host hosts[HOSTS], unsigned int worker,
	      uint64_t seed, int to, const char *saquery);

/* One run of saquery, which lists all nodes: as many_report says. */
void many_saquery(const struct many_host hosts[HOSTS], const char *saquery,
		  struct many_report *report);

#endif
