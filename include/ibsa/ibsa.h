/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The subnet administration client: open a port, send queries to the SA,
 * receive replies in callbacks.
 *
 * A client is one opened port. A client has no locks: only one thread at a time
 * may call functions with a client, except ibsa_wake(), ibsa_gid_get() and
 * ibsa_pkey_get(). Several threads may use a client in turn, for example with a
 * mutex that each thread holds during each call. Different threads may use
 * different clients at the same time. Callbacks run only inside
 * ibsa_dispatch(), ibsa_wait(), the functions that wait for replies and
 * ibsa_close(); see ibsa_reply_fn.
 */
#ifndef IBSA_IBSA_H
#define IBSA_IBSA_H

#include <errno.h>
#include <string.h>

#include <ibsa/records.h>
#include <ibsa/sa.h>
#include <ibsa/transport.h>
#include <ibsa/types.h>

IBSA_BEGIN

/* Whether requests to the SM carry a GRH. */
enum ibsa_grh {
	IBSA_GRH_AUTO, /* a GRH if the port is known to require one, or if the
			* LID of the SM is 65535 or above (Omni-Path) */
	IBSA_GRH_ALWAYS,
	IBSA_GRH_NEVER,
};

struct ibsa_client;
struct ibsa_fabric;
struct ibv_context;

/**
 * struct ibsa_sa_access - how requests reach the SA; zero is the default of
 * each member
 * @sa:     address of the SA; copied. NULL: the address of the SM of the port
 * @grh:    whether requests to the SM's address carry a GRH.
 *          Requests to @sa carry a GRH if has_grh of @sa is set, whatever @grh
 *          is
 * @sm_key: SM_Key of every request, in host byte order; default 0
 */
struct ibsa_sa_access {
	const struct ibsa_address *sa;
	enum ibsa_grh grh;
	uint64_t sm_key;
};

/**
 * struct ibsa_options - how to open a client; zero is the default of each
 * member
 * @device:      name of the device, or of the node if a fabric is used; NULL:
 *               the first device that has an active InfiniBand port which can
 *               be opened, or the first channel adapter of the fabric. A RoCE
 *               device is used only if it is named, or if @context belongs to
 *               it
 * @port:        port number; 0: of a device, its first active InfiniBand port,
 *               or else its first active RoCE port; in a fabric, the port of
 *               $IBSA_NODE (see @fabric), or else the first port of the node
 *               that has a cable; of a switch, port 0
 * @context:     a verbs context of the device. With a context, the client
 *               learns at once when the port changes and when the SM asks
 *               clients to register again, and learns whether the port requires
 *               a GRH. The program still receives all events of the context. If
 *               the program closes the context before the client, or the device
 *               disappears, the client receives no further events. If @device
 *               is NULL, the device of @context is used. Without a context, or
 *               if the kernel or the driver cannot report these events, the
 *               client reads the port when the SA does not reply and at the
 *               interval of ibsa_port_watch_start(), and does not see that the
 *               SM asks clients to register again. @context is ignored if
 *               @transport, @on, or a @fabric other than "" is given
 * @fabric:      an embedded fabric to use instead of a device: path of a
 *               topology file or of a capture (see ibsa_replay_open()), or
 *               "unix:PATH" of a fabric server (see ibsa_fabric_server_open());
 *               "": a device of this machine, even if $IBSA_FABRIC is set;
 *               NULL: $IBSA_FABRIC, unless @context is given or the program is
 *               set-uid or set-gid. In the fabric of a topology file or a
 *               fabric server, the default of @device is $IBSA_NODE, which is
 *               NAME or NAME/PORT; @port overrides PORT
 * @on:          a loaded fabric to use instead of @fabric, without $IBSA_NODE;
 *               the client holds it until the client is closed
 * @transport:   a transport to use instead of a device or a fabric; @device,
 *               @port, @context, @fabric and @on are then ignored. After a
 *               successful open, the client owns and closes it
 * @access:      how requests reach the SA. Without @context, the client does
 *               not learn that an InfiniBand port of a device requires a GRH:
 *               for such a port, set grh of @access to IBSA_GRH_ALWAYS
 * @window:      maximum number of requests in flight, 1 to 1048576; default
 *               IBSA_DEFAULT_WINDOW. A request that is lost, as
 *               ibsa_query_start(3) defines it, leaves the window. A request
 *               whose queries have all ended may still occupy a place of the
 *               window: see ibsa_cancel(). The client's own query for the path
 *               to the address of a redirection does not wait for the window
 * @queue:       maximum number of requests that wait for the window; default
 *               IBSA_DEFAULT_QUEUE
 * @reply_bytes: largest reply that the client accepts, in bytes; default
 *               IBSA_DEFAULT_REPLY_MIB MiB
 * @deadline_ms, @first_interval_ms, @max_interval_ms, @jitter_percent: defaults
 *               for the same members of struct ibsa_query
 * @seed:        seed of jitter and TransactionIDs; 0: random or, if the client
 *               connects to a fabric server and $IBSA_SEED is set, $IBSA_SEED
 * @no_sharing:  send each query as a request of its own; see ibsa_query_start()
 * @no_environment: ignore all environment variables, as if they were unset; see
 *               ibsa_environment_ignore()
 */
struct ibsa_options {
	const char *device;
	unsigned int port;
	struct ibv_context *context;
	const char *fabric;
	struct ibsa_fabric *on;
	struct ibsa_transport *transport;
	struct ibsa_sa_access access;
	unsigned int window;
	unsigned int queue;
	size_t reply_bytes;
	unsigned int deadline_ms;
	unsigned int first_interval_ms;
	unsigned int max_interval_ms;
	int jitter_percent;
	uint64_t seed;
	bool no_sharing;
	bool no_environment;
};

/**
 * struct ibsa_query - a query; zero is the default of all members but @record
 * @record:      the record to query
 * @match:       the record's struct with the values to match; for Set and
 *               Delete, the record to set or delete; copied. NULL: all fields
 *               are zero
 * @match_size:  size of the struct at @match in bytes, as IBSA_QUERY() sets it;
 *               0: that of the first release that has the record
 * @mask:        component mask, the fields of @match that the SA compares:
 *               IBSA_PATH_CM(dgid) | ...; 0: the SA compares no field
 * @method:      IBSA_METHOD_GET (also for 0), GET_TABLE, GET_MULTI (for
 *               MultiPathRecord only), SET or DELETE
 * @attribute_modifier: 0 unless the specification defines a value
 * @deadline_ms: milliseconds after which the query ends without a reply;
 *               default: that of the client, which is IBSA_DEFAULT_DEADLINE_MS
 *               unless set. The time starts with the call. If @queue_ms is set,
 *               and the query does not join a request that was sent before, the
 *               time starts with the first try of the query
 * @queue_ms:    milliseconds that the query may wait for its first try, after
 *               which it ends as at its deadline; 0: @deadline_ms is the only
 *               limit, and starts with the call
 * @first_interval_ms: milliseconds from the first try to the second; default:
 *               that of the client; if that is 0 too, the interval follows the
 *               measured replies of the SA, see ibsa_query_start(3). Before
 *               jitter, the interval is not shorter than the time that the SA
 *               takes to reply, unless @max_interval_ms is
 * @max_interval_ms: maximum of the interval, which doubles after each try, but
 *               not of the first interval; default: that of the client,
 *               IBSA_DEFAULT_MAX_INTERVAL_MS unless set
 * @jitter_percent: width of the random range around each interval in percent, 1
 *               to 100; default: that of the client, which is
 *               IBSA_DEFAULT_JITTER_PERCENT unless set. With 25, an interval of
 *               400 ms becomes 350 to 450 ms. @max_interval_ms does not limit
 *               the jitter. -1: no jitter
 * @no_sharing:  send the query as a request of its own, which no other query
 *               joins. Without @no_sharing, the reply may be to a request that
 *               was sent before the call
 *
 * All numbers are in host byte order; GIDs are 16 bytes in network byte order.
 */
struct ibsa_query {
	const struct ibsa_record *record;
	const void *match;
	size_t match_size;
	uint64_t mask;
	enum ibsa_method method;
	uint32_t attribute_modifier;
	unsigned int deadline_ms;
	unsigned int queue_ms;
	unsigned int first_interval_ms;
	unsigned int max_interval_ms;
	int jitter_percent;
	bool no_sharing;
};

/**
 * struct ibsa_reply - how a query ended
 * @id:        identifier of the query
 * @record:    the type of the records: that of the query, except for
 *             MultiPathRecord, where it is &ibsa_path_record
 * @err:       0: a well-formed reply arrived, or the last address to which the
 *             request was sent replied only BUSY until the deadline (@status is
 *             then IBSA_STATUS_BUSY); -ETIMEDOUT: the deadline passed without a
 *             reply from the last address to which the request was sent, or
 *             queue_ms passed before the first try; -ENETDOWN: as -ETIMEDOUT,
 *             but the port was down when the deadline or queue_ms passed;
 *             -EAGAIN: as -ETIMEDOUT, but when the deadline or queue_ms passed,
 *             the port had no SM, and no address of an SA was given to
 *             ibsa_open(); -ECANCELED: ibsa_cancel(), ibsa_close() or a failed
 *             ibsa_query_wait() ended the query; -EPROTO: the reply is
 *             malformed; -EMSGSIZE: the reply is larger than reply_bytes of
 *             struct ibsa_options; -ENODATA: only the first part of the reply
 *             arrived, and @records holds its complete records; -ENODEV: the
 *             device disappeared; or the transport's error when it sent a try
 * @status:    the MAD status of the reply, all 16 bits; 0 if @err is not 0
 * @tries:     number of tries of the request that were sent, also before the
 *             query joined it; 0: the request was never sent
 * @rtt_ns:    nanoseconds from the last try to the reply, also if the reply is
 *             to an earlier try; 0 without a reply, and if the query ended at
 *             its deadline
 * @records:   the records as received, in network byte order
 * @stride:    bytes from the start of one record to the start of the next. In a
 *             reply with another status than 0: the size of the record that the
 *             SA sent with the status, which @records holds although @count is
 *             0; 0 if the reply is too short for a record
 * @count:     number of complete records
 * @redirects: if bit 1 of @status is set, how many redirections the request
 *             followed before this redirection, at most 3; else 0
 * @redirect:  if the SA redirects the request (bit 1 of @status is set) and the
 *             client does not follow the redirection: the ClassPortInfo of the
 *             reply, in network byte order and in the layout of @record's class
 *             version, with the address of the SA to use instead; otherwise
 *             NULL, also if the reply is too short for ClassPortInfo
 *
 * The reply and what it points to are valid until the callback returns. Numbers
 * are in host byte order, @records and @redirect in network byte order.
 */
struct ibsa_reply {
	uint64_t id;
	const struct ibsa_record *record;
	int err;
	uint16_t status;
	uint8_t redirects;
	unsigned int tries;
	uint64_t rtt_ns;
	const uint8_t *records;
	size_t stride;
	size_t count;
	const uint8_t *redirect;
};

/**
 * typedef ibsa_reply_fn - called once when a query has ended
 * @reply: valid until the callback returns
 * @arg:   as given to ibsa_query_start()
 *
 * Callbacks run only inside these functions, in the thread that calls them:
 * ibsa_dispatch(), ibsa_wait(), the functions that wait for replies
 * (ibsa_query_wait(), ibsa_query_one(), ibsa_path_wait(), ibsa_reach_wait(),
 * ibsa_reason_wait(), ibsa_host_ports(), ibsa_topology_wait()) and
 * ibsa_close(). Inside a callback, these functions send nothing for the same
 * client, and return -EBUSY or another error. A callback may call all other
 * functions for its own client, such as ibsa_query_start() and ibsa_cancel(),
 * and all functions for another client if no callback of that other client is
 * running.
 */
typedef void (*ibsa_reply_fn)(const struct ibsa_reply *reply, void *arg);

/* What a reply means; see ibsa_reply_outcome(). */
enum ibsa_outcome {
	IBSA_OUTCOME_OK,      /* the reply holds at least one record */
	IBSA_OUTCOME_NONE,    /* the SA has no matching record */
	IBSA_OUTCOME_REFUSED, /* the SA refused the request; see status */
	IBSA_OUTCOME_BUSY,    /* the SA replied only BUSY until the deadline */
	IBSA_OUTCOME_UNREACHABLE, /* no usable reply arrived; see err */
};

/* What changed at a port since the last call of its watch. */
enum ibsa_port_change {
	IBSA_PORT_CHANGE_STATE = 1,	  /* port_state */
	IBSA_PORT_CHANGE_LID = 2,	  /* lid or lmc, or both */
	IBSA_PORT_CHANGE_SM = 4,	  /* sm_lid or sm_sl */
	IBSA_PORT_CHANGE_PKEY = 8,	  /* pkey_index */
	IBSA_PORT_CHANGE_GID = 16,	  /* gid */
	IBSA_PORT_CHANGE_REREGISTER = 32, /* reregisters */
	IBSA_PORT_CHANGE_PHYS_STATE = 64, /* phys_state */
};

struct ibsa_port_watch;

/**
 * typedef ibsa_port_fn - called when a watched port has changed
 * @changes: bitwise OR of enum ibsa_port_change
 * @now:     the state of the port as last read; valid until the callback
 *           returns
 * @arg:     as given to ibsa_port_watch_start()
 *
 * If the client read a changed value, and read the old value again before it
 * called the callback, the bit of the value in @changes is set as well: for a
 * port that went down and came up again, @changes has IBSA_PORT_CHANGE_STATE,
 * and @now is active. A value that changed and changed back between two reads
 * of the port is not noticed. The functions that ibsa_reply_fn lists call an
 * ibsa_port_fn, which may call the same functions as an ibsa_reply_fn.
 */
typedef void (*ibsa_port_fn)(unsigned int changes,
			     const struct ibsa_port_state *now, void *arg);

/* Counters of a client since it was opened. */
struct ibsa_stats {
	uint64_t queries;     /* queries that ibsa_query_start() accepted */
	uint64_t shared;      /* queries that joined another query's request */
	uint64_t sent;	      /* tries of all requests that were sent */
	uint64_t retries;     /* tries that were not the first of a request */
	uint64_t retargeted;  /* tries that went to another address than the
			      * previous try of the request: the SA moved, or
			      * redirected requests */
	uint64_t replies;     /* queries that ended with a reply */
	uint64_t busy;	      /* replies with status BUSY */
	uint64_t timeouts;    /* queries that ended at their deadline, without a
			    * reply */
	uint64_t canceled;    /* queries that ibsa_cancel() ended */
	uint64_t send_errors; /* tries that the transport could not send */
	uint64_t ignored_id;  /* replies to no request in flight */
	uint64_t ignored_source; /* replies and Reports from another port than
				  * the SA, or from the old SA after a move */
	uint64_t ignored_kind;	 /* replies with another class, version, method
				  * or attribute */
	uint64_t ignored_malformed; /* messages that are shorter than the
				     * header of an SA MAD */
	uint64_t redirected;	    /* redirections that the client followed */
};

/* For bindings: ibsa_open() with the size of @options. */
int ibsa_open_sized(const struct ibsa_options *options, size_t size,
		    struct ibsa_error *error,
		    struct ibsa_client **out) IBSA_MUST_USE IBSA_NONNULL(4);

/**
 * ibsa_open - open a port for queries to the SA
 * @options: NULL: all defaults
 * @error:   receives, on failure, one sentence that tells what failed and what
 *           to do; may be NULL
 * @out:     receives the client; ibsa_close() closes it
 *
 * The client uses the first of these that is given: @options->transport,
 * @options->on, @options->fabric, $IBSA_FABRIC (see @fabric of struct
 * ibsa_options), a device of this machine. Any thread may call ibsa_open().
 *
 * Return: 0; -EACCES this user may not open the device file, or may not connect
 * to the fabric server, or the server belongs neither to this user nor to root;
 * -EBUSY another program uses the device file exclusively; -EINVAL an option is
 * out of range, the context is of another device, the fabric in @on belongs to
 * the parent process, the topology file has an error, "unix:" has no path, or
 * the node name is too long; -ENAMETOOLONG the server's path is too long for a
 * socket; -ENETDOWN the port is not active or, in a fabric, has no cable;
 * -ENODEV no such device or node, no fabric server, the port has no device
 * file, or no port is InfiniBand and no RoCE device is named; -ENOENT no such
 * topology file or capture; -ENOMEM; -ENOSYS the RDMA or umad modules are not
 * loaded or sysfs is not mounted; -ENXIO the device or node has no port with
 * this number; if @options->device is NULL, no device has such a port or, in a
 * fabric, the default node does not have it; -EOPNOTSUPP the kernel's umad
 * interface is too old; -EPROTO the process at the server's path is not a
 * fabric server; -ETIMEDOUT the fabric server did not answer within 10 seconds
 * or, if deadline_ms is set and shorter, within deadline_ms; -EUSERS the fabric
 * server has reached its limit of connections; or the system's error. After an
 * error @out is unchanged.
 */
IBSA_INLINE IBSA_MUST_USE int ibsa_open(const struct ibsa_options *options,
					struct ibsa_error *error,
					struct ibsa_client **out)
{
	return ibsa_open_sized(options, sizeof(*options), error, out);
}

/**
 * ibsa_environment_ignore - ignore environment variables in this process
 *
 * From now on, libibsa, libibsa-compat and libibsa-fabric ignore IBSA_FABRIC,
 * IBSA_NODE, IBSA_RING, IBSA_SEED and SYSFS_PATH, as if they were unset: the
 * environment of a daemon then cannot replace its devices by a fabric. Objects
 * that are open do not change. The call cannot be undone; it is in effect in
 * forked children, too. To ignore the variables for a single object, set
 * no_environment in the options with which it is opened. Any thread may call
 * ibsa_environment_ignore().
 */
void ibsa_environment_ignore(void);

/**
 * ibsa_close - end all queries and close the port
 * @client: an open client; NULL: ibsa_close() does nothing and returns 0
 *
 * ibsa_close() first waits, up to two seconds in all, until the SA has deleted
 * the client's services and subscriptions; see <ibsa/service.h> and
 * <ibsa/event.h>. Then ibsa_close() calls the callback of every query in
 * progress with -ECANCELED, and frees the client. ibsa_query_start() returns
 * -ESHUTDOWN in these callbacks. To close a client because of something that a
 * callback receives, set a variable in the callback, and call ibsa_close()
 * after the dispatch.
 *
 * A forked child cannot use its parent's clients, because it would receive
 * replies that are for the parent. Functions with such a client, or with a
 * watch, service or batch of it, return -EINVAL; ibsa_fd() and
 * ibsa_timeout_ms() return -1; functions without a return value send and
 * receive nothing. The child may call ibsa_close() for these clients, which
 * closes the child's copies of the file descriptors and does nothing else: no
 * callback is called, nothing is sent, and the parent's queries, services and
 * subscriptions continue. The child may open clients of its own.
 *
 * Return: 0; -EBUSY a callback of this client called ibsa_close(). The client
 * stays open or, if the callback runs inside another ibsa_close(), is closed
 * after the callback has returned.
 */
int ibsa_close(struct ibsa_client *client);

/* For bindings: ibsa_query_start() with the size of @query. */
int ibsa_query_start_sized(struct ibsa_client *client,
			   const struct ibsa_query *query, size_t size,
			   ibsa_reply_fn done, void *arg,
			   uint64_t *out_id) IBSA_MUST_USE IBSA_NONNULL(1, 2);

/**
 * ibsa_query_start - send a query to the SA; the reply arrives in a callback
 * @client: an open client
 * @query:  the query; copied, with what its match points to
 * @done:   called once, later, never from within this call; may be NULL
 * @arg:    passed to @done unchanged
 * @out_id: receives the identifier that ibsa_cancel() takes, before @done is
 *          called; may be NULL
 *
 * Use ibsa_query_start() in programs with an event loop or with many queries in
 * flight. To wait for a single reply, use ibsa_query_wait().
 *
 * The client sends the request as soon as the window has room, and again after
 * each interval without a reply, until the deadline. Each transmission is a
 * try. The interval doubles after each try, up to max_interval_ms, and has
 * jitter. As long as the address to which a request is sent does not change,
 * its tries have the same TransactionID, so a late reply to an earlier try
 * counts. After each change of the address, the tries have a new TransactionID.
 * With the default options, a query without a reply ends
 * IBSA_DEFAULT_DEADLINE_MS after the call; ibsa_query_start(3) has the times of
 * its tries. If the transport temporarily cannot send a try (-EAGAIN, -EBUSY,
 * -EINTR, -ENOBUFS, -ENOMEM), the client sends the try when a message arrives
 * or at most 64 ms later, and returns no error. Such a failure is not counted
 * in tries of struct ibsa_reply, and does not double the interval. If the SA
 * replies BUSY, the client sends the next try when the current interval has
 * passed once more, from the arrival of that reply on.
 *
 * Unless the program gave the address of the SA to ibsa_open(), each try goes
 * to the SM whose LID the client last read from the port. While the port has no
 * SM, requests in flight wait; their deadlines do not change. When the SM
 * moves, the client sends all requests in flight to the new SM as soon as the
 * port shows the address of the new SM (see ibsa_port_watch_start()). The tries
 * to the new SM have a new TransactionID: a late reply of the old SM does not
 * count. A node on which no SA runs replies to a Get or Set with status 0x0004,
 * 0x0008 or 0x000c (class version, method or attribute not supported). After
 * such a reply, the client reads the port again, unless the program gave the
 * address of the SA. If this read shows that the SM has moved or disappeared,
 * the client ignores the reply; otherwise the reply ends the query. If the SA
 * redirects a request to an address to which the port can send, the client
 * sends all requests to this address, until one of these happens: the port
 * changes (see enum ibsa_port_change), a try to this address gets no reply, or
 * a reply from this address shows that no SA runs on that node. A request
 * follows at most three redirections in succession: the next redirection ends
 * the request, and later requests go to the address before the first
 * redirection again.
 *
 * Identical Gets and GetTables of a client can share one request. A query joins
 * an identical request only if the current interval, max_interval_ms and
 * jitter_percent of the request are not larger than those of the query. The
 * request must still wait for the window, or be for a record that only the SM
 * changes (@writer of struct ibsa_record). If the SA replied BUSY to the last
 * try of the request, the interval of the request does not count, but the next
 * try of the request must come before the deadline of the query. After a Set or
 * Delete of this client has ended, no query joins a request that was created
 * before that end, whatever the record of the request. @no_sharing turns
 * sharing off.
 *
 * Return: 0; -EINVAL no record, a method other than Get, GetTable, GetMulti,
 * Set and Delete, a mask bit that the record does not define, a jitter above
 * 100, or the port cannot send to the SA's address, for example because the
 * port requires a GRH and the address given to ibsa_open() has none; -ERANGE a
 * value in match is wider than its field, or the SA's LID is wider than 16 bits
 * and the SA's address has no GRH; -EAGAIN the port is down or has no SM, and
 * no address of an SA was given to ibsa_open(); -ENOBUFS the queue of requests
 * that wait for the window is full: submit the query again when ibsa_dispatch()
 * or ibsa_wait() has returned, because they send waiting requests after
 * callbacks, not inside them; -EOPNOTSUPP the record is of Omni-Path, and the
 * port is not; -ESHUTDOWN ibsa_close() is ending the queries; -ENODEV the
 * device disappeared and is not back yet; -ENOMEM; or the transport's error if
 * the first try is sent within the call. After an error @done is not called.
 *
 * Source: IBA vol 1, 15.2.2 (methods), 13.4.7 (status).
 */
IBSA_INLINE IBSA_MUST_USE int ibsa_query_start(struct ibsa_client *client,
					       const struct ibsa_query *query,
					       ibsa_reply_fn done, void *arg,
					       uint64_t *out_id)
{
	return ibsa_query_start_sized(client, query, sizeof(*query), done, arg,
				      out_id);
}

/**
 * ibsa_cancel - end a query before its reply arrives
 * @client: an open client
 * @id:     identifier from ibsa_query_start()
 *
 * The next dispatch calls the query's callback with -ECANCELED. Identifiers are
 * never reused, so cancelling a query that has ended affects no other query.
 *
 * When all queries of a request have ended, the request leaves the window
 * (@window of struct ibsa_options) at once if no try of the request is
 * outstanding: each try was answered, or the transport has reported the end of
 * the try's timeout. A request with an outstanding try keeps its place in the
 * window until a reply arrives, or the transport has reported that the timeouts
 * of all its tries have ended, but no longer than the following rules say. The
 * timeout of the last try ends no later than the last deadline of the request's
 * queries.
 *
 * The kernel, a fabric server and an embedded fabric hold a request until its
 * reply arrives or its timeout ends (see @holds of struct ibsa_transport_ops);
 * ibsim does not. Held requests keep up to half of the places of the window,
 * rounded down, until 250 milliseconds after the timeout of their last try. If
 * this half is full, a held request whose timeout has already passed keeps its
 * place for 16 milliseconds more, and every other request leaves the window at
 * once. If the transport does not hold requests, every request whose queries
 * have all ended leaves the window at once. But within 16 milliseconds, at most
 * as many requests leave at once as the window has places; further requests
 * leave at the end of the 16 milliseconds.
 *
 * Return: 0; -ENOENT no query has this identifier, or the query has ended.
 */
int ibsa_cancel(struct ibsa_client *client, uint64_t id) IBSA_NONNULL(1);

/**
 * ibsa_fd - the file descriptor to poll for reading
 * @client: an open client
 *
 * The fd belongs to the client and stays the same until ibsa_close(). The fd is
 * level-triggered. While the device is gone, the fd reports neither an error
 * nor a hang-up. The fd need not become readable when something is due at a
 * certain time, such as a retry: poll the fd for at most ibsa_timeout_ms().
 * Under ibsim, the fd cannot be polled together with other descriptors.
 *
 * Return: an fd that becomes readable when ibsa_dispatch() has something to
 * receive; -1 on a virtual clock, where only ibsa_wait() can wait, if the
 * program's own transport has no fd, or if the system has no memory for it. A
 * client of a fabric server creates its fd in the first call. If the process
 * has no free descriptor for it, the client closes its connection to the
 * server, uses a descriptor of this connection, and connects again later.
 */
int ibsa_fd(const struct ibsa_client *client) IBSA_NONNULL(1);

/**
 * ibsa_timeout_ms - how long to poll the fd at most
 * @client: an open client
 *
 * Call ibsa_timeout_ms() before each poll: any other call with the client may
 * change the result.
 *
 * Return: milliseconds, rounded up, after which ibsa_dispatch() must be called
 * even if the fd is not readable; 0: call ibsa_dispatch() now; -1: no limit.
 */
int ibsa_timeout_ms(const struct ibsa_client *client) IBSA_NONNULL(1);

/**
 * ibsa_dispatch - receive replies, send retries, end expired queries; never
 * waits
 * @client: an open client
 *
 * For event loops; otherwise use ibsa_wait() or ibsa_query_wait(). One call
 * receives at most as many messages as there are requests in flight, plus 256;
 * if more may be waiting, ibsa_timeout_ms() returns 0 afterwards.
 *
 * When the device disappears, or the fabric server stops, the client sends the
 * queries in progress again. If the device is not back yet, these queries end
 * with -ENODEV, and ibsa_query_start() returns -ENODEV. If the device file
 * exists again, but cannot be opened, both have the error from opening the file
 * instead of -ENODEV. The client searches for the device at most ten times a
 * second, in the calls that use the device. When the device is back, event
 * watches and registered services are set up again, and event watches receive
 * IBSA_EVENT_GAP; see also ibsa_port_watch_start(). An event loop must continue
 * after -ENODEV, so that the client can use the device when it is back.
 *
 * Return: 0; -EBUSY a callback of this client called ibsa_dispatch(); -ENODEV
 * the device disappeared, returned once; or the transport's receive error,
 * after which further dispatches still end queries at their deadlines.
 */
int ibsa_dispatch(struct ibsa_client *client) IBSA_NONNULL(1);

/**
 * ibsa_wait - wait until the client has something to do, then dispatch
 * @client:     an open client
 * @timeout_ms: longest wait in milliseconds; 0: do not wait; -1: no limit
 *
 * ibsa_wait() may return before @timeout_ms without having called a callback:
 * call it in a loop. On a virtual clock, ibsa_wait() advances the clock instead
 * of waiting, by at most @timeout_ms.
 *
 * Return: as ibsa_dispatch(); or, without a dispatch, -EINTR a signal ended the
 * wait, or the transport's error when it waited.
 */
int ibsa_wait(struct ibsa_client *client, int timeout_ms) IBSA_NONNULL(1);

/**
 * ibsa_wake - end an ibsa_wait() of another thread, or else the next
 * ibsa_wait()
 * @client: an open client
 *
 * Any thread may call ibsa_wake() while the client is open. ibsa_query_wait()
 * and the other functions that wait for replies continue to wait. A program
 * that polls ibsa_fd() needs its own way to wake: ibsa_wake() does not always
 * make ibsa_fd() readable.
 */
void ibsa_wake(struct ibsa_client *client) IBSA_NONNULL(1);

/* For bindings: ibsa_query_wait() with the size of @query. */
int ibsa_query_wait_sized(struct ibsa_client *client,
			  const struct ibsa_query *query, size_t size,
			  ibsa_reply_fn done, void *arg) IBSA_MUST_USE
	IBSA_NONNULL(1, 2);

/**
 * ibsa_query_wait - send a query to the SA and wait for the reply
 * @client: an open client
 * @query:  as for ibsa_query_start()
 * @done:   called once from within this call if the query is accepted; may be
 *          NULL
 * @arg:    passed to @done unchanged
 *
 * The wait ends with the reply or at the query's deadline; a signal does not
 * end the wait. During the wait, the client continues with its other queries.
 * To have several queries in flight, use ibsa_query_start().
 *
 * Return: 0 the SA replied with status 0, with records or with an empty table;
 * -EREMOTEIO the SA replied with another status, which @done receives;
 * -ETIMEDOUT, -ENETDOWN, -EAGAIN, -EMSGSIZE, -ENODATA, -ENODEV, -EPROTO or
 * another error of the transport when it sent a try: the query ended with this
 * err of struct ibsa_reply, which @done receives; another error of ibsa_wait(),
 * such as the transport's error when it received or waited: ibsa_query_wait()
 * then cancels the query, and @done is called as after ibsa_cancel(); -EBUSY a
 * callback of this client called ibsa_query_wait(); or an error of
 * ibsa_query_start(). After -EBUSY or an error of ibsa_query_start() @done is
 * not called.
 */
IBSA_INLINE IBSA_MUST_USE int ibsa_query_wait(struct ibsa_client *client,
					      const struct ibsa_query *query,
					      ibsa_reply_fn done, void *arg)
{
	return ibsa_query_wait_sized(client, query, sizeof(*query), done, arg);
}

/**
 * ibsa_reply_outcome - classify a reply
 * @reply: of a query that ended
 *
 * Return: enum ibsa_outcome. IBSA_OUTCOME_NONE is status 0x0300 (no records) or
 * 0x0500 (invalid GID) or an empty table; IBSA_OUTCOME_UNREACHABLE is any err
 * other than 0.
 */
enum ibsa_outcome ibsa_reply_outcome(const struct ibsa_reply *reply)
	IBSA_NONNULL(1);

/**
 * ibsa_reply_explain - tell in one sentence how a query ended
 * @reply: of a query that ended
 * @out:   receives the sentence. If the deadline passed before the request
 *         could be sent, the sentence tells this. If the SA redirected the
 *         request and the client did not follow, the sentence has the LID or
 *         GID to which the SA redirected, unless the reply is too short to
 *         contain it
 */
void ibsa_reply_explain(const struct ibsa_reply *reply, struct ibsa_error *out)
	IBSA_NONNULL(1, 2);

/**
 * ibsa_redirect_explain - tell in one sentence to which address the SA last
 * redirected
 * @client: an open client
 * @out:    receives the sentence that ibsa_reply_explain() writes for the last
 *          redirection that the client did not follow
 *
 * Use ibsa_redirect_explain() after a registered service or an event watch has
 * reported a status of redirection: the report does not contain the address.
 *
 * Return: 0; -ENOENT the client has received no such reply, and @out is
 * unchanged.
 */
int ibsa_redirect_explain(const struct ibsa_client *client,
			  struct ibsa_error *out) IBSA_MUST_USE
	IBSA_NONNULL(1, 2);

/**
 * ibsa_reply_at - the bytes of one record of a reply
 * @reply: of a query that ended
 * @index: number of the record, from 0; must be less than reply->count
 *
 * Return: the record's reply->stride bytes, in network byte order, valid until
 * the callback returns. Use IBSA_GET() to read single fields without decoding
 * the record.
 */
static inline const uint8_t *ibsa_reply_at(const struct ibsa_reply *reply,
					   size_t index)
{
	return reply->records + index * reply->stride;
}

/**
 * ibsa_reply_decode - decode one record of a reply into its struct
 * @reply: of a query that ended
 * @index: number of the record, from 0
 * @out:   receives a copy of the record in host byte order, in the struct of
 *         reply->record, such as struct ibsa_path
 * @size:  size of @out in bytes
 *
 * IBSA_DECODE() also checks the type of @out.
 *
 * Return: 0; -ENOENT @index is not less than reply->count, and @out is
 * unchanged.
 */
int ibsa_reply_decode(const struct ibsa_reply *reply, size_t index, void *out,
		      size_t size) IBSA_MUST_USE;

/* clang-format off */
/* A pointer to the struct of a record, or NULL; others do not compile. */
#ifdef __cplusplus
#define IBSA__OF(name, pointer) (pointer)
#else
#define IBSA__OF(name, pointer)						\
	_Generic((pointer),						\
		 struct ibsa_##name *: (pointer),			\
		 const struct ibsa_##name *: (pointer),			\
		 void *: (pointer))
#endif
/* clang-format on */

#define IBSA__TYPED(name, ...)                                             \
	static inline struct ibsa_query ibsa__##name##_query(              \
		const struct ibsa_##name *match, uint64_t mask)            \
	{                                                                  \
		struct ibsa_query query;                                   \
                                                                           \
		memset(&query, 0, sizeof(query));                          \
		query.record = &ibsa_##name##_record;                      \
		query.match = match;                                       \
		query.match_size = sizeof(*match);                         \
		query.mask = mask;                                         \
		return query;                                              \
	}                                                                  \
	static inline IBSA_MUST_USE int ibsa__##name##_decode(             \
		const struct ibsa_reply *reply, size_t index,              \
		struct ibsa_##name *out)                                   \
	{                                                                  \
		if (reply->record != &ibsa_##name##_record)                \
			return -EINVAL;                                    \
		return ibsa_reply_decode(reply, index, out, sizeof(*out)); \
	}
IBSA_RECORDS(IBSA__TYPED)

/**
 * IBSA_QUERY - a query for records of one type
 * @name:  name of the record's struct without "ibsa_", such as path
 * @match: pointer to the struct with the values to match, such as a struct
 *         ibsa_path; NULL: all fields are zero. Another type does not compile
 * @mask:  component mask, such as IBSA_PATH_CM(dgid)
 *
 * Return: a struct ibsa_query with these members; set others before you use it.
 */
#define IBSA_QUERY(name, match, mask) \
	ibsa__##name##_query(IBSA__OF(name, match), mask)

/**
 * IBSA_DECODE - decode one record of a reply, whose type is checked
 * @name:  name of the record's struct without "ibsa_", such as path
 * @reply: of a query that ended
 * @index: number of the record, from 0
 * @out:   pointer to the record's struct, such as a struct ibsa_path. Another
 *         type does not compile
 *
 * Return: as ibsa_reply_decode(); -EINVAL the records of @reply have another
 * type.
 */
#define IBSA_DECODE(name, reply, index, out) \
	ibsa__##name##_decode(reply, index, IBSA__OF(name, out))

/* For bindings: ibsa_port_get() with the size of @out. */
int ibsa_port_get_sized(struct ibsa_client *client, bool refresh,
			struct ibsa_port_state *out, size_t size) IBSA_MUST_USE
	IBSA_NONNULL(1, 3);

/**
 * ibsa_port_get - the state of the client's port
 * @client:  an open client
 * @refresh: true: read the port now; false: return the state of the last read
 * @out:     receives the state
 *
 * If a refresh finds that the port has changed, a later dispatch calls the
 * callbacks of the client's port watches.
 *
 * Return: 0; or the error from reading the port, such as -ENODEV, and @out is
 * unchanged.
 */
IBSA_INLINE IBSA_MUST_USE int ibsa_port_get(struct ibsa_client *client,
					    bool refresh,
					    struct ibsa_port_state *out)
{
	return ibsa_port_get_sized(client, refresh, out, sizeof(*out));
}

/**
 * ibsa_port_watch_start - watch the client's port for changes
 * @client:      an open client
 * @interval_ms: milliseconds between two reads of the port; 0:
 *               IBSA_DEFAULT_PORT_INTERVAL_MS, or at a fabric server, which
 *               reports each change of the port, no such reads. The smallest
 *               interval of all watches of the client applies; an event watch
 *               or a registered service counts as a watch with 0
 * @report:      called for changes, by the functions that ibsa_reply_fn lists
 * @arg:         passed to @report unchanged
 * @out:         receives the watch, which ibsa_port_watch_stop() or
 *               ibsa_close() ends; may be NULL
 *
 * The first call of @report reports the differences from the state that the
 * client had last read when the watch began. The callbacks of all port watches
 * of a client are called if the client reads its port and finds a change,
 * whatever the reason for the read, such as the interval, a request without a
 * reply, ibsa_port_get() with refresh, or an event of the port from the kernel
 * (see @context of struct ibsa_options) or from a fabric server.
 *
 * If the device disappears, the watch reports port state IBSA_PORT_DOWN and
 * physical state 0; all other values stay as last read. When the device is
 * back, the watch reports IBSA_PORT_CHANGE_REREGISTER and any other changes. A
 * port watch does not report errors from reading the port other than the
 * disappearance of the device.
 *
 * Return: 0; -EINVAL no @report; -ESHUTDOWN ibsa_close() is ending the
 * queries; -ENOMEM.
 */
int ibsa_port_watch_start(struct ibsa_client *client, unsigned int interval_ms,
			  ibsa_port_fn report, void *arg,
			  struct ibsa_port_watch **out) IBSA_MUST_USE
	IBSA_NONNULL(1);

/**
 * ibsa_port_watch_stop - end a watch of the port
 * @watch: ends at once, also if a callback calls ibsa_port_watch_stop(); NULL:
 *         nothing happens
 */
void ibsa_port_watch_stop(struct ibsa_port_watch *watch);

/**
 * ibsa_gid_get - read one entry of the port's GID table
 * @client: an open client
 * @index:  index in the table, from 0
 * @out:    receives the entry
 *
 * Return: 0; -ENODATA the entry is empty; -EINVAL the table has no such entry;
 * -EOPNOTSUPP the program's own transport does not provide the table; or the
 * error from reading the table. Any thread may call ibsa_gid_get() while the
 * client is open.
 */
int ibsa_gid_get(struct ibsa_client *client, uint32_t index,
		 struct ibsa_gid_entry *out) IBSA_MUST_USE IBSA_NONNULL(1, 3);

/**
 * ibsa_pkey_get - read one entry of the port's P_Key table
 * @client: an open client
 * @index:  index in the table, from 0
 * @out:    receives the P_Key, host byte order; 0: the entry is empty
 *
 * Return: 0; -EINVAL the table has no such entry; -EOPNOTSUPP the program's own
 * transport does not provide the table; or the error from reading the table.
 * Any thread may call ibsa_pkey_get() while the client is open.
 */
int ibsa_pkey_get(struct ibsa_client *client, uint32_t index,
		  uint16_t *out) IBSA_MUST_USE IBSA_NONNULL(1, 3);

/* For bindings: ibsa_stats_get() with the size of @out. */
void ibsa_stats_get_sized(const struct ibsa_client *client,
			  struct ibsa_stats *out, size_t size)
	IBSA_NONNULL(1, 2);

/**
 * ibsa_stats_get - the counters of a client since it was opened
 * @client: an open client
 * @out:    receives the counters
 */
IBSA_INLINE void ibsa_stats_get(const struct ibsa_client *client,
				struct ibsa_stats *out)
{
	ibsa_stats_get_sized(client, out, sizeof(*out));
}

/**
 * ibsa_version - the library's version
 *
 * Return: "MAJOR.MINOR.PATCH".
 */
const char *ibsa_version(void);

IBSA_END

#endif
