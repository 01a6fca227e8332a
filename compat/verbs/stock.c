/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Calls functions of libibverbs, which the program has loaded. */
#include <errno.h>
#include <string.h>

#include "verbs/stock.h"
#include "verbs/stock_find.h"

/*
 * The address of a function of libibverbs, as a pointer of the function's type.
 */
union stock {
	void *address;
	__typeof__(ibv_get_async_event) *get;
	__typeof__(ibv_ack_async_event) *ack;
	__typeof__(ibv_close_device) *close;
	__typeof__(ibv_event_type_str) *text;
};

static int stock_error(int failed)
{
	if (!failed)
		return 0;
	return errno > 0 ? -errno : -EIO;
}

/*
 * Convert an event. The largest member of libibverbs' union is a pointer, of
 * ibsa's union a GID.
 */
static void event_from(const struct ibv_async_event *stock,
		       struct ibsa_async_event *out)
{
	memset(out, 0, sizeof(*out));
	out->event_type = (int)stock->event_type;
	memcpy(&out->element, &stock->element, sizeof(stock->element));
}

int ibsa__stock_get(struct ibv_context *context, struct ibsa_async_event *out,
		    const struct interrupts *allowed)
{
	const union stock stock = { stock_find("ibv_get_async_event") };
	struct ibv_async_event event = { .event_type = IBV_EVENT_CQ_ERR };
	struct interrupts again;
	int err;

	if (!stock.get)
		return -ENOSYS;
	errno = 0;
	if (allowed)
		interrupts_restore(allowed);
	err = stock_error(stock.get(context, &event));
	if (allowed)
		interrupts_hold(&again);
	if (!err)
		event_from(&event, out);
	return err;
}

void ibsa__stock_ack(const struct ibsa_async_event *event)
{
	const union stock stock = { stock_find("ibv_ack_async_event") };
	struct ibv_async_event theirs = {
		.event_type = (enum ibv_event_type)event->event_type,
	};

	memcpy(&theirs.element, &event->element, sizeof(theirs.element));
	if (stock.ack)
		stock.ack(&theirs);
}

int ibsa__stock_close(struct ibv_context *context)
{
	const union stock stock = { stock_find("ibv_close_device") };

	if (!stock.close)
		return -ENOSYS;
	errno = 0;
	return stock_error(stock.close(context));
}

const char *ibsa__stock_text(int event_type)
{
	const union stock stock = { stock_find("ibv_event_type_str") };

	return stock.text ? stock.text((enum ibv_event_type)event_type) : NULL;
}
