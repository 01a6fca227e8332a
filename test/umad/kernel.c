/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel transport over a device file that the test simulates. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include <ibsa/types.h>

#include "base/clock.h"
#include "umad/header.h"
#include "test/umad/played.h"
#include "wire/mad.h"

enum { RETRY_MS = 100 };

static void omni_path_mads_have_an_agent_of_their_own(void **state)
{
	struct tree tree;
	struct ibsa_transport *transport = played_open(&tree, "DRIVER=hfi1\n");

	(void)state;
	assert_int_equal(played.agents, 2);
	assert_int_equal(played.class_versions[0], 2);
	assert_int_equal(played.class_versions[1], 0x80);
	assert_int_equal(played_send(transport, 2, IBSA_METHOD_GET), 0);
	assert_int_equal(played_sent(), 10);
	assert_int_equal(played_send(transport, 0x80, IBSA_METHOD_GET), 0);
	assert_int_equal(played_sent(), 11);
	played_close(transport, &tree);
}

static void omni_path_mads_are_refused_on_infiniband(void **state)
{
	struct tree tree;
	struct ibsa_transport *transport = played_open(&tree,
						       "DRIVER=mlx5_core\n");

	(void)state;
	assert_int_equal(played.agents, 1);
	assert_int_equal(played_send(transport, 0x80, IBSA_METHOD_GET),
			 -EOPNOTSUPP);
	assert_int_equal(played_send(transport, 2, IBSA_METHOD_GET), 0);
	assert_int_equal(played_sent(), 10);
	played_close(transport, &tree);
}

static void kernel_without_omni_path_mads_takes_the_others(void **state)
{
	struct ibsa_transport *transport;
	struct tree tree;

	(void)state;
	played.refuses_opa = true;
	transport = played_open(&tree, "DRIVER=hfi1\n");
	assert_int_equal(played_send(transport, 0x80, IBSA_METHOD_GET),
			 -EOPNOTSUPP);
	assert_int_equal(played_send(transport, 2, IBSA_METHOD_GET), 0);
	assert_int_equal(played_sent(), 10);
	played_close(transport, &tree);
}

static void large_reply_is_taken_up_to_the_limit(void **state)
{
	struct tree tree;
	struct ibsa_transport *transport = played_open(&tree, "");
	struct ibsa_message message;

	(void)state;
	played.large_bytes = UMAD_HEADER_BYTES + PLAYED_REPLY_BYTES;
	assert_int_equal(played_receive(transport, &message), 1);
	assert_int_equal(message.err, 0);
	assert_int_equal(message.len, PLAYED_REPLY_BYTES);
	assert_int_equal(played_receive(transport, &message), 0);
	assert_int_equal(played.opens, 1);
	played_close(transport, &tree);
}

static void assert_too_large(struct ibsa_transport *transport)
{
	struct ibsa_message message;

	played.large_bytes = UMAD_HEADER_BYTES + PLAYED_REPLY_BYTES + 1;
	assert_int_equal(played_receive(transport, &message), 1);
	assert_int_equal(message.err, -EMSGSIZE);
	assert_int_equal(message.len, IBSA_MAD_BYTES);
}

static void
too_large_a_reply_is_told_once_and_the_file_opened_anew(void **state)
{
	struct tree tree;
	struct ibsa_transport *transport = played_open(&tree, "DRIVER=hfi1\n");

	(void)state;
	assert_too_large(transport);
	assert_int_equal(played.opens, 2);
	assert_int_equal(played.agents, 2);
	played_assert_usable(transport);
	played_close(transport, &tree);
}

/*
 * If a resource is short, the device still counts as present, and its fd does
 * not keep a poll loop busy until the file can be opened. The port may have
 * changed meanwhile.
 */
static void shortage_passes_and_the_file_is_opened_then(void **state)
{
	static const int shortages[] = { EMFILE, ENFILE, ENOMEM };
	struct tree tree;
	struct ibsa_transport *transport = played_open(&tree, "");
	struct ibsa_message message;

	(void)state;
	for (size_t i = 0; i < sizeof(shortages) / sizeof(shortages[0]); i++) {
		played.open_errno = shortages[i];
		assert_too_large(transport);
		assert_int_equal(played_send(transport, 2, IBSA_METHOD_GET),
				 -EAGAIN);
		assert_int_equal(played_receive(transport, &message), 0);
		assert_false(played_readable(transport));
		/*
		 * The wait has no timeout: it ends so that the transport can
		 * try again.
		 */
		assert_int_equal(transport->ops->wait(transport, -1), 0);
		played.open_errno = 0;
		assert_int_equal(played_receive(transport, &message), 0);
		assert_int_equal(played.opens, 2 + i);
		assert_true(transport->ops->changed(transport));
		played_assert_usable(transport);
	}
	played_close(transport, &tree);
}

/* The device name may belong to another device by now. */
static void file_that_is_opened_late_is_still_the_device_s(void **state)
{
	struct tree tree;
	struct ibsa_transport *transport = played_open(&tree, "");
	struct ibsa_port_state port;
	struct ibsa_message message;

	(void)state;
	played.open_errno = EMFILE;
	assert_too_large(transport);
	tree_add_device(&tree, "another");
	tree_write(&tree, "class/infiniband/another/node_guid",
		   "0002:c903:0000:0009\n");
	tree_add_umad(&tree, 0, "another", 1);
	played.open_errno = 0;
	assert_int_equal(played_send(transport, 2, IBSA_METHOD_GET), -ENODEV);
	assert_int_equal(played_receive(transport, &message), -ENODEV);
	assert_int_equal(played.opens, 1);
	tree_add_umad(&tree, 7, "hfi1_0", 1);
	played.later_ns = RETRY_MS * NS_PER_MS;
	played_assert_usable(transport);
	assert_int_equal(played.number, 7);
	assert_int_equal(transport->ops->port(transport, &port, sizeof(port)),
			 0);
	assert_int_equal(port.reregisters, 1);
	played_close(transport, &tree);
}

static void file_that_moved_is_a_device_that_came_back(void **state)
{
	struct tree tree;
	struct ibsa_transport *transport = played_open(&tree, "");
	struct ibsa_port_state port;

	(void)state;
	played.open_errno = ENOMEM;
	assert_too_large(transport);
	tree_remove_file(&tree, "class/infiniband_mad/umad0/port");
	tree_add_umad(&tree, 7, "hfi1_0", 1);
	played.open_errno = 0;
	assert_int_equal(played_send(transport, 2, IBSA_METHOD_GET), 0);
	assert_int_equal(played.number, 7);
	assert_int_equal(transport->ops->port(transport, &port, sizeof(port)),
			 0);
	assert_int_equal(port.reregisters, 1);
	played_close(transport, &tree);
}

static void sending_opens_the_file_anew_too(void **state)
{
	struct tree tree;
	struct ibsa_transport *transport = played_open(&tree, "");

	(void)state;
	played.open_errno = EMFILE;
	assert_too_large(transport);
	played.open_errno = 0;
	played_assert_usable(transport);
	played_close(transport, &tree);
}

/*
 * recv returns the error once, each send returns it, and the transport tries
 * again after a while.
 */
static void file_that_cannot_be_opened_again_says_why(void **state)
{
	static const struct {
		int open_errno;
		int err;
	} cases[] = {
		{ ENOENT, -ENODEV },
		{ ENXIO, -ENODEV },
		{ EACCES, -EACCES },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tree tree;
		struct ibsa_transport *transport = played_open(&tree, "");
		struct ibsa_message message;

		played.open_errno = cases[i].open_errno;
		assert_too_large(transport);
		played.open_errno = 0;
		assert_int_equal(played_receive(transport, &message),
				 cases[i].err);
		assert_int_equal(played_receive(transport, &message), 0);
		assert_int_equal(played_send(transport, 2, IBSA_METHOD_GET),
				 cases[i].err);
		assert_int_equal(transport->ops->wait(transport, 0), 0);
		played.later_ns = RETRY_MS * NS_PER_MS;
		played_assert_usable(transport);
		played_close(transport, &tree);
	}
}

/*
 * The transport receives Reports only while it listens; the same agent sends
 * the responses.
 */
static void reports_have_an_agent_of_their_own(void **state)
{
	struct tree tree;
	struct ibsa_transport *transport = played_open(&tree, "");

	(void)state;
	assert_int_equal(played.report_agent, 0);
	assert_int_equal(transport->ops->listen(transport, false), 0);
	assert_int_equal(transport->ops->listen(transport, true), 0);
	assert_int_equal(transport->ops->listen(transport, true), 0);
	assert_int_equal(played.report_agent, PLAYED_REPORT_AGENT);
	assert_int_equal(played_send(transport, 2, IBSA_METHOD_REPORT_RESP), 0);
	assert_int_equal(played_sent(), PLAYED_REPORT_AGENT);
	assert_int_equal(played_send(transport, 2, IBSA_METHOD_GET), 0);
	assert_int_equal(played_sent(), 10);
	assert_int_equal(transport->ops->listen(transport, false), 0);
	assert_int_equal(played.report_agent, 0);
	assert_int_equal(played_send(transport, 2, IBSA_METHOD_REPORT_RESP), 0);
	assert_int_equal(played_sent(), 10);
	played_close(transport, &tree);
}

/* Two programs at one port cannot both receive Reports. */
static void second_listener_is_refused(void **state)
{
	struct tree tree;
	struct ibsa_transport *transport = played_open(&tree, "");

	(void)state;
	played.report_errno = EINVAL;
	assert_int_equal(transport->ops->listen(transport, true), -EBUSY);
	played.report_errno = EPERM;
	assert_int_equal(transport->ops->listen(transport, true), -EBUSY);
	played.report_errno = ENOMEM;
	assert_int_equal(transport->ops->listen(transport, true), -ENOMEM);
	played.report_errno = 0;
	assert_int_equal(transport->ops->listen(transport, true), 0);
	played_close(transport, &tree);
}

/*
 * The agent is registered at the reopened file, too, unless another program was
 * first; then the next call returns the error.
 */
static void reports_survive_a_new_file(void **state)
{
	struct tree tree;
	struct ibsa_transport *transport = played_open(&tree, "");

	(void)state;
	assert_int_equal(transport->ops->listen(transport, true), 0);
	assert_too_large(transport);
	assert_int_equal(played.opens, 2);
	assert_int_equal(played.report_agent, PLAYED_REPORT_AGENT);
	played_assert_usable(transport);

	played.report_errno = EINVAL;
	assert_too_large(transport);
	assert_int_equal(played.opens, 3);
	assert_int_equal(transport->ops->listen(transport, true), -EBUSY);
	played_assert_usable(transport);
	played.report_errno = 0;
	assert_int_equal(transport->ops->listen(transport, true), 0);
	assert_int_equal(played.report_agent, PLAYED_REPORT_AGENT);

	played.open_errno = ENODEV;
	assert_too_large(transport);
	assert_int_equal(transport->ops->listen(transport, true), -ENODEV);
	assert_int_equal(transport->ops->listen(transport, false), 0);
	played_close(transport, &tree);
}

/* The device returns a MAD with this method. */
static void played_return(uint8_t method)
{
	uint8_t packet[UMAD_HEADER_BYTES + IBSA_MAD_BYTES] = { 0 };

	packet[UMAD_HEADER_BYTES + MAD_METHOD] = method;
	assert_int_equal(write(played.end, packet, sizeof(packet)),
			 sizeof(packet));
}

/* Receive until no MAD is left. Return: the number of MADs. */
static unsigned int receive_all(struct ibsa_transport *transport)
{
	struct ibsa_message message;
	unsigned int count = 0;

	while (played_receive(transport, &message))
		count++;
	return count;
}

/*
 * After a wait, the transport reads one reply for each request that was sent
 * before the wait. Other MADs, such as Reports, do not count.
 */
static void no_read_follows_the_last_reply_of_a_wait(void **state)
{
	struct tree tree;
	struct ibsa_transport *transport = played_open(&tree, "");

	(void)state;
	assert_int_equal(played_send(transport, 2, IBSA_METHOD_GET), 0);
	assert_int_equal(played_send(transport, 2, IBSA_METHOD_GET), 0);
	played_return(IBSA_METHOD_REPORT);
	played_return(IBSA_METHOD_GET_RESP);
	played_return(IBSA_METHOD_GET_RESP);
	assert_int_equal(transport->ops->wait(transport, -1), 0);
	assert_int_equal(receive_all(transport), 3);
	assert_int_equal(played.reads, 3);
	assert_int_equal(receive_all(transport), 0);
	assert_int_equal(played.reads, 4);
	played_close(transport, &tree);
}

/*
 * All MADs that have come are received if no request is outstanding, or if no
 * wait came before.
 */
static void other_mads_are_read_to_the_last(void **state)
{
	struct tree tree;
	struct ibsa_transport *transport = played_open(&tree, "");

	(void)state;
	played_return(IBSA_METHOD_REPORT);
	played_return(IBSA_METHOD_REPORT);
	assert_int_equal(transport->ops->wait(transport, -1), 0);
	assert_int_equal(receive_all(transport), 2);
	assert_int_equal(played_send(transport, 2, IBSA_METHOD_GET), 0);
	played_return(IBSA_METHOD_GET_RESP);
	played_return(IBSA_METHOD_REPORT);
	assert_int_equal(receive_all(transport), 2);
	played_close(transport, &tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reports_have_an_agent_of_their_own),
		cmocka_unit_test(second_listener_is_refused),
		cmocka_unit_test(reports_survive_a_new_file),
		cmocka_unit_test(omni_path_mads_have_an_agent_of_their_own),
		cmocka_unit_test(omni_path_mads_are_refused_on_infiniband),
		cmocka_unit_test(
			kernel_without_omni_path_mads_takes_the_others),
		cmocka_unit_test(large_reply_is_taken_up_to_the_limit),
		cmocka_unit_test(
			too_large_a_reply_is_told_once_and_the_file_opened_anew),
		cmocka_unit_test(shortage_passes_and_the_file_is_opened_then),
		cmocka_unit_test(
			file_that_is_opened_late_is_still_the_device_s),
		cmocka_unit_test(file_that_moved_is_a_device_that_came_back),
		cmocka_unit_test(sending_opens_the_file_anew_too),
		cmocka_unit_test(file_that_cannot_be_opened_again_says_why),
		cmocka_unit_test(no_read_follows_the_last_reply_of_a_wait),
		cmocka_unit_test(other_mads_are_read_to_the_last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
