/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A port of a fabric in another process as a transport. */
#ifndef REMOTE_TRANSPORT_H
#define REMOTE_TRANSPORT_H

#include <ibsa/transport.h>

#include "remote/connection.h"

/**
 * ibsa__remote_open - a transport over a port at a fabric server
 * @place:       which; gets the name and number of what was found
 * @reply_bytes: largest MAD that recv takes, from the MAD header on; one MAD
 *               is always taken
 * @error:       filled on failure with what was wrong and what to do; or NULL
 * @out:         the transport; its close frees it
 *
 * send is -EBUSY while the server has not read what was sent before. What
 * else holds of a umad device holds of it, see ibsa__umad_open(), but that a
 * reply above @reply_bytes costs nothing else. port, gid and pkey return what
 * the server has last sent: it sends the state and tables of the port again
 * when they change, and no call waits for it, whatever it does. listen waits
 * for the server's answer for a quarter of a second at most when it begins and
 * when it ends; without an answer it returns 0, and the next call that begins
 * has the answer. close waits as long at most. When the server goes away, recv
 * says so once, with -ENODEV, and changed that the port is another: port and
 * send are -ENODEV from then on. Until one is there again, at the same path,
 * each of them looks for it, at most every 100 ms; those on the port are then
 * to register again.
 *
 * Return: as ibsa__remote_connect(); -ENOMEM.
 */
int ibsa__remote_open(struct remote_address *address, size_t reply_bytes,
		      struct ibsa_error *error,
		      struct ibsa_transport **out) IBSA_MUST_USE;

#endif
