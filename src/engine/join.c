/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sharing of requests: which requests are identical, and which of them a
 * further query may share. */
#include "base/fold.h"
#include "engine/state.h"

enum {
	/* Offset of AttributeID. From there on, identical requests have
	 * identical bytes. */
	IDENTITY_FROM = 16,
};

/*
 * Bytes that are compared: from AttributeID to the end of the record.
 * TransactionID is not among them, a txn gets it only when it is sent; the
 * bytes behind the record are zero.
 */
static size_t txn_identity_len(const struct txn *txn)
{
	return IBSA_SA_HEADER_BYTES + (size_t)txn->request_bytes -
	       IDENTITY_FROM;
}

/* Hash two words at a time: each half of the product of two words depends on
 * all bits of both words. */
static uint64_t hash_mix(uint64_t hash, const uint8_t *p)
{
	uint64_t word[2];

	memcpy(word, p, sizeof(word));
	return fold_product(word[0] ^ hash ^ UINT64_C(0x9e3779b97f4a7c15),
			    word[1] ^ UINT64_C(0xbf58476d1ce4e5b9));
}

/* Reads whole blocks of 16 bytes: the bytes behind the record are zero and
 * belong to the MAD. */
uint64_t ibsa__txn_identity(const struct txn *txn)
{
	const uint8_t *p = txn->mad + IDENTITY_FROM;
	uint64_t hash = txn->method;

	for (size_t i = 0; i < txn_identity_len(txn); i += 16)
		hash = hash_mix(hash, p + i);
	return hash;
}

static bool txn_is_same(const struct txn *a, const struct txn *b)
{
	return a->record == b->record && a->method == b->method &&
	       !memcmp(a->mad + IDENTITY_FROM, b->mad + IDENTITY_FROM,
		       txn_identity_len(a));
}

/*
 * Whether @txn, which has been sent, serves a query as well as @own would if it
 * were sent now: the next tries come no later, and the transport accepts a
 * reply until the next try or @deadline. This compares the intervals without
 * jitter; txn_may_join() compares the jitter. After BUSY, the SA gets no
 * identical request before the interval has ended. Without a next try, all
 * queries of @txn are about to end.
 */
static bool txn_is_on_time(const struct ibsa__engine *engine,
			   const struct txn *txn, const struct txn *own,
			   uint64_t deadline)
{
	if (!txn->retry.armed)
		return false;
	if (txn->is_backing_off)
		return txn->retry.due <= deadline;
	return txn->id_tries && !txn->is_refused && is_at_sa(engine, txn) &&
	       txn->last_interval_ms <= own->interval_ms &&
	       (txn->wait_end >= txn->retry.due || txn->wait_end >= deadline);
}

/*
 * Whether a query may share @txn instead of sending @own. The tries of @txn
 * must come no later than those of @own, and its reply must not be older than a
 * change which the caller may have made. Other clients may write the records
 * that clients register, and the engine does not see that: a request for such
 * records is shared only until it is sent. @txn is compared in full, because
 * its memory may be in use for another request by now.
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

static struct txn *bucket_find(const struct ibsa__engine *engine,
			       const struct share_bucket *bucket,
			       const struct txn *own, uint64_t deadline)
{
	for (int i = 0; i < SHARE_WAYS; i++) {
		struct txn *txn = bucket->entries[i].txn;

		if (txn && bucket->entries[i].hash == own->share_hash &&
		    txn_may_join(engine, txn, own, deadline) &&
		    txn_is_same(txn, own))
			return txn;
	}
	return NULL;
}

/* Few buckets contain this hash: the loop over the bucket's requests is in a
 * function of its own, which is rarely called. */
struct txn *ibsa__txn_find_same(struct ibsa__engine *engine,
				const struct txn *txn, uint64_t deadline)
{
	const struct share_bucket *bucket;
	bool has_hash = false;

	if (!txn->shareable)
		return NULL;
	bucket = share_bucket(&engine->shares, txn->share_hash);
	for (int i = 0; i < SHARE_WAYS; i++)
		has_hash |= bucket->entries[i].hash == txn->share_hash;
	return has_hash ? bucket_find(engine, bucket, txn, deadline) : NULL;
}
