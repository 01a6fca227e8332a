/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The audit of nodes: reads the SA's table of NodeRecords at intervals and
 * compares it with the known ports. The audit detects ports that joined or left
 * although every try of the SA's Report was lost.
 *
 * Ports are sorted by GUID, so that one pass compares a table.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/array.h"
#include "event/state.h"

struct ibsa__audited_port {
	uint64_t guid;
	/*
	 * The port is in the subnet, according to the last Report or table of
	 * NodeRecords.
	 */
	bool is_in;
	/*
	 * A Report about this port came while the table of NodeRecords was
	 * being read.
	 */
	bool is_touched;
	/*
	 * The last audit of nodes has reported a change of this port, and no
	 * Report of another change of it came since.
	 */
	bool is_reported;
};

/*
 * A port in a table of NodeRecords. A port without a LID is being set up or
 * removed by the SM.
 */
struct table_port {
	uint64_t guid;
	bool has_lid;
};

struct table {
	struct table_port *ports;
	size_t count;
};

/*
 * Compare two ports for sorting by GUID; of several ports with one GUID, a
 * port with a LID comes first.
 */
static int port_order(const void *a, const void *b)
{
	const struct table_port *first = a, *second = b;

	if (first->guid == second->guid)
		return second->has_lid - first->has_lid;
	return first->guid > second->guid ? 1 : -1;
}

/*
 * Whether a NodeRecord has a LID. The record has only the lower 16 bits of an
 * Omni-Path LID; these may be zero.
 */
static bool has_lid(const uint8_t *record, enum ibsa_link_layer link)
{
	return link == IBSA_LINK_OPA || IBSA_GET(node, lid, record);
}

/*
 * Remove ports with GUID 0 and repeated GUIDs from a sorted table. Return: the
 * number of remaining ports.
 */
static size_t table_unique(struct table_port *ports, size_t port_count)
{
	size_t count = 0;

	for (size_t i = 0; i < port_count; i++) {
		if (ports[i].guid &&
		    (!count || ports[count - 1].guid != ports[i].guid))
			ports[count++] = ports[i];
	}
	return count;
}

/*
 * Fill @out with the ports of a NodeRecord table. Return: 0; -ENODATA the
 * table has no port, which must be wrong because the SA's own port exists;
 * -ENOMEM.
 */
static int table_read(const struct ibsa_reply *reply, enum ibsa_link_layer link,
		      struct table *out)
{
	struct table_port *ports;
	size_t count;

	if (!reply->count)
		return -ENODATA;
	ports = ibsa__calloc(reply->count, sizeof(*ports));
	if (!ports)
		return -ENOMEM;
	for (size_t i = 0; i < reply->count; i++) {
		const uint8_t *record = ibsa_reply_at(reply, i);

		ports[i].guid = IBSA_GET(node, port_guid, record);
		ports[i].has_lid = has_lid(record, link);
	}
	qsort(ports, reply->count, sizeof(*ports), port_order);
	count = table_unique(ports, reply->count);
	if (!count) {
		ibsa__free(ports);
		return -ENODATA;
	}
	out->ports = ports;
	out->count = count;
	return 0;
}

/*
 * Compare one port. @was: the port as known before, or NULL; @in_table: the
 * port in the new table, or NULL; @is_first: the table is the first one, whose
 * ports are not reported. Return: false if the port need not be stored.
 */
static bool port_compare(const struct ibsa__audited_port *was,
			 const struct table_port *in_table, bool is_first,
			 struct ibsa__audited_port *out)
{
	const bool is_in = in_table && in_table->has_lid;

	*out = was ? *was
		   : (struct ibsa__audited_port){ .guid = in_table->guid };
	out->is_reported = false;
	out->is_touched = false;
	/*
	 * A Report about the port came while the table was being read. The
	 * Report is at least as new as the table, so the port's state is that
	 * of the Report.
	 */
	if (was && was->is_touched)
		return true;
	if (in_table && !in_table->has_lid)
		return was && was->is_in;
	out->is_reported = !is_first && out->is_in != is_in;
	out->is_in = is_in;
	return is_in || out->is_reported;
}

/*
 * Merge the known ports with @table in one pass over both. Return: the number
 * of ports in @merged.
 */
static size_t ports_merge(const struct ibsa__node_audit *audit,
			  const struct table *table,
			  struct ibsa__audited_port *merged)
{
	size_t i = 0, j = 0, count = 0;

	while (i < audit->count || j < table->count) {
		const struct ibsa__audited_port *was =
			i < audit->count ? &audit->ports[i] : NULL;
		const struct table_port *in_table = j < table->count
							    ? &table->ports[j]
							    : NULL;

		if (was && in_table && was->guid < in_table->guid)
			in_table = NULL;
		else if (was && in_table && was->guid > in_table->guid)
			was = NULL;
		i += was != NULL;
		j += in_table != NULL;
		count += port_compare(was, in_table, !audit->is_known,
				      &merged[count]);
	}
	return count;
}

static struct ibsa_gid port_gid(const struct ibsa_gid *prefix, uint64_t guid)
{
	struct ibsa_gid gid = *prefix;

	ibsa_put_be64(gid.raw + 8, guid);
	return gid;
}

static void port_report(struct ibsa__events *events,
			const struct ibsa_port_state *port,
			const struct ibsa__audited_port *changed)
{
	const struct report found = {
		.now_ns = ibsa__engine_now_ns(events->engine),
		.kind = changed->is_in ? IBSA_EVENT_GID_IN : IBSA_EVENT_GID_OUT,
		.trap = changed->is_in ? TRAP_GID_IN : TRAP_GID_OUT,
		.gid = port_gid(&port->gid, changed->guid),
		.is_audited = true,
	};

	ibsa__events_deliver(events, &found);
}

/*
 * Report the changed ports to the watches. A callback may end the last watch,
 * which frees the ports: the loop reads the count again.
 */
static void ports_report(struct ibsa__events *events,
			 const struct ibsa_port_state *port)
{
	const struct ibsa__node_audit *audit = &events->node_audit;

	for (size_t i = 0; i < audit->count; i++) {
		if (audit->ports[i].is_reported)
			port_report(events, port, &audit->ports[i]);
	}
}

/* Free the room that the known ports do not need. */
static void ports_shrink(struct ibsa__node_audit *audit)
{
	struct ibsa__audited_port *ports =
		audit->count ? ibsa__realloc(audit->ports, audit->count,
					     sizeof(*ports))
			     : NULL;

	if (!ports)
		return;
	audit->ports = ports;
	audit->room = audit->count;
}

/*
 * Update the known ports from a reply with the table of NodeRecords. Return:
 * 0; -ENODATA; -ENOMEM. After an error, the known ports are unchanged.
 */
static int table_apply(struct ibsa__events *events,
		       const struct ibsa_reply *reply,
		       const struct ibsa_port_state *port)
{
	struct ibsa__node_audit *audit = &events->node_audit;
	struct ibsa__audited_port *merged;
	struct table table;
	size_t room;
	int err = table_read(reply, port->link, &table);

	if (err)
		return err;
	room = audit->count + table.count;
	merged = ibsa__calloc(room, sizeof(*merged));
	if (merged) {
		audit->count = ports_merge(audit, &table, merged);
		ibsa__free(audit->ports);
		audit->ports = merged;
		audit->room = room;
		audit->is_known = true;
		ports_shrink(audit);
	}
	ibsa__free(table.ports);
	return merged ? 0 : -ENOMEM;
}

static void table_reply_apply(struct ibsa__events *events,
			      const struct ibsa_reply *reply)
{
	struct ibsa__node_audit *audit = &events->node_audit;
	struct ibsa_port_state port;
	int err = reply->err;

	if (!err && reply->status && reply->status != IBSA_STATUS_NO_RECORDS) {
		ibsa__registration_failed(&audit->registration, 0,
					  reply->status);
		return;
	}
	if (!err)
		err = ibsa__engine_port(events->engine, false, &port);
	if (!err)
		err = table_apply(events, reply, &port);
	if (err) {
		ibsa__registration_failed(&audit->registration, err, 0);
		return;
	}
	ibsa__registration_present(&audit->registration);
	ibsa__events_state_report(events);
	ports_report(events, &port);
}

static struct ibsa__events *
table_events(struct ibsa__registration *registration)
{
	return list_object(registration, struct ibsa__events,
			   node_audit.registration);
}

static void table_answered(struct ibsa__registration *registration,
			   const struct ibsa_reply *reply)
{
	struct ibsa__events *events = table_events(registration);

	if (events->has_ended || events->registrations.closing ||
	    !registration->audit_ms)
		return;
	if (registration->is_stale)
		ibsa__node_audit_soon(events);
	else
		table_reply_apply(events, reply);
	ibsa__events_state_report(events);
}

/*
 * Whether the subscription to the SM's traps is set at the SA. The audit of
 * nodes reads a table only while this subscription is set.
 */
static bool ports_are_reported(const struct ibsa__events *events)
{
	return events->subscriptions[IBSA__PRODUCERS - 1]
		.registration.is_registered;
}

/*
 * Send the query for the table of NodeRecords. The query does not share an
 * earlier request: its reply must not be older than the Reports received before
 * it.
 */
static int table_query(struct ibsa__registration *registration)
{
	struct ibsa__events *events = table_events(registration);
	struct ibsa__node_audit *audit = &events->node_audit;
	const struct ibsa_query query = {
		.record = &ibsa_node_record,
		.method = IBSA_METHOD_GET_TABLE,
		.no_sharing = true,
	};

	if (!ports_are_reported(events))
		return 0;
	for (size_t i = 0; i < audit->count; i++)
		audit->ports[i].is_touched = false;
	registration->deadline_ms = events->deadline_ms;
	return ibsa__registration_query(registration, &query);
}

void ibsa__node_audit_init(struct ibsa__events *events)
{
	static const struct ibsa__registration_ops ops = {
		.read = table_query,
		.answered = table_answered,
	};
	struct ibsa__registration *registration =
		&events->node_audit.registration;

	ibsa__registration_init(registration, &events->registrations, &ops);
	registration->step = IBSA__STEP_READ;
	registration->audit_ms = 0;
}

void ibsa__node_audit_end(struct ibsa__events *events)
{
	struct ibsa__node_audit *audit = &events->node_audit;

	ibsa__registration_cancel(&audit->registration);
	ibsa__free(audit->ports);
	audit->ports = NULL;
	audit->count = 0;
	audit->room = 0;
	audit->is_known = false;
	audit->registration.audit_ms = 0;
	audit->registration.is_troubled = false;
	audit->registration.is_stale = audit->registration.query_id;
}

void ibsa__node_audit_interval_set(struct ibsa__events *events,
				   unsigned int interval_ms)
{
	struct ibsa__registration *registration =
		&events->node_audit.registration;
	const bool was_wanted = registration->audit_ms;

	if (!interval_ms) {
		ibsa__node_audit_end(events);
		return;
	}
	/*
	 * After a failure other than a refusal by the SA, read the table again
	 * after one interval at most.
	 */
	registration->retry_max_ms = interval_ms;
	ibsa__registration_audit_ms_set(registration, interval_ms);
	if (!was_wanted)
		ibsa__registration_schedule(registration, IBSA__STEP_READ, 0);
}

void ibsa__node_audit_soon(struct ibsa__events *events)
{
	struct ibsa__registration *registration =
		&events->node_audit.registration;

	if (registration->audit_ms)
		ibsa__registration_soon(registration);
}

/*
 * Return: the index of the port with @guid, or the index at which to insert
 * it.
 */
static size_t port_index(const struct ibsa__node_audit *audit, uint64_t guid)
{
	size_t from = 0, to = audit->count;

	while (from < to) {
		const size_t middle = from + (to - from) / 2;

		if (audit->ports[middle].guid < guid)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/*
 * Return: the port with @guid. A port that is not known yet is inserted as
 * absent. NULL: memory ran out.
 */
static struct ibsa__audited_port *port_get(struct ibsa__node_audit *audit,
					   uint64_t guid)
{
	const size_t index = port_index(audit, guid);
	struct ibsa__audited_port *port;

	if (index < audit->count && audit->ports[index].guid == guid)
		return &audit->ports[index];
	if (ARRAY_GROW(audit->ports, audit->room, audit->count + 1))
		return NULL;
	port = &audit->ports[index];
	memmove(port + 1, port, (audit->count++ - index) * sizeof(*port));
	*port = (struct ibsa__audited_port){ .guid = guid };
	return port;
}

static bool gid_is_local(const struct ibsa__events *events,
			 const struct ibsa_gid *gid)
{
	struct ibsa_port_state port;

	return !ibsa__engine_port(events->engine, false, &port) &&
	       !memcmp(gid, &port.gid, sizeof(*gid) / 2);
}

bool ibsa__node_audit_report(struct ibsa__events *events,
			     const struct report *report)
{
	struct ibsa__node_audit *audit = &events->node_audit;
	const bool is_in = report->kind == IBSA_EVENT_GID_IN;
	struct ibsa__audited_port *port;
	bool was_audited;

	if (!audit->registration.audit_ms ||
	    (!is_in && report->kind != IBSA_EVENT_GID_OUT) ||
	    !gid_is_local(events, &report->gid))
		return false;
	port = port_get(audit, ibsa_be64(report->gid.raw + 8));
	/*
	 * The port could not be stored because memory was short: read the table
	 * of NodeRecords, which has the port. A request that is already in
	 * flight is not enough, because its reply may be older than the Report.
	 */
	if (!port) {
		ibsa__node_audit_soon(events);
		return false;
	}
	was_audited = port->is_reported && port->is_in == is_in;
	port->is_reported = was_audited;
	port->is_in = is_in;
	port->is_touched = audit->registration.query_id;
	return was_audited;
}
