/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the GID of an SM event from libibverbs' own event struct, which code
 * that calls libibverbs directly gets from the preload library.
 */
#include <string.h>

#include <ibsa/verbs.h>

const union ibv_gid *ibsa_stock_event_gid(const struct ibv_async_event *event)
{
	const union ibv_gid *gid;

	switch ((int)event->event_type) {
	case IBV_EVENT_MCG_CREATED:
	case IBV_EVENT_MCG_DELETED:
	case IBV_EVENT_GID_AVAIL:
	case IBV_EVENT_GID_UNAVAIL:
		memcpy(&gid, &event->element, sizeof(gid));
		return gid;
	default:
		return NULL;
	}
}
