/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What arrives: whose answer it is, and whether to believe it. */
#include <errno.h>

#include "engine/state.h"
#include "engine/reply.h"
#include "wire/mad.h"
#include "wire/request.h"

/* Messages taken by one dispatch beyond those that are waited for, so that a
 * flood does not starve timers. */
enum { BATCH = 256 };

/*
 * Whether both LIDs are of one port with @lmc path bits: OpenSM answers from
 * the base LID of its port, whichever LID was asked. An OPA LID may be longer
 * than the 16 bits that the kernel's header has for the sender's.
 *
 * Source: Linux include/uapi/rdma/ib_user_mad.h.
 */
static bool is_same_port_lid(uint32_t from, uint32_t asked, uint8_t lmc)
{
	if (from <= UINT16_MAX)
		asked &= UINT16_MAX;
	return from >> lmc == asked >> lmc;
}

static bool is_same_gid(const struct ibsa_address *from,
			const struct ibsa_address *asked)
{
	return from->has_grh && asked->has_grh &&
	       !memcmp(&from->gid, &asked->gid, sizeof(from->gid));
}

/*
 * Only the SA may answer: a LID of the port that was asked and the same QP, or
 * the GID where no LID was asked, or a long one. The kernel does not compare
 * them. If the LMC of the SA's port is not known, it is taken to be this
 * port's: an SM usually gives all ports the same.
 */
static bool is_from_address(const struct ibsa__engine *engine,
			    const struct ibsa_address *from,
			    const struct ibsa_address *asked)
{
	const uint8_t lmc = asked->lmc ? asked->lmc : engine->port.lmc;

	if (from->qpn != asked->qpn)
		return false;
	if (asked->lid && is_same_port_lid(from->lid, asked->lid, lmc))
		return true;
	return (!asked->lid || asked->lid > UINT16_MAX) &&
	       is_same_gid(from, asked);
}

/* Whether it is the request with a status, whose attribute need not be that of
 * the records. */
static bool is_request_returned(const struct txn *txn,
				const struct ibsa_sa_header *header)
{
	return header->status &&
	       header->attribute_id == ibsa_be16(txn->mad + MAD_ATTRIBUTE);
}

/*
 * The txn that a message answers, or NULL and it has been counted. The
 * kernel replaces the upper half of the TransactionID.
 */
static struct txn *reply_find_txn(struct ibsa__engine *engine,
				  const struct ibsa_message *message,
				  const struct ibsa_sa_header *header)
{
	struct hash_node *node;
	struct txn *txn;

	node = hash_find(&engine->tids, (uint32_t)header->transaction_id);
	if (!node) {
		engine->stats.ignored_id++;
		return NULL;
	}
	txn = hash_object(node, struct txn, tid);
	if (header->mgmt_class != IBSA_CLASS_SA ||
	    header->class_version != txn->record->class_version ||
	    header->method != ibsa__response_method(txn->method) ||
	    (header->attribute_id != txn->record->attribute &&
	     !is_request_returned(txn, header))) {
		engine->stats.ignored_kind++;
		return NULL;
	}
	if (!is_from_address(engine, &message->from, &txn->to)) {
		engine->stats.ignored_source++;
		return NULL;
	}
	if (txn->state == TXN_ABANDONED) {
		engine->stats.ignored_id++;
		ibsa__txn_free(engine, txn);
		return NULL;
	}
	return txn;
}

/* An SA that redirects requests may send its Reports itself. */
static bool is_from_known_sa(const struct ibsa__engine *engine,
			     const struct ibsa_address *from)
{
	if (!engine->sa_known)
		return false;
	return is_from_address(engine, from, &engine->sa) ||
	       (engine->is_redirected &&
		is_from_address(engine, from, &engine->home));
}

/* Who sent it may be a new SM that the port has not been read for yet. */
static bool is_from_sa(struct ibsa__engine *engine,
		       const struct ibsa_message *message)
{
	if (is_from_known_sa(engine, &message->from))
		return true;
	ibsa__engine_port_refresh(engine);
	return is_from_known_sa(engine, &message->from);
}

static void report_deliver(struct ibsa__engine *engine,
			   const struct ibsa_message *message)
{
	const bool is_sa = is_from_sa(engine, message);

	engine->stats.ignored_source += !is_sa;
	engine->calling_back = true;
	engine->listener->report(engine->listener, message, is_sa);
	engine->calling_back = false;
}

static void listener_report_loss(struct ibsa__engine *engine)
{
	if (!engine->listener)
		return;
	engine->calling_back = true;
	engine->listener->missed(engine->listener);
	engine->calling_back = false;
}

static bool message_is_report(const struct ibsa_message *message,
			      const struct ibsa_sa_header *header)
{
	return !message->err && header->mgmt_class == IBSA_CLASS_SA &&
	       header->method == IBSA_METHOD_REPORT;
}

/*
 * The engine's own timers tell when a try has failed; but one that a transport
 * has refused, since it still waited for the one before, waits for this word,
 * and so does the place of a request that nobody waits for any more.
 */
static void send_failure_handle(struct ibsa__engine *engine,
				const struct ibsa_message *message)
{
	enum { ID_END = MAD_TID + 8 };
	struct hash_node *node;
	struct txn *txn;
	uint64_t id;

	if (message->len < ID_END || message->mad[MAD_CLASS] != IBSA_CLASS_SA)
		return;
	id = ibsa_be64(message->mad + MAD_TID);
	node = hash_find(&engine->tids, (uint32_t)id);
	if (!node)
		return;
	txn = hash_object(node, struct txn, tid);
	if (message->err == -ETIMEDOUT)
		ibsa__txn_transport_timeout(engine, txn);
	else
		ibsa__txn_refused(engine, txn, message->err);
}

/*
 * What a node says that has no SA. An SA says it too, of what it cannot do.
 * Source: IBA vol 1, 13.4.7; Linux drivers/infiniband/core/mad.c,
 * generate_unmatched_resp().
 */
static bool may_be_no_sa(uint16_t status)
{
	return status == IBSA_STATUS_BAD_VERSION ||
	       status == IBSA_STATUS_BAD_METHOD ||
	       status == IBSA_STATUS_BAD_METHOD_ATTRIBUTE;
}

/* Whether who was asked is the SA no more: by the port as it is now, since the
 * old SM's node may answer before anybody has looked at that. */
static bool txn_is_at_old_sa(struct ibsa__engine *engine, const struct txn *txn)
{
	if (engine->sa_given)
		return false;
	if (is_at_sa(engine, txn))
		ibsa__engine_port_read(engine);
	return !is_at_sa(engine, txn);
}

/*
 * Whether @status is not to be believed; it has then been seen to. The new SA
 * is asked at once, as all that is in flight is to be; where there is none, at
 * the next try.
 */
static bool reply_is_from_old_sa(struct ibsa__engine *engine, struct txn *txn,
				 uint16_t status)
{
	if (!may_be_no_sa(status))
		return false;
	if (!txn_is_at_old_sa(engine, txn)) {
		ibsa__redirect_distrust(engine, txn);
		return false;
	}
	engine->stats.ignored_source++;
	txn->outstanding = 0;
	return true;
}

/* A reply whose status is not what its queries are to be told, or not yet. */
static bool reply_is_provisional(struct ibsa__engine *engine, struct txn *txn,
				 const struct ibsa_sa_header *header,
				 const struct ibsa_message *message,
				 struct ibsa_reply *reply)
{
	if (!(header->status & IBSA_STATUS_REDIRECT))
		return reply_is_from_old_sa(engine, txn, header->status);
	reply->record = txn->record;
	reply->redirects = txn->hops;
	ibsa__reply_parse(txn->record, header, message->mad, message->len,
			  reply);
	return ibsa__redirect_follow(engine, txn, reply);
}

static void message_handle(struct ibsa__engine *engine,
			   const struct ibsa_message *message)
{
	struct ibsa_sa_header header;
	struct ibsa_reply reply = { 0 };
	struct txn *txn;

	if (message->err && message->err != -EMSGSIZE) {
		send_failure_handle(engine, message);
		return;
	}
	/* What was queued behind a reply too large may be gone with it. */
	if (message->err)
		listener_report_loss(engine);
	if (message->len < IBSA_SA_HEADER_BYTES) {
		engine->stats.ignored_malformed++;
		return;
	}
	ibsa_sa_header_record.decode(message->mad, &header);
	if (engine->listener && message_is_report(message, &header)) {
		report_deliver(engine, message);
		return;
	}
	txn = reply_find_txn(engine, message, &header);
	if (!txn)
		return;
	if (header.status & IBSA_STATUS_BUSY) {
		engine->stats.busy++;
		ibsa__txn_back_off(engine, txn);
		return;
	}
	if (header.status &&
	    reply_is_provisional(engine, txn, &header, message, &reply))
		return;
	reply.err = message->err;
	if (message->len > engine->options.reply_bytes)
		reply.err = -EMSGSIZE;
	if (!reply.err)
		ibsa__reply_parse(txn->record, &header, message->mad,
				  message->len, &reply);
	reply.rtt_ns = engine_now_ns(engine) - txn->sent_ns;
	ibsa__round_trip_note(&engine->round_trip, txn->id_tries,
			      txn->last_interval_ms, reply.rtt_ns);
	ibsa__txn_answer(engine, txn, &reply);
}

/*
 * Takes as many as there may be answers, and some more: what is here already
 * is not to time out. Takes one message in any case, so that what nobody waits
 * for does not lie there for ever; then as long as something is in flight or
 * somebody listens, since a look in vain is a system call for many transports.
 */
int ibsa__engine_receive(struct ibsa__engine *engine)
{
	struct ibsa_transport *transport = engine->transport;
	const unsigned int most = engine->in_flight + BATCH;
	struct ibsa_message message;

	engine->has_messages = false;
	for (unsigned int i = 0; i < most; i++) {
		int got = transport->ops->recv(transport, &message);

		if (got < 0)
			listener_report_loss(engine);
		/* Not to find out at the next try of each, or the last. */
		if (got == -ENODEV)
			ibsa__engine_resend(engine);
		if (got <= 0)
			return got;
		message_handle(engine, &message);
		ibsa__engine_window_fill(engine);
		if (!engine->in_flight && !engine->listener)
			return 0;
	}
	engine->has_messages = true;
	return 0;
}
