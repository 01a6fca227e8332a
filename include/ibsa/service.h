/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Registered services: a ServiceRecord that the client registers, renews, reads
 * back and, at the end, deletes.
 *
 * An SA deletes a ServiceRecord when its lease ends, and loses the record
 * without notice when the SA restarts or another SA takes over. The client
 * therefore reads the record back regularly, and registers it again when it is
 * lost.
 */
#ifndef IBSA_SERVICE_H
#define IBSA_SERVICE_H

#include <ibsa/ibsa.h>

IBSA_BEGIN

struct ibsa_registration;

/**
 * struct ibsa_service_options - the record to register, and options; zero is
 * the default of all members but @service
 * @service:     the record, in host byte order; copied
 * @mask:        the fields of @service that are set, as bits of
 *               IBSA_SERVICE_CM(), also if their value is 0. 0: all fields that
 *               are not zero are set
 * @audit_ms:    interval in milliseconds at which the client reads the record
 *               back, shortened at random by up to an eighth; default
 *               IBSA_DEFAULT_AUDIT_MS
 * @deadline_ms: deadline of each request in milliseconds from its first try,
 *               except during ibsa_close(); default: that of the client. If the
 *               client has as many requests in flight as its window permits, a
 *               request waits up to one minute for its first try, and then
 *               fails with -ETIMEDOUT
 *
 * service_id, service_gid and service_pkey identify a record. Each Set contains
 * these three fields and service_lease; service_id is that of @service, also if
 * its bit is not in @mask. Each of the other three has a default if it is not
 * set: service_gid is the GID at index 0 of the port, and if this GID changes,
 * the client registers the service again with the new GID; service_pkey is
 * 0xffff; service_lease is IBSA_DEFAULT_LEASE_S seconds. All other fields that
 * are not set are sent as zero. service_lease may be IBSA_LEASE_INFINITE.
 */
struct ibsa_service_options {
	const struct ibsa_service *service;
	uint64_t mask;
	unsigned int audit_ms;
	unsigned int deadline_ms;
};

/**
 * enum ibsa_registration_event - events of a registration
 *
 * IBSA_REGISTRATION_RELEASED is the last event of a registration. Not every
 * failure or refusal is reported: see ibsa_registration_fn.
 */
enum ibsa_registration_event {
	/* The SA has the record: for the first time, or again. */
	IBSA_REGISTRATION_REGISTERED = 1,
	/* The SA has lost the record: a read of the registered record found
	 * none. If the SM restarted or moved, the client registers the record
	 * again at once, otherwise after the delay that
	 * ibsa_service_register() describes. */
	IBSA_REGISTRATION_LOST,
	/* The SA has a record with the same identity, but with another name or
	 * other data; the report contains that record. The client registers its
	 * own record again after the delay that ibsa_service_register()
	 * describes. */
	IBSA_REGISTRATION_REPLACED,
	/* A request failed, or the SA was busy. The client tries again after
	 * about 1 s, then after up to 60 s. */
	IBSA_REGISTRATION_FAILED,
	/* The SA refused a request. The client tries again after about 1
	 * minute, then after up to 15 minutes. */
	IBSA_REGISTRATION_REFUSED,
	/* The registration has ended; the handle is no longer valid. */
	IBSA_REGISTRATION_RELEASED,
};

/**
 * struct ibsa_registration_report - one event of a registration
 * @registration: the handle of the registration
 * @event:        enum ibsa_registration_event
 * @err:          of FAILED: -ETIMEDOUT the SA did not reply; -ENETDOWN the SA
 *                did not reply, and the port is down; -EAGAIN the port has no
 *                SM or has no GID yet; -ENOENT the SA accepted the record, but
 *                does not return it; another error of ibsa_query_start() or
 *                struct ibsa_reply; 0 the SA was busy, see @status. Of
 *                RELEASED: 0 the SA replied to the Delete request, and the
 *                record is deleted if
 *                @status is 0 or 0x0300; 0 with @status 0 also if the SA cannot
 *                have the record, because the client neither sent a Set request
 *                nor queued one for the window: the client then sends no Delete
 *                request; -ETIMEDOUT the SA did not reply; -ECANCELED
 *                ibsa_close() stopped waiting before the Delete request was
 *                sent or ended; or another error of the Delete request. Unless
 *                the record is deleted, the SA keeps the record until the
 *                record's lease ends. Of other events: 0
 * @status:       of FAILED, REFUSED and RELEASED: the MAD status, all 16 bits;
 *                of other events: 0
 * @service:      the record: of REGISTERED, the record at the SA, with the
 *                granted lease; of REPLACED, the record with another name or
 *                other data that the SA has instead; of other events, the
 *                record that the client sends. @service is valid until the
 *                callback returns
 */
struct ibsa_registration_report {
	struct ibsa_registration *registration;
	enum ibsa_registration_event event;
	int err;
	uint16_t status;
	const struct ibsa_service *service;
};

/**
 * typedef ibsa_registration_fn - called for each event of a registration
 * @report: valid until the callback returns
 * @arg:    as given to ibsa_service_register()
 *
 * The functions that ibsa_reply_fn lists call an ibsa_registration_fn, which
 * may call the same functions as an ibsa_reply_fn, and also
 * ibsa_service_register() and ibsa_service_release(). After FAILED or REFUSED,
 * and until another event is reported, a failure or refusal is reported only if
 * its @err or its @status differs from the failure or refusal before it. The
 * first success after failures, LOST or REPLACED is reported as REGISTERED;
 * renewals are not reported.
 */
typedef void (*ibsa_registration_fn)(
	const struct ibsa_registration_report *report, void *arg);

/* For bindings: ibsa_service_register() with the sizes of @options and of
 * struct ibsa_service. */
int ibsa_service_register_sized(struct ibsa_client *client,
				const struct ibsa_service_options *options,
				size_t size, size_t service_size,
				ibsa_registration_fn report, void *arg,
				struct ibsa_registration **out) IBSA_MUST_USE
	IBSA_NONNULL(1);

/**
 * ibsa_service_register - register a service and keep it registered
 * @client:  an open client
 * @options: the record and the options; copied
 * @report:  called for each event, later, from ibsa_dispatch(), ibsa_close()
 *           and the functions that wait; may be NULL
 * @arg:     passed to @report unchanged
 * @out:     receives the handle, valid until the callback for
 *           IBSA_REGISTRATION_RELEASED is called; without @report, until
 *           ibsa_service_release() or ibsa_close(). May be NULL
 *
 * The client sets the record at the SA and reads it back. The client reads the
 * record again every audit_ms (an audit) and soon after the port changed (see
 * ibsa_port_watch_start()), unless the port is then down or initializing, or
 * only its physical state changed. When half of the granted lease has passed,
 * the client reads the record and renews it. After a change of the port, the
 * client spreads the reads of all its registrations over half a second; with
 * more than 100 registrations, over 5 ms for each registration, up to 10 s. If
 * service_gid is not set in @options and the port's GID changes, the client
 * deletes the old record and registers the new one. While a client has
 * registrations, the client reads its port at least every second, unless it is
 * at a fabric server, which reports each change of the port.
 *
 * If another program registers the same service_id with another service_gid or
 * service_pkey, the SA has two records, and no event is reported. If another
 * program registers a record with the same service_id, service_gid and
 * service_pkey, but with another name or other data, the SA has the record that
 * was set last; the client reports REPLACED at its next read, and sets its own
 * record again.
 *
 * If another program may have caused a loss of the record, the client delays
 * the next Set, so that two programs with the same service_id, service_gid and
 * service_pkey do not replace each other's record without pause. The delay is 0
 * after the first loss, 1 s after the second loss, and doubles with each
 * further loss, up to 5 minutes; each delay is shortened at random by up to a
 * quarter of the delay. When a read, other than the read directly after a Set,
 * finds the client's record, the next loss counts as the first. The client
 * assumes that a restart or move of the SM caused the loss if the SA has no
 * record with this identity, and the re-register count, SM LID, LID, GID or
 * state in struct ibsa_port_state has changed since the record was last read or
 * set. A loss by a restart or move of the SM is not counted, and the client
 * sets the record again without delay.
 *
 * Return: 0, even if the port has no SM; -EINVAL @options or @options->service
 * is NULL, @options->mask has a bit that ServiceRecord does not define, or the bit of
 * service_lease or service_gid, which is 0; -EEXIST this client has a
 * registration with the same service_id, service_gid and service_pkey, or is
 * releasing one; -ESHUTDOWN ibsa_close() is closing the client; -ENOMEM. After
 * an error @report is not called.
 *
 * Source: IBA vol 1, 15.2.5.14.
 */
IBSA_INLINE IBSA_MUST_USE int ibsa_service_register(
	struct ibsa_client *client, const struct ibsa_service_options *options,
	ibsa_registration_fn report, void *arg, struct ibsa_registration **out)
{
	return ibsa_service_register_sized(client, options, sizeof(*options),
					   sizeof(*options->service), report,
					   arg, out);
}

/**
 * ibsa_service_release - end a registration and delete its record from the SA
 * @registration: a valid handle from ibsa_service_register(); NULL: nothing
 *                happens
 *
 * Does not wait. If the client has sent or queued a Set request, a later
 * dispatch sends a Delete request, but not before the Set request has ended.
 * When the Delete request has ended, or if none is needed,
 * IBSA_REGISTRATION_RELEASED is reported. ibsa_close() releases all
 * registrations of the client, and waits for the SA up to two seconds for all
 * of them together. A callback of the client may call ibsa_service_release().
 *
 * Return: 0; -EALREADY the registration is already being released.
 */
int ibsa_service_release(struct ibsa_registration *registration);

/**
 * ibsa_registration_event_name - the name of an event of a registration
 * @event: one value of enum ibsa_registration_event
 *
 * Any thread may call ibsa_registration_event_name().
 *
 * Return: a constant such as "registered"; NULL if no event has this number.
 */
const char *ibsa_registration_event_name(enum ibsa_registration_event event);

IBSA_END

#endif
