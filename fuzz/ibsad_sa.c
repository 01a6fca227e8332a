/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "client/files.h"
#include "fuzz/ibsad_sa.h"
#include "test/ibsad/permitted.h"

struct run run;

/* What ibsad calls. */

void ibsad_log(const char *format, ...)
{
	(void)format;
}

void ibsad_log_note(const char *text, void *daemon)
{
	(void)text;
	(void)daemon;
}

void ibsad_log_refusal(struct daemon *daemon, uid_t user, const char *reason,
		       const uint8_t *mad)
{
	(void)daemon;
	(void)mad;
	must(reason && user);
}

struct serve_user *ibsa__peer_user(const struct server_peer *peer)
{
	return peer->user;
}

uid_t ibsa__user_id(const struct serve_user *user)
{
	return user->id;
}

bool ibsa__user_take(struct serve_user *user, enum serve_quota quota,
		     uint32_t count)
{
	const uint64_t most = quota == SERVE_BYTES ? 20000 : QUOTA;

	if (user->used[quota] + count > most) {
		run.is_short |= quota == SERVE_BYTES;
		return false;
	}
	user->used[quota] += count;
	return true;
}

void ibsa__user_give(struct serve_user *user, enum serve_quota quota,
		     uint32_t count)
{
	must(user->used[quota] >= count);
	user->used[quota] -= count;
}

void ibsa__peer_ready(struct server_peer *peer)
{
	must(peer->user);
}

void ibsa__peer_end(struct server_peer *peer)
{
	must(peer->user);
}

void ibsa__server_changed(struct server *server)
{
	(void)server;
}

int ibsad_client_get(struct daemon *daemon, uint32_t port,
		     struct ibsa_client **out)
{
	/* Only the functions below get it. */
	*out = (struct ibsa_client *)(void *)daemon;
	must(port == PORT);
	return 0;
}

/* The state of the port stays as it is. */
void ibsad_port_read(struct ibsad_ports *ports, uint32_t number,
		     uint64_t age_ns)
{
	(void)ports;
	(void)age_ns;
	must(number == PORT);
}

bool ibsa__server_has_user(const struct server *server, uid_t id)
{
	(void)server;
	return id;
}

bool ibsad_client_has_input(const struct daemon *daemon, uint32_t port)
{
	(void)daemon;
	(void)port;
	return false;
}

int ibsad_poll_add(struct daemon *daemon, int fd, void *data)
{
	must(daemon == &run.daemon && fd >= 0 && data);
	return 0;
}

int ibsa_query_start_sized(struct ibsa_client *client,
			   const struct ibsa_query *query, size_t size,
			   ibsa_reply_fn done, void *arg, uint64_t *out_id)
{
	(void)client;
	(void)size;
	(void)out_id;
	for (int i = 0; i < QUERIES; i++) {
		struct query *at = &run.queries[i];

		if (at->is_used)
			continue;
		*at = (struct query){ true, .mask = query->mask,
				      .method = query->method, .done = done,
				      .arg = arg };
		at->record = query->record;
		memcpy(&at->match, query->match, query->record->host_size);
		return 0;
	}
	run.has_failed = true;
	return -ENOBUFS;
}

int ibsa_event_watch_start_sized(struct ibsa_client *client,
				 const struct ibsa_event_options *options,
				 size_t size, ibsa_event_fn report, void *arg,
				 struct ibsa_error *error,
				 struct ibsa_event_watch **out)
{
	(void)client;
	(void)size;
	must(options->kinds);
	if (run.is_busy) {
		strcpy(error->text, "another program receives the Reports");
		return -EBUSY;
	}
	run.report = report;
	run.report_arg = arg;
	*out = (struct ibsa_event_watch *)(void *)&run;
	return 0;
}

void ibsa_event_watch_stop(struct ibsa_event_watch *watch)
{
	(void)watch;
}

/* The SA. */

bool entry_is(const struct entry *entry, const uint8_t *key, bool pkey)
{
	return entry->is_used &&
	       !memcmp(entry->key, key, pkey ? KEY_BYTES : KEY_BYTES - 2);
}

/* Return: the entry of a key, which may have ended; or an unused one. */
static struct entry *entry_have(const uint8_t *key, uint64_t mask)
{
	uint8_t stored[KEY_BYTES];
	struct entry *unused = NULL;

	memcpy(stored, key, KEY_BYTES);
	if (run.goes_by_mask && !(mask & MASK_PKEY))
		memset(stored + KEY_BYTES - 2, 0xff, 2);
	for (int i = 0; i < ENTRIES; i++) {
		struct entry *entry = &run.entries[i];

		if ((entry->is_used || entry->owner) &&
		    !memcmp(entry->key, stored, KEY_BYTES))
			return entry;
		if (!entry->is_used && !entry->owner)
			unused = entry;
	}
	must(unused);
	memcpy(unused->key, stored, KEY_BYTES);
	return unused;
}

void service_set(uid_t owner, const uint8_t *key, uint64_t mask)
{
	struct entry *entry = entry_have(key, mask);

	/* Never another's, and ibsad only what a user had. */
	must(!entry->is_used || owner == UINT32_MAX || entry->owner == owner);
	must(owner != UINT32_MAX || entry->owner);
	if (owner != UINT32_MAX)
		entry->owner = owner;
	entry->is_used = true;
}

void service_delete(uid_t owner, const uint8_t *key, uint64_t mask)
{
	const bool pkey = !run.goes_by_mask || mask & MASK_PKEY;

	for (int i = 0; i < ENTRIES; i++) {
		struct entry *entry = &run.entries[i];

		if (!entry_is(entry, key, pkey))
			continue;
		must(owner == UINT32_MAX ? entry->owner
					 : entry->owner == owner);
		entry->is_used = false;
	}
}

struct stateful *stateful_find(const uint8_t *key)
{
	for (int i = 0; i < ENTRIES; i++) {
		if (!memcmp(run.stateful[i].key, key, STATEFUL_BYTES))
			return &run.stateful[i];
	}
	return NULL;
}

void stateful_set(uid_t owner, const uint8_t *key, uint8_t states)
{
	static const uint8_t none[STATEFUL_BYTES];
	struct stateful *at = stateful_find(key);

	must(states);
	if (!at)
		at = stateful_find(none);
	must(at);
	/* Never another's, and ibsad only what a user had. */
	must(!at->states || owner == UINT32_MAX || at->owner == owner);
	must(owner != UINT32_MAX || at->owner);
	if (owner != UINT32_MAX)
		at->owner = owner;
	at->states |= states;
	memcpy(at->key, key, STATEFUL_BYTES);
}

void stateful_delete(uid_t owner, const uint8_t *key, uint8_t states)
{
	struct stateful *at = stateful_find(key);

	if (!at || !at->states)
		return;
	must(owner == UINT32_MAX ? at->owner : at->owner == owner);
	at->states &= (uint8_t)~states;
}

void block_key(const uint8_t *record, uint8_t key[STATEFUL_BYTES])
{
	memset(key, 0, STATEFUL_BYTES);
	key[0] = 'G';
	memcpy(key + 1, record, 3);
}

/* A Set or Delete of a membership by a user has reached the port. */
static void member_request(uid_t owner, const uint8_t *packet)
{
	const uint8_t *record = packet + RECORD_AT;
	const uint64_t mask = ibsa_be64(record - 8);
	const uint64_t creates = 1 << 2 | 1 << 6 | 1 << 7 | 1 << 12 | 1 << 13;
	const uint8_t states = record[STATES_AT] & 0xf;

	must(run.daemon.groups.count);
	must((mask & 0x10003) == 0x10003 && record[16] == 0xfe);
	must(!memcmp(record, "\xff\x15", 2));
	if (packet[UMAD_HEADER_BYTES + MAD_METHOD] == IBSA_METHOD_DELETE) {
		stateful_delete(owner, record, states);
		return;
	}
	must(run.daemon.groups.may_create || (mask & creates) != creates);
	stateful_set(owner, record, states);
}

/* The same of alias GUIDs. */
static void block_request(uid_t owner, const uint8_t *packet)
{
	const uint8_t *record = packet + RECORD_AT;
	const uint64_t mask = ibsa_be64(record - 8);
	uint8_t key[STATEFUL_BYTES];

	must(run.daemon.guid_info && (mask & 3) == 3);
	must(record[0] == 0 && record[1] == OWN_LID);
	must(record[2] || !(mask & 1 << 4));
	block_key(record, key);
	if (packet[UMAD_HEADER_BYTES + MAD_METHOD] == IBSA_METHOD_DELETE)
		stateful_delete(owner, key, (uint8_t)(mask >> 4));
	else
		stateful_set(owner, key, (uint8_t)(mask >> 4));
}

static bool is_in(const uint32_t *list, size_t count, uint32_t key)
{
	for (size_t i = 0; i < count; i++) {
		if (list[i] == key)
			return true;
	}
	return false;
}

/* A packet has reached the port. */
/* Whether a request with the same agent and TransactionID waits, as in the kernel. */
static bool is_sent(const struct server_peer *peer, const uint8_t *packet)
{
	const size_t tid = UMAD_HEADER_BYTES + MAD_TID;

	for (unsigned int i = 0; i < SENT && i < peer->sent_count; i++) {
		if (!memcmp(peer->sent[i], packet, 4) &&
		    !memcmp(peer->sent[i] + tid, packet + tid, 8))
			return true;
	}
	return false;
}

static int upstream_send(struct umad_file *file, const void *data, size_t len)
{
	struct server_peer *peer = list_object(file, struct server_peer,
					       upstream);
	const uint8_t *packet = data;
	const uint8_t *mad = packet + UMAD_HEADER_BYTES;
	const uint32_t key = (uint32_t)mad[MAD_CLASS] << 24 |
			     (uint32_t)mad[MAD_METHOD] << 16 |
			     (uint32_t)mad[MAD_ATTRIBUTE] << 8 |
			     mad[MAD_ATTRIBUTE + 1];
	const uint64_t mask = ibsa_be64(packet + RECORD_AT - 8);
	const bool is_service = key == 0x03020031 || key == 0x03150031;
	const bool is_member = is_in(members, sizeof(members) / 4, key);
	const bool is_block = is_in(aliases, sizeof(aliases) / 4, key);
	struct umad_header header;

	memcpy(&header, packet, sizeof(header));
	must(is_service || is_member || is_block ||
	     is_in(permitted, sizeof(permitted) / 4, key) ||
	     (run.daemon.performance &&
	      is_in(counters, sizeof(counters) / 4, key)));
	must(header.qpn == htobe32(1) && header.qkey == htobe32(0x80010000));
	must(header.retries < 256 && mad[MAD_BASE_VERSION] == 1);
	must(mad[MAD_CLASS] == 4 ||
	     (be16toh(header.lid) == SM_LID && mad[MAD_CLASS_VERSION] == 2 &&
	      !ibsa_be64(mad + MAD_SM_KEY)));
	must(len <= PACKET || mad[MAD_METHOD] == 0x14);
	if (take() % 16 == 0)
		return -ENOMEM;
	if (is_sent(peer, packet))
		return -EINVAL;
	must(peer != &run.cache || key == 0x03010035 || key == 0x03120035 ||
	     key == 0x03010011 || key == 0x03120011 || key == 0x03010012 ||
	     key == 0x03120012 || key == 0x03010020 || key == 0x03120020);
	if (is_service)
		must(len == PACKET && packet[RECORD_AT + 8]);
	must(len == PACKET || !(is_member || is_block));
	if (is_member)
		member_request(peer->user->id, packet);
	if (is_block)
		block_request(peer->user->id, packet);
	if (key == 0x03020031)
		service_set(peer->user->id, packet + RECORD_AT, mask);
	else if (is_service)
		service_delete(peer->user->id, packet + RECORD_AT, mask);
	memset(peer->sent[peer->sent_count % SENT], 0, PACKET);
	memcpy(peer->sent[peer->sent_count++ % SENT], packet,
	       len < PACKET ? len : PACKET);
	return 0;
}

static int upstream_register(struct umad_file *file,
			     struct umad_agent_request2 *request)
{
	struct server_peer *peer = list_object(file, struct server_peer,
					       upstream);

	must(!request->method_mask[0] && !request->method_mask[1]);
	must(request->mgmt_class == 3 || run.daemon.performance);
	if (peer->agents == 32)
		return -ENOMEM;
	request->id = peer->agents++;
	return 0;
}

static int upstream_unregister(struct umad_file *file, uint32_t id)
{
	struct server_peer *peer = list_object(file, struct server_peer,
					       upstream);

	return id < peer->agents ? 0 : -EINVAL;
}

static int upstream_receive(struct umad_file *file, struct umad_buffer *buffer,
			    size_t count)
{
	struct server_peer *peer = list_object(file, struct server_peer,
					       upstream);
	const size_t len = peer->arrived_len;
	const bool fits = len <= buffer->room;

	must(count == 1);
	if (!peer->arrived)
		return -EAGAIN;
	memcpy(buffer->bytes, peer->arrived, fits ? len : buffer->room);
	buffer->len = len;
	if (!fits)
		return -ENOSPC;
	free(peer->arrived);
	peer->arrived = NULL;
	return 1;
}

static void upstream_close(struct umad_file *file)
{
	struct server_peer *peer = list_object(file, struct server_peer,
					       upstream);

	free(peer->arrived);
	peer->arrived = NULL;
	close(peer->fd);
}

int ibsa__files_umad_open(struct device_files *files, const char *name,
			  struct umad_file **out)
{
	static const struct umad_file_ops ops = {
		.register_agent2 = upstream_register,
		.unregister_agent = upstream_unregister,
		.send = upstream_send,
		.receive = upstream_receive,
		.close = upstream_close,
	};

	(void)files;
	(void)name;
	for (int i = 0; i < FILES; i++) {
		struct server_peer *peer = &run.peers[i];

		if (!peer->user || peer->file)
			continue;
		peer->upstream.ops = &ops;
		peer->fd = eventfd(0, EFD_CLOEXEC);
		*out = &peer->upstream;
		return peer->fd;
	}
	/* It is the cache's own. */
	run.cache.upstream.ops = &ops;
	run.cache.fd = eventfd(0, EFD_CLOEXEC);
	*out = &run.cache.upstream;
	return run.cache.fd;
}
