/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The way between one client and the SA. A request that nothing delays is
 * answered within send; one that is delayed is put into the client's queue
 * and answered when its time comes.
 */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "sim/link.h"
#include "wire/request.h"

enum { FLIPPED_BITS_MAX = 8 };

/* The SA's GUID in GIDs that name it without knowing it. IBA, 15.1.1. */
#define SA_WELL_KNOWN_ID UINT64_C(0x0200000000000002)

static struct queue *queue_of(struct link *link, bool is_request)
{
	return is_request ? &link->requests : &link->queue;
}

/* What is first on its way to the SA, or from there; or NULL. */
static struct message *head(const struct link *link, bool is_request)
{
	struct message *held = link->held[is_request];
	struct message *first = ibsa__queue_head(is_request ? &link->requests
							    : &link->queue);

	if (held && (!first || held->due_ns < first->due_ns))
		return held;
	return first;
}

/* Take it if it is due by then, or NULL. */
static struct message *take_due(struct link *link, bool is_request,
				uint64_t until_ns)
{
	struct message *first = head(link, is_request);

	if (!first || first->due_ns > until_ns)
		return NULL;
	if (first != link->held[is_request])
		return ibsa__queue_pop(queue_of(link, is_request));
	link->held[is_request] = NULL;
	return first;
}

static bool is_listening(const struct link *link)
{
	return link->fabric->setups[link->end].listener == link;
}

uint64_t ibsa__link_due(const struct link *link)
{
	uint64_t due_ns = UINT64_MAX;

	if (is_listening(link))
		due_ns = ibsa__reports_due(link->fabric, link->end);
	for (int is_request = 0; is_request < 2; is_request++) {
		const struct message *first = head(link, is_request);

		if (first && first->due_ns < due_ns)
			due_ns = first->due_ns;
	}
	return due_ns;
}

/* From 0 to @limit - 1, which may be above what random_below() takes. */
static uint64_t random_up_to(struct ibsa_fabric *fabric, uint64_t limit)
{
	return random_next(&fabric->random) % limit;
}

static uint64_t random_delay(struct ibsa_fabric *fabric,
			     enum ibsa_fault_kind kind)
{
	const uint64_t most = fabric->faults[kind].fault.delay_ms * NS_PER_MS;

	return 1 + random_up_to(fabric, most);
}

static void flip_bits(struct ibsa_fabric *fabric, struct sa_reply *body)
{
	const uint64_t count = 1 + random_up_to(fabric, FLIPPED_BITS_MAX);

	for (uint64_t i = 0; i < count; i++) {
		const uint64_t bit = random_up_to(fabric, 8 * body->len);

		body->bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
}

/* The same bytes once more, or NULL. */
static struct message *copy(struct link *link, const struct message *message)
{
	struct message *twin = ibsa__queue_new(&link->queue);

	if (!twin)
		return NULL;
	twin->is_request = message->is_request;
	twin->is_report = message->is_report;
	twin->due_ns = message->due_ns;
	twin->sa = message->sa;
	if (!ibsa__sa_reply_put(&twin->body, message->body.bytes,
				message->body.len)) {
		ibsa__queue_release(&link->queue, twin);
		return NULL;
	}
	return twin;
}

/* Put it in the queue, and behind it what it was to overtake. */
static int enqueue(struct link *link, struct message *message)
{
	struct message **held = &link->held[message->is_request];
	struct queue *queue = queue_of(link, message->is_request);
	struct message *late = *held;
	const uint64_t due_ns = message->due_ns;
	int err;

	message->number = link->sent++;
	if (!ibsa__queue_has_room(queue, message->body.len)) {
		link->fabric->stats.dropped++;
		ibsa__queue_release(&link->queue, message);
		return 0;
	}
	err = ibsa__queue_push(queue, message);
	if (!late || err)
		return err;
	*held = NULL;
	late->due_ns = due_ns;
	late->number = link->sent++;
	return ibsa__queue_push(queue, late);
}

/* Requests that have not arrived, and answers that nobody has taken. */
static void count_under_way(const struct link *link)
{
	const uint64_t count = link->requests.count + link->queue.count +
			       !!link->held[false] + !!link->held[true];
	struct ibsa_fabric_stats *stats = &link->fabric->stats;

	if (stats->most_under_way < count)
		stats->most_under_way = count;
}

/*
 * Let a MAD run through the faults of the way, and put what is left of it
 * into the queue. A MAD that waits to be overtaken does not wait for ever.
 */
static int carry(struct link *link, struct message *message)
{
	struct ibsa_fabric *fabric = link->fabric;
	struct message **held = &link->held[message->is_request];
	struct message *twin = NULL;
	int err;

	if (ibsa__fault_strikes(fabric, IBSA_FAULT_LOSE)) {
		ibsa__queue_release(&link->queue, message);
		return 0;
	}
	if (ibsa__fault_strikes(fabric, IBSA_FAULT_CORRUPT))
		flip_bits(fabric, &message->body);
	if (ibsa__fault_strikes(fabric, IBSA_FAULT_DELAY))
		message->due_ns += random_delay(fabric, IBSA_FAULT_DELAY);
	if (ibsa__fault_strikes(fabric, IBSA_FAULT_DUPLICATE))
		twin = copy(link, message);
	if (!*held && ibsa__fault_strikes(fabric, IBSA_FAULT_REORDER)) {
		message->due_ns +=
			fabric->faults[IBSA_FAULT_REORDER].fault.delay_ms *
			NS_PER_MS;
		*held = message;
		err = 0;
	} else {
		err = enqueue(link, message);
	}
	if (twin && !err)
		err = enqueue(link, twin);
	else if (twin)
		ibsa__queue_release(&link->queue, twin);
	count_under_way(link);
	return err;
}

/* The SA is too busy: it sends the request back and says so. */
static void answer_busy(const uint8_t *mad, struct sa_reply *reply)
{
	enum {
		METHOD = 3,
		STATUS = 4,
	};

	memcpy(reply->bytes, mad, IBSA_MAD_BYTES);
	reply->bytes[METHOD] = ibsa__response_method(mad[METHOD]);
	ibsa_put_be16(reply->bytes + STATUS, IBSA_STATUS_BUSY);
	reply->len = IBSA_MAD_BYTES;
}

/* Whether the SA answers, and what. */
static bool ask_sa(const struct link *link, const struct sa_request *request,
		   struct sa_reply *reply)
{
	struct ibsa_fabric *fabric = link->fabric;

	if (ibsa__fault_strikes(fabric, IBSA_FAULT_SILENCE))
		return false;
	if (ibsa__fault_strikes(fabric, IBSA_FAULT_BUSY)) {
		answer_busy(request->mad, reply);
		return true;
	}
	return ibsa__sa_answer(fabric, request, reply);
}

/* The LID in a GID of Omni-Path that is one in disguise; 0: it is not. */
static uint32_t lid_in_gid(const struct ibsa_fabric *fabric, uint64_t id)
{
	return fabric->is_opa && id >> 40 == OPA_GID_OUI ? (uint32_t)id : 0;
}

/* Whether an address is the SA's: by LID, or by GID where there is none. */
static bool is_sa(const struct ibsa_fabric *fabric,
		  const struct ibsa_address *to)
{
	const struct end_port *sa = &fabric->ends[fabric->sa_end];
	const uint64_t id = ibsa_be64(to->gid.raw + 8);
	const uint32_t lid = to->lid ? to->lid : lid_in_gid(fabric, id);

	if (to->qpn != IBSA_QPN_GSI)
		return false;
	if (lid)
		return end_by_lid(fabric, lid) == sa;
	return to->has_grh && ibsa_be64(to->gid.raw) == fabric->gid_prefix &&
	       (id == sa->guid || id == SA_WELL_KNOWN_ID);
}

/* Whether the SA is still there when a request to @to arrives. */
static bool is_heard(const struct link *link, const struct ibsa_address *to)
{
	const struct ibsa_fabric *fabric = link->fabric;

	return fabric->sa_running && fabric->ends[link->end].is_seen &&
	       is_sa(fabric, to);
}

/* An answer to a Report, which gets none itself. */
static bool is_report_answer(const uint8_t *mad)
{
	return IBSA_GET(sa_header, mgmt_class, mad) == IBSA_CLASS_SA &&
	       IBSA_GET(sa_header, method, mad) == IBSA_METHOD_REPORT_RESP;
}

/* Where an answer or a Report to one who asked at @to comes from. */
static struct ibsa_address sa_address(const struct ibsa_fabric *fabric,
				      const struct ibsa_address *to)
{
	const struct end_port *sa = &fabric->ends[fabric->sa_end];
	struct ibsa_address from = *to;

	if (end_by_lid(fabric, from.lid) != sa)
		from.lid = sa->lid;
	return from;
}

/* A request arrives at the address @to, at @now_ns: answered from there. */
static int reach_sa(struct link *link, const struct ibsa_address *to,
		    const uint8_t *mad, uint64_t now_ns)
{
	struct ibsa_fabric *fabric = link->fabric;
	const struct sa_request request = { link->end, to, mad, now_ns };
	struct message *answer;

	if (!is_heard(link, to)) {
		fabric->stats.lost++;
		return 0;
	}
	if (is_report_answer(mad)) {
		ibsa__report_answered(fabric, link->end,
				      IBSA_GET(sa_header, transaction_id, mad));
		return 0;
	}
	answer = ibsa__queue_new(&link->queue);
	if (!answer)
		return -ENOMEM;
	if (!ask_sa(link, &request, &answer->body)) {
		fabric->stats.unanswered++;
		ibsa__queue_release(&link->queue, answer);
		return 0;
	}
	answer->due_ns = now_ns + fabric->latency_ns;
	answer->sa = sa_address(fabric, to);
	return carry(link, answer);
}

bool ibsa__link_hear(struct link *link, uint64_t until_ns)
{
	struct message *request;
	bool is_any = false;

	while ((request = take_due(link, true, until_ns))) {
		/* Without memory it is as if the answer had been lost. */
		(void)reach_sa(link, &request->sa, request->body.bytes,
			       request->due_ns);
		ibsa__queue_release(&link->queue, request);
		is_any = true;
	}
	return is_any;
}

void ibsa__link_settle(struct link *link)
{
	const uint64_t now_ns = ibsa__fabric_now(link->fabric);
	const struct message *first;

	while ((first = head(link, true)) && first->due_ns <= now_ns) {
		const uint64_t due_ns = first->due_ns;

		ibsa__reports_settle(link->fabric, due_ns);
		(void)ibsa__link_hear(link, due_ns);
	}
	ibsa__reports_settle(link->fabric, now_ns);
}

void ibsa__link_report(struct link *link, const struct ibsa_address *sa,
		       const uint8_t *mad, uint64_t now_ns)
{
	struct message *report = ibsa__queue_new(&link->queue);

	/* Without memory it is as if it had been lost. */
	if (!report)
		return;
	report->is_report = true;
	report->due_ns = now_ns + link->fabric->latency_ns;
	report->sa = sa_address(link->fabric, sa);
	(void)ibsa__sa_reply_put(&report->body, mad, IBSA_MAD_BYTES);
	(void)carry(link, report);
	ibsa__link_alert(link);
}

int ibsa__link_listen(struct link *link, bool on)
{
	struct link **listener = &link->fabric->setups[link->end].listener;
	struct message *held = link->held[false];

	if (on && *listener && *listener != link)
		return -EBUSY;
	if (on) {
		*listener = link;
		return 0;
	}
	if (*listener != link)
		return 0;
	*listener = NULL;
	ibsa__queue_drop_reports(&link->queue);
	if (held && held->is_report) {
		ibsa__queue_release(&link->queue, held);
		link->held[false] = NULL;
	}
	return 0;
}

static bool is_link_faulty(const struct ibsa_fabric *fabric)
{
	for (int kind = IBSA_FAULT_LOSE; kind <= IBSA_FAULT_CORRUPT; kind++) {
		if (fabric->faults[kind].active)
			return true;
	}
	return false;
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
	const struct end_setup *own = &fabric->setups[link->end];
	const struct end_setup *sa = &fabric->setups[fabric->sa_end];

	return fabric->ends[link->end].is_seen &&
	       own->state == IBSA_PORT_ACTIVE && is_sa(fabric, to) &&
	       ibsa__pkey_passes(sa, setup_pkey(own, to->pkey_index));
}

static int send_late(struct link *link, const struct ibsa_address *to,
		     const uint8_t *mad, uint64_t now_ns)
{
	struct message *request = ibsa__queue_new(&link->queue);
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
	const uint64_t now_ns = ibsa__fabric_now(fabric);
	uint8_t room[IBSA_MAD_BYTES];

	if (fabric->setups[link->end].needs_grh && !to->has_grh)
		return -EINVAL;
	fabric->stats.requests++;
	if (!is_carried(link, to)) {
		fabric->stats.lost++;
		return 0;
	}
	mad = whole(mad, len, room);
	ibsa__link_settle(link);
	if (!is_link_faulty(fabric) && !link->held[true])
		return reach_sa(link, to, mad, now_ns);
	return send_late(link, to, mad, now_ns);
}

void ibsa__link_cut(struct link *link)
{
	const uint64_t now_ns = ibsa__fabric_now(link->fabric);

	for (int is_request = 0; is_request < 2; is_request++) {
		struct message *held = link->held[is_request];

		ibsa__queue_cut(queue_of(link, is_request), now_ns,
				&link->queue);
		link->held[is_request] = NULL;
		if (held)
			ibsa__queue_release(&link->queue, held);
	}
}

bool ibsa__link_is_ready(struct link *link)
{
	const struct message *first;

	ibsa__link_settle(link);
	first = head(link, false);
	return first && first->due_ns <= ibsa__fabric_now(link->fabric);
}

struct message *ibsa__link_receive(struct link *link)
{
	struct message *answer;

	ibsa__link_settle(link);
	answer = take_due(link, false, ibsa__fabric_now(link->fabric));
	if (answer)
		link->fabric->stats.answers++;
	return answer;
}
