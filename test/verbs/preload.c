/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The library for LD_PRELOAD alone: how it converts events to libibverbs'
 * struct. The test replaces libibsa.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <ibsa/verbs.h>

#include "test/support/fail_alloc.h"

enum { CANARY = 0xa5, GUARD_BYTES = 32 };

/* The next event, and the calls so far. */
static struct {
	struct ibsa_async_event event;
	int fails; /* an errno */
	unsigned int gets;
	unsigned int acks;
	struct ibsa_async_event acked;
} behind;

static struct ibv_context context;

int ibsa_stock_get_event(struct ibv_context *of, struct ibsa_async_event *event)
{
	assert_ptr_equal(of, &context);
	behind.gets++;
	if (behind.fails) {
		errno = behind.fails;
		return -1;
	}
	*event = behind.event;
	return 0;
}

void ibsa_ack_async_event(struct ibsa_async_event *event)
{
	behind.acks++;
	behind.acked = *event;
}

const char *ibsa_event_type_text(int event_type)
{
	return event_type == IBV_EVENT_GID_AVAIL ? "ours" : "other";
}

struct guarded {
	struct ibv_async_event event;
	uint8_t guard[GUARD_BYTES];
};

static int setup(void **state)
{
	(void)state;
	memset(&behind, 0, sizeof(behind));
	return 0;
}

static void get(struct guarded *out)
{
	memset(out, CANARY, sizeof(*out));
	assert_int_equal(ibv_get_async_event(&context, &out->event), 0);
	for (int i = 0; i < GUARD_BYTES; i++)
		assert_int_equal(out->guard[i], CANARY);
}

static void event_of_the_device_is_as_it_was(void **state)
{
	struct ibv_qp qp;
	struct guarded got;

	(void)state;
	behind.event.event_type = IBV_EVENT_QP_FATAL;
	behind.event.element.qp = &qp;
	get(&got);
	assert_int_equal(got.event.event_type, IBV_EVENT_QP_FATAL);
	assert_ptr_equal(got.event.element.qp, &qp);
	assert_null(ibsa_stock_event_gid(&got.event));
	ibv_ack_async_event(&got.event);
	assert_int_equal(behind.acks, 1);
	assert_int_equal(behind.acked.event_type, IBV_EVENT_QP_FATAL);
	assert_ptr_equal(behind.acked.element.qp, &qp);

	behind.event.event_type = IBV_EVENT_PORT_ERR;
	behind.event.element.port_num = 2;
	get(&got);
	assert_int_equal(got.event.element.port_num, 2);
}

static void gap_has_a_port_and_no_gid(void **state)
{
	struct guarded got;

	(void)state;
	behind.event.event_type = IBV_EVENT_SM_GAP;
	behind.event.element.port_num = 3;
	get(&got);
	assert_int_equal(got.event.event_type, IBV_EVENT_SM_GAP);
	assert_int_equal(got.event.element.port_num, 3);
	assert_null(ibsa_stock_event_gid(&got.event));
	ibv_ack_async_event(&got.event);
	assert_int_equal(behind.acks, 1);
}

/*
 * ibsa_stock_event_gid() works for all events that were read, until each is
 * acknowledged, also with a copy of the event.
 */
static void each_event_has_its_gid(void **state)
{
	static const int types[] = {
		IBV_EVENT_MCG_CREATED,
		IBV_EVENT_MCG_DELETED,
		IBV_EVENT_GID_AVAIL,
		IBV_EVENT_GID_UNAVAIL,
	};
	struct guarded got[4];

	(void)state;
	for (int i = 0; i < 4; i++) {
		behind.event.event_type = types[i];
		memset(&behind.event.element.gid, i, sizeof(union ibv_gid));
		get(&got[i]);
	}
	for (int i = 0; i < 4; i++) {
		struct ibv_async_event copy = got[i].event;
		const union ibv_gid *gid = ibsa_stock_event_gid(&copy);

		assert_int_equal((int)copy.event_type, types[i]);
		assert_non_null(gid);
		assert_int_equal(gid->raw[0], i);
		assert_int_equal(gid->raw[15], i);
		ibv_ack_async_event(&copy);
		assert_null(ibsa_stock_event_gid(&copy));
	}
	assert_int_equal(behind.acks, 0);
}

static void failure_is_passed_on(void **state)
{
	struct guarded got;

	(void)state;
	memset(&got, CANARY, sizeof(got));
	behind.fails = EAGAIN;
	assert_int_equal(ibv_get_async_event(&context, &got.event), -1);
	assert_int_equal(errno, EAGAIN);
	for (size_t i = 0; i < sizeof(got); i++)
		assert_int_equal(((uint8_t *)&got)[i], CANARY);
}

static void without_memory_no_event_is_lost(void **state)
{
	struct guarded got;

	(void)state;
	behind.event.event_type = IBV_EVENT_GID_AVAIL;
	fail_alloc_after(0);
	assert_int_equal(ibv_get_async_event(&context, &got.event), -1);
	assert_int_equal(errno, ENOMEM);
	assert_int_equal(behind.gets, 0);
	fail_alloc_after(-1);
	get(&got);
	assert_non_null(ibsa_stock_event_gid(&got.event));
	ibv_ack_async_event(&got.event);
}

static void names_are_ours(void **state)
{
	(void)state;
	assert_string_equal(
		ibv_event_type_str((enum ibv_event_type)IBV_EVENT_GID_AVAIL),
		"ours");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(event_of_the_device_is_as_it_was, setup),
		cmocka_unit_test_setup(gap_has_a_port_and_no_gid, setup),
		cmocka_unit_test_setup(each_event_has_its_gid, setup),
		cmocka_unit_test_setup(failure_is_passed_on, setup),
		cmocka_unit_test_setup(without_memory_no_event_is_lost, setup),
		cmocka_unit_test_setup(names_are_ours, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
