/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ibsa fabric: the table of its actions. Most actions are in a file of their
 * own.
 */
#include <ctype.h>
#include <string.h>

#include "fabric/fabric.h"
#include "options/command.h"
#include "output/columns.h"
#include "options/options.h"

/*
 * Options whose help text under ibsa fabric differs from that under other
 * commands.
 */
static const struct option_words words[] = {
	{ "all", NULL, "draw each adapter by itself" },
	{ "device", NULL,
	  "the node that all requests are treated as coming from" },
	{ "fabric", "ADDR", "the fabric's server, as unix:PATH" },
	{ "sa", "WHAT", "embedded, or none to use another subnet manager" },
	{ "socket", NULL, "socket of the fabric server" },
	{ "verbose", NULL, "print more" },
	{ "help", NULL, "show this help" },
	{ NULL, NULL, NULL },
};

/* The options of the actions that load a fabric. */
#define LOADING (GROUP_SA | GROUP_RECORD | GROUP_HELP)

/*
 * @needs, @most: smallest and largest number of arguments; -1: no limit
 * @set:     options that --help shows; of the others, those that change only the
 *           output are accepted
 * @details: prints more for --help
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
	void (*details)(struct out *out);
} actions[] = {
	{ "info", "FILE",
	  "list the contents of a topology file, and findings about it",
	  1, 1, { GROUP_FORMAT | GROUP_ROWS | GROUP_VERBOSE | GROUP_HELP |
	    GROUP_DOT | GROUP_SVG, FABRIC_INFO }, fabric_info, fabric_info_details },
	{ "run", "FILE", "serve a fabric to other processes until a signal",
	  1, 1, { LOADING | GROUP_VERBOSE | GROUP_FORMAT, FABRIC_RUN }, fabric_run,
	  fabric_run_details },
	{ "exec", "FILE -- COMMAND [ARGUMENT...]",
	  "run a command with a fabric server",
	  2, -1, { LOADING | GROUP_VERBOSE, FABRIC_EXEC }, fabric_exec,
	  fabric_exec_details },
	{ "replay", "FILE",
	  "serve the answers of a capture to other processes",
	  1, 1, { GROUP_RECORD | GROUP_FORMAT | GROUP_VERBOSE | GROUP_HELP,
	    FABRIC_REPLAY }, fabric_replay,
	  fabric_replay_details },
	{ "serve", "FILE --umad DEVICE[/PORT]",
	  "let the SA of a fabric answer at a port of this machine",
	  1, 1, { LOADING | GROUP_DEVICE | GROUP_FORMAT | GROUP_VERBOSE,
	    FABRIC_SERVE }, fabric_serve,
	  fabric_serve_details },
	{ "link", "up|down NODE/PORT | speed NODE/PORT RATE",
	  "bring a link of the fabric up or down, or set its speed",
	  2, -1, CONTROLLING, fabric_control, fabric_control_details },
	{ "node", "add|remove NODE",
	  "bring all links of a node up or down",
	  2, -1, CONTROLLING, fabric_control, fabric_control_details },
	{ "sm", "start|stop|move NODE",
	  "start or stop the fabric's own SMs, or move one to a node",
	  1, -1, CONTROLLING, fabric_control, fabric_control_details },
	{ "fault", "KIND=PERCENT[,COUNT[,NUMBER]]|none",
	  "make the fabric lose, delay or damage MADs",
	  1, 1, CONTROLLING, fabric_control, fabric_fault_details },
	{ "errors", "NODE/PORT COUNTER +N[/s]",
	  "count errors at a port, once or in each second",
	  3, -1, CONTROLLING, fabric_control, fabric_control_details },
	{ "stats", "", "show the counters of the fabric and its server", 0, 0,
	  { GROUP_FABRIC | GROUP_FORMAT | GROUP_ROWS | GROUP_HELP,
	    FABRIC_CONTROL }, fabric_stats, fabric_control_details },
	{ "script", "FILE", "run the commands of a file at their times",
	  1, 1, CONTROLLING, fabric_script, fabric_script_details },
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
	complain("unknown action '%s': fabric has %s; see ibsa fabric --help",
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
	action->details(out);
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
const struct command command_fabric = {
	.name = "fabric",
	.arguments = "ACTION [ARGUMENT...]",
	.help = "inspect, run or change a simulated fabric",
	.options = &fabric_table,
	.groups = GROUP_ALL | GROUP_RECORD | GROUP_SA_WORD | GROUP_DOT |
		  GROUP_SVG,
	.columns = (const struct columns *const[]){
		&columns_fabric_info, &columns_fabric_run,
		&columns_fabric_serve, &columns_fabric_stats, NULL,
	},
	.run = cmd_fabric,
	.details = cmd_fabric_details,
	.can_help = cmd_fabric_can_help,
	.part_help = cmd_fabric_part_help,
	.file = 2,
};
/* clang-format on */
