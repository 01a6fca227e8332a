/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the parts of ibsad call in the harness: an SA, a port, a server. */
#ifndef FUZZ_IBSAD_SA_H
#define FUZZ_IBSAD_SA_H

#include <stdlib.h>

#include "ibsad/file.h"
#include "wire/mad.h"

enum {
	USERS = 3, /* uid 1 to 3; 0: another program */
	FILES = 6,
	ENTRIES = 256,
	QUERIES = 16,
	SENT = 8,
	SUBSCRIPTIONS = 16,
	QUOTA = 5,
	SM_LID = 7,
	OWN_LID = 9,
	PORT = 1,
	PACKET = UMAD_HEADER_BYTES + IBSA_MAD_BYTES,
	RECORD_AT = UMAD_HEADER_BYTES + IBSA_SA_HEADER_BYTES,
	KEY_BYTES = 26, /* of a service */
	STATEFUL_BYTES = 32,
	MASK_PKEY = 1 << 2,
	STATES_AT = 48, /* in an MCMemberRecord */
};

struct serve_user {
	uid_t id;
	uint64_t used[SERVE_QUOTAS];
};

/* A subscription of a client, by the bytes of its InformInfo. */
struct wanted {
	bool is_used;
	uint8_t info[36];
};

/*
 * @sent:    packets that have reached the port, and may be answered
 * @arrived: a packet that the file is to receive
 */
struct server_peer {
	struct umad_file *file;
	struct serve_user *user;
	struct umad_file upstream;
	int fd;
	uint32_t seat;
	uint32_t agents;
	uint32_t reports_agent;
	uint8_t sent[SENT][PACKET];
	unsigned int sent_count;
	uint8_t *arrived;
	size_t arrived_len;
	struct wanted wanted[SUBSCRIPTIONS];
};

/* A service that the SA has; @owner: 0 is another program. */
struct entry {
	bool is_used;
	uid_t owner;
	uint8_t key[KEY_BYTES];
};

/*
 * A membership, or a block of alias GUIDs, that the SA has, or had; @owner: as of a
 * service. @key: MGID and PortGID, or a 'G', LID and block number.
 */
struct stateful {
	uid_t owner;
	uint8_t states; /* 0: it has ended */
	uint8_t key[STATEFUL_BYTES];
};

struct query {
	bool is_used;
	const struct ibsa_record *record;
	union {
		struct ibsa_service match;
		struct ibsa_mcmember member;
		struct ibsa_guid_info block;
	};
	uint64_t mask;
	uint8_t method;
	ibsa_reply_fn done;
	void *arg;
};

/* The one run of the fuzzer. */
extern struct run {
	const uint8_t *data;
	size_t size;
	struct daemon daemon;
	struct serve_user users[USERS];
	struct server_peer peers[FILES];
	struct server_peer cache; /* its umad file */
	struct entry entries[ENTRIES];
	struct stateful stateful[ENTRIES];
	struct query queries[QUERIES];
	uint32_t tid;
	bool goes_by_mask; /* whether the SA does, or else by the record */
	bool has_failed;   /* a Delete of ibsad */
	bool is_short;	   /* an answer may have been dropped */
	bool is_busy;	   /* another program receives the Reports */
	ibsa_event_fn report;
	void *report_arg;
} run;

static inline void must(bool so)
{
	if (!so)
		abort();
}

static inline uint8_t take(void)
{
	if (!run.size)
		return 0;
	run.size--;
	return *run.data++;
}

/* Whether the SA's entry is the service of a key, with its P_Key or without. */
bool entry_is(const struct entry *entry, const uint8_t *key, bool pkey);

/*
 * The SA receives a Set or a Delete of @owner: 0 is another program, UINT32_MAX
 * ibsad itself, which acts for the last owner.
 */
void service_set(uid_t owner, const uint8_t *key, uint64_t mask);
void service_delete(uid_t owner, const uint8_t *key, uint64_t mask);

/* The same of what has states. */
struct stateful *stateful_find(const uint8_t *key);
void stateful_set(uid_t owner, const uint8_t *key, uint8_t states);
void stateful_delete(uid_t owner, const uint8_t *key, uint8_t states);

/* Make a key of a block from its LID and number, as in the record. */
void block_key(const uint8_t *record, uint8_t key[STATEFUL_BYTES]);

#endif
