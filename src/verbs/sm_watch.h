/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Watches for the SM's events, one a port. */
#ifndef VERBS_SM_WATCH_H
#define VERBS_SM_WATCH_H

#include <ibsa/types.h>

struct context_call;
struct context_state;

/*
 * Watch through all ports, and wait until one subscription stands.
 * @registering is held. Return: 0; -ENODEV no port that has an SA; -EAGAIN
 * none is active or knows an SM; -EBUSY another program has the reports; -EIO;
 * -ENOMEM; nothing is then watched.
 */
int ibsa__sm_watches_start(struct context_call *call) IBSA_MUST_USE;

/* @registering is held. */
void ibsa__sm_watches_stop(struct context_state *state);

#endif
