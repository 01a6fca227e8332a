/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The options that fill struct cli. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibsa/text.h>

#include "names/target.h"
#include "options/common.h"
#include "output/cli.h"

int option_number(const char *option, const char *value, unsigned int max,
		  unsigned int *out)
{
	uint64_t number;

	if (ibsa_number_parse(value, 32, &number) != 0 || number == 0 ||
	    number > max)
		return fail_usage("%s: '%s' is not a number from 1 to %u",
				  option, value, max);
	*out = (unsigned int)number;
	return CLI_DONE;
}

enum { MAX_TIMEOUT_MS = 24 * 3600 * 1000, MAX_PORT = 254 };

/*
 * Table entries for a member of struct cli without a parser, and with one.
 */
#define AT(member) OPTION_AT(struct cli, member)
#define BY(set, member) OPTION_BY(set, struct cli, member)

/* Join the values of --device to a list with commas. */
static int device_option(void *to, const char *value)
{
	struct cli *cli = to;
	const char *before = cli->open.device;
	char *list;

	if (!*value)
		return fail_usage("--device: the value is empty");
	if (asprintf(&list, "%s%s%s", before ? before : "", before ? "," : "",
		     value) < 0)
		return no_memory();
	free(cli->names.devices);
	cli->names.devices = list;
	cli->open.device = list;
	return CLI_DONE;
}

/*
 * Parse --sa: for ibsa fabric it is embedded or none, for other commands an SA
 * address.
 */
static int sa_option(void *to, const char *value)
{
	struct cli *cli = to;
	struct ibsa_error error;

	if (strcmp(value, "embedded") == 0 || strcmp(value, "none") == 0) {
		cli->sa.word = value;
		return CLI_DONE;
	}
	cli->sa.has_sl = strncmp(value, "sl=", 3) == 0 ||
			 strstr(value, ",sl=") != NULL;
	if (sa_parse(value, &cli->sa.address, &error) != 0)
		return fail_usage(
			"%s%s", error.text,
			cli->arg_count > 0 &&
					strcmp(cli->args[0], "fabric") == 0
				? "; ibsa fabric also accepts --sa embedded "
				  "and --sa none"
				: "");
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

static int sm_key_option(void *to, const char *value)
{
	struct cli *cli = to;
	char line[64];
	int status;

	if (*value == '@') {
		status = read_key(value + 1, line, sizeof(line));
		if (status != CLI_DONE)
			return status;
		value = line;
	}
	if (ibsa_number_parse(value, 64, &cli->open.access.sm_key) != 0)
		return fail_usage("--sm-key: the key is not a number of 64 "
				  "bits; write it as 0x...");
	return CLI_DONE;
}

static int format_option(void *to, const char *value)
{
	const char **format = to;

	if (*format && strcmp(*format, value) != 0)
		return fail_usage("two formats are given, %s and %s; remove "
				  "one",
				  *format, value);
	*format = value;
	return CLI_DONE;
}

static int json_option(void *to, const char *value)
{
	(void)value;
	return format_option(to, "json");
}

/* clang-format off */
static const struct option_row rows_open[] = {
	{ 'C', "device", "NAME", "send from this device or node of a fabric",
	  device_option, .group = GROUP_DEVICE, .repeats = true },
	{ 'P', "port", "N", "port of the device", AT(open.port),
	  .max = MAX_PORT,
	  .group = GROUP_DEVICE },
	{ 0, "fabric", "FILE",
	  "an embedded fabric from a topology file, or unix:PATH",
	  AT(open.fabric), .group = GROUP_FABRIC },
	{ 't', "timeout", "MS",
	  "deadline of a query in ms (" OPTION_VALUE(IBSA_DEFAULT_DEADLINE_MS)
	  "; some commands: less)",
	  AT(open.deadline_ms), .max = MAX_TIMEOUT_MS, .group = GROUP_TIMEOUT },
	{ 0, "sa", "ADDR", "address of the SA: LID, GID or lid=..,sl=..",
	  sa_option, .group = GROUP_SA },
	{ 0, "sm-key", "KEY", "SM_Key of each request; @FILE reads it",
	  sm_key_option, .group = GROUP_KEY, .file = OPTION_READS_AT },
};

static const struct option_row rows_files[] = {
	{ 0, "node-name-map", "FILE",
	  "names of nodes by GUID", AT(names.file),
	  .group = GROUP_NAMES, .file = OPTION_READS },
	{ 'o', "output", "FILE", "replace this file",
	  AT(output.file), .group = GROUP_FILE, .file = OPTION_REPLACES },
	{ 0, "record", "FILE", "write packets of this port or fabric, for Wireshark",
	  AT(record.path), .group = GROUP_RECORD, .file = OPTION_RECORDS },
};

static const struct option_row rows_output[] = {
	{ 0, "format", "NAME", NULL, BY(format_option, output.format),
	  .group = GROUP_FORMAT, .repeats = true },
	{ 'j', "json", NULL, "--format json",
	  BY(json_option, output.format), .group = GROUP_FORMAT },
	{ 0, "fields", "A,B,...", "write only these fields, in this order",
	  AT(output.fields), .group = GROUP_ROWS },
	{ 'v', "verbose", NULL, "show all fields; tries and times on stderr",
	  AT(output.verbose), .group = GROUP_VERBOSE },
	{ 'V', "version", NULL, "show the version", AT(version),
	  .group = GROUP_VERSION },
	{ 'h', "help", NULL, "show help; also for a command or a record",
	  AT(help), .group = GROUP_HELP },
};
/* clang-format on */

const struct option_table options_open = OPTION_TABLE(rows_open, struct cli);
const struct option_table options_files = OPTION_TABLE(rows_files, struct cli);
const struct option_table options_output = OPTION_TABLE(rows_output,
							struct cli);
