/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events that the SA reports: ports that join or leave the subnet, multicast
 * groups that are created or deleted, links that change their state, and
 * changes at a node.
 *
 * ibsa_event_watch_start receive the events that the SA reports
 * ibsa_event_watch_stop  end a watch; its callback may do this, too
 * ibsa_event_name        the name of a kind, such as "gid-in"; NULL: unknown
 *
 * The SA sends Reports to the ports that have subscribed. When the SA restarts,
 * it usually loses the subscriptions, without notice. The client subscribes
 * again when it detects this, and reports that events may have been missed.
 */
#ifndef IBSA_EVENT_H
#define IBSA_EVENT_H

#include <ibsa/ibsa.h>

IBSA_BEGIN

struct ibsa_event_watch;

/* Maximum number of GIDs in a watch's filter. */
enum { IBSA_EVENT_GIDS_MAX = 65536 };

/*
 * Every kind of Report: E(constant, bit, trap number, producers, "name"). The
 * producers are the types of nodes that generate the trap: bit 1 CA, bit 2
 * switch, bit 3 router, bit 4 SM. IBSA_EVENT_OTHER is every trap for which this
 * list has no row. Source: IBA vol 1, 13.4.9 and 14.3.
 */
/* clang-format off */
#define IBSA_EVENT_KINDS(E)						\
	E(GID_IN,        0,  64, 0x10, "gid-in")			\
	E(GID_OUT,       1,  65, 0x10, "gid-out")			\
	E(GROUP_CREATED, 2,  66, 0x10, "group-created")			\
	E(GROUP_DELETED, 3,  67, 0x10, "group-deleted")			\
	E(LINK_STATE,    4, 128, 0x04, "link-state")			\
	E(LOCAL_CHANGES, 5, 144, 0x0e, "local-changes")			\
	E(SYSTEM_IMAGE,  6, 145, 0x0e, "system-image")			\
	E(OTHER,         7,   0, 0x1e, "other")
/* clang-format on */

#define IBSA__EVENT_ENUM(name, bit, trap, producers, text) \
	IBSA_EVENT_##name = 1 << (bit),

/**
 * enum ibsa_event_kind - what an event means
 *
 * The kinds in IBSA_EVENT_KINDS are Reports or, with @audited of struct
 * ibsa_event, changes without a Report; @kinds of struct ibsa_event_options
 * selects those that a watch receives. Every watch receives the other kinds,
 * which report the state of its subscriptions at the SA (SUBSCRIBED, LOST,
 * FAILED, REFUSED, ENDED), or that Reports may have been missed (GAP).
 */
enum ibsa_event_kind {
	/* IBSA_EVENT_GID_IN, IBSA_EVENT_GID_OUT, ... */
	IBSA_EVENT_KINDS(IBSA__EVENT_ENUM)

	/* The SA holds all subscriptions that the watch needs. Changes from now
	 * on are reported, unless a Report is lost on all tries; the present
	 * state is not. */
	IBSA_EVENT_SUBSCRIBED = 1 << 16,
	/* Reports may not arrive: the SA lost a subscription, the port or its
	 * SM changed, or, with err -ENETDOWN, the port is down or initializing.
	 * The client subscribes again; then SUBSCRIBED is reported and, if the
	 * watch was subscribed before, GAP. */
	IBSA_EVENT_LOST = 1 << 17,
	/* A request of the client failed, or the SA was busy. The client sends
	 * it again later, and after a change of the port. */
	IBSA_EVENT_FAILED = 1 << 18,
	/* The SA refused a request of the client. The client sends it again,
	 * later than after FAILED. */
	IBSA_EVENT_REFUSED = 1 << 19,
	/* The SA holds the subscriptions, but Reports may have been missed:
	 * query the SA again for everything that the program derives from
	 * events. Changes after this event are reported. */
	IBSA_EVENT_GAP = 1 << 20,
	/* ibsa_close() ended the watch. This is the last event; the watch no
	 * longer exists. */
	IBSA_EVENT_ENDED = 1 << 21,
};

/*
 * Reports about ports and multicast groups that appear or disappear (traps 64
 * to 67, which the SM generates). A watch with kinds 0 receives these Reports.
 */
#define IBSA_EVENT_OF_SM                                                     \
	(IBSA_EVENT_GID_IN | IBSA_EVENT_GID_OUT | IBSA_EVENT_GROUP_CREATED | \
	 IBSA_EVENT_GROUP_DELETED)

/* All kinds of Reports, for kinds of struct ibsa_event_options. */
#define IBSA_EVENT_ALL 0xff

/**
 * struct ibsa_event - one event; numbers in host byte order, GIDs in network
 * byte order
 * @err:      of LOST, FAILED and ENDED: 0 or the cause, as in struct
 *            ibsa_reply. Of LOST, -ENETDOWN: the port is down or initializing;
 *            of FAILED, -EBUSY: another client receives the Reports; of ENDED,
 *            0: the SA replied, see @status, or no subscription was left
 * @status:   of FAILED, REFUSED and ENDED: MAD status, all 16 bits
 * @trap:     trap number; of OTHER, if @notice is not generic, the DeviceID
 * @gid:      of the port or group; only of the kinds in IBSA_EVENT_OF_SM
 * @lid:      LID in the trap's DataDetails; 0: none
 * @port_num: number of the client's port; 0: unknown
 * @sequence: increases with each event; a Report has the same number in all
 *            watches
 * @time_ns:  when the client received the Report, or noticed the change, on the
 *            transport's clock
 * @notice:   the Report's Notice, decoded, valid until the callback returns;
 *            NULL: the event is not from a Report
 * @audited:  the event is from a read of the NodeRecords (see @audit_nodes of
 *            struct ibsa_event_options): a change, or a failure of the read
 * @holder:   of FAILED with -EBUSY: which processes may receive the Reports,
 *            or how root finds them; valid until the callback returns; may be
 *            NULL
 */
struct ibsa_event {
	struct ibsa_event_watch *watch;
	enum ibsa_event_kind kind;
	int err;
	uint16_t status;
	uint16_t trap;
	struct ibsa_gid gid;
	uint32_t lid;
	uint8_t port_num;
	uint64_t sequence;
	uint64_t time_ns;
	const struct ibsa_notice *notice;
	bool audited;
	const char *holder;
};

/**
 * struct ibsa_event_options - what to watch; zero: the default of a member
 * @kinds:       of Reports: IBSA_EVENT_GID_IN | ...; default: IBSA_EVENT_OF_SM
 * @gids:        of the kinds in IBSA_EVENT_OF_SM, receive only events about
 *               these GIDs; copied
 * @gid_count:   up to IBSA_EVENT_GIDS_MAX; 0: no filter
 * @audit_ms:    longest time from a successful read of the subscriptions at the
 *               SA to the next read; the smallest value of a client's watches
 *               is used; IBSA_DEFAULT_AUDIT_MS
 * @deadline_ms: of each request, from its first try; not used in ibsa_close(),
 *               which waits up to two seconds; the smallest value of a client's
 *               watches is used; default: that of the client
 * @audit_nodes: every @audit_ms, also read the SA's table of NodeRecords, and
 *               report changes for which no Report arrived. This is a load on
 *               the SM, see ibsa_event_watch_start(3)
 */
struct ibsa_event_options {
	unsigned int kinds;
	const struct ibsa_gid *gids;
	size_t gid_count;
	unsigned int audit_ms;
	unsigned int deadline_ms;
	bool audit_nodes;
	uint8_t reserved[7];
};

/**
 * typedef ibsa_event_fn - called for each event
 * @event: valid until the callback returns
 * @arg:   as given to ibsa_event_watch_start()
 *
 * The callback may call the same functions as an ibsa_reply_fn.
 */
typedef void (*ibsa_event_fn)(const struct ibsa_event *event, void *arg);

int ibsa_event_watch_start_sized(struct ibsa_client *client,
				 const struct ibsa_event_options *options,
				 size_t size, ibsa_event_fn report, void *arg,
				 struct ibsa_error *error,
				 struct ibsa_event_watch **out) IBSA_MUST_USE
	IBSA_NONNULL(1);

/**
 * ibsa_event_watch_start - receive the events that the SA reports
 * @options: copied; NULL: all defaults
 * @report:  called for each event
 * @error:   if the call fails, receives what failed and what to do; may be NULL
 * @out:     receives the watch, valid until ibsa_event_watch_stop(), or until
 *           IBSA_EVENT_ENDED is reported by ibsa_close(); may be NULL
 *
 * A watch reports changes only: to know the present state, too, wait for
 * IBSA_EVENT_SUBSCRIBED, then query the SA. At each port, only one client of
 * all programs can receive Reports, unless ibsad(8) serves the port.
 *
 * Return: 0, even if the port has no SM; -EBUSY another client receives the
 * Reports of this port; -EINVAL @options are not valid, or @report is NULL;
 * -EOPNOTSUPP the transport cannot receive Reports; -ESHUTDOWN ibsa_close() is
 * running; -ENOMEM; or the transport's error, such as -ENODEV
 *
 * Source: IBA vol 1, 13.4.8.3, 13.4.11 and 15.2.5.12.
 */
IBSA_INLINE IBSA_MUST_USE int
ibsa_event_watch_start(struct ibsa_client *client,
		       const struct ibsa_event_options *options,
		       ibsa_event_fn report, void *arg,
		       struct ibsa_error *error, struct ibsa_event_watch **out)
{
	return ibsa_event_watch_start_sized(client, options, sizeof(*options),
					    report, arg, error, out);
}

/**
 * ibsa_event_watch_stop - end a watch; its callback may do this, too
 * @watch: NULL: nothing happens
 *
 * The callback of @watch is not called again. Later dispatches end the
 * subscriptions that no other watch needs.
 */
void ibsa_event_watch_stop(struct ibsa_event_watch *watch);

const char *ibsa_event_name(enum ibsa_event_kind kind);

IBSA_END

#endif
