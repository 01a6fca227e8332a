/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The subnet manager, for ibsa metrics. */
#include <string.h>

#include "metrics/metrics.h"

static void node_note(const struct ibsa_reply *reply, void *arg)
{
	struct metrics *metrics = arg;
	struct metrics_sm *sm = &metrics->sm;
	struct ibsa_node node;

	answers_count(&metrics->answers, reply->err, reply->status);
	if (ibsa_reply_decode(reply, 0, &node, sizeof(node)) != 0)
		return;
	sm->guid = node.port_guid;
	memcpy(sm->node, node.node_description, sizeof(node.node_description));
}

static void sms_note(const struct ibsa_reply *reply, void *arg)
{
	struct metrics *metrics = arg;
	struct metrics_sm *sm = &metrics->sm;
	struct ibsa_sm_info info;

	answers_count(&metrics->answers, reply->err, reply->status);
	for (size_t i = 0; i < reply->count; i++) {
		if (ibsa_reply_decode(reply, i, &info, sizeof(info)) != 0)
			continue;
		if (info.sm_state < METRICS_SM_STATES)
			sm->by_state[info.sm_state]++;
		if (info.lid != sm->lid)
			continue;
		sm->is_listed = true;
		sm->guid = info.guid;
		sm->priority = info.priority;
		sm->state = info.sm_state;
	}
}

/*
 * Find the name of the SM by its NodeRecord: an SA may return SMInfoRecords
 * only to requests with the SM_Key.
 */
void metrics_sm_read(struct metrics *metrics, const struct port_check *at)
{
	const uint32_t lid = at->port->state.sm_lid;
	const struct ibsa_node match = { .lid = (uint16_t)lid };
	const struct ibsa_query node = {
		.record = &ibsa_node_record,
		.match = &match,
		.mask = IBSA_NODE_CM(lid),
	};
	const struct ibsa_query sms = {
		.record = &ibsa_sm_info_record,
		.method = IBSA_METHOD_GET_TABLE,
	};

	metrics->sm.lid = lid;
	if (lid && lid <= IBSA_LID_UNICAST_MAX &&
	    ibsa_query_wait(at->client, &node, node_note, metrics) != 0)
		metrics->sm.guid = 0;
	metrics->sm.has_list = ibsa_query_wait(at->client, &sms, sms_note,
					       metrics) == 0;
}
