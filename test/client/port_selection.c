/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where a test asks: three kinds of transport. */
#include <errno.h>

#include "base/clock.h"
#include "test/client/port_selection.h"

struct holding place_held;

struct ibsa_fabric *place_fabric(bool is_virtual)
{
	const struct ibsa_fabric_options options = {
		.virtual_clock = is_virtual,
		.latency_us = PLACE_SA_US,
	};
	struct ibsa_fabric *fabric = NULL;

	assert_int_equal(ibsa_fabric_parse(server_pair, strlen(server_pair),
					   &options, NULL, &fabric),
			 0);
	return fabric;
}

struct place place_embedded(void)
{
	struct place place = { .fabric = place_fabric(true) };

	place.options.on = place.fabric;
	return place;
}

struct place port_at_server(void)
{
	struct place place = {
		.server = server_start_on(place_fabric(false)),
	};

	place.fabric = server_fabric(place.server);
	place.options.fabric = server_address(place.server);
	place.options.device = "right";
	return place;
}

struct place place_holding(void)
{
	struct place place = { .holding = &place_held };

	holding_init(&place_held, PLACE_SA_US * UINT64_C(1000));
	place.options.transport = &place_held.transport;
	return place;
}

void place_end(struct place *place)
{
	if (place->server)
		server_stop(place->server);
	else if (place->fabric)
		ibsa_fabric_put(place->fabric);
}

void place_silence(struct place *place, bool silent)
{
	const struct ibsa_fault fault = {
		.kind = IBSA_FAULT_SILENCE,
		.percent = silent ? 100 : 0,
	};

	if (place->holding)
		place->holding->is_silent = silent;
	else
		assert_int_equal(ibsa_fabric_fault(place->fabric, &fault), 0);
}

struct ibsa_client *place_open(const struct place *place)
{
	struct ibsa_error error = { .text = "" };
	struct ibsa_client *client = NULL;

	if (ibsa_open(&place->options, &error, &client))
		fail_msg("%s", error.text);
	return client;
}

void place_path_told(int status, struct sa_path_rec *resp, void *context)
{
	struct place_paths *paths = context;

	(void)resp;
	paths->calls++;
	/* There is no such LID, for most. */
	paths->answered += !status || status == -EINVAL;
}
