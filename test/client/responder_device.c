/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Packets of the device that a responder ignores, and a device that fails. */
#include <fcntl.h>
#include <unistd.h>

#include "responder_rig.h"
#include "test/support/child.h"
#include "wire/mad.h"

/*
 * The kernel reports that a Report or a reply could not be sent: the responder
 * does not take this for a request.
 */
static void timeouts_are_not_requests(void **state)
{
	struct responder_rig *rig = *state;
	struct responder_arrival arrival = responder_arrival(9, 1);

	responder_open(rig);
	responder_encode(&arrival, &responder_get_info);
	arrival.header.status = ETIMEDOUT;
	responder_arrive(&arrival, 24);
	responder_pass(rig);
	assert_false(responder_sent(rig));
	assert_int_equal(responder_info(rig).requests, 0);
}

static bool child_is_refused(struct responder_rig *rig)
{
	const int device = responder_kernel.device;

	if (ibsa_responder_dispatch(rig->responder) != -EINVAL ||
	    ibsa_responder_fd(rig->responder) != -1 ||
	    ibsa_responder_timeout_ms(rig->responder) != -1)
		return false;
	ibsa_responder_close(rig->responder);
	return fcntl(device, F_GETFD) < 0;
}

/* A request that waits during the fork is answered by the parent. */
static void child_cannot_use_it(void **state)
{
	struct responder_rig *rig = *state;
	struct responder_arrival arrival = responder_arrival(9, 1);
	pid_t child;

	responder_open(rig);
	responder_encode(&arrival, &responder_get_info);
	responder_arrive(&arrival, IBSA_MAD_BYTES);
	child = fork();
	if (!child)
		_exit(!child_is_refused(rig));
	child_end(child);
	responder_pass(rig);
	assert_true(responder_sent(rig));
	assert_int_equal(responder_info(rig).answers, 1);
}

static void foreign_requests_are_counted(void **state)
{
	struct responder_rig *rig = *state;
	struct responder_arrival arrival = responder_arrival(9, 1);
	uint8_t large[UMAD_HEADER_BYTES + 2 * IBSA_MAD_BYTES] = { 0 };

	responder_open(rig);
	responder_encode(&arrival, &responder_get_info);
	responder_arrive(&arrival, 24);
	arrival.mad[MAD_METHOD] = IBSA_METHOD_REPORT_RESP;
	responder_arrive(&arrival, 100);
	responder_arrive_bytes(large, sizeof(large));
	responder_pass(rig);
	assert_false(responder_sent(rig));
	assert_int_equal(responder_info(rig).unprocessed, 3);
}

static void answer_that_the_kernel_refuses_is_counted(void **state)
{
	struct responder_rig *rig = *state;

	responder_open(rig);
	responder_kernel.write_errno = EINVAL;
	responder_receive(rig, 9, 1, &responder_get_info);
	responder_kernel.write_errno = 0;
	assert_false(responder_sent(rig));
	assert_int_equal(responder_info(rig).refused, 1);
	assert_int_equal(responder_info(rig).answers, 0);
	responder_receive(rig, 9, 1, &responder_get_info);
	assert_true(responder_sent(rig));
}

static void device_that_has_gone_is_told_for_good(void **state)
{
	struct responder_rig *rig = *state;
	struct responder_arrival arrival = responder_arrival(9, 1);

	responder_open(rig);
	responder_arrive(&arrival, sizeof(arrival.mad));
	responder_kernel.read_errno = EIO;
	assert_int_equal(ibsa_responder_dispatch(rig->responder), -ENODEV);
	responder_kernel.read_errno = 0;
	assert_int_equal(ibsa_responder_dispatch(rig->responder), -ENODEV);
	assert_false(responder_is_readable(rig));
	assert_int_equal(ibsa_responder_timeout_ms(rig->responder), -1);
}

static void device_that_goes_while_it_is_written_to_is_told(void **state)
{
	struct responder_rig *rig = *state;
	struct responder_arrival arrival = responder_arrival(9, 1);

	responder_open(rig);
	responder_encode(&arrival, &responder_get_info);
	responder_arrive(&arrival, sizeof(arrival.mad));
	responder_kernel.write_errno = EPIPE;
	assert_int_equal(ibsa_responder_dispatch(rig->responder), -ENODEV);
	assert_int_equal(responder_info(rig).refused, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_A_RIG(timeouts_are_not_requests),
		IN_A_RIG(foreign_requests_are_counted),
		IN_A_RIG(child_cannot_use_it),
		IN_A_RIG(answer_that_the_kernel_refuses_is_counted),
		IN_A_RIG(device_that_has_gone_is_told_for_good),
		IN_A_RIG(device_that_goes_while_it_is_written_to_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
