/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The clients of the SA with which ibsad sends its own requests, one for each
 * port. */
#include <poll.h>

#include "base/clock.h"
#include "ibsad/daemon.h"

/* The port has changed: inform the clients, and empty the cache. */
static void port_changed(unsigned int changes,
			 const struct ibsa_port_state *now, void *arg)
{
	struct ibsad_cache *cache = arg;
	struct daemon *daemon = cache->daemon;

	(void)now;
	pthread_mutex_lock(&daemon->lock);
	ibsad_cache_flush(cache);
	ibsad_port_read(&daemon->ports, cache->port, 0);
	daemon_changed(daemon);
	if (changes & IBSA_PORT_CHANGE_REREGISTER)
		ibsad_owned_renew(&daemon->owned, cache->port);
	pthread_mutex_unlock(&daemon->lock);
}

static int client_open(struct daemon *daemon, uint32_t port,
		       struct ibsa_client **out)
{
	const struct ibsa_options options = {
		.device = daemon->ports.device,
		.port = port,
		.fabric = daemon->fabric,
	};
	struct ibsa_client *client;
	struct ibsa_error error;
	int err = ibsa_open(&options, &error, &client);

	if (err) {
		ibsad_log_note(error.text, daemon);
		return err;
	}
	err = ibsad_poll_add(daemon, ibsa_fd(client), daemon->clients);
	if (!err)
		err = ibsa_port_watch_start(client, 0, port_changed,
					    &daemon->caches[port], NULL);
	if (err)
		ibsa_close(client);
	else
		*out = client;
	return err;
}

int ibsad_client_get(struct daemon *daemon, uint32_t port,
		     struct ibsa_client **out)
{
	struct ibsa_client **client = &daemon->clients[port];
	const int err = *client ? 0 : client_open(daemon, port, client);

	if (!err)
		*out = *client;
	return err;
}

bool ibsad_client_has_input(const struct daemon *daemon, uint32_t port)
{
	struct pollfd client = { .events = POLLIN };

	if (!daemon->clients[port])
		return false;
	client.fd = ibsa_fd(daemon->clients[port]);
	return poll(&client, 1, 0) > 0;
}

int ibsad_clients_timeout_ms(const struct daemon *daemon)
{
	int timeout_ms = -1;

	for (uint32_t i = 1; i <= IBSAD_PORTS; i++) {
		if (daemon->clients[i])
			timeout_ms =
				sooner_ms(timeout_ms,
					  ibsa_timeout_ms(daemon->clients[i]));
	}
	return timeout_ms;
}

void ibsad_clients_dispatch(struct daemon *daemon)
{
	for (uint32_t i = 1; i <= IBSAD_PORTS; i++) {
		struct ibsa_client *client = daemon->clients[i];

		/* Without this, each query would cost a read, too. */
		if (client && (daemon->has_input || !ibsa_timeout_ms(client)))
			(void)!ibsa_dispatch(client);
	}
	daemon->has_input = false;
}

void ibsad_clients_close(struct daemon *daemon, int ms)
{
	const uint64_t start_ns = clock_now_ns();
	int left;

	ibsad_owned_end(&daemon->owned);
	while (!ibsad_owned_is_empty(&daemon->owned) &&
	       (left = ibsa__clock_left_ms(ms, start_ns))) {
		(void)ibsad_owned_tick(&daemon->owned);
		for (uint32_t i = 1; i <= IBSAD_PORTS; i++)
			if (daemon->clients[i])
				(void)!ibsa_wait(daemon->clients[i],
						 left < 10 ? left : 10);
	}
	for (uint32_t i = 1; i <= IBSAD_PORTS; i++)
		ibsa_close(daemon->clients[i]);
}
