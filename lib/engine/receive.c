/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Received messages: which request a message answers, and whether it is valid.
 */
#include <errno.h>

#include "engine/answer.h"
#include "engine/state.h"
#include "engine/reply.h"
#include "wire/mad.h"
#include "wire/request.h"

/*
 * Maximum of messages that one dispatch receives beyond the number of replies
 * that are expected. The limit keeps a flood of messages from delaying timers.
 */
enum { BATCH = 256 };

/*
 * A dispatch reads the clock again after this many messages, not after each: a
 * transport gets about this many messages in one system call.
 */
enum { CLOCK_EVERY = 16 };

/*
 * Whether the LIDs @from and @asked belong to one port with @lmc path bits.
 * OpenSM sends from the base LID of its port even if the request was sent to
 * another LID of this port. If @from has no more than 16 bits, only 16 bits of
 * @asked are compared: the kernel's header has no more for the sender's LID,
 * while an OPA LID may be longer.
 *
 * Source: Linux include/uapi/rdma/ib_user_mad.h.
 */
static bool is_same_port_lid(uint32_t from, uint32_t asked, uint8_t lmc)
{
	if (from == asked)
		return true;
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
 * Whether the sender @from of a reply is the SA that the request was sent to:
 * the kernel does not check this. The QP must be equal, and the LID must be one
 * of the same port. If the request was sent without a LID, or to a LID of more
 * than 16 bits, an equal GID is accepted instead of the LID. If the LMC of the
 * SA's port is unknown, this port's LMC is used: an SM usually gives all ports
 * the same LMC.
 */
static inline bool is_from_address(const struct ibsa__engine *engine,
				   const struct ibsa_address *from,
				   const struct ibsa_address *asked)
{
	if (from->qpn != asked->qpn)
		return false;
	if (asked->lid &&
	    is_same_port_lid(from->lid, asked->lid,
			     asked->lmc ? asked->lmc : engine->port.lmc))
		return true;
	return (!asked->lid || asked->lid > UINT16_MAX) &&
	       is_same_gid(from, asked);
}

/*
 * Whether a reply is the request itself, returned by the SA with a status. The
 * attribute of such a reply may differ from the attribute of a regular reply.
 */
static bool is_request_returned(const struct txn *txn, const uint8_t *mad)
{
	return ibsa_be16(mad + MAD_STATUS) &&
	       !memcmp(mad + MAD_ATTRIBUTE, txn->mad + MAD_ATTRIBUTE, 2);
}

/* Whether @mad is of the class and method of a reply to @txn. */
static bool is_reply_of_kind(const struct txn *txn, const uint8_t *mad)
{
	const struct ibsa_record *record = txn->record;

	return mad[MAD_CLASS] == IBSA_CLASS_SA &&
	       mad[MAD_CLASS_VERSION] == record->class_version &&
	       mad[MAD_METHOD] == ibsa__response_method(txn->method) &&
	       (ibsa_be16(mad + MAD_ATTRIBUTE) == record->attribute ||
		is_request_returned(txn, mad));
}

/*
 * Find the request that a message answers. The kernel replaces the upper half
 * of the TransactionID, so only the lower half is compared. Return: the
 * request; NULL if there is none, after counting the message as ignored.
 */
static struct txn *reply_find_txn(struct ibsa__engine *engine,
				  const struct ibsa_message *message)
{
	const uint32_t *slot;
	struct txn *txn;

	slot = id_table_find(&engine->tids,
			     ibsa_be32(message->mad + MAD_TID_LOW));
	if (!slot) {
		engine->stats.ignored_id++;
		return NULL;
	}
	txn = id_object(slot, struct txn, tid);
	if (!is_reply_of_kind(txn, message->mad)) {
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

/*
 * Whether @from is the SA, or the SA that redirected to it: an SA that
 * redirects requests may send its Reports from its own address.
 */
static bool is_from_known_sa(const struct ibsa__engine *engine,
			     const struct ibsa_address *from)
{
	if (!engine->sa_known)
		return false;
	return is_from_address(engine, from, &engine->sa) ||
	       (engine->is_redirected &&
		is_from_address(engine, from, &engine->home));
}

/*
 * Whether the SA has sent this Report. If the sender is unknown, the port is
 * read again (at most once in 100 ms), because the sender may be a new SM.
 */
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

static bool message_is_report(const struct ibsa_message *message)
{
	return !message->err && message->mad[MAD_CLASS] == IBSA_CLASS_SA &&
	       message->mad[MAD_METHOD] == IBSA_METHOD_REPORT;
}

/*
 * Handle a message of the transport that a try has failed: it was refused, or
 * the transport's timeout for it has ended. An abandoned request without other
 * tries then leaves the window. If the transport has refused a later try as a
 * duplicate of this one, the request is sent again now. A timeout has no other
 * effect: the engine's own timers start the next try. A refusal for another
 * reason ends the request, unless the error is temporary.
 */
static void send_failure_handle(struct ibsa__engine *engine,
				const struct ibsa_message *message)
{
	enum { ID_END = MAD_TID + 8 };
	const uint32_t *slot;
	struct txn *txn;

	if (message->len < ID_END || message->mad[MAD_CLASS] != IBSA_CLASS_SA)
		return;
	slot = id_table_find(&engine->tids,
			     ibsa_be32(message->mad + MAD_TID_LOW));
	if (!slot)
		return;
	txn = id_object(slot, struct txn, tid);
	if (message->err == -ETIMEDOUT)
		ibsa__txn_transport_timeout(engine, txn);
	else
		ibsa__txn_refused(engine, txn, message->err);
}

/*
 * Whether @txn was sent to a port that is no longer the SA's. This function
 * reads the port again first: the node of the old SM may reply before the
 * engine has noticed the change.
 */
static bool txn_is_at_old_sa(struct ibsa__engine *engine, const struct txn *txn)
{
	if (engine->sa_given)
		return false;
	if (txn_is_at_sa(engine, txn))
		ibsa__engine_port_read(engine);
	return !txn_is_at_sa(engine, txn);
}

/*
 * Whether to ignore a reply with @status, because its sender is no longer the
 * SA. In this case the request is sent to the new SA: at once if the new SA is
 * known, otherwise at the request's next try.
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

/*
 * Whether a request continues after a reply with a status: because it follows
 * a redirection, or because it is sent again to a new SA.
 */
static bool reply_is_provisional(struct ibsa__engine *engine, struct txn *txn,
				 const struct ibsa_message *message,
				 struct ibsa_reply *reply)
{
	const uint16_t status = ibsa_be16(message->mad + MAD_STATUS);

	if (!(status & IBSA_STATUS_REDIRECT))
		return reply_is_from_old_sa(engine, txn, status);
	reply->record = txn->record;
	reply->redirects = txn->hops;
	reply_parse(txn->record, message->mad, message->len, reply);
	return ibsa__redirect_follow(engine, txn, reply);
}

/* A reply to @txn has arrived. */
static void reply_handle(struct ibsa__engine *engine, struct txn *txn,
			 const struct ibsa_message *message)
{
	const uint16_t status = ibsa_be16(message->mad + MAD_STATUS);
	struct ibsa_reply reply = { 0 };

	engine->replied_ns = engine->now_ns;
	if (status & IBSA_STATUS_BUSY) {
		engine->stats.busy++;
		ibsa__txn_back_off(engine, txn);
		return;
	}
	if (status && reply_is_provisional(engine, txn, message, &reply))
		return;
	reply.err = message->err;
	if (message->len > engine->options.reply_bytes)
		reply.err = -EMSGSIZE;
	if (!reply.err)
		reply_parse(txn->record, message->mad, message->len, &reply);
	reply.rtt_ns = engine->now_ns - txn->sent_ns;
	if (txn->first_ns > engine->answered_ns)
		engine->answered_ns = txn->first_ns;
	if (txn->cut && txn->id_tries == 1)
		window_restore(&engine->window, txn->cut);
	round_trip_note(txn->trip, txn->id_tries, txn->last_interval_ms,
			reply.rtt_ns, engine->now_ns - txn->first_ns);
	engine->accepted_ns = engine->now_ns;
	engine->pause_ms = 0;
	if (engine->window.size < engine->window.max &&
	    !window_admits(engine) && txn->trip->samples == SAMPLES_LEAST &&
	    !window_is_backlogged(txn->trip, reply.rtt_ns))
		window_grow(&engine->window, txn->sent_ns);
	txn_answer(engine, txn, &reply);
}

/*
 * Whether @message is the first part of a reply, for which the transport had no
 * room or no memory.
 */
static bool message_is_cut(const struct ibsa_message *message)
{
	return message->err == -EMSGSIZE ||
	       (message->err == -ENOMEM && message->len > MAD_METHOD &&
		message->mad[MAD_METHOD] & METHOD_RESPONSE);
}

static void message_handle(struct ibsa__engine *engine,
			   const struct ibsa_message *message)
{
	struct txn *txn;

	if (message->err && !message_is_cut(message)) {
		send_failure_handle(engine, message);
		return;
	}
	/* Reports that were queued behind a cut reply may be lost. */
	if (message->err)
		listener_report_loss(engine);
	if (message->len < IBSA_SA_HEADER_BYTES) {
		engine->stats.ignored_malformed++;
		return;
	}
	if (engine->listener && message_is_report(message)) {
		report_deliver(engine, message);
		return;
	}
	txn = reply_find_txn(engine, message);
	if (txn)
		reply_handle(engine, txn, message);
}

/*
 * Receive messages until the transport has no more, up to a limit: the number
 * of expected replies, so that a reply which has arrived does not time out,
 * plus BATCH. Receiving also stops after a message if no request is in flight
 * and there is no listener: one more recv() would cost a system call in many
 * transports. The first recv() is always made, so that unexpected messages do
 * not stay in the transport's queue.
 */
int ibsa__engine_receive(struct ibsa__engine *engine)
{
	struct ibsa_transport *transport = engine->transport;
	const unsigned int most = engine->in_flight + BATCH;
	struct ibsa_message message;

	engine->has_messages = false;
	for (unsigned int i = 1; i <= most; i++) {
		int got = transport->ops->recv(transport, &message);

		if (i % CLOCK_EVERY == 0)
			engine_now_ns(engine);
		if (got < 0)
			listener_report_loss(engine);
		/*
		 * -ENODEV: the transport has lost all requests in flight. The
		 * requests are sent again now: otherwise the loss of each would
		 * be detected only at its next try or deadline.
		 */
		if (got == -ENODEV)
			ibsa__engine_resend(engine, false);
		if (got <= 0)
			return got;
		if (!message.err)
			engine_mad_tap(engine, &message.from, message.mad,
				       message.len, false);
		message_handle(engine, &message);
		if (engine->queued)
			ibsa__engine_window_fill(engine);
		if (!engine->in_flight && !engine->listener)
			return 0;
	}
	engine->has_messages = true;
	return 0;
}
