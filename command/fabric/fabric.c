/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ibsa fabric: the table of its actions. Most actions are in a file of their
 * own.
 */
#include <ctype.h>
#include <string.h>

#include "fabric/fabric.h"
#include "output/column_table.h"
#include "options/options.h"

/*
 * Options whose help text under ibsa fabric differs from that under other
 * commands.
 */
static const struct option_words words[] = {
	{ "device", NULL,
	  "the node that all requests are treated as coming from" },
	{ "fabric", "ADDR", "the fabric's server, as unix:PATH" },
	{ "sa", "WHAT", "embedded, or none to use another subnet manager" },
	{ NULL, NULL, NULL },
};

/* Help of the actions that change a running fabric server. */
static const char for_control[] =
	"Applies to a fabric server: the one at --socket PATH or --fabric\n"
	"unix:PATH, else the one that IBSA_FABRIC names as unix:PATH, else the\n"
	"one that ibsa fabric run starts without --socket.\n";

/* The options of the actions that load a fabric. */
#define LOADING (GROUP_SA | GROUP_RECORD | GROUP_HELP)

/*
 * @needs, @most: smallest and largest number of arguments; -1: no limit
 * @set:     options that --help shows; of the others, those that change only the
 *           output are accepted
 * @text:    what --help adds to the sentence, or NULL
 */
/* clang-format off */
#define CONTROLLING { GROUP_FABRIC | GROUP_HELP, FABRIC_CONTROL }
static const struct action {
	const char *name;
	const char *arguments;
	const char *help;
	int needs;
	int most;
	struct option_set set;
	int (*run)(struct cli *cli);
	const char *text;
} actions[] = {
	{ "run", "FILE", "serve a fabric to other processes until a signal",
	  1, 1, { LOADING | GROUP_VERBOSE | GROUP_FORMAT, FABRIC_RUN }, fabric_run,
	  "Programs use the fabric if IBSA_FABRIC is unix:PATH. IBSA_NODE selects\n"
	  "the node or host whose ports a program has, as NAME or NAME/PORT.\n" },
	{ "exec", "FILE -- COMMAND [ARGUMENT...]",
	  "run a command with a fabric server",
	  2, -1, { LOADING | GROUP_VERBOSE, FABRIC_EXEC }, fabric_exec,
	  "COMMAND has IBSA_FABRIC set, and LD_LIBRARY_PATH begins with the\n"
	  "directory of ibsa's libibumad. If COMMAND has a DT_RPATH, LD_PRELOAD\n"
	  "begins with this libibumad. The server ends when COMMAND ends; the exit\n"
	  "status is COMMAND's.\n" },
	{ "replay", "FILE",
	  "serve the answers of a capture to other processes",
	  1, 1, { GROUP_RECORD | GROUP_FORMAT | GROUP_VERBOSE | GROUP_HELP,
	    FABRIC_REPLAY }, fabric_replay,
	  "FILE was written by --record, or is another pcap file of InfiniBand\n"
	  "packets. Programs use the fabric as with run. A request that FILE\n"
	  "contains receives the recorded answer; any other request is refused.\n"
	  "run and exec also accept FILE.\n" },
	{ "serve", "FILE --umad DEVICE[/PORT]",
	  "let the SA of a fabric answer at a port of this machine",
	  1, 1, { LOADING | GROUP_DEVICE | GROUP_FORMAT | GROUP_VERBOSE,
	    FABRIC_SERVE }, fabric_serve,
	  "--umad gives the port of this machine, as DEVICE or DEVICE/PORT. Other\n"
	  "programs use its SA with ibsa --sa GID. All requests are treated as\n"
	  "coming from the node and port of -C and -P, else from the first adapter\n"
	  "of the fabric. SIGINT, SIGTERM and SIGHUP end the command.\n" },
	{ "link", "up|down NODE/PORT | speed NODE/PORT RATE",
	  "bring a link of the fabric up or down, or set its speed",
	  2, -1, CONTROLLING, fabric_control },
	{ "node", "add|remove NODE",
	  "bring all links of a node up or down",
	  2, -1, CONTROLLING, fabric_control },
	{ "sm", "start | stop | move NODE",
	  "start or stop the fabric's own SMs, or move one to a node",
	  1, -1, CONTROLLING, fabric_control },
	{ "fault", "KIND=PERCENT[,COUNT[,NUMBER]]|none",
	  "make the fabric lose, delay or damage MADs",
	  1, 1, CONTROLLING, fabric_control,
	  "KIND: lose, delay, duplicate, reorder, corrupt, busy, silence, redirect\n"
	  "or redirect-gid. It affects PERCENT of the MADs at random; 0 ends the\n"
	  "fault. COUNT limits how often it happens. NUMBER is the largest delay in\n"
	  "ms, or the number of ports that redirect. none ends all faults.\n" },
	{ "errors", "NODE/PORT COUNTER +N[/s]",
	  "count errors at a port, once or in each second",
	  3, -1, CONTROLLING, fabric_control,
	  "COUNTER is a name that perfquery shows, such as SymbolErrorCounter or\n"
	  "PortRcvErrors; \"Counter\" at its end may be left out, or be an s. +N\n"
	  "adds N now, +N/s adds N in each second from now on, and 0/s ends that.\n" },
	{ "stats", "", "show the counters of the fabric and its server", 0, 0,
	  { GROUP_FABRIC | GROUP_FORMAT | GROUP_ROWS | GROUP_HELP,
	    FABRIC_CONTROL }, fabric_stats },
	{ "script", "FILE", "run the commands of a file at their times",
	  1, 1, CONTROLLING, fabric_script,
	  "A line has a time in seconds since the start, and link, node, sm, fault\n"
	  "or errors with its arguments. # begins a comment. FILE - is standard\n"
	  "input.\n" },
	{ "sysfs", "HOST DIR", "write the device files of a host to a directory",
	  2, 2, { GROUP_FABRIC | GROUP_FORMAT | GROUP_HELP, FABRIC_CONTROL },
	  fabric_sysfs,
	  "DIR has the files that /sys has for the adapters of HOST:\n"
	  "class/infiniband and so on. Programs that take another /sys read them\n"
	  "there, and libibverbs if SYSFS_PATH is DIR. A file is replaced within\n"
	  "half a second after a change. SIGINT, SIGTERM and SIGHUP end the\n"
	  "command, which then removes the files.\n" },
};
/* clang-format on */

enum { ACTIONS = sizeof(actions) / sizeof(actions[0]) };

/*
 * Write the names of all actions for a message, such as "a, b or c". Return:
 * @out.
 */
static const char *action_names(char *out, size_t size)
{
	size_t len = 0;

	out[0] = '\0';
	for (size_t i = 0; i < ACTIONS && len < size; i++)
		len += (size_t)snprintf(out + len, size - len, "%s%s",
					i == 0		   ? ""
					: i == ACTIONS - 1 ? " or "
							   : ", ",
					actions[i].name);
	return out;
}

static const struct action *find_action(const char *name)
{
	char names[128];

	for (size_t i = 0; i < ACTIONS; i++)
		if (strcmp(actions[i].name, name) == 0)
			return &actions[i];
	if (strcmp(name, "info") == 0)
		complain("fabric info is now ibsa topology FILE, and its "
			 "findings are those of ibsa check FILE");
	else
		complain("unknown action '%s': fabric has %s; see ibsa fabric "
			 "--help",
			 name, action_names(names, sizeof(names)));
	return NULL;
}

static int cmd_fabric_can_help(struct cli *cli)
{
	if (cli->arg_count > 1 && !find_action(cli->args[1]))
		return CLI_USAGE;
	return CLI_DONE;
}

static const char *before(const char *arguments)
{
	return *arguments ? " " : "";
}

static bool cmd_fabric_part_help(struct cli *cli)
{
	struct out *out = &cli->out;
	const struct action *action;

	if (cli->arg_count < 2)
		return false;
	action = find_action(cli->args[1]);
	if (!action)
		return false;
	out_line(out, "usage: ibsa fabric %s [OPTION...]%s%s\n\n%c%s.\n",
		 action->name, before(action->arguments), action->arguments,
		 toupper((unsigned char)*action->help), action->help + 1);
	if (action->text)
		out_line(out, "%s", action->text);
	if (action->set.parts & FABRIC_LOADS)
		fabric_options_details(out);
	if (action->set.parts & FABRIC_CONTROL)
		out_line(out, "%s", for_control);
	options_help(cli, out, &action->set, words);
	return true;
}

static void cmd_fabric_details(struct cli *cli)
{
	struct out *out = &cli->out;

	for (size_t i = 0; i < ACTIONS; i++) {
		const struct action *action = &actions[i];

		out_line(out, "  %s%s%s", action->name,
			 before(action->arguments), action->arguments);
		out_line(out, "      %s", action->help);
	}
	out_line(out, "\nibsa fabric ACTION --help describes an action and "
		      "its options.\n");
}

static bool arguments_fit(const struct cli *cli, const struct action *action)
{
	const int count = cli->arg_count - 2;

	if (count < action->needs) {
		complain("fabric %s needs %s; see ibsa fabric %s --help",
			 action->name, action->arguments, action->name);
		return false;
	}
	if (action->most >= 0 && count > action->most) {
		complain("fabric %s takes no argument '%s'; see ibsa fabric %s "
			 "--help",
			 action->name, cli->args[2 + action->most],
			 action->name);
		return false;
	}
	return true;
}

static bool server_fits(const struct cli *cli)
{
	if (fabric_socket(cli) &&
	    strlen(fabric_socket(cli)) >= FABRIC_PATH_MAX) {
		complain("--socket: the path is longer than %d characters; use "
			 "a shorter one",
			 FABRIC_PATH_MAX - 1);
		return false;
	}
	if (fabric_socket(cli) && options_given(cli, "fabric")) {
		complain("--socket and --fabric both name a fabric server; use "
			 "one of them");
		return false;
	}
	/*
	 * If cli->open.fabric is set, it is a file: for a server in --fabric,
	 * fabric_server_use() has set IBSA_FABRIC instead.
	 */
	if (cli->open.fabric) {
		complain("--fabric: '%s' is not a fabric server; name one as "
			 "unix:PATH",
			 cli->open.fabric);
		return false;
	}
	return true;
}

static int cmd_fabric(struct cli *cli)
{
	const struct action *action;
	struct option_set accepted;
	char text[128];

	if (cli->arg_count < 2)
		return fail_usage("fabric needs %s; see ibsa fabric --help",
				  action_names(text, sizeof(text)));
	action = find_action(cli->args[1]);
	if (!action || !arguments_fit(cli, action))
		return CLI_USAGE;
	snprintf(text, sizeof(text), "fabric %s", action->name);
	accepted = action->set;
	accepted.groups |= GROUP_FORMAT | GROUP_VERBOSE | GROUP_VERSION |
			   GROUP_HELP;
	if (!options_only(cli, text, &accepted) || !server_fits(cli))
		return CLI_USAGE;
	return action->run(cli);
}

/* clang-format off */
static const struct column fabric_run_list[] = {
	WORDS("event", "ready"),
	ALWAYS("fabric", TEXT),
	MAYBE("listen", TEXT),
	ALWAYS("file", TEXT),
	ALWAYS("adapters", NUMBER),
	ALWAYS("switches", NUMBER),
	ALWAYS("links", NUMBER),
};

static const struct column fabric_serve_list[] = {
	WORDS("event", "ready"),
	ALWAYS("device", TEXT),
	ALWAYS("port", NUMBER),
	ALWAYS("gid", GID),
	ALWAYS("lid", NUMBER),
};
/* clang-format on */

static const struct columns columns_fabric_run = COLUMN_STREAM("fabric-run",
							       fabric_run_list);
static const struct columns columns_fabric_serve =
	COLUMN_STREAM("fabric-serve", fabric_serve_list);

/* clang-format off */
const struct command command_fabric = {
	.name = "fabric",
	.arguments = "ACTION [ARGUMENT...]",
	.help = "run or change a simulated fabric",
	.options = &fabric_table,
	.groups = GROUP_ALL | GROUP_RECORD | GROUP_SA_WORD,
	.columns = (const struct columns *const[]){
		&columns_fabric_run, &columns_fabric_serve,
		&columns_fabric_stats, &columns_fabric_sysfs, NULL,
	},
	.run = cmd_fabric,
	.details = cmd_fabric_details,
	.can_help = cmd_fabric_can_help,
	.part_help = cmd_fabric_part_help,
	.file = 2,
};
/* clang-format on */
