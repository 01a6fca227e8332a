/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ibsa status --watch: shows the status again when the fabric changes. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "session/event_text.h"
#include "session/query_wait.h"
#include "session/waiter.h"
#include "status/status.h"

enum { REDRAW_MS = 1000, RETRY_MS = 10000 };

/**
 * struct status_watcher - a watch
 * @expected: topology of --expect, or NULL
 * @drawn_ms: time at which the lines were last written; 0: not yet
 * @due_ms:   time of the next output; INT64_MAX: after the next event
 * @sm_lid:   SM LID in the last output
 * @sm_since: time at which the SM LID changed to @sm_lid; "": before the watch
 * @why:      the reason why there is no subscription, or ""
 */
struct status_watcher {
	struct cli *cli;
	struct ibsa_topology *expected;
	struct interrupt interrupt;
	int64_t drawn_ms;
	int64_t due_ms;
	uint32_t sm_lid;
	char sm_since[UTC_TEXT];
	struct ibsa_error why;
};

/*
 * After an event, the lines must be written again. A change often causes
 * several events, so the lines are written at most once in REDRAW_MS.
 */
static void event_received(const struct ibsa_event *event, void *arg)
{
	struct status_watcher *watcher = arg;
	const char *why = event_reason(event);
	int64_t due_ms = now_ms();

	if (event->kind == IBSA_EVENT_ENDED)
		return;
	if (event->kind == IBSA_EVENT_SUBSCRIBED)
		watcher->why.text[0] = '\0';
	else if (event->kind & (IBSA_EVENT_LOST | IBSA_EVENT_FAILED |
				IBSA_EVENT_REFUSED) &&
		 why)
		snprintf(watcher->why.text, sizeof(watcher->why.text), "%s",
			 why);
	if (watcher->drawn_ms && due_ms < watcher->drawn_ms + REDRAW_MS)
		due_ms = watcher->drawn_ms + REDRAW_MS;
	if (due_ms < watcher->due_ms)
		watcher->due_ms = due_ms;
}

/*
 * Clear a terminal, unless messages of a failure were printed; otherwise, a
 * blank line separates the outputs.
 */
static void page_begin(const struct status_watcher *watcher, int result)
{
	struct out *out = &watcher->cli->out;

	if (isatty(STDOUT_FILENO) && result == CLI_DONE)
		fputs("\033[H\033[J", out->file);
	else if (watcher->drawn_ms)
		out_line(out, "%s", "");
}

static void sm_compare(struct status_watcher *watcher, struct status *status)
{
	struct status_sm *sm = &status->sm;

	if (sm->lid && watcher->sm_lid && sm->lid != watcher->sm_lid)
		utc_text(time(NULL), watcher->sm_since);
	if (sm->lid)
		watcher->sm_lid = sm->lid;
	strcpy(sm->since, watcher->sm_since);
}

static void lines_write(struct status_watcher *watcher,
			const struct status *status, int result)
{
	struct out *out = &watcher->cli->out;
	char now[UTC_TEXT];

	page_begin(watcher, result);
	out_clean_line(out, "time       %s", utc_text(time(NULL), now));
	status_print(watcher->cli, status);
	if (*watcher->why.text)
		out_clean_line(out, "events     none: %s", watcher->why.text);
	out_flush(out);
	watcher->drawn_ms = now_ms();
}

static void draw(struct status_watcher *watcher)
{
	struct status status;
	int result;

	watcher->due_ms = INT64_MAX;
	result = status_read(watcher->cli, watcher->expected, &status);
	if (!interrupt_seen(&watcher->interrupt)) {
		sm_compare(watcher, &status);
		lines_write(watcher, &status, result);
	}
	if (result != CLI_DONE && watcher->due_ms == INT64_MAX)
		watcher->due_ms = now_ms() + RETRY_MS;
	status_free(&status);
}

/*
 * Return: milliseconds until the lines are due; -1: they are due after an
 * event.
 */
static int due_in_ms(const struct status_watcher *watcher)
{
	const int64_t left = watcher->due_ms - now_ms();

	if (watcher->due_ms == INT64_MAX)
		return -1;
	return left > 0 ? (int)left : 0;
}

static int watch_run(struct status_watcher *watcher)
{
	struct cli *cli = watcher->cli;
	struct waiter waiter;
	bool has_failed = false;

	waiter_start(&waiter, cli, &watcher->interrupt);
	while (!has_failed && cli->client &&
	       !interrupt_seen(&watcher->interrupt) && out_is_read(&cli->out)) {
		if (due_in_ms(watcher) == 0)
			draw(watcher);
		else
			has_failed = waiter_failed(
				waiter_wait(&waiter, due_in_ms(watcher)));
	}
	waiter_stop(&waiter, &watcher->interrupt);
	return has_failed || (!cli->client &&
			      !interrupt_seen(&watcher->interrupt))
		       ? CLI_SILENT
		       : CLI_DONE;
}

static int subscribe(struct status_watcher *watcher)
{
	const struct ibsa_event_options options = {
		.kinds = IBSA_EVENT_GID_IN | IBSA_EVENT_GID_OUT |
			 IBSA_EVENT_LINK_STATE | IBSA_EVENT_LOCAL_CHANGES,
	};
	struct ibsa_error error = { .text = "" };
	const int err = ibsa_event_watch_start(watcher->cli->client, &options,
					       event_received, watcher, &error,
					       NULL);

	if (!err)
		return watch_run(watcher);
	return fail_device("cannot subscribe to events: %s", error.text);
}

int status_watch(struct cli *cli, struct ibsa_topology *expected)
{
	struct status_watcher watcher = {
		.cli = cli,
		.expected = expected,
		.due_ms = now_ms() + REDRAW_MS,
	};
	int result = client_open(cli);

	if (result != CLI_DONE)
		return result;
	signal(SIGPIPE, SIG_IGN);
	result = interrupt_start(&watcher.interrupt,
				 subscription_second_signal);
	if (result != CLI_DONE)
		return result;
	cli->interrupt = &watcher.interrupt;
	result = subscribe(&watcher);
	(void)ibsa_close(cli->client);
	cli->client = NULL;
	cli->interrupt = NULL;
	interrupt_stop(&watcher.interrupt);
	return result;
}
