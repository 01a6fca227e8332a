/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Helpers for tests of the verbs names: contexts on an embedded fabric. */
#ifndef VERBS_RIG_H
#define VERBS_RIG_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include <cmocka.h>

#include <ibsa/fabric.h>
#define IBSA_VERBS_NAMES
#include <ibsa/verbs.h>

/* The fabric of three_nodes.h, and a context of node1. */
struct verbs_rig {
	struct ibsa_fabric *fabric;
	struct ibv_context *context;
};

void verbs_rig_start(struct verbs_rig *rig, bool virtual_clock);
void verbs_rig_stop(struct verbs_rig *rig);

/*
 * Set up a test, whose state is its rig: on the system's clock, or on a virtual
 * one, where timeouts take no time.
 */
int verbs_rig_setup(void **state);
int verbs_rig_setup_virtual(void **state);
int verbs_rig_teardown(void **state);

#define VERBS_TEST(name, rig)                                           \
	cmocka_unit_test_prestate_setup_teardown(name, verbs_rig_setup, \
						 verbs_rig_teardown, rig)
#define VERBS_VIRTUAL_TEST(name, rig)             \
	cmocka_unit_test_prestate_setup_teardown( \
		name, verbs_rig_setup_virtual, verbs_rig_teardown, rig)

struct ibv_context *verbs_rig_open(struct verbs_rig *rig, const char *node);

/* GID 0 of a port. */
union ibv_gid verbs_rig_gid(const struct verbs_rig *rig, const char *node,
			    unsigned int port);

/* Return: a multicast GID of this subnet whose last byte is @number. */
union ibv_gid verbs_rig_group(uint8_t number);

/* Connect or disconnect the cable of a port. */
void verbs_rig_plug(struct verbs_rig *rig, const char *node, unsigned int port,
		    bool up);

/* Turn a fault of the fabric on for all packets, or off. */
void verbs_rig_fault(struct verbs_rig *rig, enum ibsa_fault_kind kind, bool on);

/*
 * A client at port 1 of a node joins or leaves a group: the group is created
 * for its first member and deleted after its last.
 */
void verbs_rig_join(struct verbs_rig *rig, const char *node,
		    const union ibv_gid *group, bool joined);

/* Return: whether a thread of this process sleeps in this system call. */
bool verbs_rig_is_in(pid_t thread, long call);

/* @failed is -1 and errno is @err. */
#define assert_errno(failed, err)             \
	do {                                  \
		errno = 0;                    \
		assert_int_equal(failed, -1); \
		assert_int_equal(errno, err); \
	} while (0)

#endif
