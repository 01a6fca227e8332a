/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The public functions of a fabric server, except its commands. */
#include <errno.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/sized.h"
#include "fabric/server/server.h"
#include "fabric/tools/environment.h"

static struct ibsa_fabric_server *server_new(struct ibsa_fabric *fabric)
{
	struct ibsa_fabric_server *server = ibsa__calloc(1, sizeof(*server));

	if (!server)
		return NULL;
	pthread_mutex_lock(&fabric->lock);
	fabric->references++;
	pthread_mutex_unlock(&fabric->lock);
	server->fabric = fabric;
	return server;
}

int ibsa_fabric_server_open_sized(
	struct ibsa_fabric *fabric, const char *path,
	const struct ibsa_fabric_server_options *options, size_t size,
	struct ibsa_error *error, struct ibsa_fabric_server **out)
{
	struct ibsa_fabric_server *owner;
	struct server_options serve = {
		.ops = &ibsa__fabric_serve_ops,
		.lock = &fabric->lock,
		.title = "fabric server",
	};
	struct ibsa_fabric_server_options known;
	int err = ibsa__options_read(&known, sizeof(known), options, size,
				     error);

	if (err)
		return err;
	if (!ibsa__fabric_is_ours(fabric))
		return ibsa__fail(error, -EINVAL,
				  "the fabric belongs to the parent process; "
				  "load another one in this process");
	if (fabric->clock.is_virtual)
		return ibsa__fail(error, -EINVAL,
				  "cannot open a fabric server on a fabric "
				  "with a virtual clock: other processes use "
				  "real time");
	serve.has_rings =
		ibsa__fabric_environment_read(known.no_environment).has_rings;
	serve.note = known.report;
	serve.arg = known.arg;
	serve.connections = known.connections;
	serve.patience_ms = known.patience_ms;
	serve.memory_mb = known.memory_mb;
	serve.tcp = known.listen;
	serve.token = known.token;
	serve.control_token = known.control_token;
	owner = server_new(fabric);
	if (!owner)
		return ibsa__fail(error, -ENOMEM, "out of memory");
	serve.owner = owner;
	err = ibsa__server_open(path, &serve, error, &owner->server);
	if (err) {
		ibsa_fabric_server_close(owner);
		return err;
	}
	ibsa__fabric_serve_slices(fabric);
	*out = owner;
	return 0;
}

void ibsa_fabric_server_close(struct ibsa_fabric_server *server)
{
	bool is_inherited;

	if (!server)
		return;
	is_inherited = server->server && !ibsa__server_is_ours(server->server);
	ibsa__server_close(server->server);
	if (is_inherited)
		return;
	ibsa_fabric_put(server->fabric);
	ibsa__free(server);
}

int ibsa_fabric_server_wait(struct ibsa_fabric_server *server, int timeout_ms)
{
	return ibsa__server_wait(server->server, timeout_ms);
}

void ibsa_fabric_server_wake(struct ibsa_fabric_server *server)
{
	ibsa__server_wake(server->server);
}

int ibsa_fabric_server_fd(const struct ibsa_fabric_server *server)
{
	return ibsa__server_fd(server->server);
}

int ibsa_fabric_server_port(const struct ibsa_fabric_server *server)
{
	return ibsa__server_tcp_port(server->server);
}

void ibsa_fabric_server_stats_get_sized(const struct ibsa_fabric_server *server,
					struct ibsa_fabric_server_stats *out,
					size_t size)
{
	const struct server_stats from = ibsa__server_stats(server->server);

	const struct ibsa_fabric_server_stats stats = {
		.clients = from.clients,
		.accepted = from.accepted,
		.disconnected = from.disconnected,
		.packets_in = from.packets_in,
		.packets_out = from.packets_out,
		.packets_refused = from.packets_refused,
	};

	ibsa__sized_write(out, size, &stats, sizeof(stats));
}
