/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The cache compares the bytes of requests. The Reports of the SM and of links
 * show when its replies are out of date: without the Reports, queries share
 * requests, but no reply is stored.
 */
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "ibsad/daemon.h"
#include "ibsad/file.h"
#include "ibsad/key.h"
#include "ibsad/wait.h"
#include "wire/mad.h"

enum {
	LIFE_MS = 10000,
	NEGATIVE_MS = 2000,   /* no event tells of a new route */
	STORED_BYTES = 65536, /* the largest reply that is stored */
	LARGEST_BYTES = 1 << 20,
	RECEIVES_MAX = 64, /* in one call */
	PRELOAD_MS = 5000, /* timeout of ibsad's own request */
	/*
	 * The longest timeout of a request for clients: if it is lost, those
	 * with the same query wait as long.
	 */
	REQUEST_MS = 2000,
	SLOT_BITS = 12,
};
_Static_assert(1 << SLOT_BITS == CACHE_ASKED, "slots of the cache");

/*
 * A request and its reply.
 * @request: the packet of the request: see ibsad_key_request()
 * @reply:   the packet of the reply, @reply_len bytes; NULL: it has not arrived
 * @tid:     the lower half of the request's TransactionID
 * @is_own:  ibsad's own request: see ibsad_cache_query()
 */
struct cache_entry {
	struct list link;
	struct list bucket;
	struct ibsad_cache *cache;
	uint64_t hash;
	uint32_t epoch;
	uint32_t tid;
	bool is_own;
	uint8_t *reply;
	size_t reply_len;
	uint64_t end_ns;
	struct list waiters;
	uint8_t request[QUEUE_FIRST_BYTES];
};

/*
 * The records that the cache stores. A query for few of them selects by at
 * least one component of each mask. Other queries, such as those for whole
 * tables, are not cached: audits and checks send them, and need the SA's own
 * reply.
 */
static const struct cached_record {
	const struct ibsa_record *record;
	uint64_t masks[2];
} cached_records[] = {
	{ &ibsa_path_record,
	  { IBSA_PATH_CM(sgid) | IBSA_PATH_CM(slid),
	    IBSA_PATH_CM(dgid) | IBSA_PATH_CM(dlid) } },
	{ &ibsa_node_record,
	  { IBSA_NODE_CM(lid) | IBSA_NODE_CM(port_guid), UINT64_MAX } },
	{ &ibsa_port_info_record,
	  { IBSA_PORT_INFO_CM(endport_lid), UINT64_MAX } },
	{ &ibsa_link_record, { IBSA_LINK_CM(from_lid), UINT64_MAX } },
};

static bool is_about_few(const uint8_t *mad)
{
	const uint64_t mask = ibsa_be64(mad + MAD_COMPONENT_MASK);
	const size_t count = sizeof(cached_records) / sizeof(*cached_records);

	for (size_t i = 0; i < count; i++) {
		const struct cached_record *at = &cached_records[i];

		if (at->record->attribute == ibsa_be16(mad + MAD_ATTRIBUTE))
			return mask & at->masks[0] && mask & at->masks[1];
	}
	return false;
}

static bool is_for_cache(const struct ibsad_cache *cache, const uint8_t *packet,
			 size_t len)
{
	const uint8_t *mad = packet + UMAD_HEADER_BYTES;
	struct umad_header header;

	if (cache->is_off || len != QUEUE_FIRST_BYTES ||
	    mad[MAD_CLASS] != IBSA_CLASS_SA ||
	    (mad[MAD_METHOD] != IBSA_METHOD_GET &&
	     mad[MAD_METHOD] != IBSA_METHOD_GET_TABLE))
		return false;
	memcpy(&header, packet, sizeof(header));
	return header.timeout_ms && !header.reserved[UMAD_IS_FRESH] &&
	       is_about_few(mad);
}

static struct list *bucket_of(struct ibsad_cache *cache, uint64_t hash)
{
	return &cache->buckets[hash % CACHE_BUCKETS];
}

/* Return: the slot in @asked of the request with this TransactionID. */
static struct cache_entry **slot_of(struct ibsad_cache *cache, uint32_t tid)
{
	return &cache->asked[tid % CACHE_ASKED];
}

static size_t entry_bytes(const struct cache_entry *entry)
{
	return sizeof(*entry) + entry->reply_len;
}

/* No request of a client waits for the entry any more. */
static void entry_free(struct cache_entry *entry)
{
	struct ibsad_cache *cache = entry->cache;

	if (!entry->reply && *slot_of(cache, entry->tid) == entry)
		*slot_of(cache, entry->tid) = NULL;
	cache->bytes -= entry_bytes(entry);
	list_take(&entry->link);
	list_take(&entry->bucket);
	ibsa__free(entry->reply);
	ibsa__free(entry);
}

/* Make room for one more entry: free the least recently used ones. */
static void cache_limit(struct ibsad_cache *cache)
{
	struct cache_entry *entry, *next;

	LIST_EACH_SAFE(entry, next, &cache->entries, link) {
		if (cache->bytes <= CACHE_BYTES)
			return;
		if (entry->reply)
			entry_free(entry);
	}
}

/* Whether an entry has a reply that is valid now, or waits for a reply that
 * will be. */
static bool entry_is_valid(const struct cache_entry *entry)
{
	return entry->epoch == entry->cache->epoch &&
	       (!entry->reply || clock_now_ns() < entry->end_ns);
}

static struct cache_entry *entry_find(struct ibsad_cache *cache, uint64_t hash,
				      const uint8_t *packet)
{
	struct cache_entry *entry, *next;

	LIST_EACH_SAFE(entry, next, bucket_of(cache, hash), bucket) {
		if (entry->hash != hash ||
		    !ibsad_key_is_same(entry->request, packet))
			continue;
		if (entry_is_valid(entry))
			return entry;
		if (entry->reply)
			entry_free(entry);
	}
	return NULL;
}

/* Give the entry a slot. Return: false: too many requests wait for replies. */
static bool slot_take(struct ibsad_cache *cache, struct cache_entry *entry)
{
	for (uint32_t i = 0; i < CACHE_ASKED; i++) {
		struct cache_entry **slot = slot_of(cache, ++cache->slot);

		if (*slot)
			continue;
		*slot = entry;
		entry->tid = cache->slot;
		return true;
	}
	return false;
}

static struct cache_entry *entry_new(struct ibsad_cache *cache, uint64_t hash,
				     const uint8_t *packet)
{
	struct cache_entry *entry = ibsa__calloc(1, sizeof(*entry));

	if (!entry || !slot_take(cache, entry)) {
		ibsa__free(entry);
		return NULL;
	}
	entry->cache = cache;
	entry->hash = hash;
	entry->epoch = cache->epoch;
	ibsad_key_request(entry->request, packet);
	list_init(&entry->waiters);
	list_append(&cache->entries, &entry->link);
	list_append(bucket_of(cache, hash), &entry->bucket);
	cache->bytes += entry_bytes(entry);
	return entry;
}

static int agent_register(struct ibsad_cache *cache)
{
	struct umad_agent_request2 request = {
		.qpn = IBSA_QPN_GSI,
		.mgmt_class = IBSA_CLASS_SA,
		.mgmt_class_version = IBSA_CLASS_VERSION,
		.rmpp_version = 1,
	};
	struct umad_file *file = cache->upstream.file;
	const int err = file->ops->register_agent2(file, &request);

	cache->agent = request.id;
	return err;
}

static int upstream_open(struct ibsad_cache *cache)
{
	int err;

	if (cache->upstream.fd >= 0)
		return 0;
	err = ibsad_upstream_open(&cache->upstream, cache->daemon, cache->port,
				  cache);
	if (!err)
		err = agent_register(cache);
	if (err)
		ibsad_upstream_close(&cache->upstream);
	return err;
}

/* Send the request of an entry. */
static int entry_query(struct cache_entry *entry, uint32_t timeout_ms,
		       uint32_t retries)
{
	struct ibsad_cache *cache = entry->cache;
	uint8_t packet[QUEUE_FIRST_BYTES];
	struct umad_header header;
	int err = upstream_open(cache);

	if (err)
		return err;
	memcpy(packet, entry->request, sizeof(packet));
	memcpy(&header, packet, sizeof(header));
	header.id = cache->agent;
	header.timeout_ms = timeout_ms;
	header.retries = retries;
	memcpy(packet, &header, sizeof(header));
	ibsa_put_be64(packet + UMAD_HEADER_BYTES + MAD_TID, entry->tid);
	return cache->upstream.file->ops->send(cache->upstream.file, packet,
					       sizeof(packet));
}

static uint32_t request_timeout_ms(uint64_t wait_ms)
{
	return wait_ms < REQUEST_MS ? (uint32_t)wait_ms : REQUEST_MS;
}

/* Ask the SA. Return: 0, and the request of the client waits. */
static int query_first(struct ibsad_cache *cache, uint64_t hash,
		       struct client_file *file, const uint8_t *packet)
{
	struct cache_entry *entry = entry_new(cache, hash, packet);
	struct umad_header header;
	int err;

	if (!entry)
		return -ENOENT;
	memcpy(&header, packet, sizeof(header));
	err = ibsad_wait_begin(&entry->waiters, file, packet);
	if (!err)
		err = entry_query(entry, request_timeout_ms(header.timeout_ms),
				  header.retries);
	if (err) {
		ibsad_waits_drop(&entry->waiters);
		entry_free(entry);
	} else {
		cache->misses++;
		ibsad_preload_note(cache, entry->request);
	}
	return err;
}

int ibsad_cache_send(struct ibsad_cache *cache, struct client_file *file,
		     const uint8_t *packet, size_t len)
{
	struct cache_entry *entry;
	uint64_t hash;

	if (!is_for_cache(cache, packet, len))
		return -ENOENT;
	ibsad_reports_want(&cache->daemon->reports[cache->port]);
	cache_limit(cache);
	hash = ibsad_key_hash(cache->seed, packet);
	entry = entry_find(cache, hash, packet);
	/* An event that has arrived, but was not read yet, counts. */
	if (entry && entry->reply &&
	    ibsad_client_has_input(cache->daemon, cache->port)) {
		ibsad_cache_flush(cache);
		entry = NULL;
	}
	if (!entry)
		return query_first(cache, hash, file, packet);
	if (!entry->reply) {
		cache->joined++;
		return ibsad_wait_begin(&entry->waiters, file, packet);
	}
	cache->hits++;
	list_take(&entry->link);
	list_append(&cache->entries, &entry->link);
	ibsad_cached_answer(file, packet, entry->reply, entry->reply_len);
	return 0;
}

/* Return: for how long an answer may be kept; 0: not at all. */
static unsigned int answer_life_ms(const struct ibsad_cache *cache,
				   const uint8_t *packet, size_t len)
{
	const uint8_t *mad = packet + UMAD_HEADER_BYTES;
	const uint16_t status = ibsa_be16(mad + MAD_STATUS);
	const bool is_empty = len <= UMAD_HEADER_BYTES + IBSA_SA_HEADER_BYTES ||
			      !ibsa_be16(mad + MAD_ATTRIBUTE_OFFSET);

	if (len > STORED_BYTES ||
	    !ibsad_reports_are_set(&cache->daemon->reports[cache->port]))
		return 0;
	if (status == IBSA_STATUS_NO_RECORDS)
		return NEGATIVE_MS;
	if (status)
		return 0;
	return mad[MAD_METHOD] == IBSA_METHOD_GET_TABLE_RESP && is_empty
		       ? NEGATIVE_MS
		       : LIFE_MS;
}

/* Store the reply to an entry's request. Return: false: there is no memory. */
static bool entry_store(struct cache_entry *entry, const uint8_t *reply,
			size_t len, unsigned int life_ms)
{
	struct ibsad_cache *cache = entry->cache;

	entry->reply = ibsa__calloc(1, len);
	if (!entry->reply)
		return false;
	*slot_of(cache, entry->tid) = NULL;
	memcpy(entry->reply, reply, len);
	entry->reply_len = len;
	entry->end_ns = clock_now_ns() + life_ms * NS_PER_MS;
	cache->bytes += len;
	return true;
}

/* A reply has arrived: answer the requests that wait for it, and store it. */
static void entry_answer(struct cache_entry *entry, const uint8_t *reply,
			 size_t len)
{
	struct ibsad_cache *cache = entry->cache;
	const unsigned int life_ms = answer_life_ms(cache, reply, len);
	const bool is_valid = entry->epoch == cache->epoch;

	ibsad_waits_answer(&entry->waiters, reply, len);
	if (entry->is_own && is_valid)
		ibsad_preload_take(cache, reply, len);
	if (entry->is_own || !is_valid || !life_ms ||
	    !entry_store(entry, reply, len, life_ms))
		entry_free(entry);
}

void ibsad_cache_query(struct ibsad_cache *cache, const uint8_t *packet)
{
	struct cache_entry *entry =
		entry_new(cache, ibsad_key_hash(cache->seed, packet), packet);

	if (!entry)
		return;
	entry->is_own = true;
	if (entry_query(entry, PRELOAD_MS, 0))
		entry_free(entry);
}

const uint8_t *ibsad_cache_find(struct ibsad_cache *cache,
				const uint8_t *packet)
{
	const struct cache_entry *entry =
		entry_find(cache, ibsad_key_hash(cache->seed, packet), packet);

	return entry && entry->reply_len == QUEUE_FIRST_BYTES ? entry->reply
							      : NULL;
}

void ibsad_cache_put(struct ibsad_cache *cache, const uint8_t *packet,
		     const uint8_t *reply)
{
	struct cache_entry *entry;

	cache_limit(cache);
	entry = entry_new(cache, ibsad_key_hash(cache->seed, packet), packet);
	if (entry && !entry_store(entry, reply, QUEUE_FIRST_BYTES, LIFE_MS))
		entry_free(entry);
}

/* There is no reply: return the requests that wait for it, with @err. */
static void entry_fail(struct cache_entry *entry, int err)
{
	ibsad_waits_return(&entry->waiters, err);
	entry_free(entry);
}

/*
 * The timeout of the request that was sent has passed. If a client's request
 * that joined it has a longer timeout, send the request again.
 */
static void entry_timeout(struct cache_entry *entry)
{
	const uint64_t now_ns = clock_now_ns();
	const uint64_t due_ns = ibsad_waits_due_ns(&entry->waiters);

	if (due_ns < now_ns + NS_PER_MS ||
	    entry_query(entry,
			request_timeout_ms((due_ns - now_ns) / NS_PER_MS), 0))
		entry_fail(entry, -ETIMEDOUT);
}

static void packet_take(struct ibsad_cache *cache, const uint8_t *packet,
			size_t len)
{
	const uint64_t tid = ibsa_be64(packet + UMAD_HEADER_BYTES + MAD_TID);
	struct cache_entry *entry = *slot_of(cache, (uint32_t)tid);
	struct umad_header header;

	memcpy(&header, packet, sizeof(header));
	if (!entry || entry->tid != (uint32_t)tid)
		return;
	if (!header.status)
		entry_answer(entry, packet, len);
	else if (header.status == ETIMEDOUT)
		entry_timeout(entry);
	else
		entry_fail(entry, -EIO);
}

/*
 * Receive a packet of @len bytes, more than one MAD, of which only the header
 * was received yet.
 */
static int large_receive(struct ibsad_cache *cache, uint32_t len)
{
	struct umad_file *file = cache->upstream.file;
	struct umad_buffer buffer = { .room = len };
	int got = -ENOMEM;

	if (len > QUEUE_FIRST_BYTES && len <= LARGEST_BYTES)
		buffer.bytes = ibsa__calloc(1, len);
	if (buffer.bytes)
		got = file->ops->receive(file, &buffer, 1);
	if (got > 0)
		packet_take(cache, buffer.bytes, buffer.len);
	ibsa__free(buffer.bytes);
	return got;
}

/* Return: 1; -EAGAIN there is no packet; or another error. */
static int packet_receive(struct ibsad_cache *cache)
{
	_Alignas(struct umad_header) uint8_t bytes[QUEUE_FIRST_BYTES];
	struct umad_buffer buffer = { .bytes = bytes, .room = sizeof(bytes) };
	struct umad_header header;
	struct umad_file *file = cache->upstream.file;
	const int got = file->ops->receive(file, &buffer, 1);

	if (got > 0 && buffer.len >= QUEUE_HEADER_BYTES)
		packet_take(cache, bytes, buffer.len);
	if (got != -ENOSPC)
		return got;
	memcpy(&header, bytes, sizeof(header));
	return large_receive(cache, header.length);
}

/*
 * End ibsad's own request, if there is one: the table may be too large, and is
 * not requested again. Return: whether there was one.
 */
static bool own_end(struct ibsad_cache *cache)
{
	for (int i = 0; i < CACHE_ASKED; i++) {
		if (!cache->asked[i] || !cache->asked[i]->is_own)
			continue;
		cache->preload.records = SIZE_MAX;
		entry_free(cache->asked[i]);
		return true;
	}
	return false;
}

/*
 * The umad file was lost, or has a packet that is too large. If this may be the
 * reply to ibsad's own request, the requests of clients are sent again.
 */
static void upstream_lose(struct ibsad_cache *cache, int err)
{
	const bool is_own = err == -ENOMEM && own_end(cache);

	ibsad_upstream_close(&cache->upstream);
	for (int i = 0; i < CACHE_ASKED; i++) {
		if (cache->asked[i] && is_own)
			entry_timeout(cache->asked[i]);
		else if (cache->asked[i])
			entry_fail(cache->asked[i], err);
	}
}

void ibsad_cache_receive(struct ibsad_cache *cache)
{
	int got = 1;

	for (int i = 0; cache->upstream.fd >= 0 && got > 0 && i < RECEIVES_MAX;
	     i++)
		got = packet_receive(cache);
	if (got < 0 && got != -EAGAIN && got != -EINTR)
		upstream_lose(cache, got == -ENOMEM ? got : -EIO);
}

void ibsad_cache_flush(struct ibsad_cache *cache)
{
	struct cache_entry *entry, *next;

	cache->epoch++;
	LIST_EACH_SAFE(entry, next, &cache->entries, link) {
		if (entry->reply)
			entry_free(entry);
	}
}

void ibsad_cache_init(struct ibsad_cache *cache, struct daemon *daemon,
		      uint32_t port, bool is_off)
{
	*cache = (struct ibsad_cache){ .daemon = daemon,
				       .port = port,
				       .is_off = is_off,
				       .upstream = { .fd = -1 } };
	list_init(&cache->entries);
	for (int i = 0; i < CACHE_BUCKETS; i++)
		list_init(&cache->buckets[i]);
	/* With a known seed, clients could put all entries into one bucket. */
	if (getrandom(&cache->seed, sizeof(cache->seed), GRND_NONBLOCK) < 0)
		cache->seed = clock_now_ns();
}

/* No client file is open any more. */
void ibsad_cache_done(struct ibsad_cache *cache)
{
	upstream_lose(cache, -EIO);
	ibsad_cache_flush(cache);
}
