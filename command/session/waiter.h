/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Waits for packets, in a command that runs until a signal arrives or the
 * reader of its output closes it.
 */
#ifndef COMMAND_WAITER_H
#define COMMAND_WAITER_H

#include "base/interrupt.h"
#include "output/cli.h"

struct waiter {
	struct ibsa_client *client;
	int out_fd;  /* -1: its reader has closed it */
	int wake_fd; /* readable after a signal; -1 without descriptors */
};

/*
 * Prepare to wait with the client and for the output of @cli. A signal of
 * @interrupt ends waiter_wait(), until waiter_stop().
 */
void waiter_start(struct waiter *waiter, const struct cli *cli,
		  struct interrupt *interrupt);
void waiter_stop(struct waiter *waiter, struct interrupt *interrupt);

/*
 * Wait until the client has something to do, a signal arrives, the reader of
 * the output closes it, or @at_most_ms have passed (-1: no limit), and dispatch
 * the client. Return: as ibsa_wait().
 */
int waiter_wait(struct waiter *waiter, int at_most_ms);

/*
 * Whether @err of waiter_wait() ends the command; if so, print it. -ENODEV does
 * not: the client reopens a device that comes back.
 */
bool waiter_failed(int err);

#endif
