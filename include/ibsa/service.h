/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Registered services: a ServiceRecord that the client registers, renews, reads
 * back and, at the end, deletes.
 *
 * ibsa_service_register        register a service and keep it registered
 * ibsa_service_release         end a registration and delete its record
 * ibsa_registration_event_name the name of an event; NULL: unknown
 *
 * An SA deletes a ServiceRecord when its lease ends, and loses it without
 * notice when it restarts. The client reads the record back, and registers it
 * again when it is lost.
 */
#ifndef IBSA_SERVICE_H
#define IBSA_SERVICE_H

#include <ibsa/ibsa.h>

IBSA_BEGIN

struct ibsa_registration;

/**
 * struct ibsa_service_options - a registration; zero: the default of all
 * members but @service
 * @service:     the record, in host byte order; copied
 * @mask:        bits of IBSA_SERVICE_CM(): the fields of @service to set, also
 *               to 0; 0: all fields that are not zero
 * @audit_ms:    longest time from a successful read of the record at the SA to
 *               the next read; IBSA_DEFAULT_AUDIT_MS
 * @deadline_ms: of each request, from its first try; not used in ibsa_close(),
 *               which waits up to two seconds; default: that of the client
 *
 * If a field is not set, service_gid is GID 0 of the port, and changes with it;
 * service_pkey is 0xffff; service_lease is IBSA_DEFAULT_LEASE_S; others are 0.
 */
struct ibsa_service_options {
	const struct ibsa_service *service;
	uint64_t mask;
	unsigned int audit_ms;
	unsigned int deadline_ms;
};

/* Events of a registration; ibsa_registration_fn tells which are reported. */
enum ibsa_registration_event {
	/* A read found the record at the SA: for the first time, or for the
	 * first time after another event or a change of its service_gid. */
	IBSA_REGISTRATION_REGISTERED = 1,
	/* The SA has lost the record: a read found none. The client registers
	 * the record again: at once, or after a delay if the record is lost
	 * repeatedly although the SM did not restart or move. */
	IBSA_REGISTRATION_LOST,
	/* The SA has a record with the same service_id, service_gid and
	 * service_pkey, but with another name or other data; the report
	 * contains that record. The client registers its own record again: at
	 * once, or after a delay if it is lost or replaced repeatedly. */
	IBSA_REGISTRATION_REPLACED,
	/* A request of the client failed, or the SA was busy. The client sends
	 * it again later. */
	IBSA_REGISTRATION_FAILED,
	/* The SA refused a request of the client. The client sends it again,
	 * later than after FAILED. */
	IBSA_REGISTRATION_REFUSED,
	/* The last event: the handle is no longer valid. */
	IBSA_REGISTRATION_RELEASED,
};

/**
 * struct ibsa_registration_report - one event of a registration
 * @err:     of FAILED and RELEASED: 0 or the cause, as in struct ibsa_reply; of
 *           FAILED, -ENOENT: the SA accepted the record, but does not have it;
 *           of RELEASED, -ECANCELED: ibsa_close() ended before the SA replied;
 *           0: the SA replied, see @status, or cannot have the record
 * @status:  of FAILED, REFUSED and RELEASED: MAD status, all 16 bits
 * @service: of REGISTERED and REPLACED, the record at the SA; of other events,
 *           the client's own record. Valid until the callback returns
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
 * The callback may call the same functions as an ibsa_reply_fn. Renewals are
 * not reported, nor failures with the err and status of the failure before.
 */
typedef void (*ibsa_registration_fn)(
	const struct ibsa_registration_report *report, void *arg);

int ibsa_service_register_sized(struct ibsa_client *client,
				const struct ibsa_service_options *options,
				size_t size, size_t service_size,
				ibsa_registration_fn report, void *arg,
				struct ibsa_registration **out) IBSA_MUST_USE
	IBSA_NONNULL(1);

/**
 * ibsa_service_register - register a service and keep it registered
 * @options: copied, with the record
 * @report:  called for each event; may be NULL
 * @out:     receives the registration, valid until IBSA_REGISTRATION_RELEASED
 *           is reported; without @report, until ibsa_service_release() or
 *           ibsa_close(). May be NULL
 *
 * If another program sets a record with the same service_id, service_gid and
 * service_pkey, but with another name or other data, the next read reports
 * IBSA_REGISTRATION_REPLACED, and the client sets its own record again.
 *
 * Return: 0, even if the port has no SM; -EEXIST this client has a registration
 * with the same service_id, service_gid and service_pkey; -EINVAL no @service
 * in @options, a mask that is not valid, or a lease or GID that is set to 0;
 * -ESHUTDOWN ibsa_close() is running; -ENOMEM
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
 * ibsa_service_release - end a registration and delete its record
 * @registration: valid; NULL: nothing happens
 *
 * Does not wait: IBSA_REGISTRATION_RELEASED is reported when the request to
 * delete the record has ended. ibsa_close() releases all registrations, and
 * waits for the replies to all of them up to two seconds.
 *
 * Return: 0; -EALREADY @registration is being released
 */
int ibsa_service_release(struct ibsa_registration *registration);

const char *ibsa_registration_event_name(enum ibsa_registration_event event);

IBSA_END

#endif
