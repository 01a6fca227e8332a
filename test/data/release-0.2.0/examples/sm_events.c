/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Prints ports that join or leave the subnet, and multicast groups that are
 * created or deleted, with the names of libibverbs: the events of the subnet
 * manager on the context's async_fd.
 *
 *	cc sm_events.c $(pkg-config --cflags --libs ibsa-compat) -o sm_events
 *	./sm_events mlx5_0 [MS]
 *
 * Ends after MS milliseconds without an event; without MS, never.
 *
 * The context is from ibsa_verbs_open(), which needs no uverbs device. A context
 * from ibv_open_device() works in the same way; then add -libverbs after the
 * output of pkg-config.
 */
#define IBSA_VERBS_NAMES
#include <ibsa/text.h>
#include <ibsa/verbs.h>

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EVERYTHING = IBV_SM_EVENT_UGID_ALL | IBV_SM_EVENT_MGID_ALL };

static void gid_print(const struct ibv_async_event *event)
{
	char text[IBSA_GID_TEXT];
	struct ibsa_gid gid;

	memcpy(&gid, &event->element.gid, sizeof(gid));
	ibsa_gid_format(&gid, text, sizeof(text));
	printf("%s: %s", ibv_event_type_str(event->event_type), text);
}

/* ibv_gid_reachable() may be called between events. */
static void reach_print(struct ibv_context *context, union ibv_gid *gid)
{
	if (!ibv_gid_reachable(context, 0, gid, 0))
		printf(", reachable");
	else if (errno == ENXIO)
		printf(", not reachable");
	else
		printf(", reachability unknown: %s", strerror(errno));
}

static int event_print(struct ibv_context *context)
{
	struct ibv_async_event event;

	if (ibv_get_async_event(context, &event))
		return -1;
	switch (event.event_type) {
	case IBV_EVENT_GID_AVAIL:
		gid_print(&event);
		reach_print(context, &event.element.gid);
		break;
	case IBV_EVENT_GID_UNAVAIL:
	case IBV_EVENT_MCG_CREATED:
	case IBV_EVENT_MCG_DELETED:
		gid_print(&event);
		break;
	default: /* events of the device */
		printf("%s", ibv_event_type_str(event.event_type));
	}
	printf("\n");
	fflush(stdout);
	ibv_ack_async_event(&event);
	return 0;
}

/* Return: 0 after @idle_ms without an event; or -1 and errno. */
static int events_print(struct ibv_context *context, int idle_ms)
{
	struct pollfd file = { .fd = context->async_fd, .events = POLLIN };
	int count = poll(&file, 1, idle_ms);

	for (; count > 0; count = poll(&file, 1, idle_ms))
		if (event_print(context))
			return -1;
	return count;
}

static int events_watch(struct ibv_context *context, int idle_ms)
{
	int err;

	if (ibv_register_sm_events(context, EVERYTHING, 0, NULL)) {
		perror("cannot register for events");
		return -1;
	}
	printf("registered\n");
	fflush(stdout);
	err = events_print(context, idle_ms);
	if (err)
		perror("cannot follow events");
	if (ibv_unregister_sm_events(context, EVERYTHING, 0, NULL))
		err = -1;
	return err;
}

int main(int argc, char **argv)
{
	const struct ibsa_options options = {
		.device = argc > 1 ? argv[1] : NULL,
	};
	const int idle_ms = argc > 2 ? atoi(argv[2]) : -1;
	struct ibv_context *context;
	struct ibsa_error error;
	int err;

	if (ibsa_verbs_open(&options, &error, &context)) {
		fprintf(stderr, "%s\n", error.text);
		return EXIT_FAILURE;
	}
	err = events_watch(context, idle_ms);
	if (ibv_close_device(context))
		err = -1;
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
