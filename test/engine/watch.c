/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Watches of the port: which changes they report, and when. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "test/support/puppet.h"

enum { INTERVAL_MS = IBSA_DEFAULT_PORT_INTERVAL_MS };

static struct puppet puppet;

static int set_up(void **state)
{
	(void)state;
	puppet_init(&puppet);
	return 0;
}

/* A watch, and what its callback does. */
struct watcher {
	struct ibsa__engine *engine;
	struct ibsa_port_watch *watch;
	struct watcher *victim; /* the watch to end */
	bool reads_port;	/* read the port again */
	int calls;
	unsigned int changes;
	struct ibsa_port_state now;
	int free_err, dispatch_err;
};

static void on_change(unsigned int changes, const struct ibsa_port_state *now,
		      void *arg)
{
	struct watcher *watcher = arg;
	struct ibsa_port_state state;

	watcher->calls++;
	watcher->changes = changes;
	watcher->now = *now;
	watcher->free_err = ibsa__engine_free(watcher->engine);
	watcher->dispatch_err = ibsa__engine_dispatch(watcher->engine);
	if (watcher->victim) {
		ibsa__engine_unwatch(watcher->victim->watch);
		watcher->victim->watch = NULL;
	}
	if (watcher->reads_port) {
		puppet.port.lid++;
		assert_int_equal(
			ibsa__engine_port(watcher->engine, true, &state), 0);
	}
}

static void watch_begin(struct ibsa__engine *engine, unsigned int interval_ms,
			struct watcher *watcher)
{
	*watcher = (struct watcher){ .engine = engine };
	assert_int_equal(ibsa__engine_watch(engine, interval_ms, on_change,
					    watcher, &watcher->watch),
			 0);
}

/* A new state of the port, and the changes that a watch must report for it. */
struct change {
	struct ibsa_port_state port;
	unsigned int bits;
};

static const struct change changes[] = {
	{ { .port_state = IBSA_PORT_ARMED }, IBSA_PORT_CHANGE_STATE },
	{ { .phys_state = 5 }, IBSA_PORT_CHANGE_PHYS_STATE },
	{ { .lid = 4 }, IBSA_PORT_CHANGE_LID },
	{ { .lmc = 1 }, IBSA_PORT_CHANGE_LID },
	{ { .sm_lid = 8 }, IBSA_PORT_CHANGE_SM },
	{ { .sm_sl = 1 }, IBSA_PORT_CHANGE_SM },
	{ { .pkey_index = 1 }, IBSA_PORT_CHANGE_PKEY },
	{ { .gid = { { 0xfe, 0x80 } } }, IBSA_PORT_CHANGE_GID },
	{ { .reregisters = 1 }, IBSA_PORT_CHANGE_REREGISTER },
	{ { .lid = 9, .sm_lid = 9 },
	  IBSA_PORT_CHANGE_LID | IBSA_PORT_CHANGE_SM },
};

/* Each kind of change has its bit; nothing else is reported. */
static void each_change_has_its_bit(void **state)
{
	struct ibsa__engine *engine;
	struct watcher watcher;

	(void)state;
	puppet.port = (struct ibsa_port_state){ 0 };
	engine = puppet_engine(&puppet, &puppet_options);
	watch_begin(engine, 0, &watcher);
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		puppet_advance(&puppet, engine, INTERVAL_MS);
		watcher.calls = 0;
		puppet_advance(&puppet, engine, INTERVAL_MS);
		assert_int_equal(watcher.calls, 0);
		puppet.port = changes[i].port;
		puppet_advance(&puppet, engine, INTERVAL_MS);
		assert_int_equal(watcher.calls, 1);
		assert_int_equal(watcher.changes, changes[i].bits);
		assert_memory_equal(&watcher.now, &puppet.port,
				    sizeof(puppet.port));
		puppet.port = (struct ibsa_port_state){ 0 };
	}
	ibsa__engine_free(engine);
}

/* The port is read at the smallest interval of all watches, and not without
 * watches. */
static void interval_is_the_smallest(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct watcher slow, fast;

	(void)state;
	assert_int_equal(ibsa__engine_timeout_ms(engine), -1);
	watch_begin(engine, 5000, &slow);
	puppet.port_reads = 0;
	puppet_advance(&puppet, engine, 4999);
	assert_int_equal(puppet.port_reads, 0);
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(puppet.port_reads, 1);
	watch_begin(engine, 10, &fast);
	for (int ms = 0; ms < 100; ms++)
		puppet_advance(&puppet, engine, 1);
	assert_int_equal(puppet.port_reads, 11);
	ibsa__engine_unwatch(fast.watch);
	puppet_advance(&puppet, engine, 4999);
	assert_int_equal(puppet.port_reads, 11);
	puppet_advance(&puppet, engine, 1);
	assert_int_equal(puppet.port_reads, 12);
	ibsa__engine_unwatch(slow.watch);
	ibsa__engine_unwatch(NULL);
	assert_int_equal(ibsa__engine_timeout_ms(engine), -1);
	ibsa__engine_free(engine);
}

/*
 * A change that a read of the port outside dispatch has found is reported by
 * the next dispatch, even if the port has changed back since.
 */
static void change_is_reported_by_dispatch(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	const struct ibsa_port_state before = puppet.port;
	struct ibsa_port_state now;
	struct watcher watcher, late;

	(void)state;
	watch_begin(engine, 0, &watcher);
	puppet.port.sm_lid = 20;
	assert_int_equal(ibsa__engine_port(engine, false, &now), 0);
	assert_int_equal(now.sm_lid, PUPPET_SM_LID);
	assert_int_equal(ibsa__engine_port(engine, true, &now), 0);
	assert_int_equal(now.sm_lid, 20);
	puppet.port = before;
	puppet.port.lid = 5;
	assert_int_equal(ibsa__engine_port(engine, true, &now), 0);
	watch_begin(engine, 0, &late);
	assert_int_equal(watcher.calls, 0);
	assert_int_equal(ibsa__engine_timeout_ms(engine), 0);
	puppet_advance(&puppet, engine, 0);
	assert_int_equal(watcher.calls, 1);
	assert_int_equal(watcher.changes,
			 IBSA_PORT_CHANGE_SM | IBSA_PORT_CHANGE_LID);
	assert_int_equal(watcher.now.lid, 5);
	assert_int_equal(watcher.now.sm_lid, PUPPET_SM_LID);
	assert_int_equal(late.calls, 0);
	assert_in_range(ibsa__engine_timeout_ms(engine), 1, INTERVAL_MS);
	ibsa__engine_free(engine);
}

/* A change that the transport reports is reported at once, however long the
 * interval is. */
static void change_known_to_the_transport_is_reported_at_once(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct watcher watcher;

	(void)state;
	watch_begin(engine, 60000, &watcher);
	puppet.port.reregisters++;
	puppet_advance(&puppet, engine, 0);
	assert_int_equal(watcher.calls, 0);
	puppet.port_changed = true;
	puppet_advance(&puppet, engine, 0);
	assert_int_equal(watcher.calls, 1);
	assert_int_equal(watcher.changes, IBSA_PORT_CHANGE_REREGISTER);
	puppet_advance(&puppet, engine, 0);
	assert_int_equal(watcher.calls, 1);
	ibsa__engine_free(engine);
}

/* A request without a reply causes a read of the port, and all watches get the
 * change. */
static void missing_reply_reads_the_port(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct watcher watcher;
	struct seen seen = { 0 };

	(void)state;
	watch_begin(engine, 60000, &watcher);
	assert_int_equal(puppet_query(engine, 4, &seen), 0);
	puppet.port.sm_lid = 20;
	puppet_advance(&puppet, engine, 100);
	assert_int_equal(watcher.calls, 1);
	ibsa__engine_free(engine);
}

/* A watch may be ended by its own callback and by another one's. */
static void watch_ends_from_inside(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct watcher all[4];

	(void)state;
	for (int i = 0; i < 4; i++)
		watch_begin(engine, 0, &all[i]);
	all[0].victim = &all[0];
	all[1].victim = &all[2];
	puppet.port.lid++;
	puppet_advance(&puppet, engine, INTERVAL_MS);
	assert_int_equal(all[0].calls, 1);
	assert_int_equal(all[0].free_err, -EBUSY);
	assert_int_equal(all[0].dispatch_err, -EBUSY);
	assert_int_equal(all[1].calls, 1);
	assert_int_equal(all[2].calls, 0);
	assert_int_equal(all[3].calls, 1);
	puppet.port.lid++;
	puppet_advance(&puppet, engine, INTERVAL_MS);
	assert_int_equal(all[0].calls, 1);
	assert_int_equal(all[1].calls, 2);
	assert_int_equal(all[3].calls, 2);
	ibsa__engine_free(engine);
	assert_int_equal(all[1].calls, 2);
}

/* Callbacks that find a new change each time do not keep one dispatch busy. */
static void reading_again_is_the_next_dispatch(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct watcher watcher;

	(void)state;
	watch_begin(engine, 0, &watcher);
	watcher.reads_port = true;
	puppet.port.lid++;
	puppet_advance(&puppet, engine, INTERVAL_MS);
	assert_int_equal(watcher.calls, 1);
	assert_int_equal(ibsa__engine_timeout_ms(engine), 0);
	puppet_advance(&puppet, engine, 0);
	assert_int_equal(watcher.calls, 2);
	ibsa__engine_free(engine);
}

/* If the device is gone, its port is down; after another read error the port
 * has not changed. */
static void gone_device_is_a_port_down(void **state)
{
	static const int gone[] = { -ENODEV, -ENOENT };
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	struct watcher watcher;
	struct ibsa_port_state now;

	(void)state;
	watch_begin(engine, 0, &watcher);
	puppet.port_err = -EMFILE;
	puppet_advance(&puppet, engine, INTERVAL_MS);
	assert_int_equal(watcher.calls, 0);
	for (int i = 0; i < 2; i++) {
		watcher.calls = 0;
		puppet.port_err = gone[i];
		puppet_advance(&puppet, engine, INTERVAL_MS);
		puppet_advance(&puppet, engine, INTERVAL_MS);
		assert_int_equal(watcher.calls, 1);
		assert_int_equal(watcher.changes, IBSA_PORT_CHANGE_STATE);
		assert_int_equal(watcher.now.port_state, IBSA_PORT_DOWN);
		assert_int_equal(watcher.now.sm_lid, PUPPET_SM_LID);
		assert_int_equal(ibsa__engine_port(engine, true, &now),
				 gone[i]);
		puppet.port_err = 0;
		puppet_advance(&puppet, engine, INTERVAL_MS);
		assert_int_equal(watcher.calls, 2);
		assert_int_equal(watcher.now.port_state, IBSA_PORT_ACTIVE);
	}
	ibsa__engine_free(engine);
}

static void watch_in_the_end(const struct ibsa_reply *reply, void *arg)
{
	struct watcher *watcher = arg;

	(void)reply;
	watcher->calls = ibsa__engine_watch(watcher->engine, 0, on_change,
					    watcher, &watcher->watch);
}

static void bad_watches_are_refused(void **state)
{
	struct ibsa__engine *engine = puppet_engine(&puppet, &puppet_options);
	const struct ibsa_query query = { .record = &ibsa_node_record };
	struct watcher watcher = { .engine = engine };

	(void)state;
	assert_int_equal(ibsa__engine_watch(engine, 0, NULL, NULL,
					    &watcher.watch),
			 -EINVAL);
	assert_null(watcher.watch);
	assert_int_equal(ibsa__engine_query(engine, &query, watch_in_the_end,
					    &watcher, NULL),
			 0);
	ibsa__engine_free(engine);
	assert_int_equal(watcher.calls, -ESHUTDOWN);
	assert_null(watcher.watch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(each_change_has_its_bit, set_up),
		cmocka_unit_test_setup(interval_is_the_smallest, set_up),
		cmocka_unit_test_setup(change_is_reported_by_dispatch, set_up),
		cmocka_unit_test_setup(
			change_known_to_the_transport_is_reported_at_once,
			set_up),
		cmocka_unit_test_setup(missing_reply_reads_the_port, set_up),
		cmocka_unit_test_setup(watch_ends_from_inside, set_up),
		cmocka_unit_test_setup(reading_again_is_the_next_dispatch,
				       set_up),
		cmocka_unit_test_setup(gone_device_is_a_port_down, set_up),
		cmocka_unit_test_setup(bad_watches_are_refused, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
