/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which requests are the same, and which of them a query may join. */
#include "base/fold.h"
#include "engine/state.h"

enum {
	IDENTITY_FROM = 16, /* AttributeID: from there on, two requests that
			     * are the same have the same bytes */
};

/*
 * What makes two requests the same: all of the MAD but its TransactionID,
 * which a txn gets only when it is sent. The rest beyond the record is zero.
 */
static size_t txn_identity_len(const struct txn *txn)
{
	return IBSA_SA_HEADER_BYTES + (size_t)txn->request_bytes -
	       IDENTITY_FROM;
}

/* Two words at a time: both halves of their product depend on all of both. */
static uint64_t hash_mix(uint64_t hash, const uint8_t *p)
{
	uint64_t word[2];

	memcpy(word, p, sizeof(word));
	return fold_product(word[0] ^ hash ^ UINT64_C(0x9e3779b97f4a7c15),
			    word[1] ^ UINT64_C(0xbf58476d1ce4e5b9));
}

/* What lies beyond the record is zero, and one MAD has room for it. */
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
 * Whether @txn, which was sent, has its next tries no later than @own would
 * have them if it were sent now, and the transport takes an answer until then.
 * Nominal intervals are compared: txn_may_join() compares the jitter. If the SA
 * answered the last try with BUSY, it is not asked the same again before the
 * interval ends. Without a next try, all queries of @txn are about to end.
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
 * Whether a query may join @txn instead of sending @own: the tries of @txn come
 * no later than own ones would, and its reply is not older than a change that
 * the query's author may know of. A record that clients write may have been
 * changed by another client since @txn was sent, which is not seen here. @txn
 * may be in the place in memory of the request that was shared.
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

/* One of the bucket whose hash is that of @own. */
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

/* Few buckets have an entry of that hash, so the rest is done apart. */
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
