/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The options of ibsa fabric. */
#include <string.h>

#include <ibsa/text.h>

#include "fabric/fabric.h"
#include "fabric/options.h"
#include "options/shared.h"

/*
 * The largest LID of Omni-Path. The library refuses a LID that is too large for
 * an InfiniBand fabric.
 */
#define MAX_LID UINT32_C(0xbfffffff)

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { MAX_CONNECTIONS = 1000000, MAX_MEMORY_MB = 1000000 };

static int seed_option(void *to, const char *value)
{
	struct fabric_options *options = to;

	if (ibsa_number_parse(value, 64, &options->seed) != 0)
		return fail_usage("--seed: '%s' is not a number of 64 bits",
				  value);
	options->has_seed = true;
	return CLI_DONE;
}

static int sm_profile_option(void *to, const char *value)
{
#define PROFILE_WORD(name, word, text) word,
	static const char *const words[] = { IBSA_SM_PROFILE_TABLE(
		PROFILE_WORD) };
#undef PROFILE_WORD

	for (size_t i = 0; i < COUNT(words); i++) {
		if (strcmp(words[i], value) != 0)
			continue;
		*(enum ibsa_sm_profile *)to = (enum ibsa_sm_profile)i;
		return CLI_DONE;
	}
	return fail_usage("--sm-profile: unknown SM profile '%s'; see ibsa "
			  "fabric run --help",
			  value);
}

static int fault_option(void *to, const char *value)
{
	struct fabric_options *options = to;

	if (options->fault_count == FABRIC_FAULTS_MAX)
		return fail_usage("--fault is given more than %d times; remove "
				  "some",
				  FABRIC_FAULTS_MAX);
	options->faults[options->fault_count++] = value;
	return CLI_DONE;
}

#define AT(member) OPTION_AT(struct fabric_options, member)
#define BY(set, member) OPTION_BY(set, struct fabric_options, member)

/* clang-format off */
static const struct option_row rows[] = {
	{ 0, "connections", "N", "connections that the server accepts",
	  AT(connections), FABRIC_SERVES,
	  .max = MAX_CONNECTIONS },
	{ 0, "control-token", "FILE", "token for changes over TCP",
	  AT(control_token), FABRIC_SERVES },
	{ 0, "fault", "KIND=N", "fault in N of 100 MADs",
	  fault_option, 0, FABRIC_LOADS | FABRIC_REPLAY, .repeats = true },
	{ 0, "first-lid", "LID", "first LID to assign",
	  AT(first_lid), FABRIC_LOADS, .max = MAX_LID },
	{ 0, "listen", "ADDR", "serve over TCP, at tcp:[HOST:]PORT",
	  AT(listen), FABRIC_SERVES },
	{ 0, "memory", "MB", "memory of the server for its clients",
	  AT(memory_mb), FABRIC_SERVES, .max = MAX_MEMORY_MB },
	{ 0, "opa", NULL, "Omni-Path links", AT(opa), FABRIC_LOADS },
	{ 0, "partitions", "FILE", "P_Keys of the ports, as in partitions.conf",
	  AT(partitions), FABRIC_LOADS, OPTION_READS },
	{ 0, "socket", "PATH", "socket of the fabric server", AT(socket),
	  FABRIC_SERVES | FABRIC_CONTROL },
	{ 0, "sa-at", "NODE", "node of the SA", AT(sa_at),
	  FABRIC_LOADS },
	{ 0, "seed", "N", "seed of random numbers",
	  seed_option, 0, FABRIC_LOADS | FABRIC_REPLAY },
	{ 0, "sm-profile", "SM", "the SM that the SA behaves as",
	  BY(sm_profile_option, profile), FABRIC_LOADS },
	{ 0, "sysfs", NULL, "/sys has the host of IBSA_NODE",
	  AT(sysfs), FABRIC_EXEC },
	{ 0, "token", "FILE", "token for clients over TCP",
	  AT(token), FABRIC_SERVES },
	{ 0, "umad", "DEVICE", "port of the SA, DEVICE[/PORT]",
	  AT(umad), FABRIC_SERVE },
	{ 0, "verbs", NULL, "libibverbs has the fabric's devices",
	  AT(verbs), FABRIC_EXEC },
};
/* clang-format on */

const struct option_table fabric_table = OPTION_TABLE(rows,
						      struct fabric_options);

const char *fabric_socket(const struct cli *cli)
{
	return fabric_own(cli)->socket;
}

const char *fabric_umad(const struct cli *cli)
{
	return fabric_own(cli)->umad;
}
