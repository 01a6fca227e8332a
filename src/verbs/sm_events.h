/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Registrations for the SM's events, and what hangs on there being some. */
#ifndef VERBS_SM_EVENTS_H
#define VERBS_SM_EVENTS_H

struct context_state;

/* End all of it: registrations, watches, the async fd as it was. */
void ibsa__sm_events_end(struct context_state *state);

/* The same with @registering held. */
void ibsa__sm_events_clear(struct context_state *state);

#endif
