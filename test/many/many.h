/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Many processes at one fabric server, while the fabric changes. What the
 * driver, which makes changes and kills processes, and the workers, which query
 * and compare, have in common.
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
	INTERVAL_MS = 2000, /* of a query's tries */
	NAME_BYTES = 8,
	REPORTS_MAX = 64, /* number of reports in a batch, which a pipe
			   * transfers as a whole */
};

#define MANY_SM "h50" /* the SM's first host */

/* A host by the topology. */
struct many_host {
	char name[NAME_BYTES];
	uint64_t guid;
	uint16_t lid;
};

enum many_result {
	/* The query was answered, correctly as far as a worker can check. */
	MANY_ANSWERED,
	MANY_NONE,  /* there is no such record */
	MANY_LOST,  /* no reply came */
	MANY_WRONG, /* the worker has printed why */
};

/* The result of one query. */
struct many_report {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t seen; /* for a table: a bit for each host in it; otherwise 0 */
	/*
	 * How long the worker and the server have waited for a processor during
	 * the query; 0 if the kernel does not tell.
	 */
	uint64_t stall_ns;
	uint8_t worker;
	uint8_t result; /* enum many_result */
	/*
	 * Number of the host that the query was about; HOSTS: the query was for
	 * a table.
	 */
	uint8_t target;
	uint8_t tries;
};

_Static_assert(sizeof(struct many_report) * REPORTS_MAX <= 4096, "PIPE_BUF");

uint64_t many_now_ns(void);

/* Write the topology as text; read the addresses of its hosts. */
bool many_topology_write(const char *path);
bool many_hosts_read(const char *path, struct many_host hosts[HOSTS]);

/*
 * Query for ever, and write reports to the file @to: with libibsa, or by
 * running @saquery. @server: the process of the fabric server. Return: 1, the
 * exit status of a worker that has failed.
 */
int many_work(const struct many_host hosts[HOSTS], unsigned int worker,
	      uint64_t seed, int to, int server, const char *saquery);

/* Run saquery once, to list all nodes, and fill in @report. */
void many_saquery(const struct many_host hosts[HOSTS], const char *saquery,
		  struct many_report *report);

#endif
