/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* libibverbs as the program has loaded it. */
#define IBSA_NO_VERBS_NAMES
#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "verbs/stock.h"

/* Each function of it that is called here has the type of its declaration. */
union stock {
	void *address;
	__typeof__(ibv_get_async_event) *get;
	__typeof__(ibv_ack_async_event) *ack;
	__typeof__(ibv_close_device) *close;
	__typeof__(ibv_event_type_str) *text;
};

/*
 * Loaded or not, it stays so until stock_end(). The search begins at the
 * library itself: in the program's order, a preload library may come first.
 */
static void *stock_begin(const char *name, union stock *out)
{
	void *library = dlopen("libibverbs.so.1", RTLD_LAZY | RTLD_NOLOAD);

	out->address = library ? dlsym(library, name) : NULL;
	return library;
}

static void stock_end(void *library)
{
	if (library)
		dlclose(library);
}

static int error_of(int failed)
{
	if (!failed)
		return 0;
	return errno > 0 ? -errno : -EIO;
}

/* The largest member of stock's union is a pointer; of ours, a GID. */
static void event_from(const struct ibv_async_event *stock,
		       struct ibsa_async_event *out)
{
	memset(out, 0, sizeof(*out));
	out->event_type = (int)stock->event_type;
	memcpy(&out->element, &stock->element, sizeof(stock->element));
}

int ibsa__stock_get(struct ibv_context *context, struct ibsa_async_event *out)
{
	struct ibv_async_event event = { .event_type = IBV_EVENT_CQ_ERR };
	union stock stock;
	void *library = stock_begin("ibv_get_async_event", &stock);
	int err = -ENOSYS;

	if (stock.address) {
		errno = 0;
		err = error_of(stock.get(context, &event));
	}
	stock_end(library);
	if (!err)
		event_from(&event, out);
	return err;
}

void ibsa__stock_ack(const struct ibsa_async_event *event)
{
	struct ibv_async_event theirs = {
		.event_type = (enum ibv_event_type)event->event_type,
	};
	union stock stock;
	void *library = stock_begin("ibv_ack_async_event", &stock);

	memcpy(&theirs.element, &event->element, sizeof(theirs.element));
	if (stock.address)
		stock.ack(&theirs);
	stock_end(library);
}

int ibsa__stock_close(struct ibv_context *context)
{
	union stock stock;
	void *library = stock_begin("ibv_close_device", &stock);
	int err = -ENOSYS;

	if (stock.address) {
		errno = 0;
		err = error_of(stock.close(context));
	}
	stock_end(library);
	return err;
}

const char *ibsa__stock_text(int event_type)
{
	union stock stock;
	void *library = stock_begin("ibv_event_type_str", &stock);
	const char *text = NULL;

	if (stock.address)
		text = stock.text((enum ibv_event_type)event_type);
	stock_end(library);
	return text;
}
