/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* State and functions shared by the files of lib/engine; no other folder
 * includes this header. */
#ifndef ENGINE_STATE_H
#define ENGINE_STATE_H

#include <stdatomic.h>

#include "base/clock.h"
#include "base/id_table.h"
#include "base/pool.h"
#include "base/random.h"
#include "engine/engine.h"
#include "engine/round_trip.h"
#include "engine/share.h"
#include "engine/timer.h"
#include "engine/window.h"

/* Selects what happens when a timer expires. */
enum timer_kind {
	TIMER_DEADLINE,
	TIMER_RETRY,
	TIMER_ALARM,
	TIMER_WATCH,
	TIMER_FILL,
};

enum { QUERY_SLOT_BITS = 28 };

/* A prime number, so that attributes rarely share an entry. */
enum { TABLE_TRIPS = 61 };

#define QUERY_ID_STEP (UINT64_C(1) << QUERY_SLOT_BITS)

/*
 * A query that the program has submitted, and whose callback has not been
 * called yet. While it waits for a reply, @link is in the list of its @txn.
 * After it has ended without a reply, @txn is NULL, and @link is in the
 * engine's list of ended queries until the callback; @record, @err, @tries and
 * @status are then the members of its reply.
 */
struct query {
	struct list link;
	/*
	 * The lower QUERY_SLOT_BITS are the slot of this object in the engine,
	 * from 1 on; 0: it has no slot yet. The other bits count the queries
	 * for which this object was used, so that the id of an ended query does
	 * not find a later query in the same object.
	 */
	uint64_t id;
	/*
	 * @deadline.due is the tick of the query's deadline. The timer is not
	 * armed while the request's next try is to come before @due: that try
	 * arms it if necessary.
	 */
	struct timer deadline;
	ibsa_reply_fn done;
	void *arg;
	struct txn *txn;
	const struct ibsa_record *record;
	int err;
	uint32_t tries;
	/*
	 * The query's deadline in ms, counted from the first send of its
	 * request, if not 0. Until that send, @deadline limits the time that
	 * the query waits in the queue. The first send sets this member to 0.
	 */
	uint32_t from_send_ms;
	uint16_t status;
};

/* State of a txn. */
enum txn_state {
	/*
	 * The request is in no list and no table. An unused object has this
	 * state, too.
	 */
	TXN_ENDED,
	/* not sent yet, because the window or the transport is full */
	TXN_QUEUED,
	TXN_IN_FLIGHT, /* counts in the window */
	/*
	 * All queries of this request have ended, but the transport still
	 * holds the request: it counts in the window.
	 */
	TXN_ABANDONED,
};

/*
 * If the reply to a request is late, and the SA replies to requests that were
 * sent later, the request is lost. A lost request becomes overdue: it leaves
 * the window, so that other requests need not wait until its next try. At most
 * OVERDUE_WINDOWS * SILENT_PLACES requests are overdue.
 */
enum txn_overdue {
	NOT_OVERDUE,
	/*
	 * The request is in the window. It was queued before, so other requests
	 * may be waiting for room in the window.
	 */
	IN_WINDOW,
	OVERDUE,
	/*
	 * The next try is due, but waits until another request is no longer
	 * overdue. This state is used only if the window limits retries only.
	 */
	OVERDUE_WAITS,
};

/*
 * SILENT_PLACES: the most requests in flight at an SA that does not reply, even
 * if the window may be larger. OVERDUE_WINDOWS: the limit of overdue requests,
 * as a multiple of SILENT_PLACES. RETRY_WINDOWS: the limit, as a multiple of
 * the window, if the window limits retries only and the SA replies. With this
 * larger limit, retries rarely wait; a transport that holds requests drops the
 * replies to those that wait. If the SA does not reply, the limit is one
 * window.
 */
enum { SILENT_PLACES = 16, OVERDUE_WINDOWS = 8, RETRY_WINDOWS = 64 };

/*
 * A request to the SA, which is queued, in flight, or abandoned (see enum
 * txn_state).
 */
struct txn {
	/* Link in the queue, or in the list that the member overdue tells. */
	struct list link;
	/*
	 * The request's MAD. An unused object keeps the MAD of its last
	 * request, which is for @asked and has @method, so that only the
	 * differences are written for the next request.
	 */
	uint8_t mad[IBSA_MAD_BYTES];
	uint32_t tid; /* lower half of the TransactionID */
	struct list queries;
	/*
	 * @retry.due is the tick of the next try; UINT64_MAX while the request
	 * is queued. The timer is armed only if at least one query has a
	 * deadline after @due.
	 */
	struct timer retry;
	const struct ibsa_record *asked;
	const struct ibsa_record *record; /* of the reply's records */
	struct ibsa_address to;
	/*
	 * The measurement of round-trip times to which the reply to this
	 * request contributes.
	 */
	struct round_trip *trip;
	uint64_t sent_ns; /* time of the last try */
	/* Time of the first try with the current TransactionID. */
	uint64_t first_ns;
	/*
	 * Tick (ms of the transport's clock) at which the transport's timeout
	 * for the request's last try ends.
	 */
	uint64_t wait_end;
	/*
	 * Interval in ms between the request's next try and the try after that
	 * one.
	 */
	uint32_t interval_ms;
	/* Interval in ms between the request's last try and its next try. */
	uint32_t last_interval_ms;
	uint32_t max_interval_ms;
	/* Value of the engine's member epoch when the request was created. */
	uint32_t epoch;
	uint8_t method;
	uint8_t jitter_percent;
	bool shareable;
	bool is_bulk; /* waits in the queue @waiting_bulk */
	/* the first interval follows from measured round-trip times */
	bool is_measured;
	bool is_refused; /* the transport refused the last try */
	/*
	 * The request's next try waits a whole interval, because the SA
	 * answered the last try with BUSY, or with a redirection to a target
	 * whose address is not known yet.
	 */
	bool is_backing_off;
	enum txn_state state;
	/* All members from here on are 0 in a new request. */
	uint32_t tries;
	uint32_t id_tries; /* tries sent with the current TransactionID */
	/*
	 * Number of tries of this request whose transport timeout may still be
	 * running.
	 */
	uint32_t outstanding;
	enum txn_overdue overdue;
	/* Places by which the window was cut because of this request. */
	uint32_t cut;
	/*
	 * Number of redirections that the request has followed since it was
	 * last sent to the SM's own SA.
	 */
	uint8_t hops;
	bool got_busy;
	/*
	 * At least one query of this request has a deadline that starts when
	 * the request is first sent.
	 */
	bool starts_deadlines;
	/*
	 * The transport refused this request's last try as a duplicate,
	 * because it still held the previous try, although the timeout of the
	 * previous try is over.
	 */
	bool is_late;
	bool is_lost; /* the transport has lost the last try */
};

struct ibsa__engine {
	struct ibsa_transport *transport;
	/*
	 * @forks: points to the number of this process; @process: this number
	 * when the engine was created.
	 */
	const atomic_uint *forks;
	unsigned int process;
	struct ibsa__engine_options options;
	struct ibsa_port_state port;
	struct ibsa_address sa; /* queries are sent here */
	/*
	 * While @is_redirected is set: address of the SA that redirected
	 * requests to the address @sa.
	 */
	struct ibsa_address home;
	/*
	 * Target of a redirection that has only a GID, while its LID is being
	 * queried.
	 */
	struct ibsa_address resolving;
	uint64_t resolving_id; /* of that path query, or 0 */
	/*
	 * The last reply with a redirection that the engine did not follow. The
	 * member record is NULL if no reply of this kind was received.
	 */
	struct ibsa_reply last_redirect;
	uint8_t last_redirect_info
		[sizeof(struct ibsa__opa_class_port_info_bits) / 8];
	bool is_redirected;
	bool sa_known;
	bool sa_given; /* @sa is from the options, not from the port */
	bool calling_back;
	bool closing;
	bool transport_holds; /* result of the transport's holds operation */
	/* First tries do not wait for the window; retries do. */
	bool limits_retries_only;
	/*
	 * The last dispatch reached its limit and left received messages in
	 * the transport.
	 */
	bool has_messages;
	/*
	 * Time of the transport's clock when this struct last read it: among
	 * others, when a query is submitted, when a dispatch begins, and after
	 * each CLOCK_EVERY messages of the dispatch.
	 */
	uint64_t now_ns;
	uint64_t port_read_ns;
	/* The receiver of the SA's Reports, or NULL. */
	struct ibsa__listener *listener;
	ibsa_mad_fn tap; /* called for each MAD, or NULL */
	void *tap_arg;
	struct list watches; /* all watches of the port */
	/*
	 * Watches of the port with changes that their callbacks have not
	 * received yet.
	 */
	struct list changed;
	struct timer watch_timer; /* armed if @watch_interval_ms is not 0 */
	unsigned int watch_interval_ms;
	struct wheel wheel;
	/*
	 * Timers of requests in state TXN_ABANDONED. These timers shorten the
	 * time until the next dispatch only if requests are queued, because
	 * queued requests wait for room in the window.
	 */
	struct wheel abandoned_wheel;
	struct pool queries;
	struct pool txns;
	struct query **slots; /* array of all objects of the pool @queries */
	size_t slot_count;
	size_t slot_room;
	struct id_table tids; /* of requests in flight */
	struct share shares;
	/* Number of requests that fit into the tables @tids and @shares. */
	size_t room;
	/*
	 * Requests that wait for room in the window or in the transport, in
	 * the order in which they will be sent: those of @waiting_bulk when
	 * @waiting is empty.
	 */
	struct list waiting;
	struct list waiting_bulk;
	/*
	 * Requests in the state IN_WINDOW, in the order of their first tries.
	 */
	struct list in_window;
	/* Requests in OVERDUE_WAITS, in the order of their next tries. */
	struct list overdue_waiting;
	/*
	 * Armed while the transport has no room for the first request that
	 * waits: when it expires, the request is tried again, unless a
	 * message that arrived has done so. @room_ms: its last time in ms.
	 */
	struct timer room_timer;
	unsigned int room_ms;
	/*
	 * Armed while requests are queued, for the time at which the oldest
	 * request of @in_window is late. @probed_ns: time of the last probe; see
	 * probe_begin().
	 */
	struct timer probe_timer;
	uint64_t probed_ns;
	/*
	 * Queries that have ended without a reply and wait for their callback.
	 */
	struct list ended;
	/*
	 * The measurement of round-trip times: @round_trip for replies with one
	 * record, @table_trips for tables, by attribute. Attributes that share
	 * an entry are measured together.
	 */
	struct round_trip round_trip;
	struct round_trip table_trips[TABLE_TRIPS];
	/*
	 * The latest time of a first try, of all requests that the SA has
	 * answered.
	 */
	uint64_t answered_ns;
	/* Time of the last reply that was not BUSY; 0: there was none. */
	uint64_t accepted_ns;
	unsigned int pause_ms; /* since then; see pause_ms_next() */
	uint64_t replied_ns;   /* time of the last reply, also if it was BUSY */
	struct window window;
	unsigned int in_flight;
	unsigned int overdue; /* those of @in_flight in OVERDUE */
	/* Number of requests in flight whose state is TXN_ABANDONED. */
	unsigned int abandoned;
	unsigned int queued; /* in @waiting and @waiting_bulk */
	/*
	 * The tick at which the period for @paced ends, and @paced starts from
	 * 0.
	 */
	uint64_t pace_end;
	/*
	 * Number of abandoned requests that, in the current period of PACE_MS,
	 * left the window before the transport's timeout for them ended.
	 */
	unsigned int paced;
	/*
	 * Number of Set and Delete requests that have ended. A query does not
	 * share a request that was created in an earlier epoch, because its
	 * reply may be older than the change.
	 */
	uint32_t epoch;
	uint64_t tid_high;
	struct random random;
	struct ibsa_stats stats;
};

static inline uint64_t engine_clock_ns(const struct ibsa__engine *engine)
{
	return engine->transport->ops->now_ns(engine->transport);
}

/* Report a MAD to the tap. */
static inline void engine_mad_tap(const struct ibsa__engine *engine,
				  const struct ibsa_address *peer,
				  const uint8_t *mad, size_t len, bool is_sent)
{
	struct ibsa_transport *transport = engine->transport;

	if (engine->tap)
		engine->tap(
			&(struct ibsa_mad){
				.peer = *peer,
				.bytes = mad,
				.len = len,
				.time_ns = transport->ops->now_ns(transport),
				.is_sent = is_sent },
			engine->tap_arg);
}

/* Read the clock into engine->now_ns. Return: engine->now_ns. */
static inline uint64_t engine_now_ns(struct ibsa__engine *engine)
{
	engine->now_ns = engine_clock_ns(engine);
	return engine->now_ns;
}

/*
 * Return: the tick that is @ms after @now_ns, rounded up, so that no timer
 * expires early.
 */
static inline uint64_t tick_after(uint64_t now_ns, uint64_t ms)
{
	return (now_ns + NS_PER_MS - 1) / NS_PER_MS + ms;
}

/* Read the clock. Return: the tick of engine->now_ns, rounded up. */
static inline uint64_t engine_now(struct ibsa__engine *engine)
{
	return tick_after(engine_now_ns(engine), 0);
}

/*
 * Return: the tick until which @query waits for its reply, if its request is
 * sent at tick @now.
 */
static inline uint64_t query_end_tick(const struct query *query, uint64_t now)
{
	return query->from_send_ms ? now + query->from_send_ms
				   : query->deadline.due;
}

/*
 * port.c. ibsa__engine_port_read() reads the state of the port from the
 * transport. If the SM's address has changed, the requests in flight are sent
 * to the new address. The next ibsa__engine_port_report() reports all changes
 * of the port to the watches. Return: 0 or the transport's error.
 * ibsa__engine_port_refresh() does the same, but not if the port was read in
 * the last 100 ms.
 */
int ibsa__engine_port_read(struct ibsa__engine *engine);
void ibsa__engine_port_refresh(struct ibsa__engine *engine);

/*
 * Read the port as ibsa__engine_port_refresh() does. Return: why a request
 * cannot be sent: -ENETDOWN the port is down; -EAGAIN the SA's address is not
 * known; 0 no such reason.
 */
int ibsa__engine_port_error(struct ibsa__engine *engine);

/*
 * Read the state of the port if the transport reports that it may have
 * changed.
 */
void ibsa__engine_port_poll(struct ibsa__engine *engine);
/*
 * Called when the timer of the port's watches has expired: arm the timer again
 * and read the state of the port.
 */
void ibsa__engine_port_check(struct ibsa__engine *engine);

/* Call the callback of each watch of the port that has unreported changes. */
void ibsa__engine_port_report(struct ibsa__engine *engine);

void ibsa__engine_port_unwatch_all(struct ibsa__engine *engine);

/*
 * ibsa__lid_is_long(): whether @lid of Omni-Path does not fit the 16 bits that
 * the kernel's umad header has. ibsa__engine_long_lid() adds to @out, which has
 * such a LID, a GRH with a GID that contains the LID.
 */
bool ibsa__lid_is_long(uint32_t lid);
void ibsa__engine_long_lid(const struct ibsa__engine *engine,
			   struct ibsa_address *out);

/*
 * Do what ibsa__engine_is_ours() does; inline, because it runs for each query.
 */
static inline bool engine_is_ours(const struct ibsa__engine *engine)
{
	return engine->process ==
	       atomic_load_explicit(engine->forks, memory_order_relaxed);
}

/* Whether the window has room for one more request. */
static inline bool window_admits(const struct ibsa__engine *engine)
{
	return engine->limits_retries_only ||
	       engine->in_flight - engine->overdue < engine->window.size;
}

static inline struct list *txn_waiting(struct ibsa__engine *engine,
				       const struct txn *txn)
{
	return txn->is_bulk ? &engine->waiting_bulk : &engine->waiting;
}

/* Return: the request that is sent next; engine->queued must not be 0. */
static inline struct txn *
engine_waiting_first(const struct ibsa__engine *engine)
{
	const struct list *waiting = list_is_empty(&engine->waiting)
					     ? &engine->waiting_bulk
					     : &engine->waiting;

	return list_object(waiting->next, struct txn, link);
}

bool ibsa__engine_is_same_address(const struct ibsa_address *a,
				  const struct ibsa_address *b);

/* Whether the last try of @txn was sent to the current SA. */
static inline bool txn_is_at_sa(const struct ibsa__engine *engine,
				const struct txn *txn)
{
	return engine->sa_known &&
	       ibsa__engine_is_same_address(&txn->to, &engine->sa);
}

/*
 * submit.c: the tries of a request. ibsa__txn_schedule() schedules the next try
 * of @txn for tick @due, and arms the deadline timers of those queries of @txn
 * that end at @due or before. If the deadlines of all queries of @txn end by
 * then, there is no next try, and the timer of the tries is cancelled.
 */
void ibsa__txn_schedule(struct ibsa__engine *engine, struct txn *txn,
			uint64_t due);
/*
 * Schedule the next try of @txn after its interval, with the jitter after BUSY.
 */
void ibsa__txn_back_off_arm(struct ibsa__engine *engine, struct txn *txn,
			    uint64_t now);
/*
 * ibsa__txn_try_send() sends a try of @txn; ibsa__txn_launch() sends its first
 * try and counts it in the window. @now: the tick that engine_now() returned.
 * Return: 0; -EAGAIN the SA's address is not known; or the transport's error.
 */
int ibsa__txn_try_send(struct ibsa__engine *engine, struct txn *txn,
		       uint64_t now) IBSA_MUST_USE;
int ibsa__txn_launch(struct ibsa__engine *engine, struct txn *txn,
		     uint64_t now) IBSA_MUST_USE;

/*
 * Whether sending may succeed at the next try although it has failed with @err
 * now: for want of resources, because of a signal, or with -EBUSY (the
 * transport's queue is full, or the transport still holds the previous try).
 */
bool ibsa__send_error_is_temporary(int err);

/*
 * txn.c: requests and the window. ibsa__txn_back_off() is called after the SA
 * has answered BUSY.
 */
void ibsa__txn_back_off(struct ibsa__engine *engine, struct txn *txn);

/*
 * ibsa__txn_transport_timeout(): the transport reports that its timeout for a
 * try of @txn has ended. ibsa__txn_refused(): the transport reports that it
 * could not send a try which it had accepted, because of @err.
 */
void ibsa__txn_transport_timeout(struct ibsa__engine *engine, struct txn *txn);
void ibsa__txn_refused(struct ibsa__engine *engine, struct txn *txn, int err);
void ibsa__txn_retry(struct ibsa__engine *engine, struct txn *txn);
/*
 * The last query of @txn has ended. Free @txn; but if the transport still holds
 * the request, @txn stays in the window as TXN_ABANDONED until the tick that
 * abandoned_until() returns.
 */
void ibsa__txn_abandon(struct ibsa__engine *engine, struct txn *txn);
void ibsa__txn_free(struct ibsa__engine *engine, struct txn *txn);
/* Free the requests in state TXN_ABANDONED whose time in the window is over. */
void ibsa__engine_window_release(struct ibsa__engine *engine);
/*
 * Send the requests in flight again. If @only_moved is set, send only those
 * that were sent to another address than the current SA's address.
 */
void ibsa__engine_resend(struct ibsa__engine *engine, bool only_moved);

/* Send queued requests while window and transport have room. */
void ibsa__engine_window_fill(struct ibsa__engine *engine);

/*
 * overdue.c. ibsa__overdue_admit() is called when the next try of @txn is due:
 * @txn leaves the window if it becomes overdue. Return: whether to send the try
 * now; false: ibsa__overdue_fill() sends the try as soon as there is room.
 * ibsa__overdue_end() sets txn->overdue to NOT_OVERDUE; before the call it has
 * another value. ibsa__overdue_can_fill() returns whether ibsa__overdue_fill()
 * would send a try. ibsa__overdue_watch() is called when @txn was queued and
 * has been sent. ibsa__overdue_leave() is called when the window is full: if
 * the oldest request in the window is lost, that request leaves the window.
 * Return: whether a request has left.
 */
bool ibsa__overdue_admit(struct ibsa__engine *engine, struct txn *txn);
void ibsa__overdue_end(struct ibsa__engine *engine, struct txn *txn);
bool ibsa__overdue_can_fill(const struct ibsa__engine *engine);
void ibsa__overdue_fill(struct ibsa__engine *engine);
void ibsa__overdue_watch(struct ibsa__engine *engine, struct txn *txn);
bool ibsa__overdue_leave(struct ibsa__engine *engine);

/* txn.c: send the next try of @txn, which is due. */
void ibsa__txn_send_again(struct ibsa__engine *engine, struct txn *txn);

/*
 * The transport has no room for the first try of @txn, or no memory: put @txn,
 * which is in flight, back at the head of the queue.
 */
void ibsa__txn_postpone(struct ibsa__engine *engine, struct txn *txn);

/*
 * Schedule the next try of @txn, which the SA has redirected: now if the
 * target's address is known, otherwise after an interval.
 */
void ibsa__txn_redirected(struct ibsa__engine *engine, struct txn *txn);

/*
 * redirect.c. Send @txn to the target of the redirection in @reply. Return:
 * false if @txn was redirected too often, or the port cannot send to the
 * target; @reply then ends @txn.
 */
bool ibsa__redirect_follow(struct ibsa__engine *engine, struct txn *txn,
			   const struct ibsa_reply *reply) IBSA_MUST_USE;

/*
 * ibsa__redirect_drop() ends the use of a redirection: requests are sent to
 * the SM's own SA again. ibsa__redirect_distrust() does this only if @txn was
 * sent to the target of a redirection, because the target has disappeared or
 * is not an SA.
 */
void ibsa__redirect_drop(struct ibsa__engine *engine);
void ibsa__redirect_distrust(struct ibsa__engine *engine,
			     const struct txn *txn);

/*
 * Whether @txn is the engine's own query for the path to a redirection's
 * target.
 */
bool ibsa__redirect_is_path_query(const struct txn *txn);

/*
 * join.c. Find in @bucket a request with the same content as @own whose reply a
 * query with @deadline may use. Return: the request; or NULL.
 */
struct txn *ibsa__txn_find_in(const struct ibsa__engine *engine,
			      const struct share_bucket *bucket,
			      const struct txn *own, uint64_t deadline);

/*
 * Set the deadline of @query, which is in the list of a request, to tick @due.
 */
void ibsa__query_deadline_set(struct ibsa__engine *engine, struct query *query,
			      uint64_t due);
/*
 * Called when @txn is sent for the first time: start those deadlines of its
 * queries that count from the first send.
 */
void ibsa__txn_first_sent(struct ibsa__engine *engine, struct txn *txn,
			  uint64_t now);
void ibsa__query_end(struct ibsa__engine *engine, struct query *query, int err);
void ibsa__query_expire(struct ibsa__engine *engine, struct query *query);
void ibsa__engine_call_back(struct ibsa__engine *engine);

/*
 * receive.c. Receive and handle messages from the transport. Return: as
 * ibsa_dispatch().
 */
int ibsa__engine_receive(struct ibsa__engine *engine) IBSA_MUST_USE;

#endif
