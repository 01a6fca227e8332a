/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * usage: audit AUDIT_MS
 *
 * Watches node events with an audit, and prints a line for each event: its
 * name, the port's GUID, and "report" or "audit". Exits at end of file of its
 * standard input.
 */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ibsa/event.h>

static void happened(const struct ibsa_event *event, void *arg)
{
	(void)arg;
	printf("%s 0x%016" PRIx64 " %s\n", ibsa_event_name(event->kind),
	       ibsa_be64(event->gid.raw + 8),
	       event->audited ? "audit" : "report");
	fflush(stdout);
}

static int hold(struct ibsa_client *client)
{
	for (;;) {
		struct pollfd fds[] = {
			{ .fd = ibsa_fd(client), .events = POLLIN },
			{ .fd = STDIN_FILENO, .events = POLLIN },
		};
		int err;

		if (poll(fds, 2, ibsa_timeout_ms(client)) < 0 || fds[1].revents)
			return 0;
		err = ibsa_dispatch(client);
		if (err)
			return err;
	}
}

int main(int argc, char **argv)
{
	struct ibsa_event_options options = { .audit_nodes = true };
	struct ibsa_error error = { .text = "" };
	struct ibsa_event_watch *watch;
	struct ibsa_client *client;
	int err;

	if (argc != 2)
		return 2;
	options.audit_ms = (unsigned int)strtoul(argv[1], NULL, 10);
	options.deadline_ms = options.audit_ms;
	err = ibsa_open(NULL, &error, &client);
	if (err) {
		fprintf(stderr, "audit: %s\n", error.text);
		return 4;
	}
	err = ibsa_event_watch_start(client, &options, happened, NULL, &error,
				     &watch);
	if (!err)
		err = hold(client);
	if (err)
		fprintf(stderr, "audit: %s: %s\n", strerror(-err), error.text);
	(void)ibsa_close(client);
	return err != 0;
}
