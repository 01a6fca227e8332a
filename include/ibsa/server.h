/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Commands to a server in another process, such as a fabric server, whose
 * clients use it with the address "unix:PATH".
 *
 * ibsa_server_command send a command to a server in another process
 */
#ifndef IBSA_SERVER_H
#define IBSA_SERVER_H

#include <ibsa/types.h>

IBSA_BEGIN

/**
 * ibsa_server_command - send a command to a server in another process
 * @server: "unix:PATH"; NULL: $IBSA_FABRIC
 * @line:   as for ibsa_fabric_server_command(), at most 511 bytes
 * @out:    as for ibsa_fabric_server_command(); unchanged after an error
 * @error:  after an error, what failed and what to do; may be NULL
 *
 * Waits at most ten seconds for the connection and for the result. Any thread
 * may call it.
 *
 * Return: 0; -ENODEV no server; -EACCES no access; -ETIMEDOUT no reply, the
 * command may still be executed; -EINVAL, -EUSERS, -EPROTO, -ENAMETOOLONG,
 * -ENOMEM; or the error of the command
 */
int ibsa_server_command(const char *server, const char *line, char *out,
			size_t room, struct ibsa_error *error) IBSA_MUST_USE;

IBSA_END

#endif
