/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The way between one client and the SA. A request that nothing delays is
 * answered within send; one that is delayed is put into the client's queue
 * and answered when its time comes.
 */
#include <errno.h>
#include <string.h>

#include "sim/fabric/link.h"
#include "sim/sa/redirect.h"

static struct way *way_of(struct link *link, bool is_request)
{
	return is_request ? &link->requests : &link->answers;
}

static bool is_listening(const struct link *link)
{
	return link->fabric->subnet.setups[link->end].listener ==
	       &link->listener;
}

uint64_t ibsa__link_due(const struct link *link)
{
	const struct message *first;
	uint64_t due_ns = UINT64_MAX;

	if (is_listening(link))
		due_ns = ibsa__reports_due(&link->fabric->subnet, link->end);
	first = way_head(&link->answers);
	if (first && first->due_ns < due_ns)
		due_ns = first->due_ns;
	first = way_head(&link->requests);
	if (first && first->due_ns < due_ns)
		due_ns = first->due_ns;
	return due_ns;
}

/* Requests that have not arrived, and answers that nobody has taken. */
static void count_under_way(const struct link *link)
{
	const uint64_t count = way_count(&link->requests) +
			       way_count(&link->answers);
	struct ibsa_fabric_stats *stats = &link->fabric->net.stats;

	if (stats->most_in_flight < count)
		stats->most_in_flight = count;
}

static int carry(struct link *link, struct message *message)
{
	const int err = ibsa__way_carry(way_of(link, message->is_request),
					message);

	count_under_way(link);
	return err;
}

/* Whether the SA is still there when a request to @to arrives. */
static bool is_heard(const struct link *link, const struct ibsa_address *to)
{
	const struct ibsa_fabric *fabric = link->fabric;

	return fabric->subnet.sa_running &&
	       fabric->subnet.ends[link->end].is_seen &&
	       ibsa__sa_end_at(&fabric->sa, to) != SIM_NONE;
}

/* Where the answer to a request that was sent to @to, or a Report to its
 * sender, comes from: the base LID of the port, as with OpenSM. */
static struct ibsa_address sa_address(const struct ibsa_fabric *fabric,
				      const struct ibsa_address *to)
{
	const uint32_t end = ibsa__sa_end_at(&fabric->sa, to);
	struct ibsa_address from = *to;

	from.lid = fabric->subnet
			   .ends[end == SIM_NONE ? fabric->subnet.sa_end : end]
			   .lid;
	return from;
}

/* A request arrives at the address @to, at @now_ns. */
static int reach_sa(struct link *link, const struct ibsa_address *to,
		    const uint8_t *mad, uint64_t now_ns)
{
	struct ibsa_fabric *fabric = link->fabric;
	const struct sa_request request = { link->end, to, mad, now_ns };
	struct message *answer;

	if (!is_heard(link, to)) {
		fabric->net.stats.lost++;
		return 0;
	}
	answer = ibsa__queue_new(link_pool(link));
	if (!answer)
		return -ENOMEM;
	if (!ibsa__sa_receive(&fabric->sa, &request, &answer->body)) {
		ibsa__queue_release(link_pool(link), answer);
		return 0;
	}
	answer->due_ns = now_ns + fabric->net.latency_ns;
	answer->sa = sa_address(fabric, to);
	return carry(link, answer);
}

bool ibsa__link_hear(void *arg, uint64_t until_ns)
{
	struct link *link = arg;
	struct message *request;
	bool is_any = false;

	while ((request = ibsa__way_take(&link->requests, until_ns))) {
		/* Without memory it is as if the answer had been lost. */
		(void)reach_sa(link, &request->sa, request->body.bytes,
			       request->due_ns);
		ibsa__queue_release(link_pool(link), request);
		is_any = true;
	}
	return is_any;
}

void ibsa__link_settle(struct link *link)
{
	const uint64_t now_ns = sim_clock_now(&link->fabric->clock);
	const struct message *first;

	while ((first = way_head(&link->requests)) && first->due_ns <= now_ns) {
		const uint64_t due_ns = first->due_ns;

		ibsa__reports_settle(&link->fabric->sa, due_ns);
		(void)ibsa__link_hear(link, due_ns);
	}
	ibsa__reports_settle(&link->fabric->sa, now_ns);
}

void ibsa__link_report(void *arg, const struct ibsa_address *sa,
		       const uint8_t *mad, uint64_t now_ns)
{
	struct link *link = arg;
	struct message *report = ibsa__queue_new(link_pool(link));

	/* Without memory it is as if it had been lost. */
	if (!report)
		return;
	report->is_report = true;
	report->due_ns = now_ns + link->fabric->net.latency_ns;
	report->sa = sa_address(link->fabric, sa);
	(void)ibsa__sa_reply_put(&report->body, mad, IBSA_MAD_BYTES);
	(void)carry(link, report);
	ibsa__link_alert(link);
}

int ibsa__link_listen(struct link *link, bool on)
{
	struct report_listener **listener =
		&link->fabric->subnet.setups[link->end].listener;
	struct message *held = link->answers.held;

	if (on && *listener && *listener != &link->listener)
		return -EBUSY;
	if (on) {
		*listener = &link->listener;
		return 0;
	}
	if (*listener != &link->listener)
		return 0;
	*listener = NULL;
	ibsa__queue_drop_reports(&link->answers.queue);
	if (held && held->is_report) {
		ibsa__queue_release(link_pool(link), held);
		link->answers.held = NULL;
	}
	return 0;
}

/*
 * The whole of a MAD: what the client left out is zero. No request says
 * anything past its first 256 bytes, long as one may be on Omni-Path.
 */
static const uint8_t *whole(const uint8_t *mad, size_t len,
			    uint8_t room[IBSA_MAD_BYTES])
{
	if (len >= IBSA_MAD_BYTES)
		return mad;
	memcpy(room, mad, len);
	memset(room + len, 0, IBSA_MAD_BYTES - len);
	return room;
}

/*
 * Whether a MAD finds its way: the port has been set up, and the P_Key that
 * it is sent with passes the SA's port.
 */
static bool is_carried(const struct link *link, const struct ibsa_address *to)
{
	const struct ibsa_fabric *fabric = link->fabric;
	const struct end_setup *own = &fabric->subnet.setups[link->end];
	const uint32_t sa = ibsa__sa_end_at(&fabric->sa, to);

	return sa != SIM_NONE && fabric->subnet.ends[link->end].is_seen &&
	       fabric->subnet.topo.ports[link->port].state ==
		       IBSA_PORT_ACTIVE &&
	       ibsa__pkey_passes(&fabric->subnet.setups[sa],
				 setup_pkey(own, to->pkey_index));
}

static int send_late(struct link *link, const struct ibsa_address *to,
		     const uint8_t *mad, uint64_t now_ns)
{
	struct message *request = ibsa__queue_new(link_pool(link));
	int err;

	if (!request)
		return -ENOMEM;
	request->is_request = true;
	request->due_ns = now_ns;
	request->sa = *to;
	ibsa__sa_reply_put(&request->body, mad, IBSA_MAD_BYTES);
	err = carry(link, request);
	ibsa__link_settle(link);
	return err;
}

int ibsa__link_send(struct link *link, const struct ibsa_address *to,
		    const uint8_t *mad, size_t len)
{
	struct ibsa_fabric *fabric = link->fabric;
	const uint64_t now_ns = sim_clock_now(&fabric->clock);
	uint8_t room[IBSA_MAD_BYTES];

	if (fabric->subnet.setups[link->end].needs_grh && !to->has_grh)
		return -EINVAL;
	fabric->net.stats.requests++;
	mad = whole(mad, len, room);
	ibsa__link_tap_sent(link, to, mad, now_ns);
	if (!is_carried(link, to)) {
		fabric->net.stats.lost++;
		return 0;
	}
	ibsa__link_settle(link);
	if (!ibsa__way_is_faulty(&fabric->net) && !link->requests.held)
		return reach_sa(link, to, mad, now_ns);
	return send_late(link, to, mad, now_ns);
}

static void link_cut(struct link *link)
{
	const uint64_t now_ns = sim_clock_now(&link->fabric->clock);

	ibsa__way_cut(&link->requests, now_ns);
	ibsa__way_cut(&link->answers, now_ns);
}

void ibsa__links_observe(void *arg, const struct subnet_change *change)
{
	const struct ibsa_fabric *fabric = arg;

	if (change->kind != CHANGE_SWEPT)
		return;
	for (struct link *link = fabric->links; link; link = link->next) {
		if (!fabric->subnet.ends[link->end].is_seen)
			link_cut(link);
	}
}

bool ibsa__link_is_ready(struct link *link)
{
	const struct message *first;

	ibsa__link_settle(link);
	first = way_head(&link->answers);
	return first && first->due_ns <= sim_clock_now(&link->fabric->clock);
}

struct message *ibsa__link_receive(struct link *link)
{
	struct message *answer;

	ibsa__link_settle(link);
	answer = ibsa__way_take(&link->answers,
				sim_clock_now(&link->fabric->clock));
	if (!answer)
		return NULL;
	link->fabric->net.stats.answers++;
	ibsa__link_tap_arrived(link, answer);
	return answer;
}
