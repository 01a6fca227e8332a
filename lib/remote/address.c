/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The addresses of ports at fabric servers. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "remote/connection.h"

const char *ibsa__remote_path(const char *fabric)
{
	static const char *const prefixes[] = { REMOTE_PREFIX,
						REMOTE_PREFIX_ANY,
						REMOTE_PREFIX_TCP };

	for (size_t i = 0; fabric && i < 3; i++) {
		const size_t len = strlen(prefixes[i]);

		if (!strncmp(fabric, prefixes[i], len))
			return fabric + len;
	}
	return NULL;
}

/*
 * Split NAME or NAME/PORT: the part after the last slash is a port number if
 * it consists of digits only.
 */
static void node_split(struct remote_node *node)
{
	char *slash = strrchr(node->name, '/');
	unsigned long port;
	char *end;

	if (!slash || slash[1] < '0' || slash[1] > '9')
		return;
	port = strtoul(slash + 1, &end, 10);
	if (*end || port > UINT8_MAX)
		return;
	*slash = '\0';
	node->port = (unsigned int)port;
}

static int name_copy(const char *name, struct ibsa_error *error,
		     char out[REMOTE_NODE_MAX + 1])
{
	if (strlen(name) > REMOTE_NODE_MAX)
		return ibsa__fail(error, -EINVAL,
				  "the name of node %.32s... is too long; the "
				  "limit is %d characters",
				  name, REMOTE_NODE_MAX);
	memcpy(out, name, strlen(name) + 1);
	return 0;
}

/* Without a name, or with one that is too long, the first adapter is used. */
static void machine_name(struct remote_node *node)
{
	if (gethostname(node->name, REMOTE_NODE_MAX))
		node->name[0] = '\0';
	node->is_machine = *node->name;
}

int ibsa__remote_node_find(const char *device, const char *process_node,
			   unsigned int port, struct ibsa_error *error,
			   struct remote_node *out)
{
	const bool is_of_process = !device || !strcmp(device, REMOTE_DEVICE);
	struct remote_node node = { .port = 0 };
	int err = 0;

	if (device)
		err = name_copy(device, error, node.device);
	if (err)
		return err;
	if (device && !*device)
		;
	else if (!process_node || !*process_node)
		machine_name(&node);
	else
		err = name_copy(process_node, error, node.name);
	if (err)
		return err;
	if (!node.is_machine)
		node_split(&node);
	if (port || !is_of_process)
		node.port = port;
	*out = node;
	return 0;
}

/* @path: HOST:PORT,token=FILE */
static int tcp_read(const char *path, struct ibsa_error *error,
		    struct remote_address *out)
{
	static const char token[] = ",token=";
	const char *file = strstr(path, token);
	const size_t len = file ? (size_t)(file - path) : strlen(path);

	if (ibsa__tcp_name_parse(path, len, &out->tcp))
		return ibsa__fail(
			error, -EINVAL,
			"'%.64s' is not the address of a fabric "
			"server: write tcp:HOST:PORT,token=FILE, with "
			"an address such as 127.0.0.1 or [::1] as "
			"HOST",
			path);
	if (!file || !file[strlen(token)])
		return ibsa__fail(error, -EINVAL,
				  "the fabric server at %.*s needs a token: "
				  "write tcp:%.*s,token=FILE, with the file of "
				  "--token of ibsa fabric run, or a copy of it",
				  (int)len, path, (int)len, path);
	memcpy(out->path, path, len);
	out->path[len] = '\0';
	out->is_tcp = true;
	return ibsa__token_read(file + strlen(token), TOKEN_ANY, error,
				&out->token);
}

static int unix_read(const char *fabric, const char *path,
		     struct ibsa_error *error, struct remote_address *out)
{
	if (strlen(path) >= sizeof(out->path))
		return ibsa__fail(error, -ENAMETOOLONG,
				  "the path %.40s... is too long for a socket; "
				  "the limit is %zu characters",
				  path, sizeof(out->path) - 1);
	out->is_of_any_user = path - fabric > (ptrdiff_t)strlen(REMOTE_PREFIX);
	memcpy(out->path, path, strlen(path) + 1);
	return 0;
}

int ibsa__remote_address_find(const char *fabric, const char *device,
			      const char *process_node, unsigned int port,
			      struct ibsa_error *error,
			      struct remote_address *out)
{
	const char *path = ibsa__remote_path(fabric);
	struct remote_address address = { .port = 0 };
	struct remote_node at;
	int err;

	if (!path || !*path)
		return ibsa__fail(error, -EINVAL,
				  "'%.40s' does not name a fabric server; "
				  "write unix:PATH, or, over TCP, "
				  "tcp:HOST:PORT,token=FILE",
				  fabric ? fabric : "");
	err = ibsa__remote_node_find(device, process_node, port, error, &at);
	if (!err &&
	    !strncmp(fabric, REMOTE_PREFIX_TCP, strlen(REMOTE_PREFIX_TCP)))
		err = tcp_read(path, error, &address);
	else if (!err)
		err = unix_read(fabric, path, error, &address);
	if (err)
		return err;
	memcpy(address.node, at.name, sizeof(at.name));
	memcpy(address.device, at.device, sizeof(at.device));
	address.is_machine = at.is_machine;
	address.port = at.port;
	*out = address;
	return 0;
}
