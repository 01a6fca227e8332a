/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The values of ibsa metrics, and the functions that collect and write them. */
#ifndef COMMAND_METRICS_H
#define COMMAND_METRICS_H

#include <stdio.h>

#include <ibsa/event.h>
#include <ibsa/topology.h>

#include "session/answers.h"
#include "findings/node.h"

enum {
	METRICS_PEERS_MAX = 1024, /* each peer is a series */
	METRICS_SM_STATES = 4,
	METRICS_EVENT_KINDS = 8,
	METRICS_NAMED_MAX = 32, /* each named finding is a series */
#define METRICS_COUNT(kind, name, severity) +1
	METRICS_FINDING_KINDS = 0 IBSA_FINDINGS(METRICS_COUNT),
#undef METRICS_COUNT
};

/**
 * struct metrics_sm - the subnet manager of a port
 * @lid:      its LID, as the port has it; 0: none
 * @guid:     its port GUID; 0: unknown
 * @node:     its node description, as on the wire; "": unknown
 * @is_listed: there is an SMInfoRecord with this LID, and @priority and @state
 *            are valid
 * @has_list: the SA returned SMInfoRecords, and @by_state is valid
 * @by_state: number of SMs in each state
 */
struct metrics_sm {
	uint32_t lid;
	uint64_t guid;
	char node[65];
	bool is_listed;
	uint8_t priority;
	uint8_t state;
	bool has_list;
	size_t by_state[METRICS_SM_STATES];
};

/*
 * The fabric. @named: the first @named_count findings, critical ones before
 * warnings.
 */
struct metrics_fabric {
	bool is_known;
	struct ibsa_topology_info info;
	size_t findings[METRICS_FINDING_KINDS];
	struct ibsa_finding named[METRICS_NAMED_MAX];
	size_t named_count;
};

/* Counters that a command with --listen adds up over all collections. */
struct metrics_totals {
	struct answers answers;
	uint64_t events[METRICS_EVENT_KINDS];
	uint64_t gaps;
	uint64_t sm_changes;
	bool is_subscribed;
};

/**
 * struct metrics - one collection
 * @cli:      the command
 * @expected: topology of --expect, or NULL
 * @check:    the ports of this machine and the peers
 * @answers:  counts the SA's answers to the queries of this collection
 * @is_complete: no part of the collection failed
 * @seconds:  duration of the collection
 * @totals:   NULL: the command ends after this collection
 */
struct metrics {
	struct cli *cli;
	const struct ibsa_topology *expected;
	struct node_check check;
	struct answers answers;
	struct metrics_sm sm;
	struct metrics_fabric fabric;
	bool is_complete;
	double seconds;
	const struct metrics_totals *totals;
};

/*
 * Collect all values. Return: the exit status; a failure is printed. @out can
 * be written in any case; the caller calls metrics_end().
 */
int metrics_collect(struct cli *cli, const struct ibsa_topology *expected,
		    struct metrics *out);
void metrics_end(struct metrics *metrics);

/* Return: the first port from which the SA can be queried, or NULL. */
const struct port_check *metrics_port(const struct metrics *metrics);

enum metrics_format {
	METRICS_OPENMETRICS,
	METRICS_PROMETHEUS, /* text format 0.0.4 */
};

/* Write all metrics that have values. */
void metrics_write(FILE *file, const struct metrics *metrics,
		   enum metrics_format format);

/*
 * Check the value of --label. Return: false: it is not NAME=VALUE, or NAME is a
 * label that ibsa sets itself; a message is printed.
 */
bool metrics_label_check(const char *label);

/* Write the table of all metrics, for --help. */
void metrics_list(struct cli *cli);

/*
 * Serve metrics at --listen until a signal arrives. Return: the exit status; a
 * failure is printed.
 */
int metrics_listen(struct cli *cli, const struct ibsa_topology *expected);

#endif
