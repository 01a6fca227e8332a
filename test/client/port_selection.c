/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The ports that tests send queries through: three kinds of transport. */
#include <errno.h>

#include "base/clock.h"
#include "test/client/port_selection.h"

struct holding test_port_held;

struct ibsa_fabric *test_port_fabric(bool is_virtual)
{
	const struct ibsa_fabric_options options = {
		.virtual_clock = is_virtual,
		.latency_us = TEST_PORT_SA_US,
	};
	struct ibsa_fabric *fabric = NULL;

	assert_int_equal(ibsa_fabric_parse(server_pair, strlen(server_pair),
					   &options, NULL, &fabric),
			 0);
	return fabric;
}

struct test_port test_port_embedded(void)
{
	struct test_port test_port = { .fabric = test_port_fabric(true) };

	test_port.options.on = test_port.fabric;
	return test_port;
}

struct test_port test_port_at_server(void)
{
	struct test_port test_port = {
		.server = server_start_on(test_port_fabric(false)),
	};

	test_port.fabric = server_fabric(test_port.server);
	test_port.options.fabric = server_address(test_port.server);
	test_port.options.device = "right";
	return test_port;
}

struct test_port test_port_holding(void)
{
	struct test_port test_port = { .holding = &test_port_held };

	holding_init(&test_port_held, TEST_PORT_SA_US * UINT64_C(1000));
	test_port.options.transport = &test_port_held.transport;
	return test_port;
}

void test_port_end(struct test_port *test_port)
{
	if (test_port->server)
		server_stop(test_port->server);
	else if (test_port->fabric)
		ibsa_fabric_put(test_port->fabric);
}

void test_port_silence(struct test_port *test_port, bool silent)
{
	const struct ibsa_fault fault = {
		.kind = IBSA_FAULT_SILENCE,
		.percent = silent ? 100 : 0,
	};

	if (test_port->holding)
		test_port->holding->is_silent = silent;
	else
		assert_int_equal(ibsa_fabric_fault(test_port->fabric, &fault),
				 0);
}

struct ibsa_client *test_port_open(const struct test_port *test_port)
{
	struct ibsa_error error = { .text = "" };
	struct ibsa_client *client = NULL;

	if (ibsa_open(&test_port->options, &error, &client))
		fail_msg("%s", error.text);
	return client;
}

void path_reply_note(int status, struct sa_path_rec *resp, void *context)
{
	struct path_replies *paths = context;

	(void)resp;
	paths->calls++;
	/* Most of the LIDs do not exist. */
	paths->answered += !status || status == -EINVAL;
}
