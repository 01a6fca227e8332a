/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The device of ibsad, as the operations of a server. A port of the server is a
 * port number; there are no issm files, and one command, status.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "ibsad/daemon.h"

static size_t queues_memory(void *owner)
{
	const struct daemon *daemon = owner;

	return daemon->queued;
}

static const char *device_name(void *owner, uint32_t device)
{
	const struct daemon *daemon = owner;

	(void)device;
	return daemon->ports.device;
}

/*
 * A client of another device would get the records of this one's fabric: the
 * device must be this one, or none. The client's node is of no interest.
 */
static int port_find(void *owner, struct remote_hello *hello,
		     struct serve_port *out, struct ibsa_error *error)
{
	struct daemon *daemon = owner;
	const char *name = daemon->ports.device;
	uint32_t port;
	int err;

	if (*hello->device && strcmp(hello->device, name) != 0 &&
	    strcmp(hello->device, REMOTE_DEVICE) != 0)
		return ibsa__fail(error, -ENODEV,
				  "ibsad serves %s here, not %s", name,
				  hello->device);
	err = ibsad_port_find(&daemon->ports, hello->port, &port);
	if (err)
		return ibsa__fail(error, err, "%s has no MAD device of port %u",
				  name, hello->port);
	ibsad_port_read(&daemon->ports, port, NS_PER_S);
	*hello = (struct remote_hello){ .version = REMOTE_VERSION,
					.port = port };
	strcpy(hello->device, name);
	strcpy(hello->name, name);
	*out = (struct serve_port){ .port = port, .seat = ++daemon->seats };
	return 0;
}

static int mad_find(void *owner, const struct serve_port *at, uint32_t number,
		    struct serve_port *out)
{
	(void)owner;
	(void)at;
	(void)number;
	(void)out;
	return -EPERM;
}

static bool has_device(void *owner, const struct serve_port *at,
		       uint32_t device)
{
	(void)owner;
	(void)at;
	return device == 0;
}

static void port_state(void *owner, const struct serve_port *port,
		       struct serve_state *out)
{
	struct daemon *daemon = owner;

	*out = daemon->ports.at[port->port].state;
	/* The way in which a port tells that registrations may be lost. */
	out->port.reregisters +=
		ibsad_reports_gaps(&daemon->reports[port->port], port->seat);
}

static int file_read(void *owner, const struct serve_port *at, const char *path,
		     char *out, size_t room, size_t *used)
{
	struct daemon *daemon = owner;

	(void)at;
	return ibsad_ports_file(&daemon->ports, path, out, room, used);
}

static int folder_list(void *owner, const struct serve_port *at,
		       const char *path, char *out, size_t room, size_t *used)
{
	struct daemon *daemon = owner;

	(void)at;
	return ibsad_ports_folder(&daemon->ports, path, out, room, used);
}

static void issm_name(void *owner, const struct serve_port *port,
		      struct serve_issm_name *out)
{
	(void)owner;
	snprintf(out->text, sizeof(out->text), "%u", port->port);
}

static bool issm_find(void *owner, const char *name, struct serve_port *out)
{
	(void)owner;
	(void)name;
	(void)out;
	return false;
}

/* Counters of all ports. */
struct totals {
	uint64_t subscriptions;
	uint64_t reports;
	uint64_t gaps;
	uint64_t hits;
	uint64_t joined;
	uint64_t misses;
	uint64_t preloads;
};

static struct totals totals_of(const struct daemon *daemon)
{
	struct totals totals = { 0 };

	for (uint32_t i = 1; i <= IBSAD_PORTS; i++) {
		const struct ibsad_reports *reports = &daemon->reports[i];
		const struct ibsad_cache *cache = &daemon->caches[i];

		totals.subscriptions += ibsad_reports_count(reports, NULL);
		totals.reports += reports->count;
		totals.gaps += reports->gaps;
		totals.hits += cache->hits;
		totals.joined += cache->joined;
		totals.misses += cache->misses;
		totals.preloads += cache->preload.preloads;
	}
	return totals;
}

static int command_run(void *owner, const char *line, char *out, size_t room,
		       struct ibsa_error *error)
{
	const struct daemon *daemon = owner;
	const struct server_stats stats = ibsa__server_stats(daemon->server);
	const struct totals totals = totals_of(daemon);
	const struct {
		const char *name;
		uint64_t value;
	} rows[] = {
		{ "clients", stats.clients },
		{ "accepted", stats.accepted },
		{ "disconnected", stats.disconnected },
		{ "packets_in", stats.packets_in },
		{ "packets_out", stats.packets_out },
		{ "packets_refused", stats.packets_refused },
		{ "refusals", daemon->refused },
		{ "registrations", daemon->owned.count },
		{ "subscriptions", totals.subscriptions },
		{ "reports", totals.reports },
		{ "gaps", totals.gaps },
		{ "cache_hits", totals.hits },
		{ "cache_joined", totals.joined },
		{ "cache_misses", totals.misses },
		{ "cache_preloads", totals.preloads },
	};
	size_t used = 0;

	if (strcmp(line, "status") != 0)
		return ibsa__fail(error, -EINVAL, "ibsad has no such command");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows) && used < room; i++)
		used += (size_t)snprintf(out + used, room - used,
					 "%-16s %" PRIu64 "\n", rows[i].name,
					 rows[i].value);
	return 0;
}

static void user_leave(void *owner, uid_t user)
{
	struct daemon *daemon = owner;

	ibsad_owned_user_end(&daemon->owned, user);
}

const struct serve_ops ibsad_serve_ops = {
	.file = &ibsad_file_ops,
	.open = ibsad_file_open,
	.memory = queues_memory,
	.name = device_name,
	.find = port_find,
	.find_mad = mad_find,
	.has_device = has_device,
	.state = port_state,
	.read = file_read,
	.list = folder_list,
	.issm_name = issm_name,
	.issm_find = issm_find,
	.command = command_run,
	.leave = user_leave,
	.input = ibsad_input,
};
