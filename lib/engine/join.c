/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sharing of requests: which requests are identical, and which of them a
 * further query may share. */
#include "engine/state.h"
#include "wire/mad.h"

enum {
	/*
	 * Offset of the first byte in which two identical requests must be
	 * equal; they must be equal up to the end of the record.
	 */
	IDENTITY_FROM = MAD_ATTRIBUTE,
};

/*
 * Return: the number of bytes that a comparison of two requests covers, from
 * AttributeID to the end of the record. TransactionID, which a request gets
 * only when it is sent, is before them; the bytes behind the record are zero.
 */
static size_t txn_identity_len(const struct txn *txn)
{
	return IBSA_SA_HEADER_BYTES + (size_t)txn->asked->size - IDENTITY_FROM;
}

static bool txn_is_same(const struct txn *a, const struct txn *b)
{
	return a->record == b->record && a->method == b->method &&
	       !memcmp(a->mad + IDENTITY_FROM, b->mad + IDENTITY_FROM,
		       txn_identity_len(a));
}

/*
 * Whether a new query may wait for the reply to @txn, which has been sent,
 * instead of sending @own now. The new query may wait if the next tries of @txn
 * come no later than those of @own, and the transport accepts a reply to @txn
 * until the next try of @txn or until @deadline. The intervals are compared
 * without jitter; txn_may_join() compares the jitter. After the SA has answered
 * @txn with BUSY, the new query waits for the next try of @txn if that try comes
 * before the @deadline: until then, the SA gets no identical request. If the
 * time of the next try has come, but no query of @txn needs that try, the
 * queries of @txn are about to end, and the new query does not wait for @txn.
 */
static bool txn_is_on_time(const struct ibsa__engine *engine,
			   const struct txn *txn, const struct txn *own,
			   uint64_t deadline)
{
	if (!txn->retry.armed && txn->retry.due <= engine->wheel.now)
		return false;
	if (txn->is_backing_off)
		return txn->retry.due <= deadline;
	return txn->id_tries && !txn->is_refused && txn_is_at_sa(engine, txn) &&
	       txn->last_interval_ms <= own->interval_ms &&
	       (txn->wait_end >= txn->retry.due || txn->wait_end >= deadline);
}

/*
 * Whether a new query may share @txn instead of sending @own. The tries of
 * @txn must come no later than those of @own, and its reply must not be older
 * than a change of the SA's records that the caller may have made. Records
 * that clients register, such as services, may be changed by other clients
 * unnoticed: a request for them is shared only until it is sent. @txn is
 * compared in full, because its memory may have been reused for another
 * request.
 */
static bool txn_may_join(const struct ibsa__engine *engine,
			 const struct txn *txn, const struct txn *own,
			 uint64_t deadline)
{
	if (!txn->shareable || txn->epoch != own->epoch ||
	    txn->max_interval_ms > own->max_interval_ms ||
	    txn->jitter_percent > own->jitter_percent)
		return false;
	if (txn->state == TXN_QUEUED)
		return txn->interval_ms <= own->interval_ms;
	return txn->state == TXN_IN_FLIGHT &&
	       txn->record->writer == IBSA_WRITER_SM &&
	       txn_is_on_time(engine, txn, own, deadline);
}

struct txn *ibsa__txn_find_in(const struct ibsa__engine *engine,
			      const struct share_bucket *bucket,
			      const struct txn *own, uint64_t deadline)
{
	for (int i = 0; i < SHARE_WAYS; i++) {
		struct txn *txn = bucket->entries[i].txn;

		if (txn && txn_may_join(engine, txn, own, deadline) &&
		    txn_is_same(txn, own))
			return txn;
	}
	return NULL;
}
