/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The events of a device's ports, such as IBV_EVENT_PORT_ERR, for a context of
 * ibsa_verbs_open() at a fabric server.
 */
#ifndef VERBS_PORT_EVENTS_H
#define VERBS_PORT_EVENTS_H

#include <ibsa/types.h>

struct context_state;
struct ibv_context;
struct port_events;

/*
 * Queue the events of all ports of the context's device from now on, until the
 * context is closed; a second call does nothing. A thread receives the changes,
 * by a connection to the server for each port. Return: 0; -EINVAL the context is
 * not one of ibsa_verbs_open() at a fabric server; -ENOMEM, -EMFILE, -ENFILE; or
 * the error from opening a port.
 */
int ibsa__verbs_port_events_start(struct ibv_context *context) IBSA_MUST_USE;

/* End the thread and the connections; takes NULL. */
void ibsa__port_events_stop(struct port_events *events);

#endif
