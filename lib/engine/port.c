/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* State of the port, the SA's address from it, and the watches of the port. */
#include <errno.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "engine/state.h"

enum {
	/*
	 * ibsa__engine_port_refresh() reads the port at most once in this many
	 * ms.
	 */
	PORT_READ_MS = 100,
};

/*
 * A program's watch of the port. @link is always in the engine's list of all
 * watches. @due is in the engine's list of watches to call back while @changes
 * is not 0. @interval_ms is 0 if the transport reports all changes of the port.
 */
struct ibsa_port_watch {
	struct ibsa__engine *engine;
	struct list link;
	struct list due;
	ibsa_port_fn report;
	void *arg;
	unsigned int interval_ms;
	unsigned int changes;
};

/* Interface id of the SA on every subnet. Source: IBA vol 1, 4.1.1. */
#define SM_INTERFACE_ID UINT64_C(0x0200000000000002)

/* Interface id of a GID that stands for an Omni-Path LID; the LID is in its
 * lower 32 bits. Source: Linux include/rdma/opa_addr.h, OPA_MAKE_ID(). */
#define LID_INTERFACE_ID UINT64_C(0x00066a0000000000)

/*
 * Whether the kernel's umad header, which has 16 bits for a LID, cannot hold
 * @lid of Omni-Path. The engine adds a GRH with a GID that contains such a LID;
 * also for 0xffff, which the driver would take for the permissive LID. Source:
 * Linux drivers/infiniband/hw/hfi1/hfi.h, hfi1_make_opa_lid().
 */
bool ibsa__lid_is_long(uint32_t lid)
{
	return lid >= IBSA_LID_PERMISSIVE;
}

void ibsa__engine_long_lid(const struct ibsa__engine *engine,
			   struct ibsa_address *out)
{
	out->has_grh = true;
	out->gid = engine->port.gid;
	ibsa_put_be64(out->gid.raw + 8, LID_INTERFACE_ID | out->lid);
}

bool ibsa__engine_is_same_address(const struct ibsa_address *a,
				  const struct ibsa_address *b)
{
	return a->lid == b->lid && a->qpn == b->qpn && a->sl == b->sl &&
	       a->pkey_index == b->pkey_index && a->has_grh == b->has_grh &&
	       !memcmp(&a->gid, &b->gid, sizeof(a->gid));
}

static bool sa_needs_grh(const struct ibsa__engine *engine)
{
	if (engine->options.access.grh == IBSA_GRH_AUTO)
		return engine->port.needs_grh ||
		       ibsa__lid_is_long(engine->port.sm_lid);
	return engine->options.access.grh == IBSA_GRH_ALWAYS;
}

/*
 * Return: the SA's address according to the port's state, with a GRH if the
 * port needs one.
 */
static struct ibsa_address sm_address(const struct ibsa__engine *engine)
{
	const struct ibsa_port_state *port = &engine->port;
	struct ibsa_address sm = {
		.lid = port->sm_lid,
		.qpn = IBSA_QPN_GSI,
		.pkey_index = port->pkey_index,
		.sl = port->sm_sl,
		.has_grh = sa_needs_grh(engine),
	};

	if (!sm.has_grh)
		return sm;
	if (ibsa__lid_is_long(sm.lid)) {
		ibsa__engine_long_lid(engine, &sm);
		return sm;
	}
	sm.gid = port->gid;
	ibsa_put_be64(sm.gid.raw + 8, SM_INTERFACE_ID);
	return sm;
}

/* Take the SA's address from the port, unless the options gave it. If the
 * address has changed, send the requests in flight to the new one. */
static void sa_address_update(struct ibsa__engine *engine)
{
	const struct ibsa_address *asked = engine->is_redirected ? &engine->home
								 : &engine->sa;
	const struct ibsa_address sa = sm_address(engine);
	const bool was_known = engine->sa_known;

	if (engine->sa_given)
		return;
	engine->sa_known = ibsa_port_has_sm(&engine->port);
	if (!engine->sa_known ||
	    (was_known && ibsa__engine_is_same_address(&sa, asked)))
		return;
	ibsa__redirect_drop(engine);
	engine->sa = sa;
	ibsa__engine_resend(engine, true);
}

static unsigned int port_changes(const struct ibsa_port_state *a,
				 const struct ibsa_port_state *b)
{
	unsigned int changes = 0;

	if (a->port_state != b->port_state)
		changes |= IBSA_PORT_CHANGE_STATE;
	if (a->phys_state != b->phys_state)
		changes |= IBSA_PORT_CHANGE_PHYS_STATE;
	if (a->lid != b->lid || a->lmc != b->lmc)
		changes |= IBSA_PORT_CHANGE_LID;
	if (a->sm_lid != b->sm_lid || a->sm_sl != b->sm_sl)
		changes |= IBSA_PORT_CHANGE_SM;
	if (a->pkey_index != b->pkey_index)
		changes |= IBSA_PORT_CHANGE_PKEY;
	if (memcmp(&a->gid, &b->gid, sizeof(a->gid)))
		changes |= IBSA_PORT_CHANGE_GID;
	if (a->reregisters != b->reregisters)
		changes |= IBSA_PORT_CHANGE_REREGISTER;
	return changes;
}

/*
 * Set the state of the port. A change ends the use of a redirection. Watches
 * are called back later, from dispatch.
 */
static void port_state_set(struct ibsa__engine *engine,
			   const struct ibsa_port_state *port)
{
	unsigned int changes = port_changes(&engine->port, port);
	struct ibsa_port_watch *watch;

	engine->port = *port;
	if (!changes)
		return;
	ibsa__redirect_drop(engine);
	LIST_EACH(watch, &engine->watches, link) {
		watch->changes |= changes;
		if (list_is_empty(&watch->due))
			list_append(&engine->changed, &watch->due);
	}
}

/*
 * Handle a failure to read the port's state. If the device is gone, mark the
 * port as down. Any other error may be temporary and leaves the known state
 * unchanged.
 */
static void port_read_failed(struct ibsa__engine *engine, int err)
{
	struct ibsa_port_state port = engine->port;

	if (err != -ENODEV && err != -ENOENT)
		return;
	port.port_state = IBSA_PORT_DOWN;
	port.phys_state = 0;
	port_state_set(engine, &port);
}

int ibsa__engine_port_read(struct ibsa__engine *engine)
{
	struct ibsa_transport *transport = engine->transport;
	struct ibsa_port_state port = { .lid = 0 };
	int err = transport->ops->port(transport, &port, sizeof(port));

	engine->port_read_ns = engine_now_ns(engine);
	if (err) {
		port_read_failed(engine, err);
		return err;
	}
	port_state_set(engine, &port);
	sa_address_update(engine);
	return 0;
}

void ibsa__engine_port_poll(struct ibsa__engine *engine)
{
	struct ibsa_transport *transport = engine->transport;

	if (IBSA_TRANSPORT_HAS(transport, changed) &&
	    transport->ops->changed(transport))
		ibsa__engine_port_read(engine);
}

void ibsa__engine_port_refresh(struct ibsa__engine *engine)
{
	uint64_t age_ns = engine_now_ns(engine) - engine->port_read_ns;

	if (age_ns >= PORT_READ_MS * NS_PER_MS)
		ibsa__engine_port_read(engine);
}

int ibsa__engine_port_error(struct ibsa__engine *engine)
{
	ibsa__engine_port_refresh(engine);
	if (engine->port.port_state == IBSA_PORT_DOWN)
		return -ENETDOWN;
	return engine->sa_known ? 0 : -EAGAIN;
}

int ibsa__engine_port(struct ibsa__engine *engine, bool refresh,
		      struct ibsa_port_state *out)
{
	int err = 0;

	if (!ibsa__engine_is_ours(engine))
		return -EINVAL;
	if (refresh)
		err = ibsa__engine_port_read(engine);
	if (err)
		return err;
	*out = engine->port;
	return 0;
}

/*
 * Return: the shortest interval of all watches of the port, in ms; 0 if no
 * watch has an interval.
 */
static unsigned int watch_interval_min(const struct ibsa__engine *engine)
{
	const struct ibsa_port_watch *watch;
	unsigned int least = 0;

	LIST_EACH(watch, &engine->watches, link) {
		if (watch->interval_ms &&
		    (!least || watch->interval_ms < least))
			least = watch->interval_ms;
	}
	return least;
}

static void watch_timer_arm(struct ibsa__engine *engine)
{
	timer_arm(&engine->wheel, &engine->watch_timer,
		  tick_after(engine_now_ns(engine), engine->watch_interval_ms));
}

/*
 * Call this when a watch of the port begins or ends: the port is from now on
 * read at the shortest interval of all watches.
 */
static void watch_interval_update(struct ibsa__engine *engine)
{
	unsigned int interval_ms = watch_interval_min(engine);

	if (interval_ms == engine->watch_interval_ms)
		return;
	engine->watch_interval_ms = interval_ms;
	if (interval_ms)
		watch_timer_arm(engine);
	else
		timer_cancel(&engine->wheel, &engine->watch_timer);
}

void ibsa__engine_port_check(struct ibsa__engine *engine)
{
	watch_timer_arm(engine);
	ibsa__engine_port_read(engine);
}

int ibsa__engine_watch(struct ibsa__engine *engine, unsigned int interval_ms,
		       ibsa_port_fn report, void *arg,
		       struct ibsa_port_watch **out)
{
	struct ibsa_port_watch *watch;

	if (!report || !ibsa__engine_is_ours(engine))
		return -EINVAL;
	if (engine->closing)
		return -ESHUTDOWN;
	watch = ibsa__calloc(1, sizeof(*watch));
	if (!watch)
		return -ENOMEM;
	watch->engine = engine;
	list_append(&engine->watches, &watch->link);
	list_init(&watch->due);
	watch->report = report;
	watch->arg = arg;
	watch->interval_ms = interval_ms;
	if (!interval_ms && !engine->options.port_is_reported)
		watch->interval_ms = IBSA_DEFAULT_PORT_INTERVAL_MS;
	watch_interval_update(engine);
	if (out)
		*out = watch;
	return 0;
}

void ibsa__engine_unwatch(struct ibsa_port_watch *watch)
{
	struct ibsa__engine *engine;

	if (!watch)
		return;
	engine = watch->engine;
	list_remove(&watch->link);
	list_remove(&watch->due);
	ibsa__free(watch);
	watch_interval_update(engine);
}

void ibsa_port_watch_stop(struct ibsa_port_watch *watch)
{
	if (watch && ibsa__engine_is_ours(watch->engine))
		ibsa__engine_unwatch(watch);
}

void ibsa__engine_port_unwatch_all(struct ibsa__engine *engine)
{
	while (!list_is_empty(&engine->watches))
		ibsa__engine_unwatch(list_object(engine->watches.next,
						 struct ibsa_port_watch, link));
}

/*
 * Call back the watches whose changes are not reported yet. If a callback
 * reads the port, the next dispatch reports the new changes. A callback may
 * end any watch, including the next one in the list.
 */
void ibsa__engine_port_report(struct ibsa__engine *engine)
{
	struct list due;

	list_init(&due);
	list_splice(&due, &engine->changed);
	while (!list_is_empty(&due)) {
		struct ibsa_port_watch *watch =
			list_object(due.next, struct ibsa_port_watch, due);
		const struct ibsa_port_state now = engine->port;
		unsigned int changes = watch->changes;

		list_remove(&watch->due);
		watch->changes = 0;
		engine->calling_back = true;
		watch->report(changes, &now, watch->arg);
		engine->calling_back = false;
	}
}
