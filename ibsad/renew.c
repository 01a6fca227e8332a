/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ibsad's own requests about registrations of users: it sets them again before
 * their leases end and after the SA has lost them, and deletes them when their
 * users have gone. A request
 * that the SA does not answer is repeated.
 */
#include <string.h>

#include "base/clock.h"
#include "ibsad/registration.h"

enum {
	LATE_S = 2, /* until the SA has received a Set, and ended a lease */
	QUERY_MS = 5000,
	DELETES_MAX = 64, /* at once */
	RETRY_MIN_MS = 1000,
	RETRY_MAX_MS = 60000,
	TICK_MAX_MS = 3600000,
};

/* The end of a registration without a lease. */
#define NO_END_NS (UINT64_MAX / 2)

/* Set a time of a registration, and have the tick then. */
static void time_set(struct registration *registration, uint64_t *out,
		     uint64_t ns)
{
	struct owned *owned = registration->owned;

	*out = ns;
	if (ns < owned->due_ns)
		owned->due_ns = ns;
}

/* 64 bits: what is added to the longest lease must not wrap around. */
static uint64_t lease_of(const struct registration *registration)
{
	return ibsad_lease_s(registration->kind, registration->record,
			     registration->mask);
}

uint64_t ibsad_registration_end_ns(const struct registration *registration)
{
	const uint64_t lease_s = lease_of(registration);

	return lease_s == IBSA_LEASE_INFINITE
		       ? NO_END_NS
		       : clock_now_ns() + (lease_s + LATE_S) * NS_PER_S;
}

/*
 * A program renews earlier than this, at half of its lease or so. An SA takes a
 * lease of 0 as one of a second at most.
 */
void ibsad_registration_begun(struct registration *registration)
{
	const uint64_t lease_s = lease_of(registration);

	time_set(registration, &registration->end_ns,
		 ibsad_registration_end_ns(registration));
	registration->renew_ns = UINT64_MAX;
	if (lease_s && lease_s != IBSA_LEASE_INFINITE && registration->holder)
		time_set(registration, &registration->renew_ns,
			 clock_now_ns() + lease_s * (NS_PER_S / 4 * 3));
}

void ibsad_registration_leave(struct registration *registration)
{
	registration->holder = NULL;
	if (registration->end_ns < NO_END_NS)
		registration->renew_ns = UINT64_MAX;
}

/*
 * ibsad deletes one state after the other: an SA refuses a Delete of states of
 * which it does not have all.
 */
static uint8_t state_first(const struct registration *registration)
{
	const uint8_t states = ibsad_states_of(
		registration->kind, registration->record, registration->mask);

	return states & (uint8_t)-states;
}

/* Another port may have the LID by now that this port had. */
static void lid_set(struct registration *registration)
{
	struct ibsad_ports *ports = &registration->owned->daemon->ports;
	const uint32_t port = registration->port;

	if (registration->kind->gid_at)
		return;
	ibsad_port_read(ports, port, 0);
	/* Without a LID, the port has no SA to which this would be sent. */
	if (ports->at[port].state.port.lid)
		ibsa_put_be16(registration->record,
			      (uint16_t)ports->at[port].state.port.lid);
}

int ibsad_registration_query(struct registration *registration, uint8_t method,
			     ibsa_reply_fn done)
{
	const struct owned_kind *kind = registration->kind;
	union {
		struct ibsa_service service;
		struct ibsa_mcmember member;
		struct ibsa_guid_info block;
	} match;
	struct ibsa_query query = {
		.record = kind->record,
		.match = &match,
		.match_size = kind->record->host_size,
		.mask = kind->key_mask |
			(registration->mask & kind->option_mask),
		.method = method,
		.deadline_ms = QUERY_MS,
		.no_sharing = true,
	};
	const uint8_t state = state_first(registration);
	struct ibsa_client *client;
	int err = ibsad_client_get(registration->owned->daemon,
				   registration->port, &client);

	if (method == IBSA_METHOD_SET)
		query.mask = registration->mask;
	lid_set(registration);
	(void)!ibsa_record_decode(kind->record, registration->record,
				  kind->record->size, &match,
				  kind->record->host_size);
	if (method == IBSA_METHOD_DELETE)
		query.mask |= ibsad_states_mask(kind, state);
	if (method == IBSA_METHOD_DELETE && kind->states == STATES_JOIN)
		match.member.join_state = state;
	if (!err)
		err = ibsa_query_start(client, &query, done, registration,
				       NULL);
	registration->is_asked = !err;
	return err;
}

static uint64_t later_ns(struct registration *registration)
{
	registration->retry_ms = registration->retry_ms
					 ? registration->retry_ms * 2
					 : RETRY_MIN_MS;
	if (registration->retry_ms > RETRY_MAX_MS)
		registration->retry_ms = RETRY_MAX_MS;
	return clock_now_ns() + registration->retry_ms * NS_PER_MS;
}

/* Return: when to repeat a request that has had no effect. */
static uint64_t retry_after(struct registration *registration)
{
	if (!registration->retry_ms)
		ibsad_log_note("a registration of a user cannot be renewed or "
			       "deleted: the SA refuses it, or does not reply",
			       registration->owned->daemon);
	return later_ns(registration);
}

bool ibsad_registration_end(struct registration *registration, uint8_t states)
{
	const uint8_t held = ibsad_states_of(
		registration->kind, registration->record, registration->mask);

	ibsad_states_set(registration, held & (uint8_t)~states);
	return held & ~states;
}

/*
 * Whether the SA does not have what a Delete has selected. To OpenSM, the end of a
 * membership that there is not is an invalid request: mcmr_rcv_leave_mgrp().
 */
static bool is_deleted(const struct owned_kind *kind, uint16_t status)
{
	return !status || status == IBSA_STATUS_NO_RECORDS ||
	       (status == IBSA_STATUS_REQ_INVALID &&
		kind->states == STATES_JOIN);
}

static void deleted(const struct ibsa_reply *reply, void *arg)
{
	struct registration *registration = arg;

	registration->owned->deletes--;
	registration->owned->due_ns = 0;
	registration->is_asked = false;
	if (reply->err || !is_deleted(registration->kind, reply->status)) {
		registration->retry_ns = retry_after(registration);
		return;
	}
	if (ibsad_registration_end(registration, state_first(registration)))
		registration->retry_ns = 0;
	else
		ibsad_registration_free(registration);
}

static void delete_start(struct registration *registration)
{
	if (ibsad_registration_query(registration, IBSA_METHOD_DELETE, deleted))
		registration->retry_ns = retry_after(registration);
	else
		registration->owned->deletes++;
}

/*
 * An SA that refuses has lost what the registration needs, such as the group, and
 * may get it again.
 */
static void renewed(const struct ibsa_reply *reply, void *arg)
{
	struct registration *registration = arg;

	registration->owned->due_ns = 0;
	registration->is_asked = false;
	if (registration->state != REGISTRATION_SET)
		return;
	if (reply->err || reply->status) {
		registration->renew_ns = retry_after(registration);
		return;
	}
	registration->retry_ms = 0;
	ibsad_registration_begun(registration);
	ibsad_registration_note(registration, false);
}

static void renew_start(struct registration *registration)
{
	registration->renew_ns = UINT64_MAX;
	if (ibsad_registration_query(registration, IBSA_METHOD_SET, renewed))
		registration->renew_ns = retry_after(registration);
}

void ibsad_owned_renew(struct owned *owned, uint32_t port)
{
	struct registration *registration;

	LIST_EACH(registration, &owned->all, link) {
		if (registration->port == port &&
		    registration->state == REGISTRATION_SET &&
		    (registration->holder || registration->end_ns >= NO_END_NS))
			time_set(registration, &registration->renew_ns, 0);
	}
}

void ibsad_registrations_expire(struct owned *owned)
{
	const uint64_t now_ns = clock_now_ns();
	struct registration *registration, *next;

	LIST_EACH_SAFE(registration, next, &owned->all, link) {
		if (!registration->is_asked && registration->end_ns <= now_ns)
			ibsad_registration_free(registration);
	}
}

/* The user of what was taken over has had its time to come back. */
static void restored_end(struct registration *registration)
{
	struct daemon *daemon = registration->owned->daemon;

	registration->retry_ns = 0;
	registration->state =
		daemon->server && ibsa__server_has_user(daemon->server,
							registration->user)
			? REGISTRATION_SET
			: REGISTRATION_ENDED;
}

static uint64_t sooner_ns(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The SA has, or had, what the owner's last request has set. */
static bool may_be_renewed(const struct registration *registration)
{
	return registration->state == REGISTRATION_SET &&
	       !registration->sender && !registration->is_delete;
}

/* Return: the time at which something is to be done about a registration. */
static uint64_t registration_due_ns(const struct registration *registration)
{
	const bool is_full = registration->owned->deletes >= DELETES_MAX;

	/* The answer to a request, or to another Delete, comes first. */
	if (registration->is_asked)
		return UINT64_MAX;
	if (registration->state == REGISTRATION_RESTORED ||
	    (registration->state == REGISTRATION_ENDED && !is_full))
		return sooner_ns(registration->retry_ns, registration->end_ns);
	if (may_be_renewed(registration))
		return sooner_ns(registration->renew_ns, registration->end_ns);
	return registration->end_ns;
}

static void registration_tick(struct registration *registration,
			      uint64_t now_ns)
{
	if (registration->is_asked)
		return;
	if (may_be_renewed(registration) && registration->renew_ns <= now_ns)
		renew_start(registration);
	if (registration->is_asked || registration->retry_ns > now_ns)
		return;
	if (registration->state == REGISTRATION_RESTORED)
		restored_end(registration);
	if (registration->state == REGISTRATION_ENDED &&
	    registration->owned->deletes < DELETES_MAX)
		delete_start(registration);
}

int ibsad_owned_tick(struct owned *owned)
{
	const uint64_t now_ns = clock_now_ns();
	struct registration *registration;
	uint64_t left_ms;

	if (now_ns >= owned->due_ns) {
		owned->due_ns = UINT64_MAX;
		ibsad_registrations_expire(owned);
		LIST_EACH(registration, &owned->all, link) {
			registration_tick(registration, now_ns);
			owned->due_ns =
				sooner_ns(owned->due_ns,
					  registration_due_ns(registration));
		}
	}
	if (owned->due_ns == UINT64_MAX)
		return -1;
	left_ms = owned->due_ns > now_ns
			  ? (owned->due_ns - now_ns) / NS_PER_MS + 1
			  : 0;
	return left_ms < TICK_MAX_MS ? (int)left_ms : TICK_MAX_MS;
}
