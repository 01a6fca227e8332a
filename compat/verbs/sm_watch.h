/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Watches for SM events, one per port. */
#ifndef VERBS_SM_WATCH_H
#define VERBS_SM_WATCH_H

#include <ibsa/types.h>

struct context_call;
struct context_state;

/*
 * Watch the ports of the context's device for SM events, except Ethernet ports
 * without the address of an SA. Then wait until the SA has accepted the
 * subscription of at least one port, or until the subscriptions of all ports
 * have failed. @registering is held. Return: 0; -ENODEV all ports are Ethernet
 * ports without the address of an SA; -EAGAIN no port is active, or no active
 * port has an SM; -EBUSY another program receives the Reports of a port; -EIO;
 * -ENOMEM. After an error, no port is watched. If a port was watched before the
 * call, the call does not wait, and returns 0.
 */
int ibsa__sm_watches_start(struct context_call *call) IBSA_MUST_USE;

/* @registering is held. */
void ibsa__sm_watches_stop(struct context_state *state);

#endif
