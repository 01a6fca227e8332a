/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Explains events of a watch. */
#ifndef COMMAND_EVENT_TEXT_H
#define COMMAND_EVENT_TEXT_H

#include <ibsa/event.h>

/*
 * Return: the reason why a request of the watch failed, by the member err of
 * struct ibsa_event.
 */
const char *event_failure(int err);

/* Return: the reason of an event; NULL: it has none. */
const char *event_reason(const struct ibsa_event *event);

/* What a second signal prints while a subscription ends; see interrupt.h. */
extern const char subscription_second_signal[];

/*
 * Whether an ENDED event means that the SA has no subscription of this client
 * any more.
 */
bool event_is_end(const struct ibsa_event *event);

#endif
