/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A table of paths has what the SA would reply to a Get for each of them: with
 * NumbPath 1, it has one path for each pair of source and destination GID, and
 * to a Get the SA replies with one path. Source: IBA vol 1, 15.2.5.16; OpenSM
 * 3.3 finds the path in the same function, pr_rcv_get_port_pair_paths() of
 * osm_sa_path_record.c, for both.
 *
 * This is so for Gets that select by nothing but both GIDs, Reversible and
 * NumbPath. Queries by LID are different: an SA may have several paths between
 * two LIDs, one for each alias GUID. And because an SA may be unlike OpenSM,
 * nothing is stored from a table that differs from one of the SA's replies to
 * the queries before.
 */
#include <string.h>

#include "base/clock.h"
#include "base/random.h"
#include "base/secret.h"
#include "ibsad/daemon.h"
#include "wire/mad.h"

enum {
	WINDOW_MS = 1000,
	SPREAD_MS = 1000, /* the nodes of a job start at the same time */
	REST_MS = 10000,  /* from one table to the next */
	/* OpenSM needs as much time for so many paths as for a Get. */
	PATHS_OF_GET = 3,
	RECORD_AT = UMAD_HEADER_BYTES + IBSA_SA_HEADER_BYTES,
	SGID_AT = offsetof(struct ibsa__path_bits, sgid) / 8,
	DGID_AT = offsetof(struct ibsa__path_bits, dgid) / 8,
	PATHS_AT = offsetof(struct ibsa__path_bits, reversible) / 8,
	PATH_BYTES = sizeof(struct ibsa__path_bits) / 8,
	PREFIX_BYTES = 8,
	REVERSIBLE = 0x80, /* in the byte at PATHS_AT; the rest is NumbPath */
};

static const uint64_t mask_needed = IBSA_PATH_CM(sgid) | IBSA_PATH_CM(dgid);
static const uint64_t mask_permitted = IBSA_PATH_CM(sgid) | IBSA_PATH_CM(dgid) |
				       IBSA_PATH_CM(reversible) |
				       IBSA_PATH_CM(numb_path);

/* Whether the packet is a Get for a path from the port to a GID. */
static bool is_plain_get(const struct ibsad_cache *cache, const uint8_t *packet)
{
	const struct ibsad_port *port = &cache->daemon->ports.at[cache->port];
	const uint8_t *mad = packet + UMAD_HEADER_BYTES;
	const uint64_t mask = ibsa_be64(mad + MAD_COMPONENT_MASK);

	return mad[MAD_METHOD] == IBSA_METHOD_GET &&
	       ibsa_be16(mad + MAD_ATTRIBUTE) == ibsa_path_record.attribute &&
	       (mask & mask_needed) == mask_needed &&
	       !(mask & ~mask_permitted) && port->state.gid_count &&
	       !memcmp(packet + RECORD_AT + SGID_AT, port->state.gids[0].raw,
		       sizeof(struct ibsa_gid));
}

static uint64_t spread_ns(void)
{
	struct random random = { ibsa__secret() };

	return random_below(&random, SPREAD_MS) * NS_PER_MS;
}

void ibsad_preload_note(struct ibsad_cache *cache, const uint8_t *request)
{
	struct ibsad_preload *preload = &cache->preload;
	const uint64_t now_ns = clock_now_ns();
	uint8_t form[QUEUE_FIRST_BYTES];

	if (!preload->after || preload->due_ns || now_ns < preload->next_ns ||
	    !ibsad_reports_are_set(&cache->daemon->reports[cache->port]) ||
	    !is_plain_get(cache, request))
		return;
	memcpy(form, request, sizeof(form));
	memset(form + RECORD_AT + DGID_AT, 0, sizeof(struct ibsa_gid));
	if (now_ns - preload->start_ns > WINDOW_MS * NS_PER_MS ||
	    preload->epoch != cache->epoch ||
	    memcmp(preload->form, form, sizeof(form)) != 0) {
		memcpy(preload->form, form, sizeof(form));
		preload->epoch = cache->epoch;
		preload->start_ns = now_ns;
		preload->count = 0;
	}
	preload->count++;
	if (preload->count >= preload->after &&
	    preload->count >= preload->records / PATHS_OF_GET)
		preload->due_ns = now_ns + spread_ns();
}

static void table_request(struct ibsad_cache *cache)
{
	struct ibsad_preload *preload = &cache->preload;
	uint8_t packet[QUEUE_FIRST_BYTES];
	uint8_t *mad = packet + UMAD_HEADER_BYTES;
	uint8_t *paths = packet + RECORD_AT + PATHS_AT;
	const uint64_t mask = ibsa_be64(preload->form + UMAD_HEADER_BYTES +
					MAD_COMPONENT_MASK);

	preload->due_ns = 0;
	if (preload->epoch != cache->epoch || cache->is_off || !preload->after)
		return;
	memcpy(packet, preload->form, sizeof(packet));
	mad[MAD_METHOD] = IBSA_METHOD_GET_TABLE;
	ibsa_put_be64(mad + MAD_COMPONENT_MASK,
		      (mask & ~IBSA_PATH_CM(dgid)) | IBSA_PATH_CM(numb_path));
	*paths = (*paths & REVERSIBLE) | 1;
	preload->next_ns = clock_now_ns() + REST_MS * NS_PER_MS;
	ibsad_cache_query(cache, packet);
}

int ibsad_preload_tick(struct ibsad_cache *caches)
{
	const uint64_t now_ns = clock_now_ns();
	int next_ms = -1;

	for (uint32_t i = 1; i <= IBSAD_PORTS; i++) {
		const uint64_t due_ns = caches[i].preload.due_ns;

		if (due_ns > now_ns)
			next_ms = sooner_ms(
				next_ms,
				(int)((due_ns - now_ns) / NS_PER_MS + 1));
		else if (due_ns)
			table_request(&caches[i]);
	}
	return next_ms;
}

/* The records of a table, which are @stride bytes apart. */
struct table {
	const uint8_t *at;
	size_t count;
	size_t stride;
};

static bool table_parse(const uint8_t *packet, size_t len, struct table *out)
{
	const uint8_t *mad = packet + UMAD_HEADER_BYTES;

	if (len < RECORD_AT || ibsa_be16(mad + MAD_STATUS))
		return false;
	out->at = packet + RECORD_AT;
	out->stride = (size_t)ibsa_be16(mad + MAD_ATTRIBUTE_OFFSET) * 8;
	if (out->stride < PATH_BYTES)
		return false;
	out->count = (len - RECORD_AT) / out->stride;
	return true;
}

/*
 * Make the Get for a path. Return: false: the SA may reply to it with another
 * path, because its GIDs are not of one subnet.
 */
static bool get_make(const struct ibsad_cache *cache, const uint8_t *path,
		     uint8_t *get)
{
	memcpy(get, cache->preload.form, QUEUE_FIRST_BYTES);
	memcpy(get + RECORD_AT + DGID_AT, path + DGID_AT,
	       sizeof(struct ibsa_gid));
	return !memcmp(path + SGID_AT, get + RECORD_AT + SGID_AT,
		       sizeof(struct ibsa_gid)) &&
	       !memcmp(path + DGID_AT, path + SGID_AT, PREFIX_BYTES);
}

/* Whether @reply, except for its TransactionID, is @model with @path. */
static bool is_reply(const uint8_t *reply, const uint8_t *model,
		     const uint8_t *path)
{
	const size_t tid_at = UMAD_HEADER_BYTES + MAD_TID;
	const size_t tid_end = tid_at + sizeof(uint64_t);
	const size_t path_end = RECORD_AT + PATH_BYTES;

	return !memcmp(reply, model, tid_at) &&
	       !memcmp(reply + tid_end, model + tid_end, RECORD_AT - tid_end) &&
	       !memcmp(reply + RECORD_AT, path, PATH_BYTES) &&
	       !memcmp(reply + path_end, model + path_end,
		       QUEUE_FIRST_BYTES - path_end);
}

/*
 * Compare a table with the SA's replies that are stored. Return: whether they
 * are equal, and are enough; *@model is one of them.
 */
static bool table_check(struct ibsad_cache *cache, const struct table *table,
			uint8_t *model)
{
	uint8_t get[QUEUE_FIRST_BYTES];
	size_t equal = 0;

	for (size_t i = 0; i < table->count; i++) {
		const uint8_t *path = table->at + i * table->stride;
		const uint8_t *reply = NULL;

		if (get_make(cache, path, get))
			reply = ibsad_cache_find(cache, get);
		if (!reply)
			continue;
		if (!equal)
			memcpy(model, reply, QUEUE_FIRST_BYTES);
		if (!is_reply(reply, model, path))
			return false;
		equal++;
	}
	return equal && equal >= cache->preload.after / 4;
}

/*
 * A destination that has two paths in the table is found when the second is to
 * be stored: then the table is not what it was thought to be.
 */
static bool table_store(struct ibsad_cache *cache, const struct table *table,
			uint8_t *model)
{
	uint8_t get[QUEUE_FIRST_BYTES];

	for (size_t i = 0; i < table->count; i++) {
		const uint8_t *path = table->at + i * table->stride;
		const uint8_t *reply;

		if (!get_make(cache, path, get))
			continue;
		reply = ibsad_cache_find(cache, get);
		if (reply && !is_reply(reply, model, path))
			return false;
		memcpy(model + RECORD_AT, path, PATH_BYTES);
		if (!reply)
			ibsad_cache_put(cache, get, model);
	}
	return true;
}

void ibsad_preload_take(struct ibsad_cache *cache, const uint8_t *packet,
			size_t len)
{
	uint8_t model[QUEUE_FIRST_BYTES];
	struct table table;

	if (!table_parse(packet, len, &table))
		return;
	cache->preload.records = table.count;
	/* The form may have changed since the request for a table that is late. */
	if (clock_now_ns() >= cache->preload.next_ns ||
	    !ibsad_reports_are_set(&cache->daemon->reports[cache->port]) ||
	    !table_check(cache, &table, model))
		return;
	if (table_store(cache, &table, model))
		cache->preload.preloads++;
	else
		ibsad_cache_flush(cache);
}
