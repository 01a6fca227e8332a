/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The interval between two tries of a request, inline, for each try. */
#ifndef ENGINE_INTERVAL_H
#define ENGINE_INTERVAL_H

#include "engine/state.h"

static inline uint32_t or_default(uint32_t value, uint32_t fallback)
{
	return value ? value : fallback;
}

/*
 * Raise the interval between the tries of @txn to the time after which a reply
 * is late: an earlier retry only adds load to a slow SA.
 */
static inline void txn_interval_raise(struct txn *txn)
{
	const uint64_t us = txn->trip->limit_us;
	uint64_t ms;

	if (us <= UINT64_C(1000) * txn->interval_ms)
		return;
	ms = us / 1000;
	if (ms > txn->max_interval_ms)
		ms = txn->max_interval_ms;
	if (txn->interval_ms < ms)
		txn->interval_ms = (uint32_t)ms;
}

static inline bool txn_is_table(const struct txn *txn)
{
	return txn->method == IBSA_METHOD_GET_TABLE ||
	       txn->method == IBSA_METHOD_GET_MULTI;
}

/*
 * Set the first interval of @txn to the interval that follows from the measured
 * round-trip times.
 */
static inline void txn_interval_measure(struct txn *txn, bool is_table)
{
	enum { LEAST_MS = 100, TABLE_LEAST_MS = 500 };

	txn->interval_ms = round_trip_first_ms(
		txn->trip, is_table ? TABLE_LEAST_MS : LEAST_MS);
}

/* Set the first interval of @txn, and the measurement of its replies. */
static inline void txn_interval_init(struct ibsa__engine *engine,
				     const struct ibsa_query *query,
				     struct txn *txn)
{
	const bool is_table = txn_is_table(txn);
	const uint16_t attribute = query->record->attribute;

	txn->trip = is_table ? &engine->table_trips[attribute % TABLE_TRIPS]
			     : &engine->round_trip;
	txn->interval_ms = or_default(query->first_interval_ms,
				      engine->options.first_interval_ms);
	txn->is_measured = !txn->interval_ms;
	if (txn->is_measured)
		txn_interval_measure(txn, is_table);
}

static inline uint64_t txn_jittered_ms(struct ibsa__engine *engine,
				       const struct txn *txn,
				       unsigned int percent)
{
	const uint32_t spread =
		(uint32_t)((uint64_t)txn->interval_ms * percent / 100);

	if (!spread)
		return txn->interval_ms;
	return txn->interval_ms - spread / 2 +
	       random_below(&engine->random, UINT64_C(1) + spread);
}

static inline void txn_interval_double(struct txn *txn)
{
	if (txn->interval_ms >= txn->max_interval_ms / 2)
		txn->interval_ms = txn->max_interval_ms;
	else
		txn->interval_ms *= 2;
}

#endif
