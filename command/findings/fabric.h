/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Findings about the fabric, for ibsa check and ibsa page. */
#ifndef COMMAND_FABRIC_CHECK_H
#define COMMAND_FABRIC_CHECK_H

#include <ibsa/records.h>
#include <ibsa/topology.h>

#include "output/cli.h"

/* The path from here to a port. */
struct fabric_path {
	uint64_t guid; /* of the port */
	uint8_t mtu;   /* codes of the record */
	uint8_t rate;
	uint8_t sl;
};

/**
 * struct fabric_check - a topology and its findings
 * @file:     topology file to check without queries; NULL: check the fabric
 * @expect:   file of --expect, or NULL
 * @expected: its topology, or NULL; if @expect is NULL, the caller may have set
 *            it
 * @info:     size of @topology
 * @paths:    the @path_count paths from this port to other ports, sorted by the
 *            GUID of the other port
 * @own_guid: GUID of this port
 * @sms:      @sm_count SMs of the SA
 * @no_sms:   the reason why the SA has not returned SMInfoRecords, or ""
 * @shows_sms: the caller shows @no_sms; otherwise, it is printed
 * @more:     findings that were made by queries; in the order of findings,
 *            those of the library come first
 * @count, @critical_count: number of all findings, and of the critical findings
 */
struct fabric_check {
	struct cli *cli;
	const char *file;
	const char *expect;
	struct ibsa_topology *topology;
	struct ibsa_topology *expected;
	struct ibsa_topology_info info;
	struct fabric_path *paths;
	size_t path_count;
	uint64_t own_guid;
	struct ibsa_sm_info *sms;
	size_t sm_count;
	struct ibsa_error no_sms;
	bool shows_sms;
	struct ibsa_finding *more;
	size_t more_count;
	size_t count;
	size_t critical_count;
	bool out_of_memory;
};

/*
 * Read the topology from the member file or, if it is NULL, from the SA, and
 * check it. The caller has set only the members cli, file, expect or expected, and
 * shows_sms.
 * Return: the exit status; a failure is printed. The caller calls
 * fabric_check_done() in any case.
 */
int fabric_check_read(struct fabric_check *check);
void fabric_check_done(struct fabric_check *check);

/* Return: the path from this port to the port with this GUID, or NULL. */
const struct fabric_path *fabric_check_path(const struct fabric_check *check,
					    uint64_t guid);

/*
 * Write the finding with number @index, which is less than the number of
 * findings, to @out.
 */
void fabric_check_finding(const struct fabric_check *check, size_t index,
			  struct ibsa_finding *out);

/*
 * Write the first finding of the highest severity to @out; there is at least
 * one finding.
 */
void fabric_check_worst(const struct fabric_check *check,
			struct ibsa_finding *out);

#endif
