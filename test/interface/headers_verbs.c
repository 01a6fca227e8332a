/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A program with <ibsa/verbs.h> and rdma-core's header, in the language that
 * C11 and C++17 have in common. It is compiled only. With VERBS_FIRST,
 * <ibsa/verbs.h> comes first; with VERBS_COMPAT, the header of the directory
 * compat includes it.
 */
#ifdef VERBS_FIRST
#include <ibsa/verbs.h>
#endif
#include <infiniband/verbs.h>
#if !defined(VERBS_FIRST) && !defined(VERBS_COMPAT)
#include <ibsa/verbs.h>
#endif

int entries_use(struct ibv_context *context, struct ibv_gid_entry *entry);

int entries_use(struct ibv_context *context, struct ibv_gid_entry *entry)
{
	if (ibv_query_gid_ex(context, 1, 0, entry, 0) ||
	    ibv_query_gid_table(context, entry, 1, 0) < 0)
		return 1;
	if (ibsa_query_gid_ex(context, 1, 0, entry, 0) ||
	    ibsa_query_gid_table(context, entry, 1, 0) < 0)
		return 1;
	return ibsa_verbs_close(context);
}

#ifndef IBSA_VERBS_NAMES
enum ibv_event_type stock_use(struct ibv_context *context);

enum ibv_event_type stock_use(struct ibv_context *context)
{
	struct ibv_async_event event;

	if (ibv_get_async_event(context, &event))
		return IBV_EVENT_DEVICE_FATAL;
	ibv_ack_async_event(&event);
	return event.event_type;
}
#else
int events_use(struct ibv_context *context, struct ibsa_verbs_options *options,
	       union ibv_gid *gid);

int events_use(struct ibv_context *context, struct ibsa_verbs_options *options,
	       union ibv_gid *gid)
{
	struct ibv_async_event event;
	const char *name = "";

	options->gaps = true;
	if (ibsa_verbs_attach(context, options) ||
	    ibv_register_sm_events(context, IBV_SM_EVENT_UGID, 1, gid) ||
	    ibv_register_sm_events(
		    context, IBV_SM_EVENT_UGID_ALL | IBV_SM_EVENT_MGID_ALL, 0,
		    NULL) ||
	    ibv_get_async_event(context, &event))
		return 1;
	switch (event.event_type) {
	case IBV_EVENT_PORT_ERR:
		name = event.element.port_num > 1 ? "second" : "first";
		break;
	case IBV_EVENT_GID_AVAIL:
	case IBV_EVENT_GID_UNAVAIL:
	case IBV_EVENT_MCG_CREATED:
	case IBV_EVENT_MCG_DELETED:
	case IBV_EVENT_SM_GAP:
		name = event.element.gid.raw[0] ? "GID" : "none";
		break;
	default:
		name = ibv_event_type_str(event.event_type);
		break;
	}
	ibv_ack_async_event(&event);
	if (!*name || ibv_gid_reachable(context, 0, gid, 0) ||
	    ibv_unregister_sm_events(context, IBV_SM_EVENT_UGID, 1, gid) ||
	    ibsa_verbs_detach(context))
		return 1;
	return ibv_close_device(context);
}
#endif
