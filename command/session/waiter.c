/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See waiter.h. */
#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "session/query_wait.h"
#include "session/waiter.h"

/*
 * Milliseconds between two checks of the output, where its descriptor cannot be
 * polled together with the client's.
 */
enum { OUTPUT_CHECK_MS = 1000 };

/* Called from the thread that waits for signals. */
static void waiter_wake(void *arg)
{
	const struct waiter *waiter = arg;

	ibsa_wake(waiter->client);
	if (waiter->wake_fd >= 0)
		(void)!eventfd_write(waiter->wake_fd, 1);
}

void waiter_start(struct waiter *waiter, const struct cli *cli,
		  struct interrupt *interrupt)
{
	*waiter = (struct waiter){
		.client = cli->client,
		.out_fd = fileno(cli->out.file),
		.wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
	};
	interrupt_calls(interrupt, waiter_wake, waiter);
}

void waiter_stop(struct waiter *waiter, struct interrupt *interrupt)
{
	interrupt_calls(interrupt, NULL, NULL);
	if (waiter->wake_fd >= 0)
		close(waiter->wake_fd);
}

/* Return: the shorter of two timeouts in ms; -1: no timeout. */
static int shorter_ms(int a, int b)
{
	return a < 0 || (b >= 0 && b < a) ? b : a;
}

int waiter_wait(struct waiter *waiter, int at_most_ms)
{
	eventfd_t wakes;
	/* Of the output, poll() reports only its end. */
	struct pollfd fds[] = {
		{ .fd = ibsa_fd(waiter->client), .events = POLLIN },
		{ .fd = waiter->wake_fd, .events = POLLIN },
		{ .fd = waiter->out_fd },
	};

	if (fds[0].fd < 0 || fds[1].fd < 0)
		return ibsa_wait(waiter->client,
				 shorter_ms(at_most_ms, OUTPUT_CHECK_MS));
	at_most_ms = shorter_ms(at_most_ms, ibsa_timeout_ms(waiter->client));
	if (poll(fds, sizeof(fds) / sizeof(fds[0]), at_most_ms) < 0)
		return -errno;
	if (fds[1].revents)
		(void)!eventfd_read(waiter->wake_fd, &wakes);
	if (fds[2].revents)
		waiter->out_fd = -1;
	return ibsa_dispatch(waiter->client);
}

bool waiter_failed(int err)
{
	if (!err || err == -EINTR || err == -ENODEV)
		return false;
	receive_failed(err);
	return true;
}
