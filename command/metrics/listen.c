/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ibsa metrics --listen: serves metrics over HTTP, and counts events. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "metrics/http.h"
#include "metrics/metrics.h"
#include "metrics/options.h"
#include "base/interrupt.h"
#include "base/file_write.h"
#include "names/journal_line.h"
#include "session/event_text.h"

/*
 * @client is NULL until metrics_events_start() has opened it; @journal is -1
 * without --journal.
 */
struct metrics_events {
	struct ibsa_client *client;
	struct metrics_totals totals;
	struct event_lines lines; /* for the journal */
	int journal;
	char device[64];
	bool is_explained; /* why there are no events */
};

static void event_write(const struct event_line *line, const char *name,
			void *arg)
{
	const struct metrics_events *events = arg;

	journal_line(events->journal, line, events->device, name);
}

static void event_count(const struct ibsa_event *event, void *arg)
{
	struct metrics_events *events = arg;
	struct metrics_totals *totals = &events->totals;

	for (int i = 0; i < METRICS_EVENT_KINDS; i++)
		totals->events[i] += event->kind == 1U << i;
	totals->gaps += event->kind == IBSA_EVENT_GAP;
	if (event->kind == IBSA_EVENT_SUBSCRIBED)
		totals->is_subscribed = true;
	else if (event->kind == IBSA_EVENT_LOST ||
		 event->kind == IBSA_EVENT_REFUSED)
		totals->is_subscribed = false;
	if (events->journal >= 0)
		event_lines_add(&events->lines, event);
}

static void port_note(unsigned int changes, const struct ibsa_port_state *now,
		      void *arg)
{
	struct metrics_events *events = arg;

	(void)now;
	events->totals.sm_changes += (changes & IBSA_PORT_CHANGE_SM) != 0;
}

static int subscribe(struct metrics_events *events, struct ibsa_error *error)
{
	const struct ibsa_event_options all = { .kinds = IBSA_EVENT_ALL };
	struct ibsa_event_watch *events_watch;
	struct ibsa_port_watch *port_watch;
	int err = ibsa_event_watch_start(events->client, &all, event_count,
					 events, error, &events_watch);

	if (!err)
		err = ibsa_port_watch_start(events->client, 0, port_note,
					    events, &port_watch);
	return err;
}

static void metrics_events_stop(struct metrics_events *events)
{
	(void)ibsa_close(events->client);
	events->client = NULL;
	event_lines_end(&events->lines);
}

/*
 * Only one program can receive the Reports at a port: if another program
 * receives them, subscribing fails. On an embedded fabric, the client loads the
 * fabric from its file again, because the fabric of @metrics is freed after the
 * collection.
 */
static void metrics_events_start(struct metrics_events *events,
				 const struct metrics *metrics)
{
	const struct port_check *at = metrics_port(metrics);
	struct ibsa_options options = metrics->cli->open;
	struct ibsa_error error = { .text = "" };
	int err;

	if (events->client || !at)
		return;
	options.device = at->port->opened_as;
	options.port = at->port->number;
	err = ibsa_open(&options, &error, &events->client);
	if (err) {
		events->client = NULL;
	} else {
		snprintf(events->device, sizeof(events->device), "%s",
			 at->port->device);
		event_lines_start(&events->lines, events->client, event_write,
				  events);
		err = subscribe(events, &error);
	}
	if (!err)
		return;
	if (!events->is_explained)
		complain("events are not counted%s: %s",
			 events->journal >= 0 ? " or written" : "",
			 *error.text ? error.text : strerror(-err));
	events->is_explained = true;
	metrics_events_stop(events);
}

/*
 * Requests within this time share a collection, which bounds the load on the
 * SA.
 */
enum { FRESH_MS = 5000 };

/* The formats, in the order of enum metrics_format. */
static const char *const types[] = {
	"application/openmetrics-text; version=1.0.0; charset=utf-8",
	"text/plain; version=0.0.4; charset=utf-8",
};

struct metrics_server {
	struct cli *cli;
	const struct ibsa_topology *expected;
	struct http http;
	struct metrics_events events;
	struct metrics metrics; /* of the last collection */
	bool has_metrics;
	int64_t fresh_until_ms;
	char *text; /* of the last request */
	int wake_fd;
};

/* Return: the exit status of the collection. */
static int server_collect(struct metrics_server *server)
{
	struct metrics *metrics = &server->metrics;
	int status;

	metrics_end(metrics);
	status = metrics_collect(server->cli, server->expected, metrics);
	metrics->totals = &server->events.totals;
	answers_add(&server->events.totals.answers, &metrics->answers);
	metrics_events_start(&server->events, metrics);
	server->has_metrics = status != CLI_USAGE;
	server->fresh_until_ms = now_ms() + FRESH_MS;
	return status;
}

/*
 * Write the page with the collected values. The counters of events are the
 * current ones.
 */
static bool page_write(struct metrics_server *server,
		       enum metrics_format format, struct http_page *out)
{
	struct memory_text memory;
	int status = memory_text_open(&memory);

	if (status == CLI_DONE) {
		metrics_write(memory.file, &server->metrics, format);
		status = memory_text_close(&memory);
	}
	free(server->text);
	server->text = memory.text;
	out->type = types[format];
	out->text = memory.text;
	out->len = memory.len;
	return status == CLI_DONE;
}

static bool page_make(const char *accept, void *arg, struct http_page *out)
{
	struct metrics_server *server = arg;

	if (now_ms() >= server->fresh_until_ms)
		(void)server_collect(server);
	return server->has_metrics &&
	       page_write(server,
			  accept && strstr(accept,
					   "application/openmetrics-text")
				  ? METRICS_OPENMETRICS
				  : METRICS_PROMETHEUS,
			  out);
}

/* Return: the shorter of two timeouts of poll(2); negative: no limit. */
static int sooner(int a, int b)
{
	return a < 0 || (b >= 0 && b < a) ? b : a;
}

static void serve(struct metrics_server *server,
		  const struct interrupt *interrupt)
{
	while (!interrupt_seen(interrupt)) {
		struct ibsa_client *client = server->events.client;
		struct pollfd fds[] = {
			{ .fd = server->wake_fd, .events = POLLIN },
			{ .fd = http_fd(&server->http), .events = POLLIN },
			{ .fd = client ? ibsa_fd(client) : -1,
			  .events = POLLIN },
		};
		int timeout_ms = http_timeout_ms(&server->http);

		if (client)
			timeout_ms = sooner(timeout_ms,
					    ibsa_timeout_ms(client));
		timeout_ms = sooner(timeout_ms,
				    event_lines_wait_ms(&server->events.lines));
		(void)poll(fds, sizeof(fds) / sizeof(fds[0]), timeout_ms);
		/* -ENODEV: the client reopens a device that returns. */
		if (client) {
			(void)ibsa_dispatch(client);
			event_lines_room_check(&server->events.lines);
		}
		http_run(&server->http);
	}
}

static void server_wake(void *arg)
{
	const struct metrics_server *server = arg;
	const uint64_t one = 1;

	/*
	 * write() cannot fail: the counter of the eventfd stays far below its
	 * maximum.
	 */
	if (write(server->wake_fd, &one, sizeof(one)) < 0)
		return;
}

/*
 * The first collection shows whether the arguments are valid, and subscribes to
 * events. The values of this collection are not served: the first request
 * starts another collection.
 */
static int server_run(struct metrics_server *server)
{
	struct cli *cli = server->cli;
	struct interrupt interrupt;
	int status = interrupt_start(&interrupt, subscription_second_signal);

	if (status != CLI_DONE)
		return status;
	interrupt_calls(&interrupt, server_wake, server);
	status = http_start(&server->http, "--listen",
			    metrics_own(cli)->listen);
	if (status == CLI_DONE && server_collect(server) == CLI_USAGE)
		status = CLI_USAGE;
	server->fresh_until_ms = 0;
	if (status == CLI_DONE) {
		out_line(&cli->out, "http://%s%s", server->http.address,
			 server->http.path);
		out_flush(&cli->out);
		serve(server, &interrupt);
	}
	http_stop(&server->http);
	metrics_events_stop(&server->events);
	interrupt_calls(&interrupt, NULL, NULL);
	interrupt_stop(&interrupt);
	return status;
}

int metrics_listen(struct cli *cli, const struct ibsa_topology *expected)
{
	struct metrics_server server = {
		.cli = cli,
		.expected = expected,
		.http = { .path = "/metrics", .page = page_make },
		.wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
		.events = { .journal = -1 },
	};
	int status = CLI_DONE;

	if (server.wake_fd < 0)
		return fail_device("cannot create an eventfd: %s",
				   strerror(errno));
	server.http.arg = &server;
	signal(SIGPIPE, SIG_IGN);
	if (metrics_own(cli)->journal)
		status = journal_option_open(&server.events.journal);
	if (status == CLI_DONE)
		status = server_run(&server);
	metrics_end(&server.metrics);
	free(server.text);
	if (server.events.journal >= 0)
		close(server.events.journal);
	close(server.wake_fd);
	return status;
}
