/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzzes ibsad's policy with its state: clients of three users that register,
 * send, receive and go, at an SA that answers late, wrongly or not at all.
 *
 * The oracle is a table of its own (test/ibsad/permitted.h), and an SA that
 * stores the user of each registration. Checked: only what the table permits
 * reaches the port; no user changes one of another; Reports come only to clients
 * whose subscriptions match; the registrations of a user are set again after the SA
 * has lost them, and end with the user; the quotas of each user are unused at the
 * end.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "fuzz/ibsad_sa.h"
#include "ibsad/registration.h"
#include "test/ibsad/permitted.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What clients receive. */

static bool wanted_matches(const uint8_t *info, const uint8_t *notice)
{
	const bool any_lid = ibsa_be16(info + 16) == 0xffff;
	const uint16_t lid = ibsa_be16(notice + 6);
	static const uint8_t no_gid[16];

	if (!(notice[0] & 0x80) ||
	    (ibsa_be16(info + 24) != 0xffff &&
	     ibsa_be16(info + 24) != (notice[0] & 0x7f)) ||
	    (ibsa_be16(info + 26) != 0xffff &&
	     memcmp(info + 26, notice + 4, 2) != 0) ||
	    (memcmp(info + 33, "\xff\xff\xff", 3) != 0 &&
	     memcmp(info + 33, notice + 1, 3) != 0))
		return false;
	if (memcmp(info, no_gid, 16) != 0)
		return !memcmp(info, notice + 64, 16);
	return any_lid ||
	       (ibsa_be16(info + 16) <= lid && lid <= ibsa_be16(info + 18));
}

static void report_check(const struct server_peer *peer, const uint8_t *packet)
{
	struct umad_header header;
	bool is_wanted = false;

	memcpy(&header, packet, sizeof(header));
	must(header.id == peer->reports_agent);
	must(be16toh(header.lid) == SM_LID);
	for (int i = 0; i < SUBSCRIPTIONS; i++)
		is_wanted |= peer->wanted[i].is_used &&
			     wanted_matches(peer->wanted[i].info,
					    packet + RECORD_AT);
	must(is_wanted || run.is_short);
}

/* Note what the answer to a Set of InformInfo grants. */
static void subscription_note(struct server_peer *peer, const uint8_t *info)
{
	struct wanted *unused = NULL;

	for (int i = 0; i < SUBSCRIPTIONS; i++) {
		struct wanted *at = &peer->wanted[i];
		const bool is_it = at->is_used && !memcmp(at->info, info, 20) &&
				   !memcmp(at->info + 24, info + 24, 4) &&
				   !memcmp(at->info + 33, info + 33, 3);

		if (is_it && !info[23])
			at->is_used = false;
		if (is_it)
			return;
		if (!at->is_used)
			unused = at;
	}
	if (!info[23])
		return;
	must(info[22] && unused);
	unused->is_used = true;
	memcpy(unused->info, info, sizeof(unused->info));
}

static void client_receive(struct server_peer *peer)
{
	const struct serve_file_ops *ops = &ibsad_file_ops;
	const uint8_t *packet;
	size_t len;

	while ((packet = ops->head(peer->file, &len))) {
		const uint8_t *mad = packet + UMAD_HEADER_BYTES;
		struct umad_header header;

		must(len >= UMAD_HEADER_BYTES + MAD_HEADER_BYTES);
		memcpy(&header, packet, sizeof(header));
		must(header.length == len);
		if (!header.status && mad[MAD_METHOD] == IBSA_METHOD_REPORT)
			report_check(peer, packet);
		if (!header.status && len == PACKET && mad[MAD_CLASS] == 3 &&
		    mad[MAD_METHOD] == IBSA_METHOD_GET_RESP &&
		    mad[MAD_ATTRIBUTE + 1] == 3 && !mad[MAD_ATTRIBUTE] &&
		    !ibsa_be16(mad + MAD_STATUS))
			subscription_note(peer, packet + RECORD_AT);
		ops->take(peer->file);
	}
}

/*
 * Another program registers a service, unless a user has done so: ibsad may not
 * have received the reply to the user's own Delete yet.
 */
static void service_set_by_other(const uint8_t *key)
{
	for (int i = 0; i < ENTRIES; i++) {
		if (!memcmp(run.entries[i].key, key, KEY_BYTES - 2))
			return;
	}
	service_set(0, key, MASK_PKEY);
}

/* The steps. */

/* A packet that the policy may permit, with bytes of the input over it. */
static size_t packet_make(uint8_t *packet)
{
	static const uint32_t others[] = { 0x03020031, 0x03020031, 0x03150031,
					   0x03020003, 0x03860002, 0x01010015,
					   0x81020015, 0x03020038, 0x03020038,
					   0x03150038, 0x03020030, 0x03150030 };
	const uint8_t kind = take();
	const uint32_t key = kind < 35	 ? permitted[kind]
			     : kind < 40 ? counters[kind - 35]
					 : others[kind % 12];
	const uint8_t choice = take();
	size_t len = PACKET;

	memset(packet, 0, PACKET + 64);
	packet[9] = choice & 1; /* timeout_ms */
	packet[23] = 1;
	memcpy(packet + 24, "\x80\x01\0\0", 4);
	packet[29] = SM_LID;
	packet += UMAD_HEADER_BYTES;
	packet[0] = 1;
	packet[1] = (uint8_t)(key >> 24);
	packet[2] = packet[1] == 3 ? 2 : 1;
	packet[3] = (uint8_t)(key >> 16);
	run.tid += !(choice & 32);
	ibsa_put_be32(packet + 12, run.tid);
	packet[16] = (uint8_t)(key >> 8);
	packet[17] = (uint8_t)key;
	packet[55] = 3 | (choice & 2 ? MASK_PKEY : 0);
	packet += IBSA_SA_HEADER_BYTES;
	if (key >> 16 == 0x0302 && packet[-39] == 3) {
		/* InformInfo */
		memcpy(packet + 16, choice & 4 ? "\xff\xff\0\0" : "\0\4\0\11",
		       4);
		packet[22] = 1;
		packet[23] = choice >> 3 & 1;
		memset(packet + 24, 0xff, 4);
		packet[35] = choice & 16 ? 4 : 2;
	} else if (key == 0x03020030 || key == 0x03150030) {
		packet[-2] = choice & 7;
		packet[-1] = 3 | (choice & 0xf0);
		packet[1] = choice & 8 ? OWN_LID : choice;
		packet[2] = choice >> 2 & 1;
	} else if (key >> 24 == 3 && (uint16_t)key == 0x38) {
		packet[-6] = 0;
		packet[-3] = 1; /* JoinState */
		memcpy(packet, choice & 8 ? "\xff\x12" : "\xff\x15", 2);
		packet[15] = choice >> 2 & 1;
		packet[16] = choice & 128 ? 0 : 0xfe;
		packet[STATES_AT] = 0x20 | (choice >> 4 & 7);
		if (choice & 2)
			packet[-1] |= 0xc4;
		if (choice & 1)
			packet[-2] |= 0x30;
	} else {
		packet[7] = choice >> 2 & 3; /* ServiceID */
		packet[8] = choice & 128 ? 0 : 0xfe;
		packet[24] = choice & 16 ? 0xff : 0;
		packet[25] = choice & 16 ? 0xff : 0;
	}
	packet -= RECORD_AT;
	for (uint8_t n = take() % 4; n; n--) {
		const uint8_t at = take();

		packet[at + (choice & 64)] = take();
	}
	if (take() % 8 == 0)
		len = UMAD_HEADER_BYTES + MAD_HEADER_BYTES + take();
	return len;
}

static void step_send(struct server_peer *peer)
{
	uint8_t made[PACKET + 64];
	const size_t len = packet_make(made);
	uint8_t *packet = malloc(len);
	int err;

	/* Without a byte behind it. */
	must(packet);
	memcpy(packet, made, len);
	err = peer->file->ops->send(peer->file, packet, len);
	if (err)
		ibsad_file_ops.refuse(peer->file, packet, err);
	free(packet);
}

static void step_register(struct server_peer *peer)
{
	struct umad_agent_request2 request = {
		.qpn = 1,
		.mgmt_class = take() % 8 ? 3 : take(),
		.mgmt_class_version = take() % 8 ? 2 : 1,
		.method_mask = { take() % 2 ? 1 << 6 : 0, take() == 1 },
		.flags = take() == 1,
	};
	const bool is_for_reports = request.method_mask[0];

	if (!peer->file->ops->register_agent2(peer->file, &request) &&
	    is_for_reports)
		peer->reports_agent = request.id;
}

static void step_unregister(struct server_peer *peer)
{
	const uint32_t id = take() % 4;

	client_receive(peer);
	if (!peer->file->ops->unregister_agent(peer->file, id) &&
	    id == peer->reports_agent) {
		memset(peer->wanted, 0, sizeof(peer->wanted));
		peer->reports_agent = UINT32_MAX;
	}
}

/* A response, or the end of a request, arrives. */
static void step_respond(struct server_peer *peer)
{
	const uint8_t choice = take();
	const size_t len = choice & 1 ? PACKET + 8 * (size_t)take() : PACKET;
	struct umad_header header;
	bool is_query;
	uint8_t *mad;

	if (peer->arrived || !peer->sent_count)
		return;
	peer->arrived = calloc(1, len);
	must(peer->arrived);
	memcpy(peer->arrived, peer->sent[take() % SENT], PACKET);
	mad = peer->arrived + UMAD_HEADER_BYTES;
	is_query = mad[MAD_METHOD] == 1;
	mad[MAD_METHOD] = mad[MAD_METHOD] == 2 ? 0x81 : mad[MAD_METHOD] | 0x80;
	/* Not one of ibsad's own answers. */
	if (mad[MAD_METHOD] == 0x81 && mad[MAD_ATTRIBUTE + 1] == 3)
		mad[MAD_ATTRIBUTE + 1] = 0x11;
	/* The SA has done what it was sent to registrations. */
	if ((is_query || !ibsad_kind_of(ibsa_be16(mad + MAD_ATTRIBUTE))) &&
	    choice & 2)
		mad[MAD_STATUS + 1] = take();
	memcpy(&header, peer->arrived, sizeof(header));
	header.status = choice & 4 ? ETIMEDOUT : 0;
	header.length = (uint32_t)len;
	memcpy(peer->arrived, &header, sizeof(header));
	peer->arrived_len = len;
	if (peer == &run.cache)
		ibsad_cache_receive(&run.daemon.caches[PORT]);
	else
		ibsad_file_readable(peer->file);
	if (peer->file)
		ibsad_file_ops.settle(peer->file);
}

enum { REFUSE = 7 }; /* how the SA replies: see query_end() */

static void key_of(const struct ibsa_service *service, uint8_t *key)
{
	ibsa_put_be64(key, service->service_id);
	memcpy(key + 8, &service->service_gid, 16);
	ibsa_put_be16(key + 24, service->service_pkey);
}

/*
 * A query of ibsad for what has states reaches the SA. Return: the states that the
 * SA has then.
 */
static uint8_t stateful_query(const struct query *query)
{
	const bool is_member = query->record == &ibsa_mcmember_record;
	const uint8_t states = is_member ? query->member.join_state
					 : (uint8_t)(query->mask >> 4);
	uint8_t key[STATEFUL_BYTES];
	const struct stateful *found;

	if (is_member) {
		memcpy(key, &query->member.mgid, 16);
		memcpy(key + 16, &query->member.port_gid, 16);
	} else {
		block_key((const uint8_t[]){ 0, (uint8_t)query->block.lid,
					     query->block.block_num },
			  key);
	}
	if (query->method == IBSA_METHOD_DELETE)
		stateful_delete(UINT32_MAX, key, states);
	else if (query->method == IBSA_METHOD_SET)
		stateful_set(UINT32_MAX, key, states);
	found = stateful_find(key);
	return found ? found->states : 0;
}

/* An SA has a record of each block, with the GUIDs that are set. */
static void stateful_reply(const struct query *query, struct ibsa_reply *reply)
{
	const uint8_t states = stateful_query(query);
	uint8_t record[72] = { 0, OWN_LID };

	reply->count = states || query->record == &ibsa_guid_info_record;
	if (!reply->count)
		reply->status = IBSA_STATUS_NO_RECORDS;
	record[2] = query->block.block_num;
	for (int i = 0; i < 8; i++)
		record[8 + 8 * i] = states >> i & 1;
	reply->records = record;
	reply->stride = sizeof(record);
	query->done(reply, query->arg);
}

static void query_end(struct query *query, uint8_t choice)
{
	struct ibsa_reply reply = { .err = 0 };
	uint8_t key[KEY_BYTES] = { 0 };
	const struct query was = *query;
	const uint32_t count = run.daemon.owned.count;
	const bool has_failed = choice < 2 || choice == REFUSE;

	query->is_used = false;
	if (was.record == &ibsa_service_record)
		key_of(&was.match, key);
	if (!has_failed && was.record != &ibsa_service_record) {
		stateful_reply(&was, &reply);
		return;
	}
	if (choice == 0)
		reply.err = -ETIMEDOUT;
	else if (choice == 1)
		reply.status = IBSA_STATUS_BUSY;
	else if (choice == REFUSE)
		reply.status = IBSA_STATUS_NO_RESOURCES;
	else if (was.method == IBSA_METHOD_DELETE)
		service_delete(UINT32_MAX, key, was.mask);
	else if (was.method == IBSA_METHOD_SET)
		service_set(UINT32_MAX, key, was.mask);
	for (int i = 0; i < ENTRIES && !has_failed; i++)
		reply.count += entry_is(&run.entries[i], key,
					was.mask & MASK_PKEY);
	if (!has_failed && !reply.count)
		reply.status = IBSA_STATUS_NO_RECORDS;
	run.has_failed |= has_failed && was.method == IBSA_METHOD_DELETE;
	was.done(&reply, was.arg);
	/* What the SA has not deleted is not forgotten. */
	must(!has_failed || was.method != IBSA_METHOD_DELETE ||
	     run.daemon.owned.count == count);
}

static void step_event(void)
{
	struct ibsa_notice notice = {
		.is_generic = take() % 8 != 0,
		.type = take() % 4,
		.producer_type = take() % 5,
		.trap_number = take() % 2 ? 64 : 128,
		.issuer_lid = take() % 16,
	};
	struct ibsa_event event = { .kind = IBSA_EVENT_GID_IN,
				    .notice = &notice };
	const uint8_t kind = take() % 8;

	if (!run.daemon.reports[PORT].watch)
		return;
	if (kind > 4) {
		event.notice = NULL;
		event.kind = (enum ibsa_event_kind)(1 << (16 + kind % 5));
	} else if (kind > 2) {
		event.notice = NULL;
		event.kind = IBSA_EVENT_SUBSCRIBED;
	}
	run.report(&event, run.report_arg);
}

/* The SM starts again, and has lost what users have registered. */
static void step_restart(void)
{
	for (int i = 0; i < ENTRIES; i++) {
		run.entries[i].is_used &= !run.entries[i].owner;
		if (run.stateful[i].owner)
			run.stateful[i].states = 0;
	}
	ibsad_owned_renew(&run.daemon.owned, PORT);
	(void)ibsad_owned_tick(&run.daemon.owned);
}

static void peer_open(struct server_peer *peer, struct serve_user *user)
{
	const struct serve_port port = { .port = PORT, .seat = 1 };

	*peer = (struct server_peer){ .user = user,
				      .reports_agent = UINT32_MAX };
	must(!ibsad_file_open(&run.daemon, &port, peer, &peer->file));
}

static void peer_close(struct server_peer *peer)
{
	const struct serve_user *user = peer->user;
	bool is_last = true;

	peer->file->ops->close(peer->file);
	*peer = (struct server_peer){ NULL };
	for (int i = 0; i < FILES; i++)
		is_last &= run.peers[i].user != user;
	if (is_last)
		ibsad_owned_user_end(&run.daemon.owned, user->id);
}

static void step_change(uint8_t choice)
{
	uint8_t key[STATEFUL_BYTES] = { 0xff, 0x15 };

	key[15] = choice >> 4 & 1;
	key[16] = 0xfe;
	if (choice & 32)
		block_key((const uint8_t[]){ 0, OWN_LID, choice >> 4 & 1 },
			  key);
	if (choice & 8)
		step_restart();
	else if (choice & 4 && !stateful_find(key))
		/* The kernel joins a group, or has an alias GUID. */
		stateful_set(0, key, 2);
	else
		run.is_busy = choice % 4 == 0;
}

static void step(void)
{
	const uint8_t what = take() % 16;
	struct server_peer *peer = &run.peers[take() % FILES];
	struct query *query = &run.queries[take() % QUERIES];
	uint8_t key[KEY_BYTES] = { [7] = take() % 4, [8] = 0xfe };

	if (what == 0 && peer->file)
		peer_close(peer);
	else if (what == 1 && query->is_used)
		query_end(query, take() % 8);
	else if (what == 2)
		service_set_by_other(key);
	else if (what == 3)
		step_change(take());
	else if (what == 4)
		step_event();
	else if (!peer->file)
		peer_open(peer, &run.users[what % USERS]);
	else if (what == 5)
		step_register(peer);
	else if (what == 6)
		step_unregister(peer);
	else if (what == 7)
		step_respond(&run.cache);
	else if (what == 8)
		step_respond(peer);
	else if (what == 9)
		client_receive(peer);
	else
		step_send(peer);
	if (peer->file)
		ibsad_file_ops.settle(peer->file);
}

static void run_end(void)
{
	struct registration *registration;

	for (int i = 0; i < FILES; i++) {
		if (run.peers[i].file)
			peer_close(&run.peers[i]);
	}
	/* No request is late here. */
	LIST_EACH(registration, &run.daemon.owned.all, link) {
		if (registration->retry_ns == registration->settle_ns)
			registration->retry_ns = 0;
	}
	run.daemon.owned.due_ns = 0;
	/* Of a registration: a check or a renewal, and a Delete of each state. */
	for (int i = 0; i < 12 * QUERIES; i++) {
		if (run.queries[i % QUERIES].is_used)
			query_end(&run.queries[i % QUERIES], 2);
		(void)ibsad_owned_tick(&run.daemon.owned);
	}
	for (int i = 0; i < ENTRIES && !run.has_failed; i++)
		must((!run.entries[i].is_used || !run.entries[i].owner) &&
		     (!run.stateful[i].states || !run.stateful[i].owner));
	must(run.has_failed || ibsad_owned_is_empty(&run.daemon.owned));
	for (int i = 0; i < USERS; i++)
		for (int quota = 0; quota < SERVE_QUOTAS; quota++)
			must(!run.users[i].used[quota]);
	must(!run.daemon.queued);
	ibsad_owned_done(&run.daemon.owned);
	ibsad_reports_done(&run.daemon.reports[PORT]);
	ibsad_cache_done(&run.daemon.caches[PORT]);
	free(run.daemon.caches);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct serve_state *state;
	uint8_t options;

	run = (struct run){ .data = data, .size = size };
	pthread_mutex_init(&run.daemon.lock, NULL);
	run.daemon.poll_fd = epoll_create1(EPOLL_CLOEXEC);
	run.daemon.performance = take() & 1;
	run.goes_by_mask = take() & 1;
	options = take();
	run.daemon.guid_info = options & 2;
	if (options & 2)
		run.daemon.groups = (struct policy_groups){
			.may_create = options & 4,
			.count = 1,
			.at = { { { { 0xff, 0x15 } }, 16 } },
		};
	ibsad_owned_init(&run.daemon.owned, &run.daemon, 2 * QUOTA);
	run.daemon.caches = calloc(IBSAD_PORTS + 1, sizeof(struct ibsad_cache));
	must(run.daemon.caches);
	for (uint32_t i = 1; i <= IBSAD_PORTS; i++)
		ibsad_cache_init(&run.daemon.caches[i], &run.daemon, i,
				 options & 1);
	for (uint32_t i = 1; i <= IBSAD_PORTS; i++)
		ibsad_reports_init(&run.daemon.reports[i], &run.daemon, i);
	state = &run.daemon.ports.at[PORT].state;
	state->port.sm_lid = SM_LID;
	state->port.lid = OWN_LID;
	state->gid_count = 1;
	state->gids[0].raw[0] = 0xfe;
	for (uint32_t i = 0; i < USERS; i++)
		run.users[i].id = i + 1;
	while (run.size)
		step();
	run_end();
	close(run.daemon.poll_fd);
	pthread_mutex_destroy(&run.daemon.lock);
	return 0;
}
