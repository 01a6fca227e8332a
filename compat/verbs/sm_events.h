/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Registrations of a context for SM events, and the resources that exist while
 * it has at least one.
 */
#ifndef VERBS_SM_EVENTS_H
#define VERBS_SM_EVENTS_H

struct context_state;

/*
 * End all registrations of a context and their watches, and restore the async
 * fd. @registering is held.
 */
void ibsa__sm_events_clear(struct context_state *state);

#endif
