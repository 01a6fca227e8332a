/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events that the SA reports: ports that join or leave the subnet, multicast
 * groups, links, changes at a node.
 *
 * The SA sends Reports to the ports that have subscribed, and loses
 * subscriptions without notice when it restarts or another SA takes over. A
 * client has one subscription for each type of node that reports, however many
 * watches there are, renews it when it is lost, and reports when events may
 * have been missed.
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
 * as bits of producer types: 2 CA, 4 switch, 8 router, 16 SM, "name"). OTHER is
 * every trap without a row, including traps that no specification defines.
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
 * The kinds in IBSA_EVENT_KINDS are Reports; a watch selects which of these it
 * receives. Every watch receives all other kinds: they report the state of the
 * watch's subscription, at the start and whenever the state changes, and that
 * events may have been missed.
 */
enum ibsa_event_kind {
	/* IBSA_EVENT_GID_IN, IBSA_EVENT_GID_OUT, ... */
	IBSA_EVENT_KINDS(IBSA__EVENT_ENUM)

	/* The SA holds all subscriptions that the watch needs. Changes from now
	 * on are reported, unless a Report is lost on all tries; the present
	 * state is not. */
	IBSA_EVENT_SUBSCRIBED = 1 << 16,
	/* Reports may not arrive: the SA lost a subscription, the address of
	 * the port or of the SM changed, or, with err -ENETDOWN, the port is
	 * down or initializing. The client subscribes again; SUBSCRIBED and
	 * then GAP follow. */
	IBSA_EVENT_LOST = 1 << 17,
	/* A request to the SA failed, or the SA was busy. The client tries
	 * again after 1 s, then after up to 60 s. */
	IBSA_EVENT_FAILED = 1 << 18,
	/* The SA refused a request. The client tries again after 1 minute, then
	 * after up to 15 minutes. */
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
 * @err:      of LOST: 0, or -ENETDOWN the port is down or initializing. Of
 *            FAILED: -ETIMEDOUT the SA did not reply; -EAGAIN the port has no
 *            SM; -EBUSY while the device file was closed, another client
 *            became the receiver of the port's Reports; -ENODATA a table of
 *            nodes was empty or incomplete; another error of ibsa_query() or
 *            struct ibsa_reply; 0 the SA was busy. Of ENDED: 0 the SA answered,
 *            and the subscription is ended if @status is 0 or 0x0200;
 *            -ECANCELED the SA did not answer within the two seconds of
 *            ibsa_close(); or the error of the request. Unless the
 *            subscription is ended, the SA may continue to send Reports to the
 *            port
 * @status:   of FAILED, REFUSED and ENDED: the MAD status, all 16 bits
 * @trap:     trap number of a Report; of OTHER, if @notice is not generic,
 *            the device ID of the vendor
 * @gid:      of GID_IN and GID_OUT: the GID of the port; of GROUP_CREATED and
 *            GROUP_DELETED: the MGID; of all other kinds: zero
 * @lid:      of LINK_STATE, LOCAL_CHANGES, SYSTEM_IMAGE and OTHER: the LID that
 *            the trap is about; 0 if the trap contains no LID. Of all other
 *            kinds: 0
 * @port_num: number of the client's port; 0 if the transport does not provide
 *            the number
 * @sequence: increases from event to event of a client; the same for all
 *            watches that receive a Report. A watch does not receive every
 *            number
 * @time_ns:  time of reception, nanoseconds on the transport's clock
 * @notice:   the decoded Notice of the Report; NULL if the event is not a
 *            Report. Bytes of data_details that the trap does not define have
 *            no meaning
 * @audited:  of GID_IN and GID_OUT: no Report arrived, the audit of nodes found
 *            the change; @trap is the trap number of the missing Report. Of
 *            FAILED and REFUSED: the audit of nodes failed, while the
 *            subscriptions are in place. See struct ibsa_event_options
 * @holder:   of FAILED with -EBUSY: text, valid until the callback returns,
 *            that names the processes which may receive the Reports, or tells
 *            how root can find them; NULL if the transport cannot find them
 *
 * Numbers are in host byte order, GIDs 16 bytes in network byte order.
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
	const char *holder;
};

/**
 * struct ibsa_event_options - what to watch; zero is the default of each member
 * @kinds:       kinds of Reports to receive: IBSA_EVENT_GID_IN | ...; default
 *               IBSA_EVENT_OF_SM
 * @gids:        filter, copied: of the kinds in IBSA_EVENT_OF_SM, only events
 *               of these GIDs are received. The filter does not apply to other
 *               kinds
 * @gid_count:   number of @gids, up to IBSA_EVENT_GIDS_MAX; 0: no filter
 * @audit_ms:    interval in milliseconds at which the client reads its
 *               subscriptions back; default 30000. The smallest value of all
 *               watches of a client applies
 * @deadline_ms: deadline of each request in milliseconds from its first try;
 *               default: that of the client. The smallest value of all watches
 *               of a client applies. A request waits up to one minute for its
 *               first try if the window is full, and then fails with -ETIMEDOUT
 * @audit_nodes: also read the SA's table of NodeRecords at intervals: the
 *               smallest audit_ms of the watches that set @audit_nodes. Changes
 *               that no Report announced are reported as GID_IN and GID_OUT
 *               with @audited set. @kinds must contain GID_IN or GID_OUT.
 *               SUBSCRIBED is reported after the first table
 *
 * Without a response, the SA sends a Report again, but only a limited number of
 * times. If all tries are lost, the client cannot detect the loss, and no GAP
 * is reported. With @audit_nodes, a lasting change is reported with the next
 * table, within two audit_ms even if one request or reply is lost. The audit
 * does not find a port that joined and left between two tables, lost Reports of
 * other kinds, and GIDs of a port other than the first one.
 *
 * A table of NodeRecords has 112 bytes per node: 79 kB for 648 hosts, 1.3 MB
 * for 10,000. @audit_nodes is off by default because hundreds of watches that
 * read tables are a load on the SM. ibsa_event_watch(3) gives figures.
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
 * @arg:   as given to ibsa_event_watch()
 *
 * ibsa_reply_fn tells which functions call the callback, and what the callback
 * may call. The callback may also call ibsa_event_watch() and
 * ibsa_event_unwatch().
 */
typedef void (*ibsa_event_fn)(const struct ibsa_event *event, void *arg);

/**
 * ibsa_event_watch - receive the events that the SA reports
 * @client:  an open client
 * @options: what to watch; copied; NULL: all defaults
 * @happened: called for each event, from dispatch or ibsa_close()
 * @arg:     passed to @happened unchanged
 * @error:   receives, on failure, what failed and what to do; may be NULL
 * @out:     receives the watch, valid until ibsa_event_unwatch() or
 *           IBSA_EVENT_ENDED
 *
 * Use an event watch to keep a list of ports or groups current without polling
 * the SA. Only changes are reported: to obtain the present state without a gap,
 * wait for IBSA_EVENT_SUBSCRIBED, then query the SA.
 *
 * The client subscribes at the SA unless the client already has the
 * subscription. The client answers every Report, and ignores a Report that the
 * SA sends again. The client reads its subscriptions back every audit_ms. The
 * client subscribes again when a subscription is lost, and soon after the
 * state, the address or the SM of the port changed (see ibsa_port_watch()).
 * While a client has an event watch, the client reads its port every second.
 *
 * Only one client at a port can receive Reports, also if several clients of one
 * program use the port.
 *
 * Return: 0, even if the port has no SM; -EINVAL no @happened, a kind outside
 * IBSA_EVENT_ALL, only one of gids and gid_count is set, more GIDs than
 * IBSA_EVENT_GIDS_MAX, or audit_nodes without GID_IN and GID_OUT; -EBUSY
 * another client receives the Reports of this port; -EOPNOTSUPP the transport
 * cannot receive Reports; -ESHUTDOWN ibsa_close() is closing the client;
 * -ENOMEM; or the transport's error, such as -ENODEV. After an error @happened
 * is not called.
 *
 * Source: IBA vol 1, 13.4.8.3, 13.4.11 and 15.2.5.12.
 */
int ibsa_event_watch(struct ibsa_client *client,
		     const struct ibsa_event_options *options,
		     ibsa_event_fn happened, void *arg,
		     struct ibsa_error *error,
		     struct ibsa_event_watch **out) IBSA_MUST_USE;

/**
 * ibsa_event_unwatch - end a watch
 * @watch: the watch; NULL: nothing happens
 *
 * The callback of @watch is not called again. A callback may end its own watch.
 * When no watch needs a subscription any more, later dispatches end the
 * subscription at the SA; ibsa_close() waits up to two seconds until the SA has
 * ended it.
 */
void ibsa_event_unwatch(struct ibsa_event_watch *watch);

/**
 * ibsa_event_text - the name of a kind of event
 * @kind: one value of enum ibsa_event_kind
 *
 * Any thread may call it.
 *
 * Return: for example "gid-in"; NULL if no kind has this number.
 */
const char *ibsa_event_text(int kind);

IBSA_END

#endif
