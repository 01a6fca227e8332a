/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The ibsa command: dispatch, help, and the exit status. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output/nagios.h"
#include "common/nearest.h"
#include "names/node_map.h"
#include "options/format.h"
#include "main/command_list.h"
#include "session/record.h"
#include "base/installed.h"

/* A file that the command line names. */
struct named_file {
	const char *path;
	const char *option; /* that names it; NULL: an argument does */
	bool is_written;
};

/*
 * Whether two paths of files that do not exist name the same file in the same
 * directory.
 */
static bool is_same_name(const char *one, const char *other)
{
	const char *const paths[] = { one, other };
	const char *names[2];
	struct stat folders[2];

	for (int i = 0; i < 2; i++) {
		const char *slash = strrchr(paths[i], '/');
		char folder[4096] = ".";

		if (slash && (size_t)(slash - paths[i]) + 2 > sizeof(folder))
			return false;
		if (slash)
			snprintf(folder, sizeof(folder), "%.*s",
				 (int)(slash - paths[i]) + 1, paths[i]);
		names[i] = slash ? slash + 1 : paths[i];
		if (stat(folder, &folders[i]) != 0)
			return strcmp(one, other) == 0;
	}
	return strcmp(names[0], names[1]) == 0 &&
	       folders[0].st_dev == folders[1].st_dev &&
	       folders[0].st_ino == folders[1].st_ino;
}

/*
 * Whether two paths name the same regular file. Writing to another file, such
 * as /dev/null or a terminal, destroys nothing.
 */
static bool is_same_file(const char *one, const char *other)
{
	struct stat a;
	struct stat b;
	const bool has_one = stat(one, &a) == 0;
	const bool has_other = stat(other, &b) == 0;

	if (!has_one && !has_other)
		return is_same_name(one, other);
	return has_one && has_other && S_ISREG(a.st_mode) &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Return: the topology file or the capture that the command reads, or NULL. */
static const char *file_read_of(const struct cli *cli)
{
	const int number = cli->command->file;

	return number && cli->arg_count > number ? cli->args[number]
						 : fabric_file(cli);
}

/*
 * Set @out to the file that an option names. Return: false: it names none, or
 * standard output.
 */
static bool file_of(const struct option_entry *entry, enum option_file use,
		    struct named_file *out)
{
	const char *path = entry->value;

	if (!path || entry->row->file != use)
		return false;
	if (use == OPTION_READS_AT && *path++ != '@')
		return false;
	*out = (struct named_file){
		.path = path,
		.option = entry->row->name,
		.is_written = use > OPTION_READS_AT,
	};
	return !out->is_written || strcmp(path, "-") != 0;
}

/* Return: the number of files in @out, those that are written last. */
static size_t files_list(const struct cli *cli, struct named_file *out)
{
	const char *read = file_read_of(cli);
	size_t count = 0;

	if (read)
		out[count++] = (struct named_file){ .path = read };
	for (int use = OPTION_READS; use <= OPTION_REPLACES; use++)
		for (size_t i = 0; i < cli->options->count; i++)
			count += file_of(&cli->options->all[i],
					 (enum option_file)use, &out[count]);
	return count;
}

static int same_file_explain(const struct named_file *file,
			     const struct named_file *other)
{
	if (other->option)
		complain("--%s: '%s' is the file that --%s %s; name another "
			 "file",
			 file->option, file->path, other->option,
			 other->is_written ? "writes" : "reads");
	else
		complain("--%s: '%s' is the file that is read; name another "
			 "file",
			 file->option, file->path);
	return CLI_USAGE;
}

static int files_check(const struct named_file *files, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; files[i].is_written && k < i; k++)
			if (is_same_file(files[i].path, files[k].path))
				return same_file_explain(&files[i], &files[k]);
	return CLI_DONE;
}

/*
 * Check that no option writes to a regular file that an argument or another
 * option names, also by another path: opening the file for writing would empty
 * it. Files that a topology file includes are not checked.
 */
static int other_files_check(const struct cli *cli)
{
	struct named_file *files = calloc(cli->options->count + 1,
					  sizeof(*files));
	int status;

	if (!files)
		return no_memory();
	status = files_check(files, files_list(cli, files));
	free(files);
	return status;
}

/* Find the page in @folder. Packages compress pages. */
static bool page_find(const char *folder, const char *name,
		      char out[2 * PATH_MAX])
{
	static const char *const ends[] = { "", ".gz", ".xz", ".zst", ".bz2" };

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		snprintf(out, (size_t)2 * PATH_MAX, "%s/ibsa-%s.8%s", folder,
			 name, ends[i]);
		if (access(out, R_OK) == 0)
			return true;
	}
	return false;
}

/*
 * Replace this process by man(1) with the page of the command @name. Returns
 * only if this is not possible; the reason is printed.
 */
static void manual_page_show(const char *name)
{
	char folder[PATH_MAX];
	char path[2 * PATH_MAX];

	installed_folder(IBSA_MAN8_FROM_BIN, IBSA_MAN8, folder);
	if (!page_find(folder, name, path)) {
		complain("the manual page ibsa-%s(8) is not installed in %s; "
			 "this is ibsa %s --help",
			 name, folder, name);
		return;
	}
	/* man takes a name with a slash as a file. */
	execlp("man", "man", path, (char *)NULL);
	complain("cannot run man: %s; this is ibsa %s --help", strerror(errno),
		 name);
}

enum { BUFFER_BYTES = 65536 };

static void general_help(struct cli *cli)
{
	struct out *out = &cli->out;
	size_t width = 0;

	for (size_t i = 0; commands[i]; i++)
		if (strlen(commands[i]->name) > width)
			width = strlen(commands[i]->name);
	out_line(out,
		 "usage: ibsa [OPTION...] COMMAND [ARGUMENT...]; see ibsa(8)");
	out_line(out, "Sends queries to the subnet administration (SA) of "
		      "an InfiniBand fabric.\n\ncommands:");
	for (size_t i = 0; commands[i]; i++)
		out_line(out, "  %-*s  %s", (int)width, commands[i]->name,
			 commands[i]->help);
	out_line(out, "%s", "");
	options_common_help(cli, out);
	out_line(out, "\nexit status: 0 done, 1 no, 2 usage, 3 no answer, 4 no "
		      "device, 5 refused");
}

static int command_help(struct cli *cli, const struct command *command)
{
	const struct option_set all = { command->groups, ~0U };
	int status = command->can_help ? command->can_help(cli) : CLI_DONE;

	if (status != CLI_DONE ||
	    (command->part_help && command->part_help(cli)))
		return status;
	out_line(&cli->out, "usage: ibsa %s%s%s [OPTION...]\n\n%c%s.\n",
		 command->name, *command->arguments ? " " : "",
		 command->arguments, toupper((unsigned char)*command->help),
		 command->help + 1);
	if (command->text)
		out_line(&cli->out, "%s", command->text);
	if (command->details)
		command->details(cli);
	options_help(cli, &cli->out, &all, NULL);
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

/*
 * Treat "help COMMAND" as "COMMAND --help", but show the manual page of COMMAND
 * on a terminal. Return: the exit status; a word too many is refused.
 */
static int help_take(struct cli *cli)
{
	if (cli->arg_count == 0 || strcmp(cli->args[0], "help") != 0)
		return CLI_DONE;
	cli->help = true;
	cli->arg_count--;
	memmove(cli->args, cli->args + 1,
		(size_t)cli->arg_count * sizeof(*cli->args));
	cli->command = cli->arg_count ? command_find(commands, cli->args[0])
				      : NULL;
	if (cli->command && cli->arg_count == 1 && isatty(STDOUT_FILENO))
		manual_page_show(cli->command->name);
	if (cli->command && cli->arg_count > 1 && !cli->command->part_help &&
	    !cli->command->details)
		return fail_usage("help: '%s' is too much; type: ibsa help %s",
				  cli->args[1], cli->command->name);
	return CLI_DONE;
}

/*
 * Whether there is a fabric, or a device of this machine, for the default
 * command.
 */
static bool has_fabric(const struct cli *cli)
{
	return cli->open.fabric || secure_getenv("IBSA_FABRIC") ||
	       machine_has_device();
}

static int no_command(void)
{
	complain("usage: ibsa [OPTION...] COMMAND [ARGUMENT...]; see ibsa "
		 "--help");
	suggest_start();
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
	       (cli->arg_count > 0 && cli->command &&
		strcmp(cli->command->name, "check") != 0);
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
	const int status = help_take(cli);

	if (cli->arg_count && !cli->command)
		return unknown_command(cli->args[0]);
	if (cli->version) {
		out_line(&cli->out, "ibsa %s", ibsa_version());
		return CLI_DONE;
	}
	if (status != CLI_DONE)
		return status;
	if (cli->arg_count == 0 && cli->help) {
		cli->command = NULL;
		general_help(cli);
		return CLI_DONE;
	}
	if (cli->arg_count == 0 && !has_fabric(cli))
		return no_command();
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
