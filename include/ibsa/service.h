/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Services that stay: a ServiceRecord that is registered, renewed, looked
 * after and, in the end, deleted.
 *
 * The SA forgets what was registered when its lease ends, and without a word
 * when it restarts or another takes over. A kept service is therefore read
 * back from time to time and set again when it is gone.
 */
#ifndef IBSA_SERVICE_H
#define IBSA_SERVICE_H

#include <ibsa/ibsa.h>

IBSA_BEGIN

struct ibsa_kept;

/* The lease that is asked for by default, in seconds. */
enum { IBSA_KEEP_LEASE_S = 300 };

/**
 * struct ibsa_service_keep - what to keep; zero is the default of all but
 * the first
 * @service:     the record; copied
 * @mask:        which of its fields are meant: IBSA_SERVICE_CM(service_name)
 *               | ...; the others are sent as zero. 0: those that are not
 *               zero
 * @audit_ms:    how often to read it back at least; default 30000
 * @deadline_ms: of each request, from its first try; default: the client's. A
 *               request waits up to a minute for its first try while others
 *               fill the window
 *
 * What makes two services the same one is service_id, service_gid and
 * service_pkey. These three and service_lease are sent in any case; where
 * they are not meant, as the port's GID 0, the default partition (0xffff) and
 * IBSA_KEEP_LEASE_S seconds. A lease may be IBSA_LEASE_INFINITE.
 */
struct ibsa_service_keep {
	const struct ibsa_service *service;
	uint64_t mask;
	unsigned int audit_ms;
	unsigned int deadline_ms;
};

/**
 * enum ibsa_kept_event - what has become of a kept service
 *
 * Anything may come after anything, but RELEASED is the last.
 */
enum ibsa_kept_event {
	/* The SA has it: for the first time, or again. */
	IBSA_KEPT_REGISTERED = 1,
	/* The SA has it no more. If the SM has restarted or moved since the
	 * SA had it, the record is set again at once: see
	 * ibsa_service_keep(). Else another program may have removed it, and
	 * it is set again as after REPLACED. */
	IBSA_KEPT_LOST,
	/* Another program has put another record in its place, the report's.
	 * It is set again: at once the first time, then after a second, then
	 * after twice the time, up to five minutes. */
	IBSA_KEPT_REPLACED,
	/* The SA could not be asked, or was busy; it is tried again. */
	IBSA_KEPT_FAILED,
	/* The SA said no; it is tried again, but seldom. */
	IBSA_KEPT_REFUSED,
	/* It is kept no more, and the handle is gone. */
	IBSA_KEPT_RELEASED,
};

/**
 * struct ibsa_kept_report - one event of a kept service
 * @kept:    which
 * @event:   enum ibsa_kept_event
 * @err:     of FAILED: what went wrong here: -ETIMEDOUT the SA is silent,
 *           -EAGAIN the port knows no SM or has no GID yet, -ENOENT the SA
 *           took the record and does not have it, or another error of
 *           ibsa_query() or struct ibsa_reply; 0 if the SA was busy.
 *           Of RELEASED: 0 the SA answered, and with a @status of 0 or
 *           0x0300 has it no more; -ECANCELED ibsa_close() could not wait
 *           for it; or why the SA could not be told, and the record ends
 *           with its lease
 * @status:  of FAILED, REFUSED and RELEASED: what the SA said, all 16 bits
 * @service: the record: of REGISTERED as the SA has it, with the lease that
 *           it granted; of REPLACED the one that is there instead; else as
 *           it was sent. Valid until the callback returns
 */
struct ibsa_kept_report {
	struct ibsa_kept *kept;
	int event;
	int err;
	uint16_t status;
	const struct ibsa_service *service;
};

/**
 * typedef ibsa_keep_fn - called when something has become of a kept service
 * @report: valid until the callback returns
 * @arg:    as given to ibsa_service_keep()
 *
 * The rules are those of ibsa_reply_fn; ibsa_service_keep() and
 * ibsa_service_release() may be called too. The first FAILED or REFUSED is
 * reported, then only those with another @err or @status; when all is well
 * again, REGISTERED.
 */
typedef void (*ibsa_keep_fn)(const struct ibsa_kept_report *report, void *arg);

/**
 * ibsa_service_keep - register a service and keep it registered
 * @client: an open client
 * @keep:   what to keep; copied
 * @report: called at each event, from dispatch or ibsa_close(); or NULL
 * @arg:    handed to @report as it is
 * @out:    the handle, until @report has been called with IBSA_KEPT_RELEASED
 *
 * Sets the record and reads it back. Reads it again every audit_ms, soon
 * after the port has changed (see ibsa_port_watch()), and when half of the
 * lease that was granted has passed, which it then renews. After a change of
 * the port, the services of a client are read one after the other: within half
 * a second, or 5 ms for each of more than 100, up to 10 s. If the port's GID
 * was taken and is another now, deletes the old record and registers the new.
 * While services are kept, the port is read every second.
 *
 * Two programs that want the same place do not take it from each other without
 * end: each loss that another program may have caused lengthens the time until
 * the next Set, until an audit finds the record in its place. A record that is
 * gone, without another in its place, is no such loss if the port has shown
 * since the record was last there, or was sent, that the SM restarted or moved:
 * by its re-register count, SM LID, LID, GID or port state.
 *
 * Return: 0, whether or not there is an SM; -EINVAL no service, a mask bit
 * that the record does not have, or a lease of 0 that is meant; -EEXIST the
 * client keeps a service with this id, GID and P_Key, or is releasing it;
 * -ESHUTDOWN the client is closing; -ENOMEM. @report is then not called.
 *
 * Source: IBA vol 1, 15.2.5.14.
 */
int ibsa_service_keep(struct ibsa_client *client,
		      const struct ibsa_service_keep *keep, ibsa_keep_fn report,
		      void *arg, struct ibsa_kept **out) IBSA_MUST_USE;

/**
 * ibsa_service_release - delete a service that was kept
 * @kept: from ibsa_service_keep(), not yet reported as released
 *
 * Deletes the record from the SA, after a Set that is still on its way has
 * ended. IBSA_KEPT_RELEASED comes from a later dispatch. ibsa_close() releases
 * what is left, and waits for it up to two seconds in all.
 *
 * Return: 0; -EALREADY it is being released.
 */
int ibsa_service_release(struct ibsa_kept *kept);

/**
 * ibsa_kept_text - the name of what has become of a kept service
 * @event: one of enum ibsa_kept_event
 *
 * From any thread.
 *
 * Return: as "registered"; NULL if there is no such event.
 */
const char *ibsa_kept_text(int event);

IBSA_END

#endif
