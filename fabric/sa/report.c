/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sends Reports, repeats them, and ends them when they are answered.
 *
 * Source: IBA vol 1, 13.4.11, which leaves the number of tries open; OpenSM 3.3,
 * osm_inform.c, for transaction IDs; and its defaults for the timeout and for the
 * retries, which libibumad counts without the first try (umad_send(3)).
 */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "fabric/mad/port.h"
#include "fabric/sa/report.h"
#include "fabric/sa/sa.h"

enum {
	TRIES = 4,
	TRY_MS = 200,
	FIRST_ID = 0x02dab001,
};

struct report {
	struct hash_node node; /* by transaction ID */
	struct list in_all;
	struct list at_end;
	/*
	 * Time of the Report's next retry, or of its timeout after the last
	 * retry.
	 */
	uint64_t due_ns;
	uint32_t end;
	uint8_t tries;
	struct ibsa_address sa;
	struct ibsa_notice notice;
};

int ibsa__reports_init(struct reports *reports)
{
	reports->agent = 1;
	reports->last_id = FIRST_ID - 1;
	list_init(&reports->all);
	return ibsa__hash_init(&reports->by_id);
}

static struct report *reports_first(const struct reports *reports)
{
	return list_object(reports->all.next, struct report, in_all);
}

static void report_end(struct reports *reports, struct report *report)
{
	list_remove(&report->in_all);
	list_remove(&report->at_end);
	ibsa__hash_remove(&reports->by_id, &report->node);
	ibsa__free(report);
}

void ibsa__reports_done(struct reports *reports)
{
	/*
	 * If the hash has no memory, ibsa__reports_init() has failed or was
	 * not called, and there is nothing to drop.
	 */
	while (reports->by_id.chains && !list_is_empty(&reports->all))
		report_end(reports, reports_first(reports));
	ibsa__hash_done(&reports->by_id);
}

void ibsa__reports_reset(struct sa *sa)
{
	struct reports *reports = &sa->reports;

	sa->net->stats.reports_unanswered += reports->by_id.count;
	while (!list_is_empty(&reports->all))
		report_end(reports, reports_first(reports));
	reports->agent++;
	reports->last_id = FIRST_ID - 1;
}

/*
 * Append a Report to both lists, which are in order of time. If the Report is
 * due before the last Report in the list, because a request was processed late,
 * it is delayed until the last Report is due.
 */
static void report_enqueue(struct sa *sa, struct report *report,
			   uint64_t due_ns)
{
	struct list *all = &sa->reports.all;
	const struct report *last = list_object(all->prev, struct report,
						in_all);

	report->due_ns = due_ns;
	if (!list_is_empty(all) && last->due_ns > due_ns)
		report->due_ns = last->due_ns;
	list_append(all, &report->in_all);
	list_append(&sa->subnet->setups[report->end].reports, &report->at_end);
	port_handlers_expect(sa->subnet->setups[report->end].handlers);
}

static void report_put_mad(const struct report *report, uint8_t *mad)
{
	const struct ibsa_sa_header header = {
		.base_version = 1,
		.mgmt_class = IBSA_CLASS_SA,
		.class_version = IBSA_CLASS_VERSION,
		.method = IBSA_METHOD_REPORT,
		.transaction_id = report->node.key,
		.attribute_id = ibsa_notice_record.attribute,
	};
	uint64_t over = 0;

	memset(mad, 0, IBSA_MAD_BYTES);
	ibsa_sa_header_record.encode(&header, mad, &over);
	ibsa_notice_record.encode(&report->notice, mad + IBSA_SA_HEADER_BYTES,
				  &over);
}

/*
 * Whether a Report can reach its subscriber: the subscriber's port is active,
 * and the P_Key at the index of its subscription matches the P_Key of the SA's
 * current port.
 */
static bool report_can_pass(const struct subnet *subnet,
			    const struct report *report)
{
	const struct end_setup *setup = &subnet->setups[report->end];
	const struct end_setup *sa = &subnet->setups[subnet->sa_end];

	return subnet->ends[report->end].is_seen &&
	       end_topo_port(subnet, &subnet->ends[report->end])->state ==
		       IBSA_PORT_ACTIVE &&
	       ibsa__pkey_passes(sa, setup_pkey(setup, report->sa.pkey_index));
}

/*
 * Write a GRH into the Report, as OpenSM does: with the flow label, traffic
 * class and hop limit of the subscription's request.
 */
static void report_put_grh(const struct subnet *subnet, uint32_t end,
			   const struct ibsa_address *asked,
			   struct mad_headers *out)
{
	out->has_grh = true;
	out->sgid = asked->gid;
	end_gid(subnet, &subnet->ends[end], out->dgid.raw);
	out->flow_label = asked->flow_label;
	out->traffic_class = asked->traffic_class;
	out->hop_limit = asked->hop_limit;
}

/*
 * Send a Report to the umad files at the subscriber's port, at a time that may
 * be in the future.
 */
static void report_send_mad(struct mad_net *net, const struct report *report,
			    uint64_t send_ns)
{
	const struct subnet *subnet = net->subnet;
	const uint64_t now_ns = fabric_clock_now(subnet->clock);
	const struct ibsa_address *asked = &report->sa;
	const struct end_port *from = &subnet->ends[subnet->sa_end];
	const struct end_setup *setup = &subnet->setups[subnet->sa_end];
	const uint16_t pkey = setup_pkey(&subnet->setups[report->end],
					 asked->pkey_index);
	struct message *message = ibsa__mad_new(net);

	/* Without memory, the Report is lost. */
	if (!message)
		return;
	message->mad = (struct mad_headers){
		.from = from->port,
		.slid = from->lid,
		.dlid = subnet->ends[report->end].lid | asked->path_bits,
		.src_qpn = IBSA_QPN_GSI,
		.dst_qpn = IBSA_QPN_GSI,
		.pkey = setup_pkey(setup, ibsa__pkey_index(setup, pkey)),
		.sl = asked->sl,
	};
	if (asked->has_grh)
		report_put_grh(subnet, report->end, asked, &message->mad);
	message->due_ns = send_ns + net->latency_ns;
	report_put_mad(report, message->body.bytes);
	message->body.len = IBSA_MAD_BYTES;
	ibsa__mad_post(net, message, send_ns < now_ns ? send_ns : now_ns);
}

/*
 * Send a Report and count the try. If the port has no umad file, the Report is
 * lost.
 */
static void report_try(struct sa *sa, struct report *report, uint64_t now_ns)
{
	report->tries++;
	report_enqueue(sa, report, now_ns + TRY_MS * NS_PER_MS);
	if (sa->subnet->setups[report->end].handlers &&
	    report_can_pass(sa->subnet, report))
		report_send_mad(sa->net, report, now_ns);
}

static struct report *report_new(struct reports *reports)
{
	struct report *report;

	if (reports->by_id.count == REPORTS_MAX)
		return NULL;
	report = ibsa__calloc(1, sizeof(*report));
	if (report)
		ibsa__hash_add(&reports->by_id, &report->node,
			       (uint64_t)reports->agent << 32 |
				       ++reports->last_id);
	return report;
}

void ibsa__report_send(struct sa *sa, uint32_t end,
		       const struct ibsa_address *asked,
		       const struct ibsa_notice *notice, uint64_t now_ns)
{
	struct report *report = report_new(&sa->reports);

	sa->net->stats.reports++;
	if (!report) {
		sa->net->stats.reports_unanswered++;
		return;
	}
	report->end = end;
	report->sa = *asked;
	report->notice = *notice;
	report_try(sa, report, now_ns);
}

void ibsa__report_answered(struct sa *sa, uint32_t end, uint64_t id)
{
	struct hash_node *node = hash_find(&sa->reports.by_id, id);
	struct report *report;

	if (!node)
		return;
	report = hash_object(node, struct report, node);
	if (report->end == end)
		report_end(&sa->reports, report);
}

static void report_retry_or_end(struct sa *sa, struct report *report)
{
	if (report->tries == TRIES) {
		sa->net->stats.reports_unanswered++;
		report_end(&sa->reports, report);
		return;
	}
	list_remove(&report->in_all);
	list_remove(&report->at_end);
	report_try(sa, report, report->due_ns);
}

void ibsa__reports_settle(void *arg, uint64_t now_ns)
{
	struct sa *sa = arg;
	struct reports *reports = &sa->reports;

	while (!list_is_empty(&reports->all)) {
		struct report *report = reports_first(reports);

		if (report->due_ns > now_ns)
			return;
		report_retry_or_end(sa, report);
	}
}

uint64_t ibsa__reports_due(const struct subnet *subnet, uint32_t end)
{
	const struct list *reports = &subnet->setups[end].reports;

	if (list_is_empty(reports))
		return UINT64_MAX;
	return list_object(reports->next, struct report, at_end)->due_ns;
}
