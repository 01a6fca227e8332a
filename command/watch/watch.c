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
#include "session/event_text.h"
#include "session/query_wait.h"
#include "session/waiter.h"
#include "output/fields.h"
#include "watch/names.h"
#include "names/nodes.h"
#include "names/target.h"
#include "watch/watch.h"
#include "options/command.h"

enum {
	/*
	 * Milliseconds between two checks whether the output has room again
	 * after events were left out.
	 */
	ROOM_CHECK_MS = 500,
	/* Largest number of events that wait for the name of a node. */
	LINES_MAX = 65536,
	WORD_BYTES = 32,
};

/*
 * An event that is printed after all earlier events; an earlier one may be
 * waiting for the name of its node.
 */
struct line {
	struct line *next;
	struct ibsa_event event;
	struct timespec when;
	unsigned long ticket;
	bool is_generic;
	char holder[IBSA_VALUE_TEXT + 64]; /* buffer of event.holder */
	char left_out[64];		   /* why this is a gap, or "" */
};

struct watcher {
	struct cli *cli;
	unsigned int kinds;
	struct ibsa_gid *gids;
	size_t gid_count;
	struct names names;
	struct line *first, **last;
	unsigned int lines;
	struct watch_limit limit;
	int journal;
	bool was_subscribed;
	bool ending;
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

static bool is_of_gid(const struct ibsa_event *event)
{
	return event->kind & IBSA_EVENT_OF_SM;
}

static const char *name_of(const struct watcher *watcher,
			   const struct ibsa_event *event)
{
	if (is_of_gid(event))
		return names_of_guid(&watcher->names,
				     fields_gid_guid(&event->gid));
	if (event->lid && event->lid <= IBSA_LID_UNICAST_MAX)
		return names_of_lid(&watcher->names, (uint16_t)event->lid);
	return NULL;
}

static const char *line_reason(const struct line *line)
{
	return *line->left_out ? line->left_out : event_reason(&line->event);
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
static void data_cells(struct out *out, const struct line *line,
		       const char *name)
{
	const struct ibsa_event *event = &line->event;

	out_text(out, "event", ibsa_event_name(event->kind));
	out_count(out, "sequence", event->sequence);
	out_count_or_none(out, "trap", event->kind & IBSA_EVENT_ALL,
			  event->trap);
	if (is_of_gid(event))
		fields_gid(out, "gid", &event->gid);
	else
		out_none(out, "gid");
	out_count_or_none(out, "lid", event->lid, event->lid);
	out_text_or_none(out, "name", name);
	out_count_or_none(out, "port", event->port_num, event->port_num);
	out_count(out, "audited", event->audited);
	out_text_or_none(out, "reason", line_reason(line));
	out_hex16(out, "status", event->status);
}

static void text_cells(struct out *out, const struct line *line,
		       const char *name)
{
	const struct ibsa_event *event = &line->event;
	char text[WORD_BYTES];

	if (event->kind == IBSA_EVENT_OTHER)
		number_text(text, line->is_generic ? "trap" : "vendor",
			    event->trap);
	out_text(out, "event",
		 event->kind == IBSA_EVENT_OTHER
			 ? text
			 : ibsa_event_name(event->kind));
	if (is_of_gid(event))
		fields_gid(out, "about", &event->gid);
	else
		out_text(out, "about",
			 event->lid ? number_text(text, "LID", event->lid)
				    : "");
	out_text(out, "name", name ? name : "");
	out_text(out, "port",
		 event->port_num ? number_text(text, "port", event->port_num)
				 : "");
	if (line_reason(line))
		out_text(out, "reason", line_reason(line));
}

/*
 * An event and its watch, as the argument of the function that writes the row.
 */
struct shown {
	const struct watcher *watcher;
	const struct line *line;
};

/* Return: the name of the event's node, safe to print, or NULL. */
static const char *clean_name(const struct watcher *watcher,
			      const struct ibsa_event *event,
			      char out[IBSA_VALUE_TEXT])
{
	const char *name = name_of(watcher, event);

	return name ? fields_clean(name, out) : NULL;
}

static void line_row(struct out *out, size_t index, void *arg)
{
	const struct shown *shown = arg;
	const struct line *line = shown->line;
	char clean[IBSA_VALUE_TEXT];
	const char *name = clean_name(shown->watcher, &line->event, clean);

	(void)index;
	put_time(out, &line->when);
	if (out_is_data(out))
		data_cells(out, line, name);
	else
		text_cells(out, line, name);
}

static bool is_ready(const struct watcher *watcher, const struct line *line)
{
	return watcher->ending || watcher->lines > LINES_MAX ||
	       watcher->names.answered >= line->ticket ||
	       name_of(watcher, &line->event);
}

static void line_print(struct watcher *watcher, const struct line *line)
{
	struct cli *cli = watcher->cli;
	struct shown shown = { .watcher = watcher, .line = line };
	char clean[IBSA_VALUE_TEXT];

	if (watcher->journal >= 0 && *line->left_out)
		complain("%s", line->left_out);
	if (watcher->journal >= 0)
		watch_journal(watcher->journal, &line->event, cli->open.device,
			      clean_name(watcher, &line->event, clean));
	else
		out_event(&cli->out, line_row, &shown);
}

/*
 * Print, in order, the events up to the first one that waits for the name of
 * its node.
 */
static void lines_flush(void *arg)
{
	struct watcher *watcher = arg;

	while (watcher->first && is_ready(watcher, watcher->first)) {
		struct line *line = watcher->first;

		line_print(watcher, line);
		watcher->first = line->next;
		if (!line->next)
			watcher->last = &watcher->first;
		watcher->lines--;
		free(line);
	}
}

/*
 * Request the name of the event's node from the SA; after a gap, and at the
 * first subscription, the names of all nodes. Nothing is requested if a port
 * has left the subnet: the SA does not have the name of its node any more.
 */
static void name_request(struct watcher *watcher,
			 const struct ibsa_event *event)
{
	if (event->kind == IBSA_EVENT_GID_IN)
		names_request_guid(&watcher->names,
				   fields_gid_guid(&event->gid));
	else if (event->lid && event->lid <= IBSA_LID_UNICAST_MAX)
		names_request_lid(&watcher->names, (uint16_t)event->lid);
	else if (event->kind == IBSA_EVENT_GAP ||
		 (event->kind == IBSA_EVENT_SUBSCRIBED &&
		  !watcher->was_subscribed))
		names_load(&watcher->names);
}

/* Return: a new last line, or NULL after a message. */
static struct line *line_add(struct watcher *watcher,
			     const struct ibsa_event *event)
{
	struct line *line = calloc(1, sizeof(*line));

	if (!line) {
		complain("an event was not printed: out of memory");
		return NULL;
	}
	line->event = *event;
	line->event.notice = NULL;
	clock_gettime(CLOCK_REALTIME, &line->when);
	*watcher->last = line;
	watcher->last = &line->next;
	watcher->lines++;
	return line;
}

/* If events were left out, say so once the output has room again. */
static void left_out_tell(struct watcher *watcher)
{
	const struct ibsa_event gap = {
		.kind = IBSA_EVENT_GAP,
		.sequence = watcher->limit.sequence,
	};
	uint64_t count = watch_limit_left_out(&watcher->limit, watcher->ending);
	struct line *line = count ? line_add(watcher, &gap) : NULL;

	if (line)
		snprintf(line->left_out, sizeof(line->left_out),
			 "%" PRIu64 " events left out: too many", count);
	lines_flush(watcher);
}

static void append(struct watcher *watcher, const struct ibsa_event *event)
{
	struct line *line = line_add(watcher, event);

	if (!line)
		return;
	line->is_generic = event->notice && event->notice->is_generic;
	if (event->holder) {
		snprintf(line->holder, sizeof(line->holder), "%s; %s",
			 event_failure(event->err), event->holder);
		line->event.holder = line->holder;
	}
	/* Events of the subscription have no node. */
	line->ticket = event->kind & IBSA_EVENT_ALL ? watcher->names.asked : 0;
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

	if (watcher->was_subscribed || watcher->ending)
		return;
	if (!is_told)
		refusal_explain(event->audited ? &ibsa_node_record
					       : &ibsa_inform_info_record,
				event->status);
	watcher->status = CLI_REFUSED;
	watcher->ending = true;
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

static void event_received(const struct ibsa_event *event, void *arg)
{
	struct watcher *watcher = arg;

	if (event->kind & IBSA_EVENT_ALL &&
	    !watch_limit_take(&watcher->limit, event->sequence))
		return;
	left_out_tell(watcher);
	if (event->kind != IBSA_EVENT_ENDED)
		name_request(watcher, event);
	append(watcher, event);
	if (event->kind == IBSA_EVENT_SUBSCRIBED)
		watcher->was_subscribed = true;
	else if (event->kind == IBSA_EVENT_REFUSED)
		watch_refused(watcher, event);
	else if (event->kind == IBSA_EVENT_ENDED)
		ended(watcher, event);
	lines_flush(watcher);
}

/*
 * Dispatch until a signal arrives or the reader of the output closes it.
 * -ENODEV does not end the loop: the client reopens a device that comes back.
 */
static void watch_wait(struct watcher *watcher, struct interrupt *interrupt)
{
	struct waiter waiter;

	waiter_start(&waiter, watcher->cli, interrupt);
	while (!watcher->ending && !interrupt_seen(interrupt) &&
	       out_is_read(&watcher->cli->out)) {
		int err = waiter_wait(
			&waiter, watcher->limit.left_out ? ROOM_CHECK_MS : -1);

		left_out_tell(watcher);
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

	watcher->names = (struct names){
		.client = watcher->cli->client,
		.changed = lines_flush,
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
	watcher->ending = true;
	left_out_tell(watcher);
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
	lines_flush(watcher);
	names_done(&watcher->names);
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
};
/* clang-format on */

static const struct columns columns_watch = COLUMN_STREAM("watch", watch_list);

static int cmd_watch(struct cli *cli)
{
	struct watcher watcher = {
		.cli = cli,
		.journal = -1,
		.status = CLI_DONE,
	};

	watcher.last = &watcher.first;
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
