/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The schedule of what is registered at the SA: when a service, subscription
 * or membership is set, read back, renewed and deleted; how long to wait after
 * a failure; and what happens after a change of the port.
 *
 * The owner of a registration sends the requests when it is called back, and
 * decides what each reply means. A registration has either a request under
 * way, or an alarm for its next step, or nothing to do until its owner
 * schedules a step.
 */
#ifndef REGISTRATION_REGISTRATION_H
#define REGISTRATION_REGISTRATION_H

#include "base/list.h"
#include "engine/engine.h"

enum { IBSA__AUDIT_MS = 30000 }; /* default time between two reads */

enum ibsa__registration_step {
	IBSA__STEP_SET,
	IBSA__STEP_READ,
	IBSA__STEP_DELETE,
};

struct ibsa__registration;

/*
 * What an owner does with its registrations. Each function is called from
 * dispatch, and may end the registration. NULL where it is not needed.
 */
struct ibsa__registration_ops {
	/* Send the request of a step by ibsa__registration_query(). Return: 0;
	 * or why it could not be sent, which @answered is then told. */
	int (*set)(struct ibsa__registration *registration);
	int (*read)(struct ibsa__registration *registration);
	int (*delete)(struct ibsa__registration *registration);
	/* A Set or read has ended, as @step says. */
	void (*answered)(struct ibsa__registration *registration,
			 const struct ibsa_reply *reply);
	/* The SA does not have it any more. */
	void (*lost)(struct ibsa__registration *registration);
	/* It was released, and is out of everything: @err and @status of the
	 * Delete. */
	void (*released)(struct ibsa__registration *registration, int err,
			 uint16_t status);
};

struct ibsa__registrations;

/* The port has changed; its registrations are scheduled anew already. */
typedef void (*ibsa__registrations_fn)(struct ibsa__registrations *all,
				       unsigned int changes,
				       const struct ibsa_port_state *now);

/* The registrations of one owner at one port. @watch is there from
 * ibsa__registrations_start() to ibsa__registrations_stop(). */
struct ibsa__registrations {
	struct ibsa__engine *engine;
	ibsa__registrations_fn changed; /* or NULL */
	struct ibsa_port_watch *watch;
	struct list list;
	struct ibsa_port_state port; /* when it was last read */
	unsigned int spread_ms;	     /* how long the last recovery takes */
	unsigned int queue_ms;	     /* as in struct ibsa_query */
	uint32_t moves; /* changes after which the SA may have forgotten */
	bool is_ahead;	/* the last was seen before @watch reported it */
	bool closing;
};

struct ibsa__registration {
	struct list link;
	struct ibsa__registrations *all;
	const struct ibsa__registration_ops *ops;
	struct ibsa__alarm alarm;
	uint64_t query_id;	   /* of the request under way, or 0 */
	uint64_t read_ns;	   /* when it was last set or read */
	uint64_t renew_ns;	   /* when half of its lease has passed */
	unsigned int audit_ms;	   /* time between two reads at most */
	unsigned int deadline_ms;  /* of each request; 0: the client's */
	unsigned int retry_max_ms; /* between tries in silence; 0: default */
	unsigned int failures;	   /* of one kind in a row */
	unsigned int disputes; /* losses that another program may have caused,
				* since a read last found it in its place */
	unsigned int changes;  /* of the port that have set the alarm */
	uint32_t moves;	       /* when the SA was last known to have it */
	int err;	       /* if it is troubled */
	uint16_t status;
	enum ibsa__registration_step step; /* next, or under way */
	bool is_registered; /* the SA has it, as far as is known */
	bool is_troubled;   /* the last step failed: @err and @status */
	bool is_refused;    /* it failed by a refusal */
	bool is_fresh;	    /* it was just set, and not read back yet */
	bool may_be_at_sa;  /* a Set was sent: the SA may have it */
	bool is_stale;	    /* the port has changed during the request */
	bool is_routine;    /* the alarm waits for the next read or renewal */
	bool releasing;
};

/* Whether the SA refused: it answered, and not that it is busy. */
static inline bool is_refusal(int err, uint16_t status)
{
	return !err && !(status & IBSA_STATUS_BUSY);
}

/* Below armed, a port carries nothing but subnet management packets. */
static inline bool is_port_down(const struct ibsa_port_state *port)
{
	return port->port_state == IBSA_PORT_DOWN ||
	       port->port_state == IBSA_PORT_INIT;
}

void ibsa__registrations_init(struct ibsa__registrations *all,
			      struct ibsa__engine *engine,
			      ibsa__registrations_fn changed);

/* Watch the port, if it is not watched yet. Return: 0; -ENOMEM. An owner that
 * has a watch of its own calls ibsa__registrations_changed() instead. */
int ibsa__registrations_start(struct ibsa__registrations *all) IBSA_MUST_USE;
void ibsa__registrations_stop(struct ibsa__registrations *all);

/* The port has changed. Unless it is down, every registration is read or set
 * again, spread over a time that grows with their number. */
void ibsa__registrations_changed(struct ibsa__registrations *all,
				 unsigned int changes,
				 const struct ibsa_port_state *now);

/* Begin to release all. */
void ibsa__registrations_close(struct ibsa__registrations *all);

/* Report those as released, with -ECANCELED, that have no request under way.
 * The engine's end does so for the others. */
void ibsa__registrations_end(struct ibsa__registrations *all);

/* A registration that nothing is scheduled for. */
void ibsa__registration_init(struct ibsa__registration *registration,
			     struct ibsa__registrations *all,
			     const struct ibsa__registration_ops *ops);

/* Have it follow changes of the port from now on; and not any more, with
 * nothing scheduled. What is not added follows no change, but can be
 * scheduled. */
void ibsa__registration_add(struct ibsa__registration *registration);
void ibsa__registration_remove(struct ibsa__registration *registration);

/* Have nothing scheduled; a request under way ends with -ECANCELED. */
void ibsa__registration_cancel(struct ibsa__registration *registration);

/* Send the request of a step. Return: as ibsa_query(). */
int ibsa__registration_query(struct ibsa__registration *registration,
			     const struct ibsa_query *query) IBSA_MUST_USE;

/* Take @step now: a Set or a read. */
void ibsa__registration_step(struct ibsa__registration *registration,
			     enum ibsa__registration_step step);

/* Take @step in @ms, unless a request is under way. If the port has changed
 * during the last request, the step comes soon. */
void ibsa__registration_schedule(struct ibsa__registration *registration,
				 enum ibsa__registration_step step,
				 uint64_t ms);

/* Take the next step soon: what is known of the SA is out of date. */
void ibsa__registration_soon(struct ibsa__registration *registration);

/* Read it again when its interval has passed, or set it if half of its lease
 * passes before. */
void ibsa__registration_read_next(struct ibsa__registration *registration);
void ibsa__registration_audit_ms_set(struct ibsa__registration *registration,
				     unsigned int audit_ms);

/* A Set was successful; @lease_s may be IBSA_LEASE_INFINITE. Reads back what
 * was not registered before. */
void ibsa__registration_set_done(struct ibsa__registration *registration,
				 uint32_t lease_s);

/* A read found it. Return: whether it was not known to be registered. */
bool ibsa__registration_present(struct ibsa__registration *registration);

/*
 * A read did not find it: set it again, and call @lost. Return: false: it was
 * just set, and the SM has not restarted since. That is a failure, which is
 * left to the owner.
 */
bool ibsa__registration_absent(struct ibsa__registration *registration);

/* Another program may have removed or replaced it: set it again, the later
 * the more often this happens. */
void ibsa__registration_dispute(struct ibsa__registration *registration);

/* The SA has it: nothing has failed any more. */
void ibsa__registration_succeeded(struct ibsa__registration *registration);

/* A step failed: try again later, or much later if the SA has @refused.
 * Return: whether that is news. */
bool ibsa__registration_retry(struct ibsa__registration *registration, int err,
			      uint16_t status, bool refused);
/* The same; whether the SA has refused is seen by @err and @status. */
bool ibsa__registration_failed(struct ibsa__registration *registration, int err,
			       uint16_t status);

/* Delete it, after a Set that is under way; then @released is called. */
void ibsa__registration_release(struct ibsa__registration *registration);

#endif
