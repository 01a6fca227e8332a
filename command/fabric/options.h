/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The options of ibsa fabric. */
#ifndef COMMAND_FABRIC_OPTIONS_H
#define COMMAND_FABRIC_OPTIONS_H

#include "output/cli.h"

enum { FABRIC_FAULTS_MAX = 16 };

/**
 * struct fabric_options - options of ibsa fabric
 * @socket:  path of a fabric server's socket; NULL: the default
 * @sa_at:   node at which the embedded SA runs; NULL: the first adapter
 * @seed:    seed of the random numbers, if @has_seed
 * @first_lid: first LID to assign; 0: the fabric's default
 * @connections: how many connections a fabric server accepts; 0: the default
 * @control_token: file of the token for commands over TCP that change the fabric
 * @listen:  address at which the server listens for clients over TCP, or NULL
 * @token:   file of the token of clients over TCP
 * @memory_mb: MiB that a fabric server uses for its clients; 0: the default
 * @profile: SM whose behaviour the embedded SA copies
 * @partitions: file with the P_Keys of the ports; NULL: the default partition
 * @opa:     the links are Omni-Path links
 * @faults:  the @fault_count values of --fault, each
 *           KIND=PERCENT[,COUNT[,NUMBER]]; NUMBER is a delay in ms, or a number
 *           of redirections
 * @sysfs:   the command of ibsa fabric exec has the host's device files as /sys
 * @umad:    device and port of this machine at which the SA answers, or NULL
 * @verbs:   libibverbs of the command of ibsa fabric exec has the host's devices
 */
struct fabric_options {
	const char *socket;
	const char *sa_at;
	uint64_t seed;
	bool has_seed;
	uint32_t first_lid;
	unsigned int connections;
	unsigned int memory_mb;
	const char *control_token;
	const char *listen;
	const char *token;
	enum ibsa_sm_profile profile;
	const char *partitions;
	bool opa;
	const char *faults[FABRIC_FAULTS_MAX];
	int fault_count;
	bool sysfs;
	const char *umad;
	bool verbs;
};

/* The options of the command that runs. */
static inline const struct fabric_options *fabric_own(const struct cli *cli)
{
	return cli->own;
}

#endif
