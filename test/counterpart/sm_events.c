/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Receives SM events by the functions of their manual page, on a context
 * without a uverbs device, and prints a line for each, until it reads "end".
 * usage: sm-events AUDIT_MS
 *
 * It also reads GIDs, one per line, and prints "reach GID 0" or "reach GID
 * ERROR".
 */
#define IBSA_VERBS_NAMES
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ibsa/verbs.h>

static void gid_write(const union ibv_gid *gid)
{
	char text[INET6_ADDRSTRLEN];

	printf("%s", inet_ntop(AF_INET6, gid, text, sizeof(text)));
}

static void event_write(const struct ibv_async_event *event)
{
	switch (event->event_type) {
	case IBV_EVENT_GID_AVAIL:
	case IBV_EVENT_GID_UNAVAIL:
	case IBV_EVENT_MCG_CREATED:
	case IBV_EVENT_MCG_DELETED:
		printf("%s ", ibv_event_type_str(event->event_type));
		gid_write(&event->element.gid);
		break;
	default:
		printf("%s %d", ibv_event_type_str(event->event_type),
		       event->element.port_num);
	}
	printf("\n");
}

static void event_take(struct ibv_context *context)
{
	struct ibv_async_event event;

	if (ibv_get_async_event(context, &event)) {
		perror("ibv_get_async_event");
		exit(1);
	}
	event_write(&event);
	ibv_ack_async_event(&event);
}

static bool reach(struct ibv_context *context)
{
	char line[INET6_ADDRSTRLEN + 1];
	union ibv_gid gid;
	const char *printed = "0";

	if (!fgets(line, sizeof(line), stdin) || !strcmp(line, "end\n"))
		return false;
	line[strcspn(line, "\n")] = '\0';
	if (inet_pton(AF_INET6, line, &gid) != 1) {
		fprintf(stderr, "no GID: %s\n", line);
		exit(2);
	}
	if (ibv_gid_reachable(context, 0, &gid, 0))
		printed = strerrorname_np(errno);
	printf("reach %s %s\n", line, printed);
	return true;
}

static void serve(struct ibv_context *context)
{
	struct pollfd fds[2] = {
		{ .fd = context->async_fd, .events = POLLIN },
		{ .fd = STDIN_FILENO, .events = POLLIN },
	};
	bool more = true;

	while (more && poll(fds, 2, -1) > 0) {
		if (fds[0].revents)
			event_take(context);
		if (fds[1].revents)
			more = reach(context);
		fflush(stdout);
	}
}

static int begin(struct ibv_context *context, unsigned int audit_ms)
{
	const struct ibsa_verbs_options options = { .audit_ms = audit_ms,
						    .gaps = true };
	int err = ibsa_verbs_attach(context, &options);

	if (err) {
		fprintf(stderr, "attach: %s\n", strerror(-err));
		return err;
	}
	if (ibv_register_sm_events(context, IBV_SM_EVENT_ALL, 0, NULL)) {
		perror("ibv_register_sm_events");
		return -1;
	}
	puts("registered");
	fflush(stdout);
	return 0;
}

int main(int argc, char **argv)
{
	struct ibv_context *context;
	struct ibsa_error error;

	if (argc != 2)
		return 2;
	setvbuf(stdin, NULL, _IONBF, 0);
	if (ibsa_verbs_open(NULL, &error, &context)) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	if (begin(context, (unsigned int)strtoul(argv[1], NULL, 0)))
		return 1;
	serve(context);
	if (ibv_close_device(context)) {
		perror("ibv_close_device");
		return 1;
	}
	puts("closed");
	return 0;
}
