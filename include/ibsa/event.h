/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events that the SA reports: ports that join or leave the subnet, multicast
 * groups, links, changes at a node.
 *
 * ibsa_event_watch_start receive the events that the SA reports
 * ibsa_event_watch_stop  end a watch; a callback may end its own
 * ibsa_event_name        the name of a kind, such as "gid-in"; NULL: unknown
 *
 * The SA sends Reports to the ports that have subscribed, and usually loses
 * subscriptions, without notice, when it restarts. The client subscribes again
 * when it detects this, and reports when events may have been missed.
 */
#ifndef IBSA_EVENT_H
#define IBSA_EVENT_H

#include <ibsa/ibsa.h>

IBSA_BEGIN

struct ibsa_event_watch;

/* Maximum number of GIDs in a watch's filter. */
enum { IBSA_EVENT_GIDS_MAX = 65536 };

/*
 * Every kind of Report: E(constant, bit, trap number, node types that report it
 * as bits of producer types: 2 CA, 4 switch, 8 router, 16 SM, "name").
 * IBSA_EVENT_OTHER is every trap for which this list has no row.
 * Source: IBA vol 1, 13.4.9 and 14.3.
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
 * The kinds in IBSA_EVENT_KINDS are Reports; @kinds of struct
 * ibsa_event_options selects which kinds of Reports a watch receives. The other
 * kinds are SUBSCRIBED, LOST, FAILED, REFUSED, GAP and ENDED, which every watch
 * receives. These kinds report the state of the watch's subscriptions at the
 * SA, and GAP reports that events may have been missed.
 */
enum ibsa_event_kind {
	/* IBSA_EVENT_GID_IN, IBSA_EVENT_GID_OUT, ... */
	IBSA_EVENT_KINDS(IBSA__EVENT_ENUM)

	/* The SA holds all subscriptions that the watch needs. Changes from now
	 * on are reported, unless a Report is lost on all tries; the present
	 * state is not. */
	IBSA_EVENT_SUBSCRIBED = 1 << 16,
	/* Reports may not arrive: the SA lost a subscription, the port or its
	 * SM changed, or, with err -ENETDOWN, the port is down or
	 * initializing. The client subscribes again; SUBSCRIBED follows, and
	 * then GAP if the watch was subscribed before. */
	IBSA_EVENT_LOST = 1 << 17,
	/* A request to the SA failed, or the SA was busy. The client tries
	 * again, and when the port changes. */
	IBSA_EVENT_FAILED = 1 << 18,
	/* The SA refused a request. The client tries again, less often. */
	IBSA_EVENT_REFUSED = 1 << 19,
	/* The subscription is in place, but Reports may have been missed: query
	 * the SA again for everything that was learned from events. Nothing is
	 * missed between this query and the next event. */
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

/* All kinds of Reports. */
#define IBSA_EVENT_ALL 0xff

/**
 * struct ibsa_event - one event; numbers in host byte order, GIDs in network
 * byte order
 * @err:      of LOST, FAILED and ENDED: 0 or the cause, as in struct
 *            ibsa_reply; LOST: -ENETDOWN the port is down; FAILED: -EBUSY
 *            another client receives the Reports; ENDED: 0 the SA replied, see
 *            @status
 * @status:   of FAILED, REFUSED and ENDED: MAD status, all 16 bits
 * @trap:     number; of OTHER, if @notice is not generic, its DeviceID
 * @gid:      of a port or a group, for the kinds of IBSA_EVENT_OF_SM
 * @lid:      that the trap is about; 0: none
 * @port_num: of the client; 0: unknown
 * @sequence: increases; the same for all watches that receive one Report
 * @time_ns:  of the receipt, on the transport's clock
 * @notice:   decoded, valid until the callback returns; NULL without a Report
 * @audited:  the audit of nodes found the change, or failed
 * @holder:   of FAILED with -EBUSY: which processes may receive the Reports;
 *            valid until the callback returns; may be NULL
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
 * @kinds:       of Reports: IBSA_EVENT_GID_IN | ...; IBSA_EVENT_OF_SM
 * @gids:        filter for the kinds of IBSA_EVENT_OF_SM; copied
 * @gid_count:   up to IBSA_EVENT_GIDS_MAX; 0: no filter
 * @audit_ms:    between two reads of the subscriptions; the smallest of a
 *               client's watches; IBSA_DEFAULT_AUDIT_MS
 * @deadline_ms: of each request, from its first try; the smallest of a client's
 *               watches
 * @audit_nodes: also read the SA's table of NodeRecords, and report changes
 *               that no Report announced: a load on the SM, see
 *               ibsa_event_watch_start(3)
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
 * May call the same functions as an ibsa_reply_fn.
 */
typedef void (*ibsa_event_fn)(const struct ibsa_event *event, void *arg);

/* For bindings: ibsa_event_watch_start() with the size of @options. */
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
 * @out:     until ibsa_event_watch_stop(), or IBSA_EVENT_ENDED in ibsa_close();
 *           may be NULL
 *
 * Reports changes only: for the present state without a gap, wait for
 * IBSA_EVENT_SUBSCRIBED, then query the SA. At each port, only one client of
 * all programs can receive Reports.
 *
 * Return: 0, even if the port has no SM; -EBUSY another client receives the
 * Reports of this port; -EINVAL, -EOPNOTSUPP, -ESHUTDOWN, -ENOMEM; or the
 * transport's error, such as -ENODEV
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
 * ibsa_event_watch_stop - end a watch; a callback may end its own
 * @watch: NULL: nothing happens
 *
 * Its callback is not called again. Later dispatches end the subscription.
 */
void ibsa_event_watch_stop(struct ibsa_event_watch *watch);

const char *ibsa_event_name(enum ibsa_event_kind kind);

IBSA_END

#endif
