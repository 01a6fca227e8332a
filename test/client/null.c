/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Arguments that are NULL. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <ibsa/device.h>
#include <ibsa/event.h>
#include <ibsa/reach.h>
#include <ibsa/ib_sa.h>
#include <ibsa/service.h>
#include <ibsa/fabric.h>
#include <ibsa/responder.h>
#include <ibsa/server.h>
#include <ibsa/topology.h>
#include <ibsa/verbs.h>

static void functions_that_end_a_life_do_nothing(void **state)
{
	(void)state;
	assert_int_equal(ibsa_close(NULL), 0);
	assert_int_equal(ibsa_reach_stop(NULL), 0);
	assert_int_equal(ibsa_service_release(NULL), 0);
	assert_int_equal(ibsa_verbs_close(NULL), 0);
	ibsa_event_watch_stop(NULL);
	ibsa_port_watch_stop(NULL);
	ibsa_device_watch_stop(NULL);
	ibsa_service_rec_release(NULL);
	ibsa_ib_device_put(NULL);
	ibsa_verbs_async_fd_put(NULL);
	ibsa_devices_free(NULL);
	ibsa_gids_free(NULL);
	ibsa_host_ports_free(NULL);
	ibsa_topology_free(NULL);
	ibsa_trace_free(NULL);
	ibsa_trace_tree_free(NULL);
	ibsa_fabric_put(NULL);
	ibsa_fabric_server_close(NULL);
	ibsa_responder_close(NULL);
}

static void port_ignore(unsigned int changes, const struct ibsa_port_state *now,
			void *arg)
{
	(void)changes;
	(void)now;
	(void)arg;
}

static void event_ignore(const struct ibsa_event *event, void *arg)
{
	(void)event;
	(void)arg;
}

/* What is started without a handle ends when the client is closed. */
static void handles_are_optional(void **state)
{
	const struct ibsa_options options = { .fabric = FABRIC };
	const struct ibsa_service service = { .service_id = 77 };
	const struct ibsa_service_options wanted = { .service = &service };
	struct ibsa_client *client;

	(void)state;
	assert_int_equal(ibsa_open(&options, NULL, &client), 0);
	assert_int_equal(
		ibsa_port_watch_start(client, 0, port_ignore, NULL, NULL), 0);
	assert_int_equal(ibsa_event_watch_start(client, NULL, event_ignore,
						NULL, NULL, NULL),
			 0);
	assert_int_equal(
		ibsa_service_register(client, &wanted, NULL, NULL, NULL), 0);
	assert_int_equal(ibsa_close(client), 0);
}

static void missing_arguments_are_refused(void **state)
{
	const struct ibsa_options options = { .fabric = FABRIC };
	struct ibsa_registration *registration;
	struct ibsa_topology *topology;
	struct ibsa_fabric *fabric;
	struct ibsa_client *client;

	(void)state;
	assert_int_equal(ibsa_open(&options, NULL, &client), 0);
	assert_int_equal(ibsa_service_register(client, NULL, NULL, NULL,
					       &registration),
			 -EINVAL);
	assert_int_equal(ibsa_close(client), 0);
	assert_int_equal(ibsa_topology_parse(NULL, 0, NULL, NULL, &topology),
			 -EINVAL);
	assert_int_equal(ibsa_fabric_parse(NULL, 0, NULL, NULL, &fabric),
			 -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_that_end_a_life_do_nothing),
		cmocka_unit_test(handles_are_optional),
		cmocka_unit_test(missing_arguments_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
