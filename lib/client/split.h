/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A transport over a port of a device, whose Reports come from ibsad: a port has
 * one receiver of Reports, which ibsad is for all programs.
 */
#ifndef CLIENT_SPLIT_H
#define CLIENT_SPLIT_H

#include <ibsa/transport.h>

#include "remote/connection.h"

/*
 * Make a transport over @device, which it owns on success. While it listens, it
 * is connected to the server at @address, and sends there what is about
 * subscriptions; unless there is no server when it begins to listen. If the
 * server was restarted, or clients of the server may have missed Reports, the
 * port shows a client reregister event. Return: 0; -ENOMEM; or -errno.
 */
int ibsa__split_new(struct ibsa_transport *device,
		    const struct remote_address *address,
		    struct ibsa_transport **out) IBSA_MUST_USE;

#endif
