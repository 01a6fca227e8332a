/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Loads the topology file of ibsa fabric, with the options of a fabric. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clean.h"
#include "fabric/fabric.h"
#include "fabric/options.h"
#include "session/record.h"

enum {
	/*
	 * A file of at least this size is announced on a terminal before it is
	 * read.
	 */
	LARGE_BYTES = 4 << 20
};

/*
 * If the file is large, print that it is being read. Return: whether a line
 * was printed.
 */
static bool reading_show(const char *path)
{
	struct stat file;
	char clean[256];

	if (!isatty(STDERR_FILENO) || stat(path, &file) != 0 ||
	    file.st_size < LARGE_BYTES)
		return false;
	ibsa__text_clean(&path, clean, sizeof(clean));
	fprintf(stderr, "reading %s, %lld MB...", clean,
		(long long)file.st_size >> 20);
	return true;
}

/*
 * Load the topology file of the first argument with @options. The options of
 * the command line have no effect on this; the caller has put those that it
 * accepts into @options. The caller frees @out. Return: the exit status; a
 * failure is printed.
 */
static int fabric_read(struct cli *cli,
		       const struct ibsa_fabric_options *options,
		       struct ibsa_fabric **out)
{
	struct ibsa_error error = { .text = "" };
	const bool is_line_shown = reading_show(cli->args[2]);
	const int err = ibsa_fabric_load(cli->args[2], options, &error, out);

	if (is_line_shown)
		fputs("\r\033[K", stderr);
	return err ? fabric_error_explain(err, &error, cli->args[2]) : CLI_DONE;
}

static int parse_faults(const struct cli *cli,
			struct ibsa_fault out[FABRIC_FAULTS_MAX])
{
	struct ibsa_error error = { .text = "" };
	int err = 0;

	for (int i = 0; i < fabric_own(cli)->fault_count && !err; i++)
		err = ibsa_fault_parse(fabric_own(cli)->faults[i], &out[i],
				       &error);
	return err ? error_explain(err, &error) : CLI_DONE;
}

static int start_faults(struct cli *cli, const struct ibsa_fault *faults)
{
	struct ibsa_error none = { .text = "" };
	int err = 0;

	for (int i = 0; i < fabric_own(cli)->fault_count && !err; i++)
		err = ibsa_fabric_fault(cli->loaded, &faults[i]);
	return err ? error_explain(err, &none) : CLI_DONE;
}

/*
 * Refuse an SA address in --sa: the address of an SA is an option of queries;
 * a fabric accepts only embedded or none.
 */
static int sa_address_refuse(void)
{
	return fail_usage("--sa: for a fabric, use embedded or none, not an "
			  "address");
}

int fabric_load(struct cli *cli)
{
	const struct ibsa_fabric_options options = {
		.seed = fabric_own(cli)->seed,
		.sa_node = fabric_own(cli)->sa_at,
		.opa = fabric_own(cli)->opa,
		.first_lid = fabric_own(cli)->first_lid,
		.partitions = fabric_own(cli)->partitions,
		.profile = fabric_own(cli)->profile,
		.no_sa = cli->sa.word && !strcmp(cli->sa.word, "none"),
	};
	struct ibsa_fault faults[FABRIC_FAULTS_MAX];
	int status = cli->open.access.sa ? sa_address_refuse() : CLI_DONE;

	if (status == CLI_DONE)
		status = parse_faults(cli, faults);
	if (status == CLI_DONE)
		status = fabric_read(cli, &options, &cli->loaded);
	if (status == CLI_DONE)
		status = start_faults(cli, faults);
	if (status == CLI_DONE && cli->record.path)
		status = record_start(cli->record.path, cli->loaded,
				      fabric_own(cli)->has_seed,
				      &cli->record.recording);
	return status;
}

void fabric_options_details(struct out *out)
{
	out_line(out, "%s",
		 "--fault affects PERCENT of the MADs, at most COUNT of them:\n"
		 "KIND=PERCENT[,COUNT] for lose, duplicate, corrupt, busy and "
		 "silence,\n"
		 "KIND=PERCENT[,COUNT[,DELAY_MS]] for delay and reorder, and\n"
		 "KIND=PERCENT[,COUNT[,HOPS]] for redirect and redirect-gid. "
		 "--partitions reads a\nfile in the format of "
		 "OpenSM's partitions.conf. Values of --sm-profile:\n");
#define PROFILE_LINE(name, word, text) out_line(out, "  %-8s%s", word, text);
	IBSA_SM_PROFILE_TABLE(PROFILE_LINE)
#undef PROFILE_LINE
	out_line(out, "%s", "");
}
