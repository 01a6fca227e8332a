/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ibsa fabric link, node, sm, fault, errors, stats, script: change the fabric of
 * a running fabric server.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibsa/server.h>

#include "base/clock.h"
#include "output/column_table.h"
#include "fabric/fabric.h"

enum {
	LINE_MAX_CHARS = 512,
	STATS_BYTES = 8192,
	STATS_MAX = 64,
};

/*
 * If --fabric names a server, fabric_server_use() has set IBSA_FABRIC.
 */
int fabric_server_find(const struct cli *cli, char room[FABRIC_PATH_MAX + 8],
		       const char **out)
{
	const char *fabric = secure_getenv("IBSA_FABRIC");
	const char *path = fabric_socket(cli);
	char usual[FABRIC_PATH_MAX];
	int status = CLI_DONE;

	*out = fabric && *fabric && !path ? fabric : NULL;
	if (*out)
		return CLI_DONE;
	if (!path && fabric_default_socket(usual)) {
		path = usual;
		status = fabric_default_check(path);
	}
	if (path) {
		snprintf(room, FABRIC_PATH_MAX + 8, "unix:%s", path);
		*out = room;
	}
	return status;
}

static int command_send(const struct cli *cli, const char *line, char *out,
			size_t room)
{
	struct ibsa_error error = { .text = "" };
	char name[FABRIC_PATH_MAX + 8];
	const char *server;
	int status = fabric_server_find(cli, name, &server);
	int err;

	if (status != CLI_DONE)
		return status;
	err = ibsa_server_command(server, line, out, room, &error);
	return err ? error_explain(err, &error) : CLI_DONE;
}

/*
 * Join the words of the command line, beginning with the action, to one line.
 * Return: false: the line is too long.
 */
static bool words_join(const struct cli *cli, char *out, size_t size)
{
	size_t len = 0;

	for (int i = 1; i < cli->arg_count && len < size; i++)
		len += (size_t)snprintf(out + len, size - len, "%s%s",
					i > 1 ? " " : "", cli->args[i]);
	return len < size;
}

int fabric_control(struct cli *cli)
{
	char line[LINE_MAX_CHARS];

	if (!words_join(cli, line, sizeof(line)))
		return fail_usage("the command is longer than %d characters; "
				  "shorten it",
				  LINE_MAX_CHARS - 1);
	return command_send(cli, line, NULL, 0);
}

/* A counter in the server's reply to the command "stats". */
struct stat {
	const char *name;
	const char *value;
};

struct stats {
	struct stat all[STATS_MAX];
	size_t count;
};

static void stats_row(struct out *out, size_t index, void *arg)
{
	const struct stats *stats = arg;

	(void)index;
	for (size_t i = 0; i < stats->count; i++)
		out_number(out, stats->all[i].name,
			   strtoull(stats->all[i].value, NULL, 10),
			   stats->all[i].value);
}

/* clang-format off */
static const struct column fabric_stats_list[] = {
	ALWAYS("clients", NUMBER),
	ALWAYS("accepted", NUMBER),
	ALWAYS("disconnected", NUMBER),
	ALWAYS("packets_in", NUMBER),
	ALWAYS("packets_out", NUMBER),
	ALWAYS("packets_refused", NUMBER),
	ALWAYS("requests", NUMBER),
	ALWAYS("answers", NUMBER),
	ALWAYS("unanswered", NUMBER),
	ALWAYS("most_in_flight", NUMBER),
	ALWAYS("reports", NUMBER),
	ALWAYS("reports_unanswered", NUMBER),
	ALWAYS("drops_no_route", NUMBER),
	ALWAYS("drops_port_down", NUMBER),
	ALWAYS("drops_no_lid", NUMBER),
	ALWAYS("drops_hop_limit", NUMBER),
	ALWAYS("drops_no_agent", NUMBER),
	ALWAYS("drops_pkey", NUMBER),
	ALWAYS("drops_queue_full", NUMBER),
	ALWAYS("faults_lose", NUMBER),
	ALWAYS("faults_delay", NUMBER),
	ALWAYS("faults_duplicate", NUMBER),
	ALWAYS("faults_reorder", NUMBER),
	ALWAYS("faults_corrupt", NUMBER),
	ALWAYS("faults_busy", NUMBER),
	ALWAYS("faults_silence", NUMBER),
	ALWAYS("faults_redirect", NUMBER),
};
/* clang-format on */

const struct columns columns_fabric_stats = COLUMN_TABLE("fabric-stats",
							 fabric_stats_list);

int fabric_stats(struct cli *cli)
{
	char text[STATS_BYTES];
	static const char name_characters[] =
		"abcdefghijklmnopqrstuvwxyz0123456789_";
	struct stats stats = { .count = 0 };
	char *rest = text;
	char *line;
	int status = columns_use(cli, &columns_fabric_stats);

	if (status == CLI_DONE)
		status = command_send(cli, "stats", text, sizeof(text));
	if (status != CLI_DONE)
		return status;
	while ((line = strsep(&rest, "\n")) && stats.count < STATS_MAX) {
		char *blank = strchr(line, ' ');

		if (!blank ||
		    strspn(line, name_characters) != (size_t)(blank - line))
			continue;
		*blank = '\0';
		stats.all[stats.count++] = (struct stat){ line, blank + 1 };
	}
	if (out_is_brief(&cli->out))
		cli->out.shape = OUT_BLOCKS;
	out_rows(&cli->out, 1, stats_row, &stats);
	return CLI_DONE;
}

static void sleep_until(double when_s)
{
	struct timespec until = {
		.tv_sec = (time_t)when_s,
		.tv_nsec = (long)((when_s - (double)(time_t)when_s) * 1e9),
	};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) ==
	       EINTR)
		;
}

/*
 * Parse a script line "SECONDS COMMAND...". For an empty line or a comment,
 * *@command is NULL. Return: false if the line has another form.
 */
static bool line_parse(char *line, double *at_s, const char **command)
{
	size_t len = strcspn(line, "#\r\n");
	char *end;

	while (len && (line[len - 1] == ' ' || line[len - 1] == '\t'))
		len--;
	line[len] = '\0';
	line += strspn(line, " \t");
	*command = NULL;
	if (!*line)
		return true;
	if (*line < '0' || *line > '9')
		return false;
	*at_s = strtod(line, &end);
	if ((*end != ' ' && *end != '\t') || !(*at_s < 1e9))
		return false;
	*command = end + strspn(end, " \t");
	return **command != '\0';
}

/* A running script. */
struct script {
	const struct cli *cli;
	const char *name;
	double start_s;
	int line; /* number of the current line */
};

static int play_line(const struct script *script, char *line)
{
	const size_t len = strlen(line);
	const char *command;
	double at_s = 0;
	int status;

	if (len == LINE_MAX_CHARS - 1 && line[len - 1] != '\n')
		return fail_usage("%s:%d: the line is longer than %d "
				  "characters",
				  script->name, script->line,
				  LINE_MAX_CHARS - 2);
	if (!line_parse(line, &at_s, &command))
		return fail_usage("%s:%d: expected SECONDS and a command, such "
				  "as 1.5 link down node1/1",
				  script->name, script->line);
	if (!command)
		return CLI_DONE;
	sleep_until(script->start_s + at_s);
	status = command_send(script->cli, command, NULL, 0);
	if (status != CLI_DONE)
		complain("%s:%d: this command failed; the commands after this "
			 "line are not run",
			 script->name, script->line);
	return status;
}

static int unreadable(const char *name)
{
	return fail_usage("cannot read '%s': %s", name, strerror(errno));
}

/*
 * Send the command in each line of @file at its time, counted from the start
 * of the script, until a command fails.
 */
static int script_run(struct script *script, FILE *file)
{
	char line[LINE_MAX_CHARS];
	int status = CLI_DONE;

	while (status == CLI_DONE && fgets(line, sizeof(line), file)) {
		script->line++;
		status = play_line(script, line);
	}
	if (status == CLI_DONE && ferror(file))
		return unreadable(script->name);
	return status;
}

int fabric_script(struct cli *cli)
{
	struct script script = {
		.cli = cli,
		.name = cli->args[2],
		.start_s = (double)now_ns() / 1e9,
	};
	const bool is_stdin = strcmp(script.name, "-") == 0;
	FILE *file = is_stdin ? stdin : fopen(script.name, "re");
	int status;

	if (!file)
		return unreadable(script.name);
	status = script_run(&script, file);
	if (!is_stdin)
		fclose(file);
	return status;
}
