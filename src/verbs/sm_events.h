/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Registrations for the SM's events, and what hangs on there being some. */
#ifndef VERBS_SM_EVENTS_H
#define VERBS_SM_EVENTS_H

struct ibsa__side;

/* End all of it: registrations, watches, the async fd as it was. */
void ibsa__sm_events_end(struct ibsa__side *side);

/* The same with @registering held. */
void ibsa__sm_events_clear(struct ibsa__side *side);

#endif
