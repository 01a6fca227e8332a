/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ibsa watch: prints events of the fabric as the SA reports them. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/list.h"
#include "output/column_table.h"
#include "names/journal_line.h"
#include "session/event_text.h"
#include "session/query_wait.h"
#include "session/waiter.h"
#include "output/fields.h"
#include "names/event_lines.h"
#include "names/nodes.h"
#include "names/target.h"
#include "watch/links.h"
#include "watch/watch.h"
#include "options/command.h"

enum { WORD_BYTES = 32 };

struct watcher {
	struct cli *cli;
	unsigned int kinds;
	struct ibsa_gid *gids;
	size_t gid_count;
	struct event_lines lines;
	struct links links;
	int journal;
	int status; /* exit status */
};

/*
 * Write @what and @number, such as "LID 12" or "trap 200", for an event
 * without a GID. Return: @out.
 */
static const char *number_text(char out[WORD_BYTES], const char *what,
			       unsigned int number)
{
	snprintf(out, WORD_BYTES, "%s %u", what, number);
	return out;
}

static void put_time(struct out *out, const struct timespec *when)
{
	char text[UTC_TEXT], all[2 * UTC_TEXT];

	utc_text(when->tv_sec, text);
	snprintf(all, sizeof(all), "%.19s.%03ldZ", text,
		 when->tv_nsec / 1000000);
	out_text(out, "time", all);
}

/* Write an event for programs: every line has the same cells. */
static void data_cells(struct out *out, const struct event_line *line,
		       const char *name)
{
	const struct ibsa_event *event = &line->event;

	out_text(out, "event", ibsa_event_name(event->kind));
	out_count(out, "sequence", event->sequence);
	out_count_or_none(out, "trap", event->kind & IBSA_EVENT_ALL,
			  event->trap);
	if (event_has_gid(event))
		fields_gid(out, "gid", &event->gid);
	else
		out_none(out, "gid");
	out_count_or_none(out, "lid", event->lid, event->lid);
	out_text_or_none(out, "name", name);
	out_count_or_none(out, "port", event->port_num, event->port_num);
	out_count(out, "audited", event->audited);
	out_text_or_none(out, "reason", event_line_reason(line));
	out_hex16(out, "status", event->status);
	out_count_or_none(out, "link_port", line->has_change,
			  line->change.port);
	out_text_or_none(out, "link_before",
			 line->has_change ? line->change.before : NULL);
	out_text_or_none(out, "link_after",
			 line->has_change ? line->change.after : NULL);
}

static void text_cells(struct out *out, const struct event_line *line,
		       const char *name)
{
	const struct ibsa_event *event = &line->event;
	char text[WORD_BYTES];
	char change[LINK_CHANGE_TEXT];

	if (event->kind == IBSA_EVENT_OTHER)
		number_text(text, line->is_generic ? "trap" : "vendor",
			    event->trap);
	out_text(out, "event",
		 event->kind == IBSA_EVENT_OTHER
			 ? text
			 : ibsa_event_name(event->kind));
	if (event_has_gid(event))
		fields_gid(out, "about", &event->gid);
	else
		out_text(out, "about",
			 event->lid ? number_text(text, "LID", event->lid)
				    : "");
	out_text(out, "name", name ? name : "");
	out_text(out, "port",
		 event->port_num ? number_text(text, "port", event->port_num)
				 : "");
	if (line->has_change)
		out_text(out, "reason",
			 link_change_text(&line->change, change));
	else if (event_line_reason(line))
		out_text(out, "reason", event_line_reason(line));
}

/* An event and its name, as the argument of the function that writes the row. */
struct shown {
	const struct event_line *line;
	const char *name;
};

static void line_row(struct out *out, size_t index, void *arg)
{
	const struct shown *shown = arg;

	(void)index;
	put_time(out, &shown->line->when);
	if (out_is_data(out))
		data_cells(out, shown->line, shown->name);
	else
		text_cells(out, shown->line, shown->name);
}

static void line_print(const struct event_line *line, const char *name,
		       void *arg)
{
	struct watcher *watcher = arg;
	struct cli *cli = watcher->cli;
	struct shown shown = { .line = line, .name = name };

	if (watcher->journal >= 0)
		journal_line(watcher->journal, line, cli->open.device, name);
	else
		out_event(&cli->out, line_row, &shown);
}

/*
 * The SA has refused a request of the watch. If the watch has not been
 * subscribed before, the refusal ends the command: a retry would get the same
 * answer. A later refusal does not end the command.
 */
static void watch_refused(struct watcher *watcher,
			  const struct ibsa_event *event)
{
	const bool is_told = redirection_explain(watcher->cli, event->status);

	if (watcher->lines.was_subscribed || watcher->lines.is_ending)
		return;
	if (!is_told)
		refusal_explain(event->audited ? &ibsa_node_record
					       : &ibsa_inform_info_record,
				event->status);
	watcher->status = CLI_REFUSED;
	watcher->lines.is_ending = true;
}

static void ended(struct watcher *watcher, const struct ibsa_event *event)
{
	if (event_is_end(event) || watcher->status != CLI_DONE)
		return;
	complain("cannot end the subscription: %s; the SA may continue to send "
		 "reports to this port",
		 event_reason(event));
	watcher->status = event->err ? CLI_SILENT : CLI_REFUSED;
}

static bool event_is_of_link(const struct ibsa_event *event)
{
	return event->kind == IBSA_EVENT_LINK_STATE && event->lid &&
	       event->lid <= IBSA_LID_UNICAST_MAX;
}

static void link_found(const struct ibsa_event *event,
		       const struct link_change *change, void *arg)
{
	struct watcher *watcher = arg;

	event_lines_add_link(&watcher->lines, event, change);
}

static void event_received(const struct ibsa_event *event, void *arg)
{
	struct watcher *watcher = arg;
	const bool has_links = watch_own(watcher->cli)->links;

	if (has_links && event_is_of_link(event))
		links_seek(&watcher->links, event);
	else if (has_links &&
		 event->kind & (IBSA_EVENT_SUBSCRIBED | IBSA_EVENT_GAP))
		links_load(&watcher->links, event);
	else
		event_lines_add(&watcher->lines, event);
	if (event->kind == IBSA_EVENT_REFUSED)
		watch_refused(watcher, event);
	else if (event->kind == IBSA_EVENT_ENDED)
		ended(watcher, event);
}

/* Return: how long to wait at most, in ms; -1: no limit. */
static int watch_wait_ms(struct watcher *watcher)
{
	const int links_ms = links_run(&watcher->links);
	const int room_ms = event_lines_wait_ms(&watcher->lines);

	if (links_ms < 0 || (room_ms >= 0 && room_ms < links_ms))
		return room_ms;
	return links_ms;
}

/*
 * Dispatch until a signal arrives or the reader of the output closes it.
 * -ENODEV does not end the loop: the client reopens a device that comes back.
 */
static void watch_wait(struct watcher *watcher, struct interrupt *interrupt)
{
	struct waiter waiter;

	waiter_start(&waiter, watcher->cli, interrupt);
	while (!watcher->lines.is_ending && !interrupt_seen(interrupt) &&
	       out_is_read(&watcher->cli->out)) {
		int err = waiter_wait(&waiter, watch_wait_ms(watcher));

		event_lines_room_check(&watcher->lines);
		if (waiter_failed(err)) {
			watcher->status = CLI_SILENT;
			break;
		}
	}
	waiter_stop(&waiter, interrupt);
}

static int not_watched(int err, const struct ibsa_error *error)
{
	complain("cannot subscribe to events: %s", error->text);
	return err == -EINVAL ? CLI_USAGE : CLI_DEVICE;
}

static void process_only_warn(const struct cli *cli)
{
	if (fabric_file(cli))
		complain("this is an embedded fabric: only this process uses "
			 "it, so only its own actions cause events; see ibsa "
			 "fabric --help");
}

static void watch_start(struct watcher *watcher, struct interrupt *interrupt)
{
	const struct ibsa_event_options options = {
		.kinds = watcher->kinds,
		.gids = watcher->gids,
		.gid_count = watcher->gid_count,
		.audit_nodes = watch_own(watcher->cli)->audit_nodes,
	};
	struct ibsa_error error = { .text = "" };
	struct ibsa_event_watch *handle;
	int err;

	event_lines_start(&watcher->lines, watcher->cli->client, line_print,
			  watcher);
	watcher->links = (struct links){
		.client = watcher->cli->client,
		.found = link_found,
		.arg = watcher,
	};
	err = ibsa_event_watch_start(watcher->cli->client, &options,
				     event_received, watcher, &error, &handle);
	if (err) {
		watcher->status = not_watched(err, &error);
		return;
	}
	process_only_warn(watcher->cli);
	watch_wait(watcher, interrupt);
	watcher->lines.is_ending = true;
	event_lines_room_check(&watcher->lines);
}

static int gid_add(struct watcher *watcher, const struct ibsa_gid *gid)
{
	return list_put(&watcher->gids, &watcher->gid_count, gid, sizeof(*gid));
}

/* Add the GIDs of all ports that a node's name stands for to the watch. */
static int name_add(struct watcher *watcher, const char *text,
		    const struct target *target, const struct ibsa_gid *own)
{
	struct node_ports ports;
	int status = nodes_find(watcher->cli, NULL, "", target->name, &ports);

	if (status == CLI_NO && target->name == text)
		complain("'%s' is neither a node's name nor a kind of event; "
			 "for the kinds see ibsa watch --help",
			 text);
	for (size_t i = 0; i < ports.count && status == CLI_DONE; i++) {
		const struct ibsa_gid gid =
			fields_guid_gid(own, ports.all[i].port_guid);

		status = gid_add(watcher, &gid);
	}
	node_ports_free(&ports);
	return status;
}

/*
 * Add the GIDs that an argument stands for to the watch. Return: the exit
 * status.
 */
static int target_add(struct watcher *watcher, const char *text)
{
	struct cli *cli = watcher->cli;
	struct ibsa_error error;
	struct target target;
	struct ibsa_gid own;
	int status;

	if (target_parse(text, &target, &error) != 0)
		return fail_usage("%s", error.text);
	if (target.kind == TARGET_GID)
		return gid_add(watcher, &target.gid);
	if (target.kind == TARGET_LID)
		return fail_usage("'%s' is a LID, but events have no LID; use "
				  "a name, a GID or a GUID",
				  text);
	status = own_gid_get(cli, &own);
	if (status != CLI_DONE)
		return status;
	if (target.kind == TARGET_NAME)
		return name_add(watcher, text, &target, &own);
	if (target.kind == TARGET_GUID)
		own = fields_guid_gid(&own, target.guid);
	return gid_add(watcher, &own);
}

/*
 * Parse the arguments that are not kinds of events: they are the targets to
 * watch. Return: the exit status.
 */
static int gids_parse(struct watcher *watcher)
{
	const struct cli *cli = watcher->cli;
	int status = CLI_DONE;

	for (int i = 1; i < cli->arg_count && status == CLI_DONE; i++)
		if (!watch_kinds_of(cli->args[i]))
			status = target_add(watcher, cli->args[i]);
	return status;
}

/*
 * Close the client before @watcher is freed: closing delivers the last event,
 * which uses @watcher.
 */
static void watch_end(struct watcher *watcher)
{
	(void)ibsa_close(watcher->cli->client);
	watcher->cli->client = NULL;
	links_end(&watcher->links);
	event_lines_end(&watcher->lines);
	free(watcher->gids);
}

/*
 * Run the watch. Before interrupt_start(), a signal ends the command at once,
 * because no subscription exists yet. Return: the exit status.
 */
static int watch_interruptibly(struct watcher *watcher)
{
	struct interrupt interrupt;
	const int status = interrupt_start(&interrupt,
					   subscription_second_signal);

	if (status == CLI_DONE)
		watch_start(watcher, &interrupt);
	watch_end(watcher);
	if (status != CLI_DONE)
		return status;
	interrupt_stop(&interrupt);
	return watcher->status;
}

/* clang-format off */
#define EVENT_WORD(name, bit, trap, producers, text) "|" text
#define EVENT_WORDS \
	IBSA_EVENT_KINDS(EVENT_WORD) "|subscribed|lost|failed|refused|gap|ended"

static const struct column watch_list[] = {
	ALWAYS("time", TIME),
	WORDS("event", EVENT_WORDS),
	ALWAYS("sequence", NUMBER),
	MAYBE("trap", NUMBER),
	MAYBE("gid", GID),
	MAYBE("lid", NUMBER),
	MAYBE("name", TEXT),
	MAYBE("port", NUMBER),
	ALWAYS("audited", NUMBER),
	MAYBE("reason", TEXT),
	ALWAYS("status", NUMBER),
	MAYBE("link_port", NUMBER),
	MAYBE("link_before", TEXT),
	MAYBE("link_after", TEXT),
};
/* clang-format on */

static const struct columns columns_watch = COLUMN_STREAM("watch", watch_list);

/*
 * Open the journal if --journal is given. If it is not, open the journal if
 * lines of text on standard output would reach it; a failure then leaves the
 * lines. Otherwise @out is unchanged. Return: the exit status; a failure is
 * printed.
 */
static int watch_journal_open(const struct cli *cli, int *out)
{
	const bool is_lines = cli->out.shape == OUT_TABLE &&
			      !cli->output.format && !cli->output.fields;

	if (!watch_own(cli)->journal) {
		if (is_lines && journal_is_output())
			*out = journal_open();
		return CLI_DONE;
	}
	if (!is_lines)
		return fail_usage("--journal writes no other format; remove "
				  "--format, --json, --fields and --verbose");
	return journal_option_open(out);
}

static int cmd_watch(struct cli *cli)
{
	struct watcher watcher = {
		.cli = cli,
		.journal = -1,
		.status = CLI_DONE,
	};

	for (int i = 1; i < cli->arg_count; i++)
		watcher.kinds |= watch_kinds_of(cli->args[i]);
	/*
	 * SIGPIPE is ignored, because the subscription must be deleted before
	 * a closed output ends the command.
	 */
	signal(SIGPIPE, SIG_IGN);
	watcher.status = columns_use(cli, &columns_watch);
	if (watcher.status == CLI_DONE)
		watcher.status = watch_journal_open(cli, &watcher.journal);
	if (watcher.status == CLI_DONE)
		watcher.status = client_open(cli);
	if (watcher.status == CLI_DONE)
		watcher.status = gids_parse(&watcher);
	if (watcher.status == CLI_DONE)
		watcher.status = watch_interruptibly(&watcher);
	else
		watch_end(&watcher);
	if (watcher.journal >= 0)
		close(watcher.journal);
	return watcher.status;
}

/* clang-format off */
const struct command command_watch = {
	.name = "watch",
	.arguments = "[EVENT...] [TARGET...]",
	.help = "print events of the fabric as they happen",
	.options = &watch_table,
	.groups = GROUP_ALL | GROUP_RECORD,
	.columns = (const struct columns *const[]){ &columns_watch, NULL },
	.run = cmd_watch,
	.text =
	"TARGET, a node's name, a GID, a port GUID after 0x, a multicast GID\n"
	"or self, limits the events of ports and groups; several may be given.\n",
	.details = watch_details,
};
/* clang-format on */
