/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A separate library for LD_PRELOAD: the event functions of libibverbs, under
 * their own names and with their own struct. The library is for programs and
 * libraries that are not built with <ibsa/verbs.h>, in a process that has
 * registered for SM events.
 *
 * libibverbs' event struct has no room for a GID. The struct contains a pointer
 * to the GID, which is valid until the event is acknowledged; see
 * ibsa_stock_event_gid().
 */
#include <errno.h>
#include <string.h>

#include <ibsa/verbs.h>

#include "base/alloc.h"
#include "base/interrupt.h"

_Static_assert(sizeof(((struct ibv_async_event *)0)->element) ==
		       sizeof(union ibv_gid *),
	       "a pointer in the place of all else");

static bool has_gid(int type)
{
	return type >= IBV_EVENT_MCG_CREATED && type <= IBV_EVENT_GID_UNAVAIL;
}

/*
 * Free a GID. Signals are blocked meanwhile: a handler that closes the context
 * must not interrupt a thread that holds the allocator's lock.
 */
static void gid_free(void *gid)
{
	sigset_t before;

	signals_hold(&before);
	ibsa__free(gid);
	signals_restore(&before);
}

/*
 * Copy an event to libibverbs' struct. All members of ibsa's union except the
 * GID are as small as libibverbs' union, so its bytes are copied.
 */
static void event_fill(const struct ibsa_async_event *from, union ibv_gid *gid,
		       struct ibv_async_event *to)
{
	if (has_gid(from->event_type)) {
		*gid = from->element.gid;
		memcpy(&to->element, &gid, sizeof(to->element));
	} else {
		memcpy(&to->element, &from->element, sizeof(to->element));
		gid_free(gid);
	}
	/*
	 * The type is copied as an int: the number of an SM event is not a
	 * value of libibverbs' enum.
	 */
	memcpy(&to->event_type, &from->event_type, sizeof(to->event_type));
}

static union ibv_gid *gid_new(void)
{
	union ibv_gid *gid;
	sigset_t before;

	signals_hold(&before);
	gid = ibsa__calloc(1, sizeof(*gid));
	signals_restore(&before);
	return gid;
}

static int event_get(struct ibv_context *context, struct ibv_async_event *event,
		     union ibv_gid *gid)
{
	struct ibsa_async_event ours;
	int err = ibsa_stock_get_event(context, &ours);
	const int reason = errno;

	if (err)
		gid_free(gid);
	else
		event_fill(&ours, gid, event);
	errno = reason;
	return err;
}

/*
 * Get an event. The memory for a GID is allocated first, since an event cannot
 * be put back after it was taken. A cancellation frees the memory, and cannot
 * happen between taking the event and returning it.
 */
int ibv_get_async_event(struct ibv_context *context,
			struct ibv_async_event *event)
{
	union ibv_gid *gid;
	int type;
	int err;

	pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
	gid = gid_new();
	pthread_cleanup_push(gid_free, gid);
	if (gid) {
		err = event_get(context, event, gid);
	} else {
		errno = ENOMEM;
		err = -1;
	}
	pthread_cleanup_pop(0);
	pthread_setcanceltype(type, &type);
	return err;
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
	struct ibsa_async_event ours = { 0 };
	void *gid;

	memcpy(&ours.event_type, &event->event_type, sizeof(event->event_type));
	memcpy(&ours.element, &event->element, sizeof(event->element));
	if (!has_gid(ours.event_type)) {
		ibsa_ack_async_event(&ours);
		return;
	}
	memcpy(&gid, &event->element, sizeof(gid));
	memset(&event->element, 0, sizeof(event->element));
	gid_free(gid);
}

const char *ibv_event_type_str(enum ibv_event_type event)
{
	return ibsa_event_type_text((int)event);
}
