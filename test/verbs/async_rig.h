/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The async fd of a context of libibverbs: a pipe, read by a libibverbs that
 * the test has loaded; its SA is on an embedded fabric.
 */
#ifndef VERBS_ASYNC_RIG_H
#define VERBS_ASYNC_RIG_H

#include <ibsa/ib_sa.h>

#include "test/support/device_tree.h"
#include "test/verbs/stub_ibverbs.h"
#include "test/verbs/rig.h"

enum { PATIENCE_MS = 20000 };

struct async_world {
	struct tree tree;
	struct verbs_rig rig;
	struct ibv_device device;
	struct ibv_context context;
	int number;
	int writer;
	void *library;
	struct stub_seen *seen;
	struct ibsa_ib_device_options
		asked; /* with which the device was opened */
	int watch_err; /* with which every watch ends */
};

extern struct async_world world;

/* Set up a test; the SA of its context is node1 of an embedded fabric. */
int async_setup(void **state);
int async_teardown(void **state);

#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, async_setup, async_teardown)

/* Write an event of the device. */
void async_device_event(enum ibv_event_type type, int port);

/*
 * Whether the context's async fd is readable, or becomes so within
 * @timeout_ms.
 */
bool async_is_readable(int timeout_ms);

/*
 * Read the next event; the other functions also check that it is an event of
 * the device, or of the SM.
 */
struct ibv_async_event async_next(void);
void async_expect_device(enum ibv_event_type type, int port);
void async_expect_sm(int type);

/*
 * async_add() registers for the events of ports that come and go; async_drop()
 * ends the registration.
 */
void async_add(void);
void async_drop(void);

/* Whether @fd is the device's file. */
bool async_is_pipe(int fd);

#endif
