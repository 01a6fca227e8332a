/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A program that reads events by libibverbs' own calls, with the library for
 * LD_PRELOAD in front of them, on the real kernel.
 *
 * usage: vm-stock REPORTER
 */
#include "events_rig.h"

#include <dlfcn.h>
#include <unistd.h>

enum { CANARY = 0xa5, GUARD_BYTES = 64 };

/*
 * The event struct of libibverbs, with memory around it that must not change.
 */
struct guarded {
	struct ibv_async_event event;
	uint8_t guard[GUARD_BYTES];
};

static void assert_is_of(void (*function)(void), const char *library)
{
	void *address;
	Dl_info info;

	memcpy(&address, &function, sizeof(address));
	assert_true(dladdr(address, &info));
	assert_non_null(strstr(info.dli_fname, library));
}

/*
 * The preload library defines functions with a context, and not those after
 * them, which need another object.
 */
static void calls_are_in_front(void **state)
{
	(void)state;
	assert_is_of((void (*)(void))ibv_get_async_event, "preload");
	assert_is_of((void (*)(void))ibv_ack_async_event, "preload");
	assert_is_of((void (*)(void))ibv_close_device, "preload");
	assert_is_of((void (*)(void))ibv_event_type_str, "preload");
	assert_is_of((void (*)(void))ibv_create_cq, "preload");
	assert_is_of((void (*)(void))ibv_create_qp, "preload");
	assert_is_of((void (*)(void))ibv_create_srq, "preload");
	assert_is_of((void (*)(void))ibv_open_device, "preload");
	assert_is_of((void (*)(void))ibv_query_qp, "libibverbs.so");
	assert_is_of((void (*)(void))ibv_dereg_mr, "libibverbs.so");
}

/* Take the next event of this type, without acknowledging it. */
static void take(struct rig *rig, int type, struct guarded *out)
{
	for (;;) {
		memset(out, CANARY, sizeof(*out));
		assert_int_equal(ibv_get_async_event(rig->context, &out->event),
				 0);
		for (int i = 0; i < GUARD_BYTES; i++)
			assert_int_equal(out->guard[i], CANARY);
		if ((int)out->event.event_type == type)
			return;
		ibv_ack_async_event(&out->event);
	}
}

static void events_of_the_device_come_before_all(void **state)
{
	struct rig *rig = *state;
	struct guarded got;

	rig_change_gids();
	assert_true(rig_poll(rig->context->async_fd, RIG_WAIT_MS));
	take(rig, IBV_EVENT_GID_CHANGE, &got);
	assert_int_equal(got.event.element.port_num, 1);
	assert_null(ibsa_stock_event_gid(&got.event));
	assert_string_equal(ibv_event_type_str(got.event.event_type),
			    "GID table change");
	ibv_ack_async_event(&got.event);
	assert_int_equal(ibv_close_device(rig->context), 0);
}

static void gid_is_behind_the_event(void **state)
{
	struct rig *rig = *state;
	struct guarded first;
	struct guarded second;
	struct ibv_async_event copy;

	rig_subscribe(rig, NULL);
	reporter_report(&rig->reporter, 65, RIG_GID);
	reporter_report(&rig->reporter, 66, RIG_GROUP);
	take(rig, IBV_EVENT_GID_UNAVAIL, &first);
	take(rig, IBV_EVENT_MCG_CREATED, &second);
	copy = first.event;
	assert_int_equal(ibsa_stock_event_gid(&copy)->raw[0], 0xfe);
	assert_int_equal(ibsa_stock_event_gid(&copy)->raw[15], RIG_LAST);
	assert_int_equal(ibsa_stock_event_gid(&second.event)->raw[0], 0xff);
	assert_string_equal(ibv_event_type_str(copy.event_type),
			    "GID unavailable");
	ibv_ack_async_event(&copy);
	ibv_ack_async_event(&second.event);
	rig_close_subscribed(rig, ibv_close_device);
}

static void gap_has_its_port(void **state)
{
	struct rig *rig = *state;
	const struct ibsa_verbs_options options = { .gaps = true };
	struct guarded got;

	rig_subscribe(rig, &options);
	vm_shell("ip link set eth0 down");
	take(rig, IBV_EVENT_PORT_ERR, &got);
	ibv_ack_async_event(&got.event);
	vm_shell("ip link set eth0 up");
	take(rig, IBV_EVENT_SM_GAP, &got);
	assert_int_equal(got.event.element.port_num, 1);
	assert_null(ibsa_stock_event_gid(&got.event));
	ibv_ack_async_event(&got.event);
	rig_close_subscribed(rig, ibv_close_device);
}

/*
 * The event of a queue that was created after the library has replaced the file
 * of async_fd can be acknowledged.
 */
static void event_of_a_queue_is_acknowledged(void **state)
{
	struct rig *rig = *state;
	struct guarded got;
	struct pair pair;

	rig_subscribe(rig, NULL);
	pair_open(&pair, rig->context);
	pair_reach_limit(&pair);
	take(rig, IBV_EVENT_SRQ_LIMIT_REACHED, &got);
	assert_ptr_equal(got.event.element.srq, pair.srq);
	ibv_ack_async_event(&got.event);
	pair_close(&pair);
	rig_close_subscribed(rig, ibv_close_device);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_are_in_front),
		IN_A_RIG(events_of_the_device_come_before_all),
		IN_A_RIG(gid_is_behind_the_event),
		IN_A_RIG(gap_has_its_port),
		IN_A_RIG(event_of_a_queue_is_acknowledged),
	};

	if (!reporter_is_named(argc, argv))
		return 2;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
