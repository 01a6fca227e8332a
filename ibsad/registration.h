/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A registration of a user, for the files that implement owned.h. */
#ifndef IBSAD_REGISTRATION_H
#define IBSAD_REGISTRATION_H

#include "ibsad/daemon.h"

enum registration_state {
	REGISTRATION_CHECKED, /* the SA is asked whether another program has it */
	REGISTRATION_SET,     /* the owner has sent a Set */
	/* the owner has gone: a Delete is due, or was sent */
	REGISTRATION_ENDED,
	/* set through the last ibsad: its user may come back */
	REGISTRATION_RESTORED,
};

/*
 * A registration may have several states: each Set adds some, and each Delete ends
 * some. Here they are bits.
 */
enum owned_states {
	STATES_NONE,
	STATES_JOIN,  /* the JoinState of the record */
	STATES_GUIDS, /* the GUIDs of a block that the component mask selects */
};

/*
 * What can be registered (kind.c).
 * @key_end:     of the key, which tells the registrations of a port apart, and
 *               begins the record, except behind a LID
 * @user_end:    of its part with which two users cannot register: SAs differ in
 *               how they take the rest into account
 * @gid_at:      of the port's GID in the record; 0: the record begins with the
 *               port's LID, which may change
 * @key_mask:    components of the key, which each request selects
 * @option_mask: components that are in the key if a request selects them
 */
struct owned_kind {
	const struct ibsa_record *record;
	size_t key_end;
	size_t user_end;
	size_t gid_at;
	uint64_t key_mask;
	uint64_t option_mask;
	enum owned_states states;
};

struct registration;

/* Return: the kind whose record has an attribute; or NULL. */
const struct owned_kind *ibsad_kind_of(uint16_t attribute);

/* Return: the kind whose record has a size; or NULL. */
const struct owned_kind *ibsad_kind_sized(size_t bytes);

/* Return: in seconds; IBSA_LEASE_INFINITE: it has no end. */
uint32_t ibsad_lease_s(const struct owned_kind *kind, const uint8_t *record,
		       uint64_t mask);

/*
 * @file:       that waits for the check; or NULL
 * @packet:     the request of @file that waits for the check
 * @record:     the bytes of the last Set, and its component mask
 * @before:     @record, @mask and @end_ns before the last Set
 * @holder:     that has sent the last Set which the SA has, or may have: ibsad
 *              renews the lease while it is open; or NULL
 * @sender:     that has sent the last Set or Delete, until it is answered; or
 *              NULL
 * @agent:      that has sent it, and @tid: the lower half of its TransactionID: only
 *              both together are unique in a client's file
 * @is_delete:  it is a Delete
 * @states:     of that request
 * @sets:       how many Sets were sent, without those that failed
 * @end_ns:     time at which the lease of the last Set has ended
 * @renew_ns:   when ibsad is to send the last Set again; UINT64_MAX: never
 * @settle_ns:  until then, a Set of a client that has ended may reach the SA
 * @is_asked:   a request of ibsad waits for its answer
 * @is_stored:  the file of registrations has it
 * @retry_ns:   time of the next Delete; or until when its user may come back
 */
struct registration {
	struct list link;
	struct owned *owned;
	const struct owned_kind *kind;
	enum registration_state state;
	uid_t user;
	uint32_t port;
	struct client_file *file;
	uint8_t *packet;
	size_t packet_len;
	uint8_t record[STATE_RECORD_MAX];
	uint64_t mask;
	struct {
		uint8_t record[STATE_RECORD_MAX];
		uint64_t mask;
		uint64_t end_ns;
	} before;
	const struct client_file *holder;
	const struct client_file *sender;
	uint32_t agent;
	uint32_t tid;
	bool is_delete;
	uint8_t states;
	unsigned int sets;
	uint64_t end_ns;
	uint64_t renew_ns;
	uint64_t settle_ns;
	bool is_asked;
	bool is_stored;
	uint64_t retry_ns;
	unsigned int retry_ms;
};

/* Return: the states of a record with a component mask. */
uint8_t ibsad_states_of(const struct owned_kind *kind, const uint8_t *record,
			uint64_t mask);

/* Select what a request about some states has to select besides the key. */
uint64_t ibsad_states_mask(const struct owned_kind *kind, uint8_t states);

/* Whether two records of a kind have the same key, up to @end. */
bool ibsad_keys_equal(const struct owned_kind *kind, const uint8_t *a,
		      const uint8_t *b, size_t end);

/* Change the states of a registration. */
void ibsad_states_set(struct registration *registration, uint8_t states);

/* Make @record and @mask of a Set those of a registration; states are added. */
void ibsad_states_add(struct registration *registration, const uint8_t *record,
		      uint64_t mask);

/* Note the GUIDs that the SA has chosen in its answer to a Set. */
void ibsad_states_answered(struct registration *registration,
			   const uint8_t *record);

/* Whether records of the SA have nothing of another program. */
bool ibsad_kind_is_free(const struct owned_kind *kind,
			const struct ibsa_reply *reply);

/* Return: the registration of a kind at a port with the key of @record; NULL. */
struct registration *ibsad_registration_find(const struct owned *owned,
					     const struct owned_kind *kind,
					     uint32_t port,
					     const uint8_t *record,
					     uint64_t mask);

void ibsad_registration_free(struct registration *registration);

/*
 * Note in the file of registrations that the SA may have it, or, @is_end, that
 * the SA does not have it any more.
 */
void ibsad_registration_note(struct registration *registration, bool is_end);

/* Return: when the lease of the record ends that is being set now. */
uint64_t ibsad_registration_end_ns(const struct registration *registration);

/* A Set was sent: note when its lease ends, and when it is renewed. */
void ibsad_registration_begun(struct registration *registration);

/* The client that has set it has gone: its lease, if it has one, runs out. */
void ibsad_registration_leave(struct registration *registration);

/* States have ended. Return: whether there are others. */
bool ibsad_registration_end(struct registration *registration, uint8_t states);

/* Send a request of ibsad itself about a registration. Return: 0 or -errno. */
int ibsad_registration_query(struct registration *registration, uint8_t method,
			     ibsa_reply_fn done) IBSA_MUST_USE;

/* A registration whose lease has ended may be another program's by now. */
void ibsad_registrations_expire(struct owned *owned);

#endif
