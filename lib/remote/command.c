/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sends a command line, such as one of ibsa fabric control, to a fabric
 * server.
 */
#include <errno.h>
#include <string.h>

#include <ibsa/server.h>

#include "base/alloc.h"
#include "base/environment.h"
#include "base/error.h"
#include "remote/connection.h"

static int address_find(const char *server, struct ibsa_error *error,
			struct remote_address *out)
{
	if (!server)
		server = ibsa__environment_read(false).fabric;
	if (!ibsa__remote_path(server))
		return ibsa__fail(
			error, -EINVAL,
			"no fabric server is named: set IBSA_FABRIC to "
			"unix:PATH");
	/* A command concerns no particular node. */
	return ibsa__remote_address_find(server, "", NULL, 0, error, out);
}

/*
 * Copy the server's answer to a command into @out, cut to @room bytes
 * including a NUL.
 */
static void answer_copy(const char *answer, size_t len, char *out, size_t room)
{
	if (!room)
		return;
	if (len > room - 1)
		len = room - 1;
	memcpy(out, answer, len);
	out[len] = '\0';
}

int ibsa_server_command(const char *server, const char *line, char *out,
			size_t room, struct ibsa_error *error)
{
	struct remote_request request = {
		.type = REMOTE_CONTROL,
		.body = line,
		.len = strlen(line),
		.room = REMOTE_BODY_MAX,
	};
	struct remote_address address;
	int err = address_find(server, error, &address);

	if (err)
		return err;
	address.is_control = true;
	if (request.len > REMOTE_LINE_MAX)
		return ibsa__fail(
			error, -ENAMETOOLONG,
			"the command has %zu characters; the limit is "
			"%d",
			request.len, REMOTE_LINE_MAX);
	request.answer = ibsa__calloc(1, REMOTE_BODY_MAX);
	if (!request.answer)
		return ibsa__fail(error, -ENOMEM, "out of memory");
	err = ibsa__remote_request_once(&address, &request, error);
	if (!err)
		answer_copy(request.answer, request.answered, out, room);
	ibsa__free(request.answer);
	return err;
}
