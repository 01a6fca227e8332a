/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events that the SA reports: ports that join or leave the subnet, multicast
 * groups, links, changes at a node.
 *
 * The SA sends Reports to the ports that have subscribed, and usually loses
 * subscriptions, without notice, when it restarts or another SA takes over. A
 * client has one subscription for each node type whose traps its watches need,
 * however many watches there are. The client subscribes again when it detects
 * that a subscription is lost, and reports when events may have been missed.
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
	 * again after about 1 s, then after up to 60 s, and when the port
	 * changes. */
	IBSA_EVENT_FAILED = 1 << 18,
	/* The SA refused a request. The client tries again after about 1
	 * minute, then after up to 15 minutes, and when the port changes. */
	IBSA_EVENT_REFUSED = 1 << 19,
	/* The subscription is in place, but Reports may have been missed: query
	 * the SA again for everything that was learned from events. Nothing is
	 * missed between this query and the next event. */
	IBSA_EVENT_GAP = 1 << 20,
	/* ibsa_close() ended the watch. This is the last event; the watch no
	 * longer exists. */
	IBSA_EVENT_ENDED = 1 << 21,
};

/* The kinds that the SM itself reports; the default of a watch. */
#define IBSA_EVENT_OF_SM                                                     \
	(IBSA_EVENT_GID_IN | IBSA_EVENT_GID_OUT | IBSA_EVENT_GROUP_CREATED | \
	 IBSA_EVENT_GROUP_DELETED)

/* All kinds of Reports. */
#define IBSA_EVENT_ALL 0xff

/**
 * struct ibsa_event - one event
 * @watch:    the watch that receives the event
 * @kind:     one value of enum ibsa_event_kind
 * @err:      of LOST: -ENETDOWN the port is down or initializing; 0 any other
 *            cause, such as a restart of the SA. Of FAILED: -ETIMEDOUT the SA
 *            did not reply; -ENETDOWN the SA did not reply, and the port is
 *            down; -EAGAIN the port has no SM; -EBUSY another client, of this
 *            or another program, became the receiver of the port's Reports
 *            while the device was gone; -ENODATA the table that audit_nodes
 *            reads was empty or incomplete; another error of ibsa_query_start()
 *            or struct ibsa_reply; 0 the SA was busy, as @status says. Of
 *            ENDED: 0 the SA answered, or no subscription was left; the
 *            subscription is ended if @status is 0 or 0x0200; -ETIMEDOUT the SA
 *            did not answer; -ECANCELED ibsa_close() stopped waiting before the
 *            request ended; or another error of the request. If the
 *            subscription is not ended at the SA, the SA may continue to send
 *            Reports to the port. Of all other kinds: 0
 * @status:   of FAILED, REFUSED and ENDED: the MAD status, all 16 bits; of all
 *            other kinds: 0
 * @trap:     trap number of a Report; of OTHER, if @notice is not generic, the
 *            DeviceID in the place of the trap number. Of kinds that are not
 *            Reports: 0
 * @gid:      of GID_IN and GID_OUT: the GID of the port; of GROUP_CREATED and
 *            GROUP_DELETED: the MGID; of all other kinds: zero
 * @lid:      of LINK_STATE, LOCAL_CHANGES, SYSTEM_IMAGE and OTHER: the LID that
 *            the trap is about; 0 if the trap contains no LID. Of all other
 *            kinds: 0
 * @port_num: number of the client's port; 0 if the transport does not provide
 *            the number
 * @sequence: increases from event to event of a client. All watches that
 *            receive a Report, or a change that the audit of nodes found,
 *            receive the same number; all other events have a number of their
 *            own. A watch does not receive every number
 * @time_ns:  time at which the client received the Report or detected the
 *            change, in nanoseconds on the transport's clock, which is
 *            CLOCK_MONOTONIC for a device
 * @notice:   the decoded Notice of the Report, valid until the callback
 *            returns; NULL if no Report arrived, as for @audited and for kinds
 *            that are not Reports. Bytes of data_details that the trap does not
 *            define have no meaning
 * @audited:  of GID_IN and GID_OUT: true: no Report arrived, the audit of nodes
 *            found the change; @trap is the trap number of the missing Report.
 *            Of FAILED and REFUSED: true: the audit of nodes failed; the
 *            subscriptions are in place. See @audit_nodes of struct
 *            ibsa_event_options
 * @holder:   of FAILED with -EBUSY: text, valid until the callback returns,
 *            that names the processes which may receive the Reports, or tells
 *            how root can find these processes; NULL if the transport cannot
 *            find the processes
 *
 * Numbers are in host byte order, GIDs 16 bytes in network byte order.
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
 * struct ibsa_event_options - what to watch; zero is the default of each member
 * @kinds:       kinds of Reports to receive: IBSA_EVENT_GID_IN | ...; default
 *               IBSA_EVENT_OF_SM
 * @gids:        filter, copied: of the kinds in IBSA_EVENT_OF_SM, the watch
 *               receives only events whose port GID or MGID is in @gids. The
 *               filter does not apply to other kinds
 * @gid_count:   number of @gids, up to IBSA_EVENT_GIDS_MAX; 0: no filter
 * @audit_ms:    interval in milliseconds at which the client reads its
 *               subscriptions back from the SA; default IBSA_DEFAULT_AUDIT_MS.
 *               The smallest @audit_ms of all watches of a client applies to
 *               the subscriptions; see also @audit_nodes
 * @deadline_ms: deadline of each request in milliseconds from its first try.
 *               The smallest value that a watch of the client sets applies to
 *               the requests of all watches of the client; default, if no watch
 *               sets @deadline_ms: that of the client. If the client has as
 *               many requests in flight as its window permits, a request waits
 *               up to one minute for its first try, and then fails with
 *               -ETIMEDOUT
 * @audit_nodes: also read the SA's table of NodeRecords. The client reads one
 *               table for all its watches that set @audit_nodes, at the
 *               smallest @audit_ms of these watches. Changes that no Report
 *               announced are reported as GID_IN and GID_OUT with @audited set.
 *               @kinds must contain GID_IN or GID_OUT. SUBSCRIBED is reported
 *               only after a first table has been read
 *
 * If the client's response to a Report does not arrive, the SA sends the Report
 * again, but only a limited number of times. If all transmissions of a Report
 * are lost, the client cannot detect the loss, and no GAP is reported. With
 * @audit_nodes, a lasting change is reported with the next table, within two
 * intervals of audit_ms even if one request or reply is lost. The audit does
 * not find a port that joined and left between two tables, lost Reports of
 * other kinds, and GIDs of a port with an index above 0.
 *
 * A NodeRecord has 112 bytes in the SA's reply, which has one NodeRecord for
 * each port of a channel adapter or router, and one for each switch: 79 kB for
 * 648 hosts with one port each and their 54 switches, 1.3 MB for 10,000 such
 * hosts and their 1,438 switches. @audit_nodes is off by default because
 * hundreds of clients that read tables are a load on the SM.
 * ibsa_event_watch_start(3) gives figures.
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
 * typedef ibsa_event_fn - called for each event
 * @event: valid until the callback returns
 * @arg:   as given to ibsa_event_watch_start()
 *
 * The functions that ibsa_reply_fn lists call an ibsa_event_fn, which may call
 * the same functions as an ibsa_reply_fn, and also ibsa_event_watch_start() and
 * ibsa_event_watch_stop().
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
 * @client:   an open client
 * @options:  what to watch; copied; NULL: all defaults
 * @report:  called for each event, by the functions that call an
 *            ibsa_reply_fn, such as ibsa_dispatch() and ibsa_close()
 * @arg:      passed to @report unchanged
 * @error:    after an error, a sentence that tells what failed and what to do;
 *            may be NULL
 * @out:      receives the watch, valid until ibsa_event_watch_stop() or, in
 *            ibsa_close(), until the callback for IBSA_EVENT_ENDED returns;
 *            may be NULL
 *
 * Use an event watch to keep a list of ports or groups current without polling
 * the SA. A watch reports only changes: to obtain the present state without
 * missing a change, wait for IBSA_EVENT_SUBSCRIBED, then query the SA.
 *
 * The client subscribes at the SA unless another watch of the client already
 * needs the same subscription. The client answers every Report. The client
 * reports a Report of its SA as an event once, even if the SA sends the Report
 * again because the client's answer was lost. The client ignores Reports from
 * other senders. Every audit_ms, the client reads its subscriptions back from
 * the SA. If the SA does not support this read, the client sets the
 * subscriptions again instead. Within half a second after the client detected
 * that a subscription is lost, or that the state, the address or the SM of the
 * port changed, the client subscribes again; while the port is down or
 * initializing, the client waits. While a client has an event watch, the client
 * reads the state of its port at least every second, unless it is at a fabric
 * server, which reports each change of the port.
 *
 * At each port, only one client of all programs can receive Reports. Only one
 * thread at a time may call ibsa_event_watch_start() and other functions with
 * the same client.
 *
 * Return: 0, even if the port has no SM; -EINVAL no @report, a kind outside
 * IBSA_EVENT_ALL, only one of gids and gid_count is set, more GIDs than
 * IBSA_EVENT_GIDS_MAX, or audit_nodes with kinds that include neither GID_IN
 * nor GID_OUT; -EBUSY another client receives the Reports of this port;
 * -EOPNOTSUPP the transport cannot receive Reports; -ESHUTDOWN ibsa_close() is
 * closing the client; -ENOMEM; or the transport's error, such as -ENODEV if the
 * device is gone. After an error @report is not called.
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
 * ibsa_event_watch_stop - end a watch
 * @watch: a watch that is still valid (see @out of ibsa_event_watch_start());
 *         NULL: nothing happens
 *
 * The callback of @watch is not called again, not even with IBSA_EVENT_ENDED. A
 * callback may end its own watch. When no watch of the client needs a
 * subscription any more, later dispatches end the subscription at the SA.
 * ibsa_close() ends the subscriptions that remain, and waits up to two seconds
 * until the SA has confirmed this.
 */
void ibsa_event_watch_stop(struct ibsa_event_watch *watch);

/**
 * ibsa_event_name - the name of a kind of event
 * @kind: one value of enum ibsa_event_kind
 *
 * Any thread may call ibsa_event_name().
 *
 * Return: a constant such as "gid-in"; NULL if no kind has this number.
 */
const char *ibsa_event_name(enum ibsa_event_kind kind);

IBSA_END

#endif
