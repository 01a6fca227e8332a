/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Commands to a server in another process, such as a fabric server, whose
 * clients use it with the address "unix:PATH".
 */
#ifndef IBSA_SERVER_H
#define IBSA_SERVER_H

#include <ibsa/types.h>

IBSA_BEGIN

/**
 * ibsa_server_command - send a command to a server in another process
 * @server: "unix:PATH"; NULL: $IBSA_FABRIC, which a set-uid program ignores
 * @line:   a command of ibsa_fabric_server_command(), at most 511 bytes
 * @out:    receives the result and a NUL: for "stats" lines of NAME VALUE,
 *          otherwise ""; truncated, still with a NUL, if @room is too small;
 *          unchanged after an error. May be NULL if @room is 0
 * @room:   bytes at @out
 * @error:  after an error, a sentence that tells what failed and what to do;
 *          may be NULL
 *
 * Waits at most ten seconds for the connection, and then at most ten seconds
 * for the result. After -ETIMEDOUT, the server may still execute the command.
 *
 * Return: 0; -EINVAL neither @server nor, if @server is NULL, $IBSA_FABRIC is
 * "unix:PATH"; -ENODEV no server listens at PATH, or the server has ended;
 * -EACCES this user has no access to PATH, or the server belongs to a user
 * other than this one and root, and @server is not "unix-any-user:PATH" or this
 * user is not root; -EUSERS the server has reached its maximum number of
 * connections; -EPROTO the process at PATH does not answer as a server of this
 * version; -ETIMEDOUT the server does not reply; -ENAMETOOLONG @line or PATH is
 * too long; -ENOMEM; the error from connecting; or the error of the command,
 * which ibsa_fabric_server_command() lists. Any thread may call
 * ibsa_server_command().
 */
int ibsa_server_command(const char *server, const char *line, char *out,
			size_t room, struct ibsa_error *error) IBSA_MUST_USE;

IBSA_END

#endif
