/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The subnet administration client: open a port, ask the SA, be called back.
 *
 * A client is one opened port. It has one fd, one next deadline and one
 * dispatch call, belongs to one thread at a time and has no locks; two
 * clients share nothing. Callbacks run only inside ibsa_dispatch(),
 * ibsa_wait(), ibsa_ask() and ibsa_close(), exactly once per accepted query.
 */
#ifndef IBSA_IBSA_H
#define IBSA_IBSA_H

#include <ibsa/records.h>
#include <ibsa/sa.h>
#include <ibsa/transport.h>
#include <ibsa/types.h>

IBSA_BEGIN

/* Whether requests to the port's SM carry a GRH. */
enum ibsa_grh {
	IBSA_GRH_AUTO, /* if the port is known to need one, or the SM's LID,
			* of Omni-Path, is longer than 16 bits */
	IBSA_GRH_ALWAYS,
	IBSA_GRH_NEVER,
};

struct ibsa_client;
struct ibsa_fabric;
struct ibv_context;

/**
 * struct ibsa_options - how to open a client; zero is the default throughout
 * @device:      device name, or the node's name in a fabric; NULL: the first
 *               with an active InfiniBand port that can be opened
 * @port:        port number; 0: the first active one
 * @context:     a verbs context of the device: changes of the port and the
 *               SM's requests to register again are then seen at once. Its
 *               device is used if @device is NULL. It stays the program's,
 *               which may close it: nothing more is then heard that way.
 *               Whether the port needs a GRH is known by it too.
 *               NULL, or where the kernel or the driver does not take part:
 *               the port is read now and then, and requests to register
 *               again are not seen. Not used with @fabric, @on or @transport
 * @fabric:      topology file of an embedded fabric to use instead of a
 *               device, or a capture (see ibsa_replay_open()), or
 *               "unix:PATH" of one that processes share (see
 *               ibsa_fabric_server_open()), at the node that @device names,
 *               else $IBSA_NODE, as NAME or NAME/PORT; "": a device of this
 *               machine, whatever $IBSA_FABRIC contains; NULL:
 *               $IBSA_FABRIC if set, unless there is a @context or the
 *               program is set-uid
 * @on:          a fabric that is loaded already, instead of @fabric
 * @transport:   a ready transport to use instead of all above; the client
 *               owns it from a successful open on
 * @sa:          address of the SA instead of the port's SM; NULL: the SM
 * @grh:         enum ibsa_grh: sysfs does not say whether an InfiniBand port
 *               needs a GRH, and without @context it is taken to need none
 * @sm_key:      sent with every request; 0: none
 * @window:      requests in flight, 1 to 1048576; default 16. A request whose
 *               queries have ended leaves the window, unless the transport
 *               still holds it; such requests take at most half of the window
 * @queue:       queries that may wait for the window; default 65536
 * @reply_bytes: largest reply that is accepted; default 64 MiB
 * @deadline_ms, @first_interval_ms, @max_interval_ms, @jitter_percent:
 *               defaults of the same members of struct ibsa_query
 * @seed:        of jitter and transaction ids; 0: random
 * @no_sharing:  send each query as a request of its own; see ibsa_query()
 */
struct ibsa_options {
	const char *device;
	unsigned int port;
	struct ibv_context *context;
	const char *fabric;
	struct ibsa_fabric *on;
	struct ibsa_transport *transport;
	const struct ibsa_address *sa;
	int grh;
	uint64_t sm_key;
	unsigned int window;
	unsigned int queue;
	size_t reply_bytes;
	unsigned int deadline_ms;
	unsigned int first_interval_ms;
	unsigned int max_interval_ms;
	int jitter_percent;
	uint64_t seed;
	bool no_sharing;
};

/**
 * struct ibsa_query - a question; zero is the default of all but the first
 * @record:      what is asked for
 * @match:       the record's struct with the wanted values; copied. NULL:
 *               all zero
 * @mask:        which fields of @match count: IBSA_PATH_CM(dgid) | ...
 * @method:      IBSA_METHOD_GET (the default), GET_TABLE, GET_MULTI (for
 *               MultiPathRecord), SET or DELETE
 * @attribute_modifier: 0 but where the specification says so
 * @deadline_ms: from submission to the callback at the latest; default
 *               10000. With @queue_ms: from the first try
 * @queue_ms:    how long the query may wait for its first try; 0: as long as
 *               @deadline_ms, which runs from submission
 * @first_interval_ms: from the first try to the second; default 500. It is
 *               longer, up to @max_interval_ms, while the SA's replies take
 *               longer
 * @max_interval_ms: the interval doubles up to this; default 4000
 * @jitter_percent: how much of an interval is random: 1 to 100; default 25,
 *               -1 for none
 * @no_sharing:  send it as a request of its own, which no other query joins:
 *               the answer is then not older than the query
 */
struct ibsa_query {
	const struct ibsa_record *record;
	const void *match;
	uint64_t mask;
	uint8_t method;
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
 * @id:     the query's
 * @record: what @records holds: the query's, but PathRecord for
 *          MultiPathRecord
 * @err:    0: a well-formed reply of this query arrived, and @status is what
 *          it said; -ETIMEDOUT: the deadline passed in silence, or before the
 *          request was sent if @tries is 0; -ECANCELED;
 *          -EPROTO: the reply was malformed; -EMSGSIZE: it was larger than
 *          accepted; -ENODATA: it was cut on its way, and only its first
 *          part is here; or the transport's error
 * @status: the MAD status, all 16 bits, host order
 * @tries:  how many times the request was sent; 0: never
 * @rtt_ns: from the last try to the reply, nanoseconds
 * @records: the records as they came, each @stride bytes; valid until the
 *          callback returns
 * @stride: from one record to the next, bytes
 * @count:  of whole records
 * @redirect: the ClassPortInfo of an SA that redirects (status bit 1), which
 *          names the one to ask instead, in the form of @record's class
 *          version; else NULL
 */
struct ibsa_reply {
	uint64_t id;
	const struct ibsa_record *record;
	int err;
	uint16_t status;
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
 * @arg:   as given to ibsa_query()
 *
 * May call ibsa_query() and ibsa_cancel() on the client; ibsa_close(),
 * ibsa_dispatch(), ibsa_wait() and ibsa_ask() are -EBUSY from here.
 */
typedef void (*ibsa_reply_fn)(const struct ibsa_reply *reply, void *arg);

/* What a reply means to the one who asked. */
enum ibsa_outcome {
	IBSA_OUTCOME_OK,	  /* the answer is in the records */
	IBSA_OUTCOME_NONE,	  /* there is no such record */
	IBSA_OUTCOME_REFUSED,	  /* the SA said no; see status */
	IBSA_OUTCOME_BUSY,	  /* the SA said to ask again later */
	IBSA_OUTCOME_UNREACHABLE, /* no usable answer; see err */
};

/* What of a port has changed since its watcher was last told. */
enum ibsa_port_change {
	IBSA_PORT_CHANGE_STATE = 1,	  /* port_state */
	IBSA_PORT_CHANGE_LID = 2,	  /* lid or lmc */
	IBSA_PORT_CHANGE_SM = 4,	  /* sm_lid or sm_sl */
	IBSA_PORT_CHANGE_PKEY = 8,	  /* pkey_index */
	IBSA_PORT_CHANGE_GID = 16,	  /* gid */
	IBSA_PORT_CHANGE_REREGISTER = 32, /* reregisters */
	IBSA_PORT_CHANGE_PHYS_STATE = 64, /* phys_state */
};

struct ibsa_port_watch;

/**
 * typedef ibsa_port_fn - called when a watched port has changed
 * @changes: one or more of enum ibsa_port_change
 * @now:     the port as it was last read; valid until the callback returns
 * @arg:     as given to ibsa_port_watch()
 *
 * What changed and changed back between two calls is told as well: a port that
 * went down and came back has IBSA_PORT_CHANGE_STATE and is active. The rules
 * are those of ibsa_reply_fn.
 */
typedef void (*ibsa_port_fn)(unsigned int changes,
			     const struct ibsa_port_state *now, void *arg);

/* What a client has counted since it was opened. */
struct ibsa_stats {
	uint64_t queries; /* accepted */
	uint64_t shared;  /* of them, sent with another's request */
	uint64_t sent;	  /* MADs, tries after the first too */
	uint64_t retries;
	uint64_t retargeted; /* requests that followed the SA when it moved */
	uint64_t replies;    /* that ended a query */
	uint64_t busy;	     /* replies that said BUSY */
	uint64_t timeouts;   /* queries that ended in silence */
	uint64_t canceled;
	uint64_t send_errors;
	uint64_t ignored_id;	    /* no such request in flight */
	uint64_t ignored_source;    /* not from the SA that was asked, or from
				     * where it was before it moved */
	uint64_t ignored_kind;	    /* other class or version, method or
				     * attribute */
	uint64_t ignored_malformed; /* too short to be a MAD */
};

/**
 * ibsa_open - open a port to ask the SA through
 * @options: NULL for all defaults
 * @error:   filled on failure with what was wrong and what to do; or NULL
 * @out:     the client; ibsa_close() closes it
 *
 * Chooses the transport: @options->transport, else @options->on, else
 * @options->fabric, else $IBSA_FABRIC, else the device.
 *
 * Return: 0; -ENODEV no such device or node, or no fabric server, or the port
 * has no device file; -ENXIO the device or node has no such port, or none has
 * if none was named; -ENOSYS the RDMA or umad modules are not loaded; -EACCES
 * not permitted to open the device; -ENETDOWN the port is not active; -EINVAL
 * an option out of range, a context of another device or a fabric file that
 * does not parse; -ENOENT no such fabric file; -EUSERS the fabric server takes
 * no more connections; -ENOMEM; or the system's error.
 */
int ibsa_open(const struct ibsa_options *options, struct ibsa_error *error,
	      struct ibsa_client **out) IBSA_MUST_USE;

/**
 * ibsa_close - end all queries and close the port
 * @client: or NULL
 *
 * Waits up to two seconds for the deletion of services that are kept and of
 * subscriptions; see <ibsa/service.h> and <ibsa/event.h>. Then calls back every
 * query that has not ended with -ECANCELED, and frees the client. Queries that
 * these callbacks try to start are -ESHUTDOWN.
 *
 * A forked child must not use its parent's clients: it would take its parent's
 * answers. It may close them, which closes its copies of their file descriptors
 * and does nothing else: nobody is called back, nothing is sent, the parent
 * goes on. It opens clients of its own.
 *
 * Return: 0; -EBUSY from inside a callback, and nothing happened.
 */
int ibsa_close(struct ibsa_client *client);

/**
 * ibsa_query - ask the SA for the records that match
 * @client: an open client
 * @query:  record, match, mask, method, deadline and intervals; copied
 * @done:   called once, later, never from within this call; or NULL
 * @arg:    handed to @done as it is
 * @out_id: where to put the id that ibsa_cancel() takes, or NULL
 *
 * The request goes out as soon as the window lets it, and again after each
 * interval without a reply, which doubles with jitter, until deadline_ms. A
 * retry keeps its TransactionID, so a late answer to an earlier try counts.
 * When the SM has moved, what is in flight is sent again to the new one, as
 * soon as the port shows it (see ibsa_port_watch()), with another id: the old
 * one's late answer then does not count. While the port knows no SM, what is
 * in flight waits for its next try. When who was asked knows no such version
 * or method, as a node where the SA is no more, the port is looked at afresh:
 * only if the SA is still there is that the reply.
 *
 * Identical Gets and GetTables of a client share one request. A query joins a
 * request that waits for the window; one that was sent only for a record that
 * the SM alone changes (struct ibsa_record, @writer), and if the next tries of
 * the request come no later than the query's own would. After a Set or Delete
 * of this client has ended, by a reply, a timeout or a cancel, no query joins an
 * older request. @no_sharing turns this off.
 *
 * If the transport cannot take the first try for now (-EAGAIN, -EBUSY, -EINTR,
 * -ENOBUFS, -ENOMEM), the query is accepted, and the first try comes after an
 * interval.
 *
 * Return: 0; -EINVAL no record, a method that is none of Get, GetTable,
 * GetMulti, Set and Delete, a mask bit the record does not have, a jitter above 100, or the
 * port cannot send to the SA's address, as without a GRH that it needs;
 * -ERANGE a matched value is wider than its field; -EAGAIN the port knows
 * no SM; -ENOBUFS the queue is full; -ESHUTDOWN the client is closing;
 * -ENODEV the device is gone for now; -ENOMEM; or the transport's send error.
 * @done is then not called.
 *
 * Source: IBA vol 1, 15.2.2 (methods), 13.4.7 (status).
 */
int ibsa_query(struct ibsa_client *client, const struct ibsa_query *query,
	       ibsa_reply_fn done, void *arg, uint64_t *out_id) IBSA_MUST_USE;

/**
 * ibsa_cancel - end a query early
 * @client: an open client
 * @id:     from ibsa_query()
 *
 * Its callback comes with -ECANCELED from the next dispatch. An id is never
 * used again, so a late cancel hits nothing.
 *
 * Return: 0; -ENOENT the query has ended, or there never was one.
 */
int ibsa_cancel(struct ibsa_client *client, uint64_t id);

/**
 * ibsa_fd - what to poll for reading
 * @client: an open client
 *
 * Return: an fd that is readable when ibsa_dispatch() has work; -1 on a
 * simulated clock, where ibsa_wait() is the way to wait.
 */
int ibsa_fd(const struct ibsa_client *client);

/**
 * ibsa_timeout_ms - how long to poll at most
 * @client: an open client
 *
 * Return: milliseconds until ibsa_dispatch() has a deadline to look at,
 * rounded up; 0 now; -1 if there is none.
 */
int ibsa_timeout_ms(const struct ibsa_client *client);

/**
 * ibsa_dispatch - receive, retry, expire, call back; never waits
 * @client: an open client
 *
 * When the device is gone, which is said once, queries that were sent end with
 * -ENODEV, and new ones are refused with it. The client looks for the device
 * as long as it is dispatched or asked, and goes on when it is there again;
 * watches and kept services then see to themselves (see ibsa_port_watch()).
 *
 * Return: 0; -EBUSY from inside a callback; -ENODEV the device has just gone;
 * or the transport's receive error, after which queries still end by their
 * deadlines.
 */
int ibsa_dispatch(struct ibsa_client *client);

/**
 * ibsa_wait - wait for something to do, then dispatch
 * @client:     an open client
 * @timeout_ms: at most; -1 for no limit
 *
 * Return: as ibsa_dispatch(); -EINTR a signal ended the wait.
 */
int ibsa_wait(struct ibsa_client *client, int timeout_ms);

/**
 * ibsa_wake - end an ibsa_wait() early; the one call for any thread
 * @client: an open client
 */
void ibsa_wake(struct ibsa_client *client);

/**
 * ibsa_ask - ask and wait for the answer
 * @client: an open client
 * @query:  as for ibsa_query()
 * @done:   called once from within this call if the query was accepted; or
 *          NULL
 * @arg:    handed to @done as it is
 *
 * Other queries of the client make progress meanwhile. A signal does not
 * end it.
 *
 * Return: 0 the SA answered with records, or with an empty table;
 * -EREMOTEIO it answered with a status, which @done has seen; the reply's
 * err; -EBUSY from inside a callback; or what ibsa_query() returns.
 */
int ibsa_ask(struct ibsa_client *client, const struct ibsa_query *query,
	     ibsa_reply_fn done, void *arg) IBSA_MUST_USE;

/**
 * ibsa_outcome - what a reply means
 * @reply: of a query that ended
 *
 * Return: enum ibsa_outcome. None is status 0x0300 or 0x0500 or an empty
 * table; unreachable is any err.
 */
enum ibsa_outcome ibsa_outcome(const struct ibsa_reply *reply);

/**
 * ibsa_reply_explain - how a query ended, as a sentence
 * @reply: of a query that ended
 * @out:   the sentence; it says when a request was never sent, and where to an
 *         SA redirects
 */
void ibsa_reply_explain(const struct ibsa_reply *reply, struct ibsa_error *out);

/**
 * ibsa_reply_at - one record of a reply, in place
 * @reply: of a query that ended
 * @index: less than reply->count
 *
 * Return: the record's bytes, reply->stride of them; read single fields
 * with IBSA_GET().
 */
static inline const uint8_t *ibsa_reply_at(const struct ibsa_reply *reply,
					   size_t index)
{
	return reply->records + index * reply->stride;
}

/**
 * ibsa_reply_decode - one record of a reply into its struct
 * @reply: of a query that ended
 * @index: of the record
 * @out:   the record's struct
 *
 * Return: 0; -ENOENT if @index is not less than reply->count.
 */
int ibsa_reply_decode(const struct ibsa_reply *reply, size_t index,
		      void *out) IBSA_MUST_USE;

/**
 * ibsa_port_get - the state of the client's port, as last read
 * @client:  an open client
 * @refresh: read it afresh first; those who watch are told from dispatch
 * @out:     the state
 *
 * Return: 0; or the error of reading it, and @out is untouched.
 */
int ibsa_port_get(struct ibsa_client *client, bool refresh,
		  struct ibsa_port_state *out) IBSA_MUST_USE;

/**
 * ibsa_port_watch - be told when the client's port changes
 * @client:      an open client
 * @interval_ms: how often to read the port at least; 0: 1000
 * @changed:     called at each change, from the next dispatch
 * @arg:         handed to @changed as it is
 * @out:         the watch, which ends with ibsa_port_unwatch() or, without
 *               another call, with ibsa_close()
 *
 * The first call is for a difference to what ibsa_port_get() says now. All
 * who watch are told whenever the port is read, whatever it is read for: at
 * the smallest interval that one of them asked for, when a request waits in
 * vain, and by ibsa_port_get() afresh.
 *
 * A device that is gone is told as a port that is IBSA_PORT_DOWN, with all
 * else as it was; one that came back as IBSA_PORT_CHANGE_REREGISTER at least.
 * Another error of reading the port is not told.
 *
 * Return: 0; -EINVAL no @changed; -ESHUTDOWN the client is closing; -ENOMEM.
 */
int ibsa_port_watch(struct ibsa_client *client, unsigned int interval_ms,
		    ibsa_port_fn changed, void *arg,
		    struct ibsa_port_watch **out) IBSA_MUST_USE;

/**
 * ibsa_port_unwatch - do not be told any more
 * @client: the watch's
 * @watch:  which ends at once, from inside its own callback too; or NULL
 */
void ibsa_port_unwatch(struct ibsa_client *client,
		       struct ibsa_port_watch *watch);

/**
 * ibsa_gid_get - one entry of the port's GID table
 * @client: an open client
 * @index:  of the entry
 * @out:    the entry
 *
 * Return: 0; -ENODATA the entry is empty; -EINVAL there is none of that
 * index; -EOPNOTSUPP a transport of the program's own has no such table; or
 * the error of reading it. Any thread.
 */
int ibsa_gid_get(struct ibsa_client *client, uint32_t index,
		 struct ibsa_gid_entry *out) IBSA_MUST_USE;

/**
 * ibsa_pkey_get - one entry of the port's P_Key table
 * @client: an open client
 * @index:  of the entry
 * @out:    the P_Key, host order; 0 if the entry is empty
 *
 * Return: 0; -EINVAL there is none of that index; -EOPNOTSUPP as for
 * ibsa_gid_get(); or the error of reading it. Any thread.
 */
int ibsa_pkey_get(struct ibsa_client *client, uint32_t index,
		  uint16_t *out) IBSA_MUST_USE;

/**
 * ibsa_stats_get - what the client has counted
 * @client: an open client
 * @out:    the counters
 */
void ibsa_stats_get(const struct ibsa_client *client, struct ibsa_stats *out);

/**
 * ibsa_version - the library's version
 *
 * Return: "MAJOR.MINOR.PATCH".
 */
const char *ibsa_version(void);

IBSA_END

#endif
