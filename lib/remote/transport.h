/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A transport of a port at a server, which runs in another process. */
#ifndef REMOTE_TRANSPORT_H
#define REMOTE_TRANSPORT_H

#include <ibsa/transport.h>

#include "remote/connection.h"

/*
 * Open a transport over a port at a server.
 * @address:     of the port; gets the name and number of the port found
 * @reply_bytes: largest MAD that recv takes, from the MAD header on; one MAD
 *               is always taken
 * @error:       set on failure to what was wrong and what to do; may be NULL
 * @out:         the transport; its close operation frees it
 *
 * The transport behaves like that of ibsa__umad_open(), except:
 *
 * - send returns -EBUSY while the server has not read earlier packets.
 * - A reply larger than @reply_bytes has no effect on other requests.
 * - port, gid and pkey return what the server sent last, without waiting: it
 *   sends the port's state and tables after each change.
 * - listen waits up to 250 ms for the server's answer when it begins and when it
 *   ends. If none comes, it returns 0, and the next call that begins listening
 *   gets the answer. close waits up to 250 ms, too.
 * - When the server goes away, recv returns -ENODEV once, and changed reports a
 *   change. From then on, port and send return -ENODEV. port, send, recv and
 *   listen try, at most every 100 ms, to connect to a server at the same path.
 *   After the transport has connected again, its operation port reports that
 *   clients must register again.
 *
 * Return: as ibsa__remote_connect(); -ENOMEM.
 */
int ibsa__remote_open(struct remote_address *address, size_t reply_bytes,
		      struct ibsa_error *error,
		      struct ibsa_transport **out) IBSA_MUST_USE;

#endif
