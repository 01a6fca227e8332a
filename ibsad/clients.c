/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The clients of the SA by which ibsad sends its own requests, one at a port. */
#include "base/clock.h"
#include "ibsad/daemon.h"

int ibsad_client_get(struct daemon *daemon, uint32_t port,
		     struct ibsa_client **out)
{
	struct ibsa_client **client = &daemon->clients[port];
	const struct ibsa_options options = {
		.device = daemon->ports.device,
		.port = port,
		.fabric = daemon->fabric,
	};
	struct ibsa_error error;
	int err = 0;

	if (!*client) {
		err = ibsa_open(&options, &error, client);
		if (!err) {
			err = ibsad_poll_add(daemon, ibsa_fd(*client),
					     daemon->clients);
		} else {
			ibsad_log_note("cannot send requests of ibsad itself",
				       daemon);
			ibsad_log_note(error.text, daemon);
		}
	}
	if (!err)
		*out = *client;
	return err;
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
		if (daemon->clients[i])
			(void)!ibsa_dispatch(daemon->clients[i]);
	}
}

void ibsad_clients_close(struct daemon *daemon, int ms)
{
	const uint64_t start_ns = clock_now_ns();
	int left;

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
