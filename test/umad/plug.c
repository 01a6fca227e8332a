/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A device that is removed under its transport, and comes back. */
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include <ibsa/types.h>

#include "base/clock.h"
#include "test/umad/played.h"

enum { RETRY_MS = 100 };

static void device_goes(void)
{
	played.read_errno = EIO;
	played.open_errno = ENOENT;
}

static void assert_told_gone(struct ibsa_transport *transport)
{
	struct ibsa_message message;

	assert_int_equal(played_receive(transport, &message), -ENODEV);
	assert_int_equal(played_receive(transport, &message), 0);
	assert_int_equal(played_send(transport, 2, IBSA_METHOD_GET), -ENODEV);
}

static void later(unsigned int ms)
{
	played.later_ns += ms * NS_PER_MS;
}

static bool has_changed(struct ibsa_transport *transport)
{
	return transport->ops->changed(transport);
}

/* When the device is gone, its port is gone, even if sysfs still lists it. */
static void device_that_goes_takes_its_port_with_it(void **state)
{
	struct tree tree;
	struct ibsa_transport *transport = played_open(&tree, "");
	struct ibsa_port_state port;

	(void)state;
	assert_int_equal(transport->ops->port(transport, &port, sizeof(port)),
			 0);
	assert_false(has_changed(transport));
	device_goes();
	assert_told_gone(transport);
	assert_true(has_changed(transport));
	assert_false(has_changed(transport));
	assert_int_equal(transport->ops->port(transport, &port, sizeof(port)),
			 -ENODEV);
	assert_false(played_readable(transport));
	played_close(transport, &tree);
}

/* Clients of the port have to register at the SM again. */
static void device_that_comes_back_is_used_again(void **state)
{
	struct tree tree;
	struct ibsa_transport *transport = played_open(&tree, "DRIVER=hfi1\n");
	const int fd = transport->ops->fd(transport);
	struct ibsa_port_state port;

	(void)state;
	assert_int_equal(transport->ops->listen(transport, true), 0);
	device_goes();
	assert_told_gone(transport);
	assert_true(has_changed(transport));
	played.open_errno = 0;
	later(RETRY_MS);
	played_assert_usable(transport);
	assert_true(has_changed(transport));
	assert_int_equal(transport->ops->port(transport, &port, sizeof(port)),
			 0);
	assert_int_equal(port.reregisters, 1);
	assert_int_equal(played.opens, 2);
	assert_int_equal(played.agents, 2);
	assert_int_equal(played.report_agent, PLAYED_REPORT_AGENT);
	assert_int_equal(transport->ops->fd(transport), fd);
	played_close(transport, &tree);
}

/*
 * However often send is called, the device is searched for only at intervals,
 * also while a wait without timeout runs. The error is not reported again.
 */
static void device_is_searched_at_intervals(void **state)
{
	struct tree tree;
	struct ibsa_transport *transport = played_open(&tree, "");
	struct ibsa_message message;

	(void)state;
	device_goes();
	assert_told_gone(transport);
	played.open_errno = 0;
	for (int i = 0; i < 5; i++)
		assert_int_equal(played_send(transport, 2, IBSA_METHOD_GET),
				 -ENODEV);
	assert_int_equal(played.opens, 1);
	assert_int_equal(transport->ops->wait(transport, -1), 0);
	assert_int_equal(played_receive(transport, &message), 0);
	assert_int_equal(played.opens, 2);
	played_assert_usable(transport);
	played_close(transport, &tree);
}

/* If send detects it first, a waiting thread still receives the error. */
static void sender_that_finds_it_gone_ends_the_wait(void **state)
{
	struct tree tree;
	struct ibsa_transport *transport = played_open(&tree, "");
	struct ibsa_message message;

	(void)state;
	device_goes();
	played.write_errno = EIO;
	assert_int_equal(played_send(transport, 2, IBSA_METHOD_GET), -ENODEV);
	assert_int_equal(transport->ops->wait(transport, -1), 0);
	assert_int_equal(played_receive(transport, &message), -ENODEV);
	assert_int_equal(played_receive(transport, &message), 0);
	played_close(transport, &tree);
}

/*
 * The reason may change while the file is closed: it does not exist yet, it has
 * no permissions yet, the process has too many descriptors.
 */
static void each_reason_is_told_to_senders(void **state)
{
	static const struct {
		int open_errno;
		int err;
	} cases[] = {
		{ ENOENT, -ENODEV },
		{ EACCES, -EACCES },
		{ EMFILE, -EAGAIN },
	};
	struct tree tree;
	struct ibsa_transport *transport = played_open(&tree, "");
	struct ibsa_port_state port;

	(void)state;
	device_goes();
	assert_told_gone(transport);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		played.open_errno = cases[i].open_errno;
		later(RETRY_MS);
		assert_int_equal(played_send(transport, 2, IBSA_METHOD_GET),
				 cases[i].err);
	}
	played.open_errno = 0;
	played_assert_usable(transport);
	assert_int_equal(transport->ops->port(transport, &port, sizeof(port)),
			 0);
	assert_int_equal(port.reregisters, 1);
	played_close(transport, &tree);
}

static void device_rename(const struct tree *tree, const char *from,
			  const char *to)
{
	char paths[2][PATH_MAX];

	snprintf(paths[0], sizeof(paths[0]), "%s/class/infiniband/%s",
		 tree->path, from);
	snprintf(paths[1], sizeof(paths[1]), "%s/class/infiniband/%s",
		 tree->path, to);
	assert_int_equal(rename(paths[0], paths[1]), 0);
}

static void device_is_known_by_its_guid_under_another_name(void **state)
{
	struct tree tree;
	struct ibsa_transport *transport = played_open(&tree, "");
	struct ibsa_gid_entry gid;
	struct ibsa_port_state port;

	(void)state;
	device_goes();
	assert_told_gone(transport);
	device_rename(&tree, "hfi1_0", "ibp1s0");
	tree_add_device(&tree, "another");
	tree_write(&tree, "class/infiniband/another/node_guid",
		   "0002:c903:0000:0009\n");
	tree_add_umad(&tree, 0, "another", 1);
	tree_add_umad(&tree, 7, "ibp1s0", 1);
	played.open_errno = 0;
	later(RETRY_MS);
	played_assert_usable(transport);
	assert_int_equal(played.number, 7);
	tree_set_port(&tree, "ibp1s0", 1, "lid", "0x42\n");
	assert_int_equal(transport->ops->port(transport, &port, sizeof(port)),
			 0);
	assert_int_equal(port.lid, 0x42);
	assert_int_equal(transport->ops->gid(transport, 0, &gid), 0);
	played_close(transport, &tree);
}

/* Another adapter may come with the name of the one that was removed. */
static void device_of_the_same_name_is_used(void **state)
{
	struct tree tree;
	struct ibsa_transport *transport = played_open(&tree, "");

	(void)state;
	device_goes();
	assert_told_gone(transport);
	tree_write(&tree, "class/infiniband/hfi1_0/node_guid",
		   "0002:c903:0000:0009\n");
	tree_add_device(&tree, "another");
	tree_write(&tree, "class/infiniband/another/node_guid",
		   "0000:0000:0000:0000\n");
	played.open_errno = 0;
	later(RETRY_MS);
	played_assert_usable(transport);
	assert_int_equal(played.number, 0);
	played_close(transport, &tree);
}

/* Before the port and the device exist, the file is not opened. */
static void device_is_used_when_it_is_complete(void **state)
{
	struct tree tree;
	struct ibsa_transport *transport = played_open(&tree, "");

	(void)state;
	device_goes();
	assert_told_gone(transport);
	played.open_errno = 0;
	device_rename(&tree, "hfi1_0", "../away");
	later(RETRY_MS);
	assert_int_equal(played_send(transport, 2, IBSA_METHOD_GET), -ENODEV);
	device_rename(&tree, "../away", "hfi1_0");
	tree_remove_file(&tree, "class/infiniband_mad/umad0/port");
	later(RETRY_MS);
	assert_int_equal(played_send(transport, 2, IBSA_METHOD_GET), -ENODEV);
	assert_int_equal(played.opens, 1);
	tree_add_umad(&tree, 0, "hfi1_0", 1);
	later(RETRY_MS);
	played_assert_usable(transport);
	played_close(transport, &tree);
}

/* udev renames a device without removing it. */
static void device_may_be_renamed_while_it_is_used(void **state)
{
	struct tree tree;
	struct ibsa_transport *transport = played_open(&tree, "");
	struct ibsa_port_state port;

	(void)state;
	device_rename(&tree, "hfi1_0", "ibp1s0");
	assert_int_equal(transport->ops->port(transport, &port, sizeof(port)),
			 0);
	assert_int_equal(port.reregisters, 0);
	assert_false(has_changed(transport));
	played_assert_usable(transport);
	assert_int_equal(played.opens, 1);
	played_close(transport, &tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(device_that_goes_takes_its_port_with_it),
		cmocka_unit_test(device_that_comes_back_is_used_again),
		cmocka_unit_test(device_is_searched_at_intervals),
		cmocka_unit_test(sender_that_finds_it_gone_ends_the_wait),
		cmocka_unit_test(each_reason_is_told_to_senders),
		cmocka_unit_test(
			device_is_known_by_its_guid_under_another_name),
		cmocka_unit_test(device_of_the_same_name_is_used),
		cmocka_unit_test(device_is_used_when_it_is_complete),
		cmocka_unit_test(device_may_be_renamed_while_it_is_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
