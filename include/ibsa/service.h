/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Registered services: a ServiceRecord that the client registers, renews, reads
 * back and, at the end, deletes.
 *
 * An SA deletes a ServiceRecord when its lease ends, and loses it without
 * notice when the SA restarts or another takes over. The client therefore reads
 * the record back regularly, and registers it again when it is lost.
 */
#ifndef IBSA_SERVICE_H
#define IBSA_SERVICE_H

#include <ibsa/ibsa.h>

IBSA_BEGIN

struct ibsa_registration;

/* Default lease, in seconds. */
enum { IBSA_REGISTRATION_LEASE_S = 300 };

/**
 * struct ibsa_service_registration - a registration; zero is the default of all
 * members but @service
 * @service:     the record, in host byte order; copied
 * @mask:        the fields of @service that are set, as bits of
 *               IBSA_SERVICE_CM(); the other fields are sent as zero. 0: all
 *               fields that are not zero are set
 * @audit_ms:    interval in milliseconds at which the client reads the record
 *               back; default 30000
 * @deadline_ms: deadline of each request in milliseconds from its first try;
 *               default: that of the client. A request waits up to one minute
 *               for its first try if the window is full, and then fails with
 *               -ETIMEDOUT
 *
 * service_id, service_gid and service_pkey identify a record. The client always
 * sends these three fields and service_lease. Defaults: service_gid is GID 0 of
 * the port, and the client registers the service again when this GID changes;
 * service_pkey is 0xffff; service_lease is IBSA_REGISTRATION_LEASE_S seconds. A
 * lease may be IBSA_LEASE_INFINITE.
 */
struct ibsa_service_registration {
	const struct ibsa_service *service;
	uint64_t mask;
	unsigned int audit_ms;
	unsigned int deadline_ms;
};

/**
 * enum ibsa_registration_event - events of a registration
 *
 * RELEASED is the last event of a registration. Any other event may be the
 * first one, and may follow any other.
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
	 * 1 s, then after up to 60 s. */
	IBSA_REGISTRATION_FAILED,
	/* The SA refused a request. The client tries again after 1 minute, then
	 * after up to 15 minutes. */
	IBSA_REGISTRATION_REFUSED,
	/* The registration has ended; the handle is no longer valid. */
	IBSA_REGISTRATION_RELEASED,
};

/**
 * struct ibsa_registration_report - one event of a registration
 * @registration:    the handle of the registration
 * @event:   enum ibsa_registration_event
 * @err:     of FAILED: -ETIMEDOUT the SA did not reply; -EAGAIN the port has no
 *           SM or has no GID yet; -ENOENT the SA accepted the record, but does
 *           not return it; another error of ibsa_query() or struct ibsa_reply;
 *           0 the SA was busy. Of RELEASED: 0 the SA replied to the Delete
 *           request, and the record is deleted if @status is 0 or 0x0300; 0
 *           with @status 0 also if no Set request was sent, so that there is
 *           nothing to delete; -ECANCELED the SA did not reply within the two
 *           seconds of ibsa_close(); or the error of the Delete request. Unless
 *           the record is deleted, the SA keeps the record until its lease ends
 * @status:  of FAILED, REFUSED and RELEASED: the MAD status, all 16 bits
 * @service: the record: of REGISTERED, the record at the SA, with the granted
 *           lease; of REPLACED, the record of the other program; of other
 *           events, the record that the client sends. Valid until the callback
 *           returns
 */
struct ibsa_registration_report {
	struct ibsa_registration *registration;
	int event;
	int err;
	uint16_t status;
	const struct ibsa_service *service;
};

/**
 * typedef ibsa_registration_fn - called for each event of a registration
 * @report: valid until the callback returns
 * @arg:    as given to ibsa_service_register()
 *
 * ibsa_reply_fn tells which functions call the callback, and what the callback
 * may call. The callback may also call ibsa_service_register() and
 * ibsa_service_release(). After FAILED or REFUSED has been reported, a further
 * failure is reported only if its @err or @status differs from that of the
 * failure before it. The first success after failures is reported as
 * REGISTERED; renewals are not reported.
 */
typedef void (*ibsa_registration_fn)(
	const struct ibsa_registration_report *report, void *arg);

/**
 * ibsa_service_register - register a service and keep it registered
 * @client: an open client
 * @options: the record and the options; copied
 * @report: called for each event, from dispatch or ibsa_close(); may be NULL
 * @arg:    passed to @report unchanged
 * @out:    receives the handle, valid until IBSA_REGISTRATION_RELEASED is
 *          reported; without @report, until ibsa_service_release() or
 *          ibsa_close()
 *
 * The client sets the record at the SA and reads it back. The client reads the
 * record again every audit_ms and soon after the port changed (see
 * ibsa_port_watch()). When half of the granted lease has passed, the client
 * reads the record and renews it. After a change of the port, the client
 * spreads these requests over half a second; with more than 100 registrations,
 * over 5 ms multiplied by their number, up to 10 s. If the record uses the
 * port's GID and the GID changes, the client deletes the old record and
 * registers the new one. While a client has registrations, the client reads its
 * port every second.
 *
 * If another program registers the same service_id with another service_gid or
 * service_pkey, the SA has two records, and no event is reported.
 *
 * The client delays the next Set after a loss of the record that another
 * program may have caused, so that two programs with the same service_id,
 * service_gid and service_pkey do not replace each other's record without
 * pause. The delay is 0 after the first loss, 1 s after the second loss, and
 * doubles with each further loss, up to 5 minutes; each delay is shortened at
 * random by up to a quarter. When a regular audit finds the client's record, the
 * next loss counts as the first. The client assumes that a restart or move of
 * the SM caused the loss if the SA has no record with this identity, and the
 * re-register count, SM LID, LID, GID or state of the port has changed since the
 * record was last read or set. A loss by a restart or move of the SM is not
 * counted, and the client sets the record again without delay.
 *
 * Return: 0, even if the port has no SM; -EINVAL @options->service is NULL,
 * @options->mask has a bit that ServiceRecord does not define, or service_lease
 * is set to 0; -EEXIST the client has a registration with this ID, GID and
 * P_Key, or is releasing one; -ESHUTDOWN ibsa_close() is closing the client;
 * -ENOMEM. After an error @report is not called.
 *
 * Source: IBA vol 1, 15.2.5.14.
 */
int ibsa_service_register(struct ibsa_client *client,
			  const struct ibsa_service_registration *options,
			  ibsa_registration_fn report, void *arg,
			  struct ibsa_registration **out) IBSA_MUST_USE;

/**
 * ibsa_service_release - end a registration and delete its record from the SA
 * @registration: from ibsa_service_register(); not yet released
 *
 * If a Set is in flight, the client first waits for its reply. A later dispatch
 * reports IBSA_REGISTRATION_RELEASED. ibsa_close() releases all registrations,
 * and waits for the SA up to two seconds altogether.
 *
 * Return: 0; -EALREADY the registration is already being released.
 */
int ibsa_service_release(struct ibsa_registration *registration);

/**
 * ibsa_registration_text - the name of an event of a registration
 * @event: one value of enum ibsa_registration_event
 *
 * Any thread may call it.
 *
 * Return: for example "registered"; NULL if no event has this number.
 */
const char *ibsa_registration_text(int event);

IBSA_END

#endif
