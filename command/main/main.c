/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The ibsa command: dispatch, help, and the exit status. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output/cli.h"
#include "output/nagios.h"
#include "common/nearest.h"
#include "names/node_map.h"
#include "options/format.h"
#include "options/options.h"
#include "main/command_list.h"
#include "main/other_file.h"
#include "session/record.h"

enum { BUFFER_BYTES = 65536 };

static void general_help(struct cli *cli)
{
	struct out *out = &cli->out;

	out_line(out, "usage: ibsa [OPTION...] COMMAND [ARGUMENT...]");
	out_line(out, "\nSends queries to the subnet administration (SA) of "
		      "an InfiniBand fabric.\n\ncommands:");
	for (size_t i = 0; commands[i]; i++)
		out_line(out, "  %-8s  %s", commands[i]->name,
			 commands[i]->help);
	out_line(out, "%s", "");
	options_help(cli, out, NULL);
	out_line(out, "\nexit status: 0 success; 1 no such path, node, "
		      "record or service; 2 wrong\ncommand line; 3 no "
		      "answer; 4 no device or no permission; 5 the SA "
		      "refused.\nSee also ibsa(8).");
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
	options_help(cli, &cli->out, command);
	return CLI_DONE;
}

static int unknown_command(const char *name)
{
	struct nearest nearest = ibsa__nearest_start(name, strlen(name), false);

	for (size_t i = 0; commands[i]; i++)
		ibsa__nearest_try(&nearest, commands[i]->name);
	if (nearest.name)
		complain("unknown command '%s'; did you mean '%s'?", name,
			 nearest.name);
	else
		complain("unknown command '%s'; see ibsa --help", name);
	return CLI_USAGE;
}

/* Treat "help COMMAND" as "COMMAND --help". */
static void help_take(struct cli *cli)
{
	if (cli->arg_count == 0 || strcmp(cli->args[0], "help") != 0)
		return;
	cli->help = true;
	cli->arg_count--;
	memmove(cli->args, cli->args + 1,
		(size_t)cli->arg_count * sizeof(*cli->args));
	cli->command = cli->arg_count ? command_find(commands, cli->args[0])
				      : NULL;
}

static int no_command(const struct cli *cli)
{
	complain("usage: ibsa [OPTION...] COMMAND [ARGUMENT...]; see ibsa "
		 "--help");
	suggest_start(cli);
	return CLI_USAGE;
}

/*
 * Whether --nagios or an abbreviation of it is given. getopt_long() accepts
 * abbreviations; the shortest that is not ambiguous is --na. Arguments after
 * "--" are not options of ibsa.
 */
static bool has_nagios(char **argv)
{
	for (; *argv && strcmp(*argv, "--") != 0; argv++)
		if (strlen(*argv) >= strlen("--na") &&
		    strncmp(*argv, "--nagios", strlen(*argv)) == 0)
			return true;
	return false;
}

/*
 * Whether the command line asks for help or the version, or is for a command
 * other than check.
 */
static bool is_for_other(const struct cli *cli)
{
	return cli->help || cli->version ||
	       (cli->command && strcmp(cli->command->name, "check") != 0);
}

/*
 * Parse the options. With --nagios, messages are printed on stderr only with
 * -v; an error in the command line is reported in the line of the plugin.
 */
static int line_parse(struct cli *cli, int argc, char **argv)
{
	const bool is_plugin = has_nagios(argv);
	int status;

	complaints_mute(is_plugin);
	status = options_parse(cli, commands, argc, argv);
	cli->plugin.is_plugin = is_plugin &&
				(status != CLI_DONE || !is_for_other(cli));
	complaints_mute(cli->plugin.is_plugin && !cli->output.verbose);
	return status;
}

/*
 * Return: the exit status of a monitoring plugin. If the command has not
 * printed the line of a plugin, it has failed, perhaps before its options were
 * parsed: print a line with status UNKNOWN and the first error message.
 */
static int plugin_status(struct cli *cli, int status)
{
	struct nagios nagios = { .len = 0 };

	if (cli->plugin.is_reported)
		return status;
	return nagios_print(&nagios, &cli->out, NAGIOS_UNKNOWN,
			    *complaint_first() ? complaint_first()
					       : "the command failed");
}

static int cli_run(struct cli *cli)
{
	if (cli->version) {
		out_line(&cli->out, "ibsa %s", ibsa_version());
		return CLI_DONE;
	}
	help_take(cli);
	if (cli->arg_count == 0 && cli->help) {
		general_help(cli);
		return CLI_DONE;
	}
	if (cli->arg_count == 0)
		return no_command(cli);
	if (!cli->command)
		return unknown_command(cli->args[0]);
	if (cli->help)
		return command_help(cli, cli->command);
	if (!options_fit(cli) || !format_use(cli) ||
	    other_files_check(cli) != CLI_DONE)
		return CLI_USAGE;
	return cli->command->run(cli);
}

/*
 * End the output of the command. A closed pipe is not a failure, a full disk
 * is one.
 */
static int cli_finish(struct cli *cli, int status)
{
	int recorded;
	int err;

	/*
	 * The line of the plugin is already printed: from here on, errors are
	 * reported on stderr.
	 */
	complaints_mute(false);
	(void)ibsa_close(cli->client);
	recorded = record_close(cli);
	options_free(cli);
	node_map_free(cli->names.map);
	if (status == CLI_DONE)
		status = recorded;
	err = out_close(&cli->out);
	if (err == 0 || err == -EPIPE)
		return status;
	complain("cannot write to standard output: %s", strerror(-err));
	if (cli->plugin.is_plugin)
		return NAGIOS_UNKNOWN;
	return status == CLI_DONE || status == CLI_NO ? CLI_DEVICE : status;
}

/*
 * Open /dev/null in place of closed standard descriptors. Without this, the
 * next file that is opened, even a device file, would get the number of
 * standard output and receive the output. /dev/null is opened read-only, so
 * that writing to it fails.
 */
static void fill_standard_files(void)
{
	struct pollfd all[] = { { .fd = STDIN_FILENO },
				{ .fd = STDOUT_FILENO },
				{ .fd = STDERR_FILENO } };

	if (poll(all, 3, 0) <= 0)
		return;
	for (int i = 0; i < 3; i++)
		if (all[i].revents & POLLNVAL &&
		    open("/dev/null", O_RDONLY) < 0)
			return;
}

int main(int argc, char **argv)
{
	static char buffer[BUFFER_BYTES];
	struct cli cli = { .args = NULL };
	int status;

	fill_standard_files();
	if (!isatty(STDOUT_FILENO))
		setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	out_open(&cli.out, stdout);
	status = line_parse(&cli, argc, argv);
	if (status == CLI_DONE)
		status = fabric_server_use(&cli);
	if (status == CLI_DONE)
		status = cli_run(&cli);
	if (cli.plugin.is_plugin)
		status = plugin_status(&cli, status);
	return cli_finish(&cli, status);
}
