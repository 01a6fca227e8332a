/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions of libibverbs, which the program has loaded; this library is not
 * linked with it. The functions are looked up in libibverbs itself, since
 * another library may define the same names.
 */
#ifndef VERBS_STOCK_H
#define VERBS_STOCK_H

#include <ibsa/verbs.h>

#include "base/interrupt.h"

/*
 * Call ibv_get_async_event() of libibverbs, with the signal mask and
 * cancellation of @allowed; NULL: with those of the caller. Signals and
 * cancellation are blocked before and after it. Return: 0; -ENOSYS libibverbs
 * is not loaded; or its error.
 */
int ibsa__stock_get(struct ibv_context *context, struct ibsa_async_event *out,
		    const struct interrupts *allowed) IBSA_MUST_USE;

/* ibv_ack_async_event(). */
void ibsa__stock_ack(const struct ibsa_async_event *event);

/*
 * Call ibv_close_device() of libibverbs. Return: 0; -ENOSYS libibverbs is not
 * loaded; or its error.
 */
int ibsa__stock_close(struct ibv_context *context) IBSA_MUST_USE;

/* Call ibv_event_type_str() of libibverbs. NULL: libibverbs is not loaded. */
const char *ibsa__stock_text(int event_type);

#endif
