/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A libibverbs that tests load in place of the real one. It reads events
 * directly from the async fd.
 */
#include <infiniband/verbs.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test/verbs/stub_ibverbs.h"

extern struct stub_seen stub_seen;
struct stub_seen stub_seen;

int ibv_get_async_event(struct ibv_context *context,
			struct ibv_async_event *event)
{
	stub_seen.got++;
	return read(context->async_fd, event, sizeof(*event)) == sizeof(*event)
		       ? 0
		       : -1;
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
	stub_seen.acked++;
	stub_seen.acked_type = (int)event->event_type;
}

int ibv_close_device(struct ibv_context *context)
{
	struct stat file;

	stub_seen.closed++;
	stub_seen.closed_is_pipe = !fstat(context->async_fd, &file) &&
				   S_ISFIFO(file.st_mode);
	close(context->async_fd);
	return close(context->cmd_fd);
}

const char *ibv_event_type_str(enum ibv_event_type event)
{
	return event == IBV_EVENT_PORT_ERR ? "a port of the stub" : "stub";
}
