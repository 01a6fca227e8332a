/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which ports and multicast groups come and go? libibverbs' names, with the
 * events of the subnet manager on the context's async_fd.
 *
 *	cc sm_events.c $(pkg-config --cflags --libs ibsa) -o sm_events
 *	./sm_events mlx5_0
 *
 * Ends when nothing has happened for MS milliseconds; without MS, never.
 *
 * The context is one of ibsa_verbs_open(), which needs no uverbs device. With
 * one of ibv_open_device() all else is the same; -libverbs then comes after
 * what pkg-config says.
 */
#include <ibsa/text.h>
#include <ibsa/verbs.h>

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EVERYTHING = IBV_SM_EVENT_UGID_ALL | IBV_SM_EVENT_MGID_ALL };

static void show_gid(const struct ibv_async_event *event)
{
	char text[IBSA_GID_TEXT];
	struct ibsa_gid gid;

	memcpy(&gid, &event->element.gid, sizeof(gid));
	ibsa_gid_format(&gid, text, sizeof(text));
	printf("%s: %s", ibv_event_type_str(event->event_type), text);
}

/* The SA's answer is fit to be asked for where events are handled. */
static void show_reach(struct ibv_context *context, union ibv_gid *gid)
{
	if (!ibv_gid_reachable(context, 0, gid, 0))
		printf(", reachable");
	else if (errno == ENXIO)
		printf(", not reachable");
	else
		printf(", not known whether reachable: %s", strerror(errno));
}

static int show_one(struct ibv_context *context)
{
	struct ibv_async_event event;

	if (ibv_get_async_event(context, &event))
		return -1;
	switch (event.event_type) {
	case IBV_EVENT_GID_AVAIL:
		show_gid(&event);
		show_reach(context, &event.element.gid);
		break;
	case IBV_EVENT_GID_UNAVAIL:
	case IBV_EVENT_MCG_CREATED:
	case IBV_EVENT_MCG_DELETED:
		show_gid(&event);
		break;
	default: /* the device's own, those of its ports and queues */
		printf("%s", ibv_event_type_str(event.event_type));
	}
	printf("\n");
	fflush(stdout);
	ibv_ack_async_event(&event);
	return 0;
}

/* Return: 0 if nothing happens any more; -1 and errno. */
static int follow(struct ibv_context *context, int idle_ms)
{
	struct pollfd file = { .fd = context->async_fd, .events = POLLIN };
	int count = poll(&file, 1, idle_ms);

	for (; count > 0; count = poll(&file, 1, idle_ms))
		if (show_one(context))
			return -1;
	return count;
}

static int watch(struct ibv_context *context, int idle_ms)
{
	int err;

	if (ibv_register_sm_events(context, EVERYTHING, 0, NULL)) {
		perror("cannot register for events");
		return -1;
	}
	printf("registered\n");
	fflush(stdout);
	err = follow(context, idle_ms);
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
	err = watch(context, idle_ms);
	if (ibv_close_device(context))
		err = -1;
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
