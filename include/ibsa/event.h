/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What happens on the fabric, as the SA reports it: ports that come and go,
 * multicast groups, links, changes at a node.
 *
 * The SA reports to who has subscribed, and forgets subscriptions without a
 * word when it restarts or another takes over. A client has one subscription
 * for each kind of node that reports, whoever watches, looks after it, and
 * says when something may have been missed.
 */
#ifndef IBSA_EVENT_H
#define IBSA_EVENT_H

#include <ibsa/ibsa.h>

IBSA_BEGIN

struct ibsa_event_watch;

/* How many GIDs a watch may have as its filter. */
enum { IBSA_EVENT_GIDS_MAX = 65536 };

/*
 * Every kind of report: E(constant, bit, trap number, who reports it as bits
 * of producer types: 2 CA, 4 switch, 8 router, 16 SM, "name"). OTHER is every
 * trap that has no row, also those that no specification knows.
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
 * enum ibsa_event_kind - what an event says
 *
 * The first are reports, of which a watch names those that it wants. The
 * others are told to every watch: how its subscription stands, the first time
 * and whenever that has changed, and that something may have been missed.
 */
enum ibsa_event_kind {
	/* IBSA_EVENT_GID_IN, IBSA_EVENT_GID_OUT, ... */
	IBSA_EVENT_KINDS(IBSA__EVENT_ENUM)

	/* The SA has all subscriptions that the watch needs. What comes from
	 * now on is told, unless its report is lost on every try; what is there
	 * already is not. */
	IBSA_EVENT_SUBSCRIBED = 1 << 16,
	/* Nothing may come: the SA has forgotten a subscription, the SM or the
	 * port's address is another, or, with err -ENETDOWN, the port is not
	 * active. It is set again. */
	IBSA_EVENT_LOST = 1 << 17,
	/* The SA could not be asked, or was busy; it is tried again. */
	IBSA_EVENT_FAILED = 1 << 18,
	/* The SA said no; it is tried again, but seldom. */
	IBSA_EVENT_REFUSED = 1 << 19,
	/* The subscription stands, but did not all the time: read afresh what
	 * you know from events. Each such time is told once, when nothing can
	 * fall between the reading and the next event. */
	IBSA_EVENT_GAP = 1 << 20,
	/* The client closes; the last event, and the handle is gone. */
	IBSA_EVENT_ENDED = 1 << 21,
};

/* What the SM itself reports, which is what a watch has by default. */
#define IBSA_EVENT_OF_SM                                                     \
	(IBSA_EVENT_GID_IN | IBSA_EVENT_GID_OUT | IBSA_EVENT_GROUP_CREATED | \
	 IBSA_EVENT_GROUP_DELETED)

/* All kinds of reports. */
#define IBSA_EVENT_ALL 0xff

/**
 * struct ibsa_event - something that has happened
 * @watch:    whose event it is
 * @kind:     enum ibsa_event_kind, one of it
 * @err:      of LOST: 0, or -ENETDOWN. Of FAILED: what went wrong here:
 *            -ETIMEDOUT the SA is silent, -EAGAIN the port knows no SM,
 *            -EBUSY another program has taken the SA's reports at this port
 *            meanwhile, or another error of ibsa_query() or struct ibsa_reply;
 *            0 if the SA was busy. Of ENDED: 0 the SA answered, and with a
 *            @status of 0 or 0x0200 has no subscription any more; -ECANCELED
 *            ibsa_close() could not wait for it; or why it could not be told,
 *            and may go on to report to this port
 * @status:   of FAILED, REFUSED and ENDED: what the SA said, all 16 bits
 * @trap:     trap number of a report; of OTHER, if @notice is not generic,
 *            the device id of its maker
 * @gid:      what a report of a GID or a group is about; else zero
 * @lid:      what a report of another kind is about, if its trap number says
 *            where the LID is; else 0
 * @port_num: of the client's port it came in on; 0 if that is not known
 * @sequence: of the client's events, rising; the same for all watches that
 *            are told of one. Not each number is told to each watch
 * @time_ns:  on the transport's clock, when it was received
 * @notice:   the report as it came; NULL if it is not one. Bytes of its
 *            data_details that its trap does not define are whatever they are
 * @audited:  of GID_IN and GID_OUT: no report came, the audit of nodes has
 *            found it; @trap is that of the report that did not come. Of FAILED
 *            and REFUSED: it is the audit of nodes that does not work, while
 *            the subscriptions stand. See struct ibsa_event_options
 */
struct ibsa_event {
	struct ibsa_event_watch *watch;
	int kind;
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
};

/**
 * struct ibsa_event_options - what to watch; zero is the default throughout
 * @kinds:       reports that are wanted: IBSA_EVENT_GID_IN | ...; default
 *               IBSA_EVENT_OF_SM
 * @gids:        copied: of reports of a GID or a group only those of these
 *               are told. Reports of other kinds are not affected
 * @gid_count:   of them, up to IBSA_EVENT_GIDS_MAX; 0: no filter
 * @audit_ms:    how often to read the subscriptions back at least; default
 *               30000. The smallest of all watches of a client counts
 * @deadline_ms: of each request, from its first try; default: the client's. The
 *               smallest counts. A request waits up to a minute for its first
 *               try while others fill the window
 * @audit_nodes: also read the SA's table of nodes every audit_ms, the smallest
 *               of the watches that have this set, and tell as GID_IN and
 *               GID_OUT, with @audited set, what has changed without a report.
 *               Takes one of these kinds. SUBSCRIBED waits for the first table
 *
 * The SA sends each report a few times and then gives up. If it is lost on
 * every try, no client can notice that by its subscription: the change is not
 * told, and no GAP either. With @audit_nodes, a port that came or went is told
 * at the next table, at most audit_ms and the time of one query later. A port
 * that came and went between two tables is not noticed, nor is a lost report of
 * another kind. GIDs beyond the first of a port are in neither.
 *
 * A table takes 112 bytes a node: 79 kB of a fabric of 648 hosts, 1.3 MB of
 * 10,000. Hence it is off by default: hundreds of watches that read tables are
 * a load to an SM. See ibsa_event_watch(3) for figures.
 */
struct ibsa_event_options {
	unsigned int kinds;
	const struct ibsa_gid *gids;
	size_t gid_count;
	unsigned int audit_ms;
	unsigned int deadline_ms;
	bool audit_nodes;
};

/**
 * typedef ibsa_event_fn - called when something has happened
 * @event: valid until the callback returns
 * @arg:   as given to ibsa_event_watch()
 *
 * The rules are those of ibsa_reply_fn; ibsa_event_watch() and
 * ibsa_event_unwatch() may be called too.
 */
typedef void (*ibsa_event_fn)(const struct ibsa_event *event, void *arg);

/**
 * ibsa_event_watch - be told of what happens on the fabric
 * @client:  an open client
 * @options: what to watch; copied; NULL for all defaults
 * @happened: called at each event, once, from dispatch or ibsa_close()
 * @arg:     handed to @happened as it is
 * @error:   filled on failure with what was wrong and what to do; or NULL
 * @out:     the watch, until ibsa_event_unwatch() or IBSA_EVENT_ENDED
 *
 * Subscribes at the SA unless the client is subscribed already. A report that
 * comes twice, because the SA did not get its answer or by two ways, is told
 * once. Subscriptions are read back every audit_ms, and set again when they
 * are gone, and soon after the port, its address or its SM has changed (see
 * ibsa_port_watch()). While somebody watches, the port is read every second.
 *
 * At a port of this machine, the SA's reports go to one program only.
 *
 * Return: 0, whether or not there is an SM; -EINVAL no @happened, a kind that
 * is not of a Report, GIDs without a count or too many, or @audit_nodes without
 * GID_IN and GID_OUT; -EBUSY another program has
 * the SA's reports at this port; -EOPNOTSUPP the transport has no reports;
 * -ESHUTDOWN the client is closing; -ENOMEM; or the transport's error.
 * @happened is then not called.
 *
 * Source: IBA vol 1, 13.4.8.3, 13.4.11 and 15.2.5.12.
 */
int ibsa_event_watch(struct ibsa_client *client,
		     const struct ibsa_event_options *options,
		     ibsa_event_fn happened, void *arg,
		     struct ibsa_error *error,
		     struct ibsa_event_watch **out) IBSA_MUST_USE;

/**
 * ibsa_event_unwatch - do not be told any more
 * @watch: which ends at once, without another call, from inside its own
 *         callback too; or NULL
 *
 * With the last watch that needs it, the client ends a subscription at the
 * SA; ibsa_close() waits for that up to two seconds.
 */
void ibsa_event_unwatch(struct ibsa_event_watch *watch);

/**
 * ibsa_event_text - the name of a kind of event
 * @kind: one of enum ibsa_event_kind
 *
 * Return: as "gid-in"; NULL if there is no such kind.
 */
const char *ibsa_event_text(int kind);

IBSA_END

#endif
