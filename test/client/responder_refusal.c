/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Responders that cannot be opened, and their messages. */
#include "responder_rig.h"

static void refuse(struct responder_rig *rig,
		   const struct ibsa_responder_options *options, int err,
		   const char *words)
{
	struct ibsa_error error = { .text = "" };

	assert_int_equal(ibsa_responder_open(rig->fabric, options, &error,
					     &rig->responder),
			 err);
	assert_null(rig->responder);
	if (!strstr(error.text, words))
		fail_msg("\"%s\" does not say \"%s\"", error.text, words);
	/* The fabric has no file that --fabric could name. */
	assert_null(strstr(error.text, "--fabric"));
	assert_int_equal(ibsa_responder_open(rig->fabric, options, NULL,
					     &rig->responder),
			 err);
}

static void port_of_another_sa_is_refused(void **state)
{
	struct responder_rig *rig = *state;

	responder_kernel.sa_errno = EINVAL;
	refuse(rig, &responder_at_node2, -EBUSY,
	       "another program receives requests");
	responder_kernel.sa_errno = ENOMEM;
	refuse(rig, NULL, -ENOMEM, "port 1 of mlx5_0");
}

static void missing_ports_are_refused(void **state)
{
	struct responder_rig *rig = *state;
	struct ibsa_responder_options options = { .device = "none" };

	refuse(rig, &options, -ENODEV, "there is no device \"none\"");
	options = (struct ibsa_responder_options){ .port = 2 };
	refuse(rig, &options, -ENXIO, "no device has a port 2");
	options = (struct ibsa_responder_options){ .node = "none" };
	refuse(rig, &options, -ENODEV, "no adapter none in the fabric");
	options = (struct ibsa_responder_options){ .node = "node2",
						   .node_port = 2 };
	refuse(rig, &options, -ENXIO, "node2 has no port 2 in the fabric");
	options = (struct ibsa_responder_options){ .node = "lonely" };
	refuse(rig, &options, -ENETDOWN, "lonely is not connected");
	tree_set_port(&rig->tree, "mlx5_0", 1, "state", "1: DOWN\n");
	refuse(rig, NULL, -ENETDOWN, "mlx5_0 is down");
}

static void node_with_a_listener_is_refused(void **state)
{
	struct responder_rig *rig = *state;
	struct ibsa_transport *other;

	assert_int_equal(ibsa_fabric_attach(rig->fabric, "node2", 0, &other),
			 0);
	assert_int_equal(other->ops->listen(other, true), 0);
	refuse(rig, &responder_at_node2, -EBUSY, "name another node");
	other->ops->close(other);
	responder_open(rig);
}

static void virtual_clock_is_refused(void **state)
{
	const struct ibsa_fabric_options options = { .virtual_clock = true };
	struct responder_rig *rig = *state;

	ibsa_fabric_put(rig->fabric);
	assert_int_equal(ibsa_fabric_parse(responder_topology,
					   strlen(responder_topology), &options,
					   NULL, &rig->fabric),
			 0);
	refuse(rig, NULL, -EINVAL, "virtual clock");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_A_RIG(port_of_another_sa_is_refused),
		IN_A_RIG(missing_ports_are_refused),
		IN_A_RIG(node_with_a_listener_is_refused),
		IN_A_RIG(virtual_clock_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
