/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parses the values of options. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibsa/text.h>

#include "options/values.h"
#include "names/target.h"

/*
 * The largest LID of Omni-Path. The library refuses a LID that is too large for
 * an InfiniBand fabric.
 */
#define MAX_LID UINT32_C(0xbfffffff)

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum {
	MAX_TIMEOUT_MS = 24 * 3600 * 1000,
	MAX_PORT = 254,
	MAX_CONNECTIONS = 1000000,
	MAX_MEMORY_MB = 1000000,
};

/* Parse a number from 1 to @max. */
static int small_number(const char *option, const char *value, unsigned int max,
			unsigned int *out)
{
	uint64_t number;

	if (ibsa_number_parse(value, 32, &number) != 0 || number == 0 ||
	    number > max) {
		complain("%s: '%s' is not a number from 1 to %u", option, value,
			 max);
		return CLI_USAGE;
	}
	*out = (unsigned int)number;
	return CLI_DONE;
}

int option_port(struct cli *cli, const char *value)
{
	return small_number("--port", value, MAX_PORT, &cli->open.port);
}

int option_timeout(struct cli *cli, const char *value)
{
	return small_number("--timeout", value, MAX_TIMEOUT_MS,
			    &cli->open.deadline_ms);
}

/*
 * Parse --sa: for ibsa fabric it is embedded or none, for other commands an SA
 * address.
 */
int option_sa(struct cli *cli, const char *value)
{
	struct ibsa_error error;

	if (strcmp(value, "embedded") == 0 || strcmp(value, "none") == 0) {
		cli->fabric.sa_mode = value;
		return CLI_DONE;
	}
	cli->sa.has_sl = strncmp(value, "sl=", 3) == 0 ||
			 strstr(value, ",sl=") != NULL;
	if (sa_parse(value, &cli->sa.address, &error) != 0) {
		complain("%s%s", error.text,
			 cli->arg_count > 0 &&
					 strcmp(cli->args[0], "fabric") == 0
				 ? "; ibsa fabric also accepts --sa embedded "
				   "and --sa none"
				 : "");
		return CLI_USAGE;
	}
	cli->open.access.sa = &cli->sa.address;
	return CLI_DONE;
}

/*
 * Read a key from the first line of a file, so that the key is not on the
 * command line.
 */
static int read_key(const char *file, char *out, int size)
{
	FILE *stream = fopen(file, "re");
	int err = stream ? 0 : errno;

	out[0] = '\0';
	if (stream) {
		if (!fgets(out, size, stream) && ferror(stream))
			err = errno;
		fclose(stream);
	}
	if (err) {
		complain("--sm-key: cannot read '%s': %s", file, strerror(err));
		return err == EACCES ? CLI_DEVICE : CLI_USAGE;
	}
	out[strcspn(out, " \t\r\n")] = '\0';
	return CLI_DONE;
}

int option_sm_key(struct cli *cli, const char *value)
{
	char line[64];
	int status;

	if (*value == '@') {
		cli->sa.key_file = value + 1;
		status = read_key(value + 1, line, sizeof(line));
		if (status != CLI_DONE)
			return status;
		value = line;
	}
	if (ibsa_number_parse(value, 64, &cli->open.access.sm_key) != 0) {
		complain("--sm-key: the key is not a number of 64 bits; "
			 "write it as 0x...");
		return CLI_USAGE;
	}
	return CLI_DONE;
}

int option_seed(struct cli *cli, const char *value)
{
	if (ibsa_number_parse(value, 64, &cli->fabric.seed) != 0) {
		complain("--seed: '%s' is not a number of 64 bits", value);
		return CLI_USAGE;
	}
	cli->fabric.has_seed = true;
	return CLI_DONE;
}

int option_first_lid(struct cli *cli, const char *value)
{
	unsigned int lid;
	const int status = small_number("--first-lid", value, MAX_LID, &lid);

	if (status == CLI_DONE)
		cli->fabric.first_lid = lid;
	return status;
}

int option_connections(struct cli *cli, const char *value)
{
	return small_number("--connections", value, MAX_CONNECTIONS,
			    &cli->fabric.connections);
}

int option_memory(struct cli *cli, const char *value)
{
	return small_number("--memory", value, MAX_MEMORY_MB,
			    &cli->fabric.memory_mb);
}

int option_sm_profile(struct cli *cli, const char *value)
{
#define PROFILE_WORD(name, word, text) word,
	static const char *const words[] = { IBSA_SM_PROFILE_TABLE(
		PROFILE_WORD) };
#undef PROFILE_WORD

	for (size_t i = 0; i < COUNT(words); i++) {
		if (strcmp(words[i], value) != 0)
			continue;
		cli->fabric.profile = (enum ibsa_sm_profile)i;
		return CLI_DONE;
	}
	complain("--sm-profile: unknown SM profile '%s'; see ibsa fabric run "
		 "--help",
		 value);
	return CLI_USAGE;
}

int option_pairs(struct cli *cli, const char *value)
{
	if (strcmp(value, "all") != 0) {
		complain("--pairs: unknown value '%s'; the only value is all",
			 value);
		return CLI_USAGE;
	}
	cli->path.all_pairs = true;
	return CLI_DONE;
}

int option_fault(struct cli *cli, const char *value)
{
	if (cli->fabric.fault_count == CLI_FAULTS_MAX) {
		complain("--fault is given more than %d times; remove some",
			 CLI_FAULTS_MAX);
		return CLI_USAGE;
	}
	cli->fabric.faults[cli->fabric.fault_count++] = value;
	return CLI_DONE;
}

/*
 * Parse an address into a GID: as in RoCE, an IPv4 address a.b.c.d becomes the
 * GID ::ffff:a.b.c.d.
 */
static int address_parse(const char *text, struct ibsa_gid *out)
{
	char mapped[IBSA_GID_TEXT];

	if (strchr(text, ':'))
		return ibsa_gid_parse(text, out);
	/*
	 * Text without a dot is not accepted: it would be parsed as the end of
	 * an IPv6 address.
	 */
	if (!strchr(text, '.'))
		return -EINVAL;
	snprintf(mapped, sizeof(mapped), "::ffff:%s", text);
	return ibsa_gid_parse(mapped, out);
}

/* Whether the GID stands for the unspecified address of IPv4 or IPv6. */
static bool is_unspecified(const struct ibsa_gid *gid)
{
	static const struct ibsa_gid zero;
	static const struct ibsa_gid ipv4 = { { [10] = 0xff, 0xff } };

	return memcmp(gid, &zero, sizeof(zero)) == 0 ||
	       memcmp(gid, &ipv4, sizeof(ipv4)) == 0;
}

int option_for(struct cli *cli, const char *value)
{
	if (address_parse(value, &cli->gids.gid)) {
		complain("--for: '%s' is neither an IPv4 nor an IPv6 address, "
			 "nor a GID",
			 value);
		return CLI_USAGE;
	}
	if (is_unspecified(&cli->gids.gid)) {
		complain("--for: '%s' is the unspecified address; give the "
			 "address of a destination",
			 value);
		return CLI_USAGE;
	}
	cli->gids.address = value;
	return CLI_DONE;
}

int option_lease(struct cli *cli, const char *value)
{
	uint64_t seconds = IBSA_LEASE_INFINITE;

	if (strcmp(value, "infinite") != 0 &&
	    (ibsa_number_parse(value, 32, &seconds) != 0 || seconds == 0 ||
	     seconds == IBSA_LEASE_INFINITE)) {
		complain("--lease: '%s' is neither a number of seconds from 1 "
			 "to 4294967294 nor infinite",
			 value);
		return CLI_USAGE;
	}
	cli->service.lease = (uint32_t)seconds;
	return CLI_DONE;
}

int option_pkey(struct cli *cli, const char *value)
{
	uint64_t pkey;

	if (cli->check.pkey_count == CLI_PKEYS_MAX) {
		complain("--pkey is given more than %d times; remove some",
			 CLI_PKEYS_MAX);
		return CLI_USAGE;
	}
	if (ibsa_number_parse(value, 16, &pkey) != 0 ||
	    !(pkey & (uint16_t)~IBSA_PKEY_FULL)) {
		complain("--pkey: '%s' is not a P_Key, such as 0x8001", value);
		return CLI_USAGE;
	}
	cli->check.pkeys[cli->check.pkey_count++] = (uint16_t)pkey;
	return CLI_DONE;
}

int option_rate(struct cli *cli, const char *value)
{
	if (rate_limit_parse(value, &cli->check.rate))
		return CLI_DONE;
	complain("--rate: '%s' is not a rate in Gb/s, such as '>=400' or "
		 "200Gb",
		 value);
	return CLI_USAGE;
}
