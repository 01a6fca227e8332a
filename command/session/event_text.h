/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Explains events of a watch. */
#ifndef COMMAND_EVENT_TEXT_H
#define COMMAND_EVENT_TEXT_H

#include <ibsa/event.h>

/*
 * Return: the text of an event's member err, which says why a request of the
 * watch failed.
 */
const char *event_failure(int err);

/*
 * Return: the reason that an event has, as text; NULL: the event has no reason.
 */
const char *event_reason(const struct ibsa_event *event);

/*
 * The message that is printed when a second signal arrives while a subscription
 * ends; see interrupt.h.
 */
extern const char subscription_second_signal[];

/*
 * Whether an event of the kind IBSA_EVENT_ENDED means that the SA has no
 * subscription of this client any more.
 */
bool event_is_end(const struct ibsa_event *event);

#endif
