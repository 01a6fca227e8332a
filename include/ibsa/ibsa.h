/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A client of the SA: one opened port, from which a program sends queries.
 *
 * ibsa_open               open a port for queries to the SA
 * ibsa_environment_ignore ignore environment variables in this process
 * ibsa_close              end all queries and close the port
 * ibsa_query_start        send a query; the reply arrives in a callback
 * ibsa_cancel             end a query before its reply arrives
 * ibsa_fd                 file descriptor to poll for reading
 * ibsa_timeout_ms         longest time to poll it
 * ibsa_dispatch           receive replies, send retries, end expired queries
 * ibsa_wait               wait until there is something to do, then dispatch
 * ibsa_wake               end an ibsa_wait() of another thread, or the next
 * ibsa_query_wait         send a query and wait for its reply
 * ibsa_reply_outcome      classify a reply
 * ibsa_reply_explain      tell in one sentence how a query ended
 * ibsa_redirect_explain   explain the last redirection that was not followed
 * ibsa_reply_at           the bytes of one record, for IBSA_GET()
 * ibsa_reply_decode       decode one record of a reply into its struct
 * ibsa_port_get           the state of the client's port
 * ibsa_port_watch_start   watch the client's port for changes
 * ibsa_port_watch_stop    end a watch of the port
 * ibsa_gid_get            read one entry of the port's GID table
 * ibsa_pkey_get           read one entry of the port's P_Key table
 * ibsa_stats_get          the counters of a client since it was opened
 * ibsa_tap                each MAD that a client sends or receives
 * ibsa_version            the library's version, "MAJOR.MINOR.PATCH"
 *
 * ibsa_query_one          query exactly one record and wait for it
 * ibsa_path_wait          query the path to a port or group and wait for it
 *
 * A client has no locks: only one thread at a time may call functions with a
 * client, except ibsa_wake(), ibsa_gid_get() and ibsa_pkey_get(), which any
 * thread may call while the client is open. Different threads may use different
 * clients at the same time. Callbacks, except that of ibsa_tap(), run only
 * inside ibsa_dispatch(), ibsa_wait(), the functions that wait for replies and
 * ibsa_close(), in the thread that calls them. A forked child may only close
 * the clients of its parent; see ibsa_open(3).
 *
 * Numbers are in host byte order, GIDs are 16 bytes in network byte order.
 */
#ifndef IBSA_IBSA_H
#define IBSA_IBSA_H

#include <errno.h>
#include <string.h>

#include <ibsa/records.h>
#include <ibsa/transport.h>
#include <ibsa/types.h>

IBSA_BEGIN

/* Whether requests to the address of the SM have a GRH. */
enum ibsa_grh {
	IBSA_GRH_AUTO, /* the default: a GRH if the port is known to require
			* one, or if the LID of the SM is 65535 or above
			* (Omni-Path) */
	IBSA_GRH_ALWAYS,
	IBSA_GRH_NEVER,
};

struct ibsa_client;
struct ibsa_fabric;
struct ibv_context;

/**
 * struct ibsa_sa_access - how requests reach the SA; zero: the default of a
 * member
 * @sa:     address of the SA; copied. NULL: the address of the port's SM
 * @grh:    whether requests have a GRH; not used if @sa is given
 * @sm_key: SM_Key of every request
 */
struct ibsa_sa_access {
	const struct ibsa_address *sa;
	enum ibsa_grh grh;
	uint64_t sm_key;
};

/**
 * struct ibsa_options - how to open a client; zero: the default of a member
 * @device:      name of the device, or of a node of a fabric. NULL: the device
 *               of @context, or else the first with an active InfiniBand port
 *               that can be opened; in a topology file or at a fabric server,
 *               the node or host that $IBSA_NODE names, or else the host with
 *               this machine's host name, or else the first channel adapter;
 *               with @on, the first channel adapter
 * @port:        0: if $IBSA_NODE is used and contains a port, this port;
 *               otherwise the first active port of the device, a RoCE port only
 *               if no other is active; of a node, the first port with a cable,
 *               or port 0 of a switch
 * @context:     a verbs context of the device. If kernel and driver support it,
 *               the client receives the events of the port, and the program
 *               still does, too
 * @fabric:      topology file, capture, or fabric server, as "unix:PATH" or
 *               "tcp:HOST:PORT,token=FILE", to use instead of a device; "": a
 *               device; NULL: the value of $IBSA_FABRIC, unless @context is
 *               given or the program is set-uid or set-gid
 * @on:          from ibsa_fabric_load(), to use instead of @fabric; the client
 *               holds a reference to it
 * @transport:   to use instead of a device or a fabric; ibsa_close() closes it
 * @window:      most requests in flight, without those that count as lost, up
 *               to 1048576; IBSA_DEFAULT_WINDOW
 * @queue:       most requests that wait because the window is full;
 *               IBSA_DEFAULT_QUEUE
 * @reply_bytes: largest reply, in bytes; default: IBSA_DEFAULT_REPLY_MIB MiB
 * @deadline_ms, @first_interval_ms, @max_interval_ms, @jitter_percent: defaults
 *               of the members of struct ibsa_query
 * @seed:        determines jitter and TransactionIDs; 0: random or, at a fabric
 *               server, the number in $IBSA_SEED
 * @no_sharing:  as in struct ibsa_query, for all queries
 * @no_environment: as ibsa_environment_ignore(), for this client
 * @window_min:  limit of requests in flight at the start. The limit grows up to
 *               @window while the SA replies, and shrinks, but not below
 *               @window_min, after losses and BUSY; IBSA_DEFAULT_WINDOW_MIN
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
	uint8_t reserved[6];
	unsigned int window_min;
	uint8_t reserved2[4];
};

/**
 * struct ibsa_query - a query; zero: the default of all members but @record. An
 * IBSA_DEFAULT_ constant applies if the member of the same name of the client's
 * struct ibsa_options is 0, too
 * @match:       the record's struct with the values to match; for Set and
 *               Delete, the record to set or delete; copied. NULL: all fields
 *               are zero
 * @match_size:  size of the struct at @match, as IBSA_QUERY() sets it; 0: its
 *               size in the first release that has the record
 * @mask:        the fields of @match that the SA compares: IBSA_PATH_CM(dgid) |
 *               ...
 * @method:      IBSA_METHOD_GET, also for 0; GET_TABLE, GET_MULTI, SET or
 *               DELETE
 * @attribute_modifier: 0 unless the specification defines a value
 * @deadline_ms: time after which the query ends without a reply, from the call
 *               or, with @queue_ms, from the first try;
 *               IBSA_DEFAULT_DEADLINE_MS
 * @queue_ms:    longest time from the call to the first try; 0: until the
 *               deadline
 * @first_interval_ms: time from the first try to the second; longer if measured
 *               replies took longer; default: that of struct ibsa_options, or
 *               else derived from the measured round-trip times
 * @max_interval_ms: the time between two tries doubles after each try, up to
 *               this; IBSA_DEFAULT_MAX_INTERVAL_MS
 * @jitter_percent: width of the random range around each interval, 1 to 100
 *               percent of it; -1: no jitter; IBSA_DEFAULT_JITTER_PERCENT
 * @no_sharing:  do not share a request with identical queries. A shared request
 *               may have been sent before this call
 * @bulk:        while the window is full, queries without @bulk are sent first
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
	uint8_t reserved[3];
	bool bulk;
	uint8_t reserved2[7];
};

/**
 * struct ibsa_reply - how a query ended; valid until the callback returns
 * @record:    type of the records; of a MultiPathRecord query,
 *             &ibsa_path_record
 * @err:       0: the SA replied, see @status; -ETIMEDOUT: no reply until the
 *             deadline, or no try within queue_ms of struct ibsa_query;
 *             -ENETDOWN: as -ETIMEDOUT, and the port is down; -EAGAIN: as
 *             -ETIMEDOUT, and the port has no SM; -ECANCELED: ibsa_cancel(),
 *             ibsa_close() or a failing ibsa_query_wait() ended the query;
 *             -EPROTO: the reply is malformed; -EMSGSIZE: the reply is larger
 *             than reply_bytes of struct ibsa_options; -ENOMEM: there was not
 *             enough memory for the reply; -ENODATA: only the first part of the
 *             reply arrived, and @records has the complete records of that
 *             part; -ENODEV: the device disappeared; or the transport's error
 * @status:    MAD status, all 16 bits; 0 if @err is not 0; IBSA_STATUS_BUSY if
 *             the SA replied only BUSY until the deadline
 * @redirects: if @status is a redirection that the client did not follow: how
 *             many the request had followed before, at most 3
 * @tries:     how often the request was sent, also before the query joined it
 * @rtt_ns:    from the last try to the reply; 0 without a reply or with BUSY
 * @records:   the first of @count records, in network byte order
 * @stride:    bytes from one record to the next
 * @redirect:  ClassPortInfo in a reply that redirects, network byte order;
 *             otherwise NULL
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
 * A callback may call all functions with the client of the query, except those
 * that run callbacks, which return -EBUSY.
 */
typedef void (*ibsa_reply_fn)(const struct ibsa_reply *reply, void *arg);

/* What a reply means, as ibsa_reply_outcome() returns. */
enum ibsa_outcome {
	IBSA_OUTCOME_OK,      /* the reply holds at least one record */
	IBSA_OUTCOME_NONE,    /* the SA has no matching record */
	IBSA_OUTCOME_REFUSED, /* request refused or redirected; see status */
	IBSA_OUTCOME_BUSY,    /* the SA replied only BUSY until the deadline */
	IBSA_OUTCOME_UNREACHABLE, /* no complete and valid reply, see err;
				   * after -ENODATA, records has a part */
};

/* Members of struct ibsa_port_state that changed since the last callback. */
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
 * @changes: bits of enum ibsa_port_change, also for a value that changed back,
 *           if the client read the changed value
 * @now:     the state that the client read last, or that state with the port
 *           down if the device is gone; valid until the callback returns
 * @arg:     as given to ibsa_port_watch_start()
 */
typedef void (*ibsa_port_fn)(unsigned int changes,
			     const struct ibsa_port_state *now, void *arg);

/* Counters of a client since it was opened. */
struct ibsa_stats {
	uint64_t queries;     /* queries of the program, and of the client's
			       * services, watches and redirections */
	uint64_t shared;      /* queries that joined another query's request */
	uint64_t sent;	      /* sent tries, the sum over all requests */
	uint64_t retries;     /* sent tries except the first of each request */
	uint64_t retargeted;  /* tries that went to another address than the
			      * previous try of the request: the SA moved, or
			      * redirected requests */
	uint64_t replies;     /* queries that ended with a complete and valid
			       * reply other than BUSY */
	uint64_t busy;	      /* replies with status BUSY */
	uint64_t timeouts;    /* queries that ended at their deadline, without a
			    * reply, not even BUSY */
	uint64_t canceled;    /* queries that ibsa_cancel() canceled, or the end
			       * of a service, event watch or reach batch */
	uint64_t send_errors; /* tries that could not be sent */
	uint64_t ignored_id;  /* replies to no request in flight */
	uint64_t ignored_source; /* replies and Reports from another port than
				  * the SA, or from the old SA after a move */
	uint64_t ignored_kind;	 /* replies with another class, version, method
				  * or attribute than the request requires */
	uint64_t ignored_malformed; /* messages that are shorter than the
				     * header of an SA MAD */
	uint64_t redirected;	    /* redirections that the client followed */
};

int ibsa_open_sized(const struct ibsa_options *options, size_t size,
		    struct ibsa_error *error,
		    struct ibsa_client **out) IBSA_MUST_USE IBSA_NONNULL(4);

/**
 * ibsa_open - open a port for queries to the SA
 * @options: NULL: all defaults
 * @error:   after an error, a sentence that tells what failed and what to do;
 *           may be NULL
 * @out:     receives the client
 *
 * Uses the first of these that is given: @transport, @on, @fabric or @context
 * of @options, $IBSA_FABRIC; otherwise a device of this machine. Any thread may
 * call ibsa_open().
 *
 * Return: 0; -EACCES this user may not open the device or connect to the
 * server; -ENODEV no such device, node or server; -ENETDOWN the port of the
 * device is not active, or that of a fabric has no cable; -EINVAL an option is
 * out of range, or the topology file has an error; others: see ibsa_open(3)
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
 * From now on, also in forked children, libibsa, libibsa-compat and
 * libibsa-fabric ignore IBSA_FABRIC, IBSA_NODE, IBSA_RING, IBSA_SEED,
 * IBSA_UMAD_REOPEN and SYSFS_PATH: the environment cannot replace a daemon's
 * devices. Open objects do not change. The call cannot be undone; any thread
 * may make it.
 */
void ibsa_environment_ignore(void);

/**
 * ibsa_close - end all queries and close the port
 * @client: NULL: nothing happens
 *
 * Waits, up to two seconds in all, until the SA has deleted the client's
 * services and subscriptions. Meanwhile, queries can end as usual. Then the
 * callback of each query in progress is called with -ECANCELED.
 *
 * Return: 0; -EBUSY a callback of this client called ibsa_close()
 */
int ibsa_close(struct ibsa_client *client);

int ibsa_query_start_sized(struct ibsa_client *client,
			   const struct ibsa_query *query, size_t size,
			   ibsa_reply_fn done, void *arg,
			   uint64_t *out_id) IBSA_MUST_USE IBSA_NONNULL(1, 2);

/**
 * ibsa_query_start - send a query; the reply arrives in a callback
 * @query:  copied, with the struct at its member match
 * @done:   called once, later, never from within this call; may be NULL
 * @arg:    passed to @done
 * @out_id: receives the identifier for ibsa_cancel(); may be NULL
 *
 * The client sends the request when the window has room, and again after each
 * interval without a reply, until the deadline. If the SA redirects a request,
 * or the SM moves and struct ibsa_sa_access has no @sa, the client sends it to
 * the new address. Identical Gets and GetTables may share a request.
 *
 * Return: 0; -EINVAL, -ERANGE @query is not valid for its record; -ENETDOWN the
 * port was down, or -EAGAIN had no SM, when the client last read it; -ENOBUFS
 * the queue is full: submit again after a dispatch; -ENODEV the device
 * disappeared and is not back yet; others: see ibsa_query_start(3). After an
 * error @done is not called
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
 *
 * The next dispatch calls the query's callback with -ECANCELED. A client never
 * uses an identifier again.
 *
 * Return: 0; -ENOENT no such query is in progress
 */
int ibsa_cancel(struct ibsa_client *client, uint64_t id) IBSA_NONNULL(1);

/**
 * ibsa_fd - file descriptor to poll for reading
 *
 * Poll the descriptor for at most ibsa_timeout_ms(). It stays readable while
 * ibsa_dispatch() has something to receive, and its number is the same until
 * ibsa_close().
 *
 * Return: -1 if only ibsa_wait() can wait, as on a virtual clock
 */
int ibsa_fd(const struct ibsa_client *client) IBSA_NONNULL(1);

/**
 * ibsa_timeout_ms - longest time to poll ibsa_fd()
 *
 * After this time, call ibsa_dispatch() even if the descriptor is not readable.
 * Call ibsa_timeout_ms() before each poll: each call with the client may change
 * the result.
 *
 * Return: milliseconds, rounded up; 0: call ibsa_dispatch() now; -1: no limit
 */
int ibsa_timeout_ms(const struct ibsa_client *client) IBSA_NONNULL(1);

/**
 * ibsa_dispatch - receive replies, send retries, end expired queries
 *
 * Never waits.
 *
 * Return: 0; -EBUSY a callback of this client called ibsa_dispatch(); -ENODEV
 * the device disappeared, returned once: continue the loop, the client uses the
 * device again when it is back; or the transport's receive error
 */
int ibsa_dispatch(struct ibsa_client *client) IBSA_NONNULL(1);

/**
 * ibsa_wait - wait until there is something to do, then dispatch
 * @timeout_ms: longest wait; 0: do not wait; -1: no limit
 *
 * May return earlier, without having called a callback: call ibsa_wait() in a
 * loop. With a virtual clock, the call advances the clock instead of waiting.
 *
 * Return: as ibsa_dispatch(); -EINTR a signal ended the wait; or another error
 * from waiting
 */
int ibsa_wait(struct ibsa_client *client, int timeout_ms) IBSA_NONNULL(1);

/**
 * ibsa_wake - end an ibsa_wait() of another thread, or the next
 *
 * Does not end ibsa_query_wait(), and does not always make ibsa_fd() readable.
 * A signal handler must not call ibsa_wake().
 */
void ibsa_wake(struct ibsa_client *client) IBSA_NONNULL(1);

int ibsa_query_wait_sized(struct ibsa_client *client,
			  const struct ibsa_query *query, size_t size,
			  ibsa_reply_fn done, void *arg) IBSA_MUST_USE
	IBSA_NONNULL(1, 2);

/**
 * ibsa_query_wait - send a query and wait for its reply
 * @query: as for ibsa_query_start()
 * @done:  called once, before the return, if the query is accepted; may be NULL
 * @arg:   passed to @done
 *
 * Meanwhile, the client's other queries continue, and their callbacks run. A
 * signal does not end the call.
 *
 * Return: 0 the SA replied with status 0, perhaps with an empty table;
 * -EREMOTEIO the SA replied with another status; -ETIMEDOUT, -ENETDOWN, -EAGAIN
 * and others as err of struct ibsa_reply; the error of ibsa_wait(), after which
 * the query was canceled; without a call of @done, -EBUSY a callback of this
 * client called ibsa_query_wait(); or as ibsa_query_start()
 */
IBSA_INLINE IBSA_MUST_USE int ibsa_query_wait(struct ibsa_client *client,
					      const struct ibsa_query *query,
					      ibsa_reply_fn done, void *arg)
{
	return ibsa_query_wait_sized(client, query, sizeof(*query), done, arg);
}

/**
 * ibsa_reply_outcome - classify a reply
 *
 * IBSA_OUTCOME_NONE is status 0x0300 (no records) or 0x0500 (invalid GID) or an
 * empty table; IBSA_OUTCOME_UNREACHABLE is any err other than 0.
 */
enum ibsa_outcome ibsa_reply_outcome(const struct ibsa_reply *reply)
	IBSA_NONNULL(1);

void ibsa_reply_explain(const struct ibsa_reply *reply, struct ibsa_error *out)
	IBSA_NONNULL(1, 2);

/**
 * ibsa_redirect_explain - explain the last redirection that was not followed
 * @out: the sentence of ibsa_reply_explain() for this redirection
 *
 * Return: 0; -ENOENT there was no such redirection
 */
int ibsa_redirect_explain(const struct ibsa_client *client,
			  struct ibsa_error *out) IBSA_MUST_USE
	IBSA_NONNULL(1, 2);

/**
 * ibsa_reply_at - the bytes of one record, for IBSA_GET()
 * @index: less than reply->count
 *
 * Return: reply->stride bytes, network byte order, valid until the callback
 * returns
 */
static inline const uint8_t *ibsa_reply_at(const struct ibsa_reply *reply,
					   size_t index)
{
	return reply->records + index * reply->stride;
}

/**
 * ibsa_reply_decode - decode one record of a reply into its struct
 * @out:  the struct of reply->record, such as struct ibsa_path
 * @size: of @out
 *
 * Return: 0; -ENOENT @index is not less than reply->count
 */
int ibsa_reply_decode(const struct ibsa_reply *reply, size_t index, void *out,
		      size_t size) IBSA_MUST_USE;

/* clang-format off */
/* A pointer to struct ibsa_NAME, or to void. With another pointer, a C program
 * does not compile; nor does a C++ program, because of the arguments of the
 * functions below. */
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
 * @name:  of the record's struct without "ibsa_", such as path
 * @match: NULL, or a pointer to the struct; another struct does not compile
 * @mask:  component mask, such as IBSA_PATH_CM(dgid)
 *
 * Return: a struct ibsa_query with record, match, match_size and mask; the
 * other members are 0
 */
#define IBSA_QUERY(name, match, mask) \
	ibsa__##name##_query(IBSA__OF(name, match), mask)

/**
 * IBSA_DECODE - ibsa_reply_decode() that checks the type of the struct
 * @name: of the record's struct without "ibsa_", such as path
 * @out:  a pointer to the struct; another struct does not compile
 *
 * Return: as ibsa_reply_decode(); -EINVAL the records have another type
 */
#define IBSA_DECODE(name, reply, index, out) \
	ibsa__##name##_decode(reply, index, IBSA__OF(name, out))

int ibsa_port_get_sized(struct ibsa_client *client, bool refresh,
			struct ibsa_port_state *out, size_t size) IBSA_MUST_USE
	IBSA_NONNULL(1, 3);

/**
 * ibsa_port_get - the state of the client's port
 * @refresh: true: read the port now; false: the state that the client read
 *           last, or that state with the port down if the device is gone
 *
 * Return: 0; with @refresh, the error from reading the port, such as -ENODEV
 */
IBSA_INLINE IBSA_MUST_USE int ibsa_port_get(struct ibsa_client *client,
					    bool refresh,
					    struct ibsa_port_state *out)
{
	return ibsa_port_get_sized(client, refresh, out, sizeof(*out));
}

/**
 * ibsa_port_watch_start - watch the client's port for changes
 * @interval_ms: longest time between two reads of the port; 0:
 *               IBSA_DEFAULT_PORT_INTERVAL_MS or, at a fabric server, which
 *               reports each change, no such reads
 * @out:         the watch, until ibsa_port_watch_stop() or ibsa_close(); may be
 *               NULL
 *
 * The first call of @report has the differences from the state that was last
 * read before the start. While the device is gone, the state of the port is
 * IBSA_PORT_DOWN; when the device returns, IBSA_PORT_CHANGE_REREGISTER is
 * reported.
 *
 * Return: 0; -EINVAL @report is NULL; -ESHUTDOWN ibsa_close() is ending the
 * queries; -ENOMEM
 */
int ibsa_port_watch_start(struct ibsa_client *client, unsigned int interval_ms,
			  ibsa_port_fn report, void *arg,
			  struct ibsa_port_watch **out) IBSA_MUST_USE
	IBSA_NONNULL(1);

/**
 * ibsa_port_watch_stop - end a watch of the port
 * @watch: a callback may stop its watch, too; NULL: nothing happens
 */
void ibsa_port_watch_stop(struct ibsa_port_watch *watch);

/**
 * ibsa_gid_get - read one entry of the port's GID table
 *
 * Return: 0; -ENODATA the entry is empty; -EINVAL no such entry; -EOPNOTSUPP
 * the program's own transport has no table; or the error from reading it
 */
int ibsa_gid_get(struct ibsa_client *client, uint32_t index,
		 struct ibsa_gid_entry *out) IBSA_MUST_USE IBSA_NONNULL(1, 3);

/**
 * ibsa_pkey_get - read one entry of the port's P_Key table
 * @out: host byte order; 0: the entry is empty
 *
 * Return: 0; -EINVAL no such entry; -EOPNOTSUPP the program's own transport has
 * no table; or the error from reading it
 */
int ibsa_pkey_get(struct ibsa_client *client, uint32_t index,
		  uint16_t *out) IBSA_MUST_USE IBSA_NONNULL(1, 3);

void ibsa_stats_get_sized(const struct ibsa_client *client,
			  struct ibsa_stats *out, size_t size)
	IBSA_NONNULL(1, 2);

IBSA_INLINE void ibsa_stats_get(const struct ibsa_client *client,
				struct ibsa_stats *out)
{
	ibsa_stats_get_sized(client, out, sizeof(*out));
}

/**
 * struct ibsa_mad - a MAD that a client has sent or received
 * @peer:    the destination of a sent MAD, the source of a received MAD
 * @bytes, @len: from the MAD header on, valid until the callback returns; a
 *           reply of several RMPP segments is one MAD
 * @time_ns: on the clock of the transport, CLOCK_MONOTONIC unless it is virtual
 * @is_sent: the client has sent the MAD
 */
struct ibsa_mad {
	struct ibsa_address peer;
	const uint8_t *bytes;
	size_t len;
	uint64_t time_ns;
	bool is_sent;
	uint8_t reserved[7];
};

/* The callback must not call functions with the client. */
typedef void (*ibsa_mad_fn)(const struct ibsa_mad *mad, void *arg);

/**
 * ibsa_tap - report each MAD that a client sends or receives
 * @report: called inside the functions that send or dispatch, for each try of a
 *          request, and for received MADs that the client ignores, too; NULL:
 *          no further calls
 */
void ibsa_tap(struct ibsa_client *client, ibsa_mad_fn report, void *arg)
	IBSA_NONNULL(1);

const char *ibsa_version(void);

int ibsa_query_one_sized(struct ibsa_client *client,
			 const struct ibsa_query *query, size_t query_size,
			 struct ibsa_error *error, void *out,
			 size_t size) IBSA_MUST_USE IBSA_NONNULL(1, 2, 5);

/**
 * ibsa_query_one - query exactly one record and wait for it
 * @query: as for ibsa_query_wait()
 * @error: after an error, a sentence that tells why; may be NULL
 * @out:   receives the struct of the query's record; struct ibsa_path for a
 *         MultiPathRecord
 * @size:  of @out
 *
 * Return: 0; -ENOENT no record matches; -ENOTUNIQ more than one record matches;
 * -EREMOTEIO the SA refused or redirected the query, or was busy; or as
 * ibsa_query_wait()
 */
IBSA_INLINE IBSA_MUST_USE int ibsa_query_one(struct ibsa_client *client,
					     const struct ibsa_query *query,
					     struct ibsa_error *error,
					     void *out, size_t size)
{
	return ibsa_query_one_sized(client, query, sizeof(*query), error, out,
				    size);
}

/**
 * struct ibsa_path_options - options; zero: the default of a member
 * @from:       GID of the source port; zero: GID 0 of the client's port
 * @match:      values that the path must have, such as its P_Key; NULL: all
 *              fields are zero
 * @mask:       the fields of @match that the SA compares; not sgid and dgid. If
 *              the mask has no reversible, the path is reversible
 * @timeout_ms: deadline of the query; default: deadline_ms of the client
 */
struct ibsa_path_options {
	struct ibsa_gid from;
	const struct ibsa_path *match;
	uint64_t mask;
	unsigned int timeout_ms;
	uint8_t reserved[4];
};

int ibsa_path_wait_sized(struct ibsa_client *client,
			 const struct ibsa_path_options *options,
			 size_t options_size, const struct ibsa_gid *to,
			 struct ibsa_error *error, struct ibsa_path *out,
			 size_t out_size) IBSA_MUST_USE IBSA_NONNULL(1, 6);

/**
 * ibsa_path_wait - query the path to a port or group and wait for it
 * @options: NULL: all defaults
 * @to:      GID of the destination
 * @error:   after an error, a sentence that tells why; may be NULL
 * @out:     receives the path that the SA selects, host byte order
 *
 * Return: 0; -ENOENT the SA has no such path; -EINVAL @to is zero, or the mask
 * is not valid; -EAGAIN the port has no SM or no GID; or as ibsa_query_one()
 *
 * Source: IBA vol 1, 15.2.5.16 (PathRecord).
 */
IBSA_INLINE IBSA_MUST_USE int
ibsa_path_wait(struct ibsa_client *client,
	       const struct ibsa_path_options *options,
	       const struct ibsa_gid *to, struct ibsa_error *error,
	       struct ibsa_path *out)
{
	return ibsa_path_wait_sized(client, options, sizeof(*options), to,
				    error, out, sizeof(*out));
}

IBSA_END

#endif
