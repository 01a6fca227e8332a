/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Registrations of users. Before the first Set of one, ibsad asks the SA whether
 * there is one with this key already: it is then another program's, and stays as
 * it is.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "ibsad/daemon.h"
#include "ibsad/file.h"
#include "ibsad/registration.h"
#include "wire/mad.h"

/* The longest life of a packet in a fabric is less; and the SA may be slow. */
enum { SETTLE_MS = 1000 };

/*
 * A request of a client, decoded; @waits: for its answer, @states: see struct
 * owned_kind.
 */
struct owned_request {
	const struct owned_kind *kind;
	const uint8_t *record;
	uint64_t mask;
	uint32_t agent;
	uint32_t tid;
	bool waits;
	bool is_delete;
	uint8_t states;
};

static uint32_t agent_of(const uint8_t *packet)
{
	struct umad_header header;

	memcpy(&header, packet, sizeof(header));
	return header.id;
}

/* @packet: of a kind of which users can have registrations. */
static struct owned_request request_of(const uint8_t *packet)
{
	const uint8_t *mad = packet + UMAD_HEADER_BYTES;
	const struct owned_kind *kind =
		ibsad_kind_of(ibsa_be16(mad + MAD_ATTRIBUTE));
	const uint8_t *record = mad + IBSA_SA_HEADER_BYTES;
	const uint64_t mask = ibsa_be64(mad + MAD_COMPONENT_MASK);
	struct umad_header header;

	memcpy(&header, packet, sizeof(header));
	return (struct owned_request){
		.kind = kind,
		.record = record,
		.mask = mask,
		.agent = agent_of(packet),
		.tid = (uint32_t)ibsa_be64(mad + MAD_TID),
		.waits = header.timeout_ms,
		.is_delete = mad[MAD_METHOD] == IBSA_METHOD_DELETE,
		.states = ibsad_states_of(kind, record, mask),
	};
}

struct registration *ibsad_registration_find(const struct owned *owned,
					     const struct owned_kind *kind,
					     uint32_t port,
					     const uint8_t *record,
					     uint64_t mask)
{
	struct registration *registration;

	LIST_EACH(registration, &owned->all, link) {
		if (registration->kind == kind && registration->port == port &&
		    !((registration->mask ^ mask) & kind->option_mask) &&
		    ibsad_keys_equal(kind, registration->record, record,
				     kind->key_end))
			return registration;
	}
	return NULL;
}

static struct registration *request_find(const struct owned *owned,
					 uint32_t port,
					 const struct owned_request *request)
{
	return ibsad_registration_find(owned, request->kind, port,
				       request->record, request->mask);
}

static bool another_user_has(const struct owned *owned,
			     const struct client_file *file,
			     const struct owned_request *request)
{
	const struct registration *registration;

	LIST_EACH(registration, &owned->all, link) {
		if (registration->kind == request->kind &&
		    registration->port == ibsad_file_port(file) &&
		    registration->user != ibsad_file_user(file) &&
		    ibsad_keys_equal(request->kind, registration->record,
				     request->record, request->kind->user_end))
			return true;
	}
	return false;
}

uint32_t ibsad_owned_count(const struct owned *owned, uid_t user)
{
	const struct registration *registration;
	uint32_t count = 0;

	LIST_EACH(registration, &owned->all, link)
		count += registration->user == user;
	return count;
}

/* The SA has, or may have, what @file has set: there is no other answer. */
static void set_ended(struct registration *registration,
		      const struct client_file *file)
{
	const uint64_t end_ns = registration->end_ns;

	registration->holder = file;
	ibsad_registration_begun(registration);
	if (registration->end_ns < end_ns)
		registration->end_ns = end_ns;
}

/*
 * Note a request of the owner that is being sent. Until the SA has accepted a
 * Set, the lease of an earlier one may be the longer one.
 */
static void request_note(struct registration *registration,
			 const struct client_file *file,
			 const struct owned_request *request)
{
	uint64_t end_ns;

	registration->sender = request->waits ? file : NULL;
	registration->agent = request->agent;
	registration->tid = request->tid;
	registration->is_delete = request->is_delete;
	registration->states = request->states;
	if (request->is_delete)
		return;
	registration->sets++;
	registration->before.mask = registration->mask;
	registration->before.end_ns = registration->end_ns;
	memcpy(registration->before.record, registration->record,
	       sizeof(registration->record));
	ibsad_states_add(registration, request->record, request->mask);
	end_ns = ibsad_registration_end_ns(registration);
	if (registration->end_ns < end_ns)
		registration->end_ns = end_ns;
	if (!request->waits)
		set_ended(registration, file);
}

static struct registration *
registration_new(struct owned *owned, struct client_file *file,
		 const struct owned_request *request)
{
	struct registration *registration = ibsa__calloc(1,
							 sizeof(*registration));

	if (!registration)
		return NULL;
	registration->owned = owned;
	registration->kind = request->kind;
	registration->user = ibsad_file_user(file);
	registration->port = ibsad_file_port(file);
	registration->file = file;
	registration->renew_ns = UINT64_MAX;
	request_note(registration, file, request);
	list_append(&owned->all, &registration->link);
	owned->count++;
	return registration;
}

/* Return: how a Set goes on, by the SA's reply to the query for it. */
static enum owned_answer check_answer(const struct owned_kind *kind,
				      const struct ibsa_reply *reply)
{
	if (!reply->err &&
	    (reply->status == IBSA_STATUS_NO_RECORDS ||
	     (!reply->status && ibsad_kind_is_free(kind, reply))))
		return OWNED_PASS;
	return reply->err || reply->status ? OWNED_BUSY : OWNED_DENIED;
}

/* The SA has replied whether another program has registered this. */
static void checked(const struct ibsa_reply *reply, void *arg)
{
	struct registration *registration = arg;
	struct daemon *daemon = registration->owned->daemon;
	struct client_file *file = registration->file;
	uint8_t *packet = registration->packet;
	const size_t len = registration->packet_len;
	const enum owned_answer answer = check_answer(registration->kind,
						      reply);

	registration->is_asked = false;
	registration->file = NULL;
	registration->packet = NULL;
	registration->state = REGISTRATION_SET;
	pthread_mutex_lock(&daemon->lock);
	if (answer != OWNED_PASS || !file)
		ibsad_registration_free(registration);
	else
		ibsad_registration_note(registration, false);
	if (file)
		ibsad_file_continue(file, packet, len, answer);
	pthread_mutex_unlock(&daemon->lock);
	ibsa__free(packet);
}

static bool is_own_gid(const struct owned *owned, uint32_t port,
		       const uint8_t *gid)
{
	const struct serve_state *state = &owned->daemon->ports.at[port].state;
	static const struct ibsa_gid empty;

	if (!memcmp(gid, empty.raw, sizeof(empty)))
		return false;
	for (uint32_t i = 0; i < state->gid_count; i++) {
		if (!memcmp(state->gids[i].raw, gid, sizeof(*state->gids)))
			return true;
	}
	return false;
}

static bool is_own_port(const struct owned *owned, uint32_t port,
			const struct owned_request *request)
{
	const size_t at = request->kind->gid_at;

	return at ? is_own_gid(owned, port, request->record + at)
		  : ibsa_be16(request->record) ==
			       owned->daemon->ports.at[port].state.port.lid;
}

static enum owned_answer denied(const char *reason, const char **out_reason)
{
	*out_reason = reason;
	return OWNED_DENIED;
}

/*
 * Whether all users have as many registrations as they may have together: those of
 * users that have no connection any more count, too. Root has no limit.
 */
static bool is_full(const struct owned *owned, const struct client_file *file)
{
	return owned->most && ibsad_file_user(file) &&
	       owned->count - ibsad_owned_count(owned, 0) >= owned->most;
}

/* A Set of what no user of ibsad has registered. */
static enum owned_answer set_first(struct owned *owned,
				   struct client_file *file,
				   const struct owned_request *request,
				   const uint8_t *packet, size_t len,
				   const char **out_reason)
{
	struct registration *registration;

	if (!ibsad_file_may_register(file) || is_full(owned, file))
		return denied("too many registrations", out_reason);
	registration = registration_new(owned, file, request);
	if (!registration)
		return OWNED_BUSY;
	registration->packet = ibsa__calloc(1, len);
	registration->packet_len = len;
	if (registration->packet) {
		memcpy(registration->packet, packet, len);
		if (!ibsad_registration_query(registration,
					      IBSA_METHOD_GET_TABLE, checked))
			return OWNED_LATER;
	}
	ibsad_registration_free(registration);
	return OWNED_BUSY;
}

static enum owned_answer request_judge(struct owned *owned,
				       struct client_file *file,
				       const struct owned_request *request,
				       const uint8_t *packet, size_t len,
				       const char **out_reason)
{
	struct registration *found;

	ibsad_registrations_expire(owned);
	found = request_find(owned, ibsad_file_port(file), request);
	if (another_user_has(owned, file, request))
		return denied("another user has registered this", out_reason);
	if (!found && request->is_delete)
		return denied("delete of what this user has not registered",
			      out_reason);
	if (!found)
		return set_first(owned, file, request, packet, len, out_reason);
	/* The kernel may repeat a Set that has no answer, after a Delete, too. */
	if (found->is_asked || (found->sender && !found->is_delete) ||
	    clock_now_ns() < found->settle_ns)
		return OWNED_BUSY;
	found->state = REGISTRATION_SET;
	request_note(found, file, request);
	if (!request->is_delete)
		ibsad_registration_note(found, false);
	return OWNED_PASS;
}

/* Return: NULL; or why the fields of a request are denied. */
static const char *request_check(const struct owned *owned, uint32_t port,
				 const struct owned_request *request)
{
	const struct owned_kind *kind = request->kind;

	if ((request->mask & kind->key_mask) != kind->key_mask ||
	    !is_own_port(owned, port, request))
		return "registration for another port";
	if (kind->states != STATES_NONE && !request->states)
		return "a request that selects nothing";
	if (kind->states == STATES_GUIDS && !request->record[2] &&
	    request->states & 1)
		return "the port GUID";
	for (size_t i = kind->user_end; i < kind->key_end; i++) {
		if (request->record[i] && !(request->mask & kind->option_mask))
			return "a P_Key without its component";
	}
	return NULL;
}

enum owned_answer ibsad_owned_judge(struct owned *owned,
				    struct client_file *file,
				    const uint8_t *packet, size_t len,
				    const char **out_reason)
{
	struct owned_request request;
	const char *reason;

	if (len < UMAD_HEADER_BYTES + IBSA_MAD_BYTES)
		return denied("a short record", out_reason);
	request = request_of(packet);
	reason = request_check(owned, ibsad_file_port(file), &request);
	if (reason)
		return denied(reason, out_reason);
	return request_judge(owned, file, &request, packet, len, out_reason);
}

/*
 * Return: that whose last request is this, or its response; or NULL. The Set that
 * waits for a check was not sent.
 */
static struct registration *registration_sent(const struct owned *owned,
					      const struct client_file *file,
					      const uint8_t *packet)
{
	const uint8_t *mad = packet + UMAD_HEADER_BYTES;
	const uint32_t agent = agent_of(packet);
	const uint32_t tid = (uint32_t)ibsa_be64(mad + MAD_TID);
	const struct owned_kind *kind =
		ibsad_kind_of(ibsa_be16(mad + MAD_ATTRIBUTE));
	struct registration *registration;

	if (mad[MAD_CLASS] != IBSA_CLASS_SA || !kind)
		return NULL;
	LIST_EACH(registration, &owned->all, link) {
		if (registration->kind == kind &&
		    registration->state == REGISTRATION_SET &&
		    registration->sender == file &&
		    registration->agent == agent && registration->tid == tid)
			return registration;
	}
	return NULL;
}

/*
 * If no other Set was sent, the SA does not have the registration; otherwise, it
 * has what was set before.
 */
static void set_failed(struct registration *registration)
{
	if (!--registration->sets) {
		ibsad_registration_free(registration);
		return;
	}
	memcpy(registration->record, registration->before.record,
	       sizeof(registration->record));
	registration->mask = registration->before.mask;
	registration->end_ns = registration->before.end_ns;
	ibsad_registration_note(registration, false);
}

static void set_succeeded(struct registration *registration,
			  const struct client_file *file, const uint8_t *mad,
			  size_t len)
{
	registration->holder = file;
	ibsad_registration_begun(registration);
	if (len < IBSA_MAD_BYTES)
		return;
	ibsad_states_answered(registration, mad + IBSA_SA_HEADER_BYTES);
	ibsad_registration_note(registration, false);
}

/* The SA does not have what the Delete selects. */
static void delete_succeeded(struct registration *registration)
{
	if (!registration->states ||
	    !ibsad_registration_end(registration, registration->states))
		ibsad_registration_free(registration);
	else
		ibsad_registration_note(registration, false);
}

static void delete_response(struct registration *registration, uint16_t status)
{
	registration->is_delete = false;
	if (!status || status == IBSA_STATUS_NO_RECORDS)
		delete_succeeded(registration);
}

/*
 * A Delete before the last Set does not end what this has set: its response does
 * not count.
 */
void ibsad_owned_response(struct owned *owned, struct client_file *file,
			  const uint8_t *packet, size_t len)
{
	const uint8_t *mad = packet + UMAD_HEADER_BYTES;
	const uint16_t status = ibsa_be16(mad + MAD_STATUS);
	struct registration *registration = registration_sent(owned, file,
							      packet);

	if (!registration ||
	    mad[MAD_METHOD] != (registration->is_delete
					? IBSA_METHOD_DELETE_RESP
					: IBSA_METHOD_GET_RESP))
		return;
	registration->sender = NULL;
	owned->due_ns = 0;
	if (registration->is_delete)
		delete_response(registration, status);
	else if (status)
		set_failed(registration);
	else
		set_succeeded(registration, file, mad, len - UMAD_HEADER_BYTES);
}

void ibsad_owned_unanswered(struct owned *owned, struct client_file *file,
			    const uint8_t *packet)
{
	struct registration *registration = registration_sent(owned, file,
							      packet);

	if (!registration)
		return;
	registration->sender = NULL;
	owned->due_ns = 0;
	if (!registration->is_delete)
		set_ended(registration, file);
}

void ibsad_owned_unsent(struct owned *owned, struct client_file *file,
			const uint8_t *packet)
{
	const struct owned_request request = request_of(packet);
	struct registration *registration =
		request_find(owned, ibsad_file_port(file), &request);

	registration->sender = NULL;
	if (!registration->is_delete)
		set_failed(registration);
	else
		registration->is_delete = false;
}

/* The client has ended before its request was answered. */
static void sender_end(struct registration *registration)
{
	registration->sender = NULL;
	if (!registration->is_delete)
		registration->settle_ns = clock_now_ns() +
					  SETTLE_MS * NS_PER_MS;
}

void ibsad_owned_file_end(struct owned *owned, struct client_file *file)
{
	struct registration *registration;

	LIST_EACH(registration, &owned->all, link) {
		if (registration->file == file)
			registration->file = NULL;
		if (registration->sender == file)
			sender_end(registration);
		if (registration->holder == file)
			ibsad_registration_leave(registration);
	}
	owned->due_ns = 0;
}

void ibsad_owned_user_end(struct owned *owned, uid_t user)
{
	struct registration *registration;

	/*
	 * What was taken over stays: its program may not have connected again
	 * when another one of the user, such as a command, ends.
	 */
	LIST_EACH(registration, &owned->all, link) {
		if (registration->user != user ||
		    registration->state != REGISTRATION_SET)
			continue;
		registration->state = REGISTRATION_ENDED;
		registration->retry_ns = registration->settle_ns;
		owned->due_ns = 0;
	}
	(void)ibsad_owned_tick(owned);
}

void ibsad_owned_end(struct owned *owned)
{
	struct registration *registration;

	LIST_EACH(registration, &owned->all, link) {
		if (registration->state == REGISTRATION_RESTORED)
			registration->retry_ns = 0;
	}
	owned->due_ns = 0;
}

bool ibsad_owned_is_empty(const struct owned *owned)
{
	return list_is_empty(&owned->all);
}

void ibsad_owned_init(struct owned *owned, struct daemon *daemon, uint32_t most)
{
	*owned = (struct owned){ .daemon = daemon,
				 .most = most,
				 .state = { .fd = -1 } };
	list_init(&owned->all);
}

void ibsad_owned_done(struct owned *owned)
{
	struct registration *registration, *next;

	ibsad_state_close(&owned->state);
	LIST_EACH_SAFE(registration, next, &owned->all, link)
		ibsad_registration_free(registration);
}
