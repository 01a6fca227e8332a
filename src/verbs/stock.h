/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libibverbs as the program has loaded it; this library is not linked with it.
 * Functions are looked up in libibverbs itself, since another library may
 * define the same names.
 */
#ifndef VERBS_STOCK_H
#define VERBS_STOCK_H

#include <ibsa/verbs.h>

#include "base/interrupt.h"

/*
 * ibv_get_async_event(), with the signals and cancellation of @allowed unless
 * it is NULL; they are held back before and after. Return: 0; -ENOSYS libibverbs
 * is not loaded; or its error.
 */
int ibsa__stock_get(struct ibv_context *context, struct ibsa_async_event *out,
		    const struct interrupts *allowed) IBSA_MUST_USE;

/* ibv_ack_async_event(). */
void ibsa__stock_ack(const struct ibsa_async_event *event);

/*
 * ibv_close_device(). Return: 0; -ENOSYS libibverbs is not loaded; or its
 * error.
 */
int ibsa__stock_close(struct ibv_context *context) IBSA_MUST_USE;

/* ibv_event_type_str(); NULL: libibverbs is not loaded. */
const char *ibsa__stock_text(int event_type);

#endif
