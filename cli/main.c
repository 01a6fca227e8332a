/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The ibsa command: its table of commands, help, and how it ends. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "options.h"
#include "record.h"

enum { BUFFER_BYTES = 65536 };

/* clang-format off */
static const struct command commands[] = {
	{ "devices", "[DEVICE[/PORT]]", "list the ports that can be used",
	  "", cmd_devices },
	{ "doctor", "[DEVICE[/PORT]]",
	  "tell what keeps the SA from being asked", "record",
	  cmd_doctor, cmd_doctor_details },
	{ "fabric", "ACTION [ARGUMENT...]",
	  "look at a simulated fabric, run one, change it", "",
	  cmd_fabric, cmd_fabric_details, cmd_fabric_can_help,
	  cmd_fabric_part_help, cmd_fabric_part_takes },
	{ "gids", "[DEVICE[/PORT]]", "list GID tables, or say which GID to use",
	  "all for", cmd_gids, cmd_gids_details },
	{ "path", "SRC DST [FIELD=VALUE...]",
	  "show the path from one port to another", "all pairs record",
	  cmd_path, cmd_path_details },
	{ "query", "METHOD RECORD [FIELD=VALUE...]",
	  "ask for any record by any of its fields", "record",
	  cmd_query, cmd_query_details, cmd_query_can_help },
	{ "reach", "TARGET...|-|--all|--matrix [TARGET...]",
	  "tell which ports can be reached", "all matrix record svg",
	  cmd_reach, cmd_reach_details },
	{ "service", "ACTION [ARGUMENT...]",
	  "list, register or remove services", "lease record renew",
	  cmd_service, cmd_service_details, cmd_service_can_help },
	{ "watch", "[WHAT...] [WHO...]",
	  "show what happens on the fabric as it happens", "audit-nodes record",
	  cmd_watch, cmd_watch_details },
};
/* clang-format on */

enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < COMMANDS; i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

static void general_help(struct cli *cli)
{
	struct out *out = &cli->out;

	out_line(out, "usage: ibsa [OPTION...] COMMAND [ARGUMENT...]");
	out_line(out, "\nAsks the subnet administration (SA) of an InfiniBand "
		      "fabric.\n\ncommands:");
	for (size_t i = 0; i < COMMANDS; i++)
		out_line(out, "  %-8s  %s", commands[i].name, commands[i].help);
	out_line(out, "%s", "");
	options_help(out, NULL);
	out_line(out, "\nexit status: 0 done, 1 the answer is no, 2 wrong "
		      "command line, 3 no answer,\n4 no device or not "
		      "permitted, 5 the SA refused. See also ibsa(8).");
}

static int command_help(struct cli *cli, const struct command *command)
{
	int status = command->can_help ? command->can_help(cli) : CLI_DONE;

	if (status != CLI_DONE ||
	    (command->part_help && command->part_help(cli)))
		return status;
	out_line(&cli->out, "usage: ibsa %s%s%s [OPTION...]\n\n%c%s.\n",
		 command->name, *command->arguments ? " " : "",
		 command->arguments, toupper((unsigned char)*command->help),
		 command->help + 1);
	if (command->details)
		command->details(cli);
	options_help(&cli->out, command);
	return CLI_DONE;
}

static int no_command(void)
{
	complain("usage: ibsa [OPTION...] COMMAND [ARGUMENT...]; see ibsa "
		 "--help");
	return CLI_USAGE;
}

static int cli_run(struct cli *cli)
{
	const struct command *command;

	if (cli->version) {
		out_line(&cli->out, "ibsa %s", ibsa_version());
		return CLI_DONE;
	}
	if (cli->arg_count == 0 && cli->help) {
		general_help(cli);
		return CLI_DONE;
	}
	if (cli->arg_count == 0)
		return no_command();
	command = find_command(cli->args[0]);
	if (!command) {
		complain("there is no command '%s'; see ibsa --help",
			 cli->args[0]);
		return CLI_USAGE;
	}
	if (cli->help)
		return command_help(cli, command);
	if (!options_fit(cli, command))
		return CLI_USAGE;
	if (cli->json)
		cli->out.shape = OUT_JSON;
	else if (cli->verbose)
		cli->out.shape = OUT_BLOCKS;
	return command->run(cli);
}

/* Output that nobody reads any more is no failure; a full disk is. */
static int cli_finish(struct cli *cli, int status)
{
	int recorded;
	int err;

	(void)ibsa_close(cli->client);
	recorded = record_close(cli);
	free(cli->args);
	if (status == CLI_DONE)
		status = recorded;
	err = out_close(&cli->out);
	if (err == 0 || err == -EPIPE)
		return status;
	complain("cannot write the output: %s", strerror(-err));
	return status == CLI_DONE || status == CLI_NO ? CLI_DEVICE : status;
}

/*
 * With one of the three closed, the next file opened would be it, and the
 * output go to a device. Not for writing, so that output still fails.
 */
static void fill_standard_files(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) < 0)
			return;
}

int main(int argc, char **argv)
{
	struct cli cli = { .args = NULL };
	int status;

	fill_standard_files();
	if (!isatty(STDOUT_FILENO))
		setvbuf(stdout, NULL, _IOFBF, BUFFER_BYTES);
	out_open(&cli.out, stdout);
	status = options_parse(&cli, argc, argv);
	if (status == CLI_DONE)
		status = fabric_server_use(&cli);
	if (status == CLI_DONE)
		status = cli_run(&cli);
	return cli_finish(&cli, status);
}
