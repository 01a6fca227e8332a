/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Schedule of a client's registrations at the SA (services, subscriptions,
 * memberships): when to set, read back, renew and delete each one, how long to
 * wait after a failure, and what to do after a change of the port.
 *
 * The owner of a registration is the code that embeds it: it sends the
 * requests when its functions are called, and evaluates the replies. A
 * registration either has a request in flight, or an alarm for its next step,
 * or neither; in the last case it waits until its owner schedules a step.
 */
#ifndef REGISTRATION_REGISTRATION_H
#define REGISTRATION_REGISTRATION_H

#include "base/list.h"
#include "engine/engine.h"

enum ibsa__registration_step {
	IBSA__STEP_SET,
	IBSA__STEP_READ,
	IBSA__STEP_DELETE,
};

struct ibsa__registration;

/*
 * Functions of a registration's owner. The functions are called from dispatch,
 * and each may end the registration. A function that is not needed is NULL.
 */
struct ibsa__registration_ops {
	/*
	 * Send the Set of the registration by ibsa__registration_query().
	 * Return: 0; or an error: the caller then calls @answered with a reply
	 * that has this error.
	 */
	int (*set)(struct ibsa__registration *registration);
	int (*read)(struct ibsa__registration *registration);
	int (*delete)(struct ibsa__registration *registration);
	/*
	 * The registration's Set or read has ended with @reply; the member
	 * step tells which of the two it was.
	 */
	void (*answered)(struct ibsa__registration *registration,
			 const struct ibsa_reply *reply);
	/* The SA has lost the registration. */
	void (*lost)(struct ibsa__registration *registration);
	/*
	 * The Delete of the registration has ended, with the result @err and
	 * @status, and the registration was removed from the list.
	 */
	void (*released)(struct ibsa__registration *registration, int err,
			 uint16_t status);
};

struct ibsa__registrations;

/*
 * Called after a change of the port other than of its physical state alone.
 * Unless the port is down, all registrations have been scheduled again.
 */
typedef void (*ibsa__registrations_fn)(struct ibsa__registrations *all,
				       unsigned int changes,
				       const struct ibsa_port_state *now);

/*
 * All registrations of one owner at one port. @watch is NULL before
 * ibsa__registrations_start() and after ibsa__registrations_stop().
 */
struct ibsa__registrations {
	struct ibsa__engine *engine;
	ibsa__registrations_fn changed; /* or NULL */
	struct ibsa_port_watch *watch;
	struct list list;
	struct ibsa_port_state port; /* as last read */
	unsigned int spread_ms;	     /* duration of the last recovery */
	/*
	 * Number of port changes after which the SA may have lost
	 * registrations.
	 */
	uint32_t moves;
	/*
	 * The last change of the port is already counted in @moves, but @watch
	 * has not reported it yet.
	 */
	bool is_ahead;
	bool closing;
};

struct ibsa__registration {
	struct list link;
	struct ibsa__registrations *all;
	const struct ibsa__registration_ops *ops;
	struct ibsa__alarm alarm;
	uint64_t query_id; /* of the request in flight, or 0 */
	uint64_t read_ns;  /* time of the last Set or read */
	/*
	 * Time (ns of the transport's clock) at which half of the
	 * registration's lease has passed.
	 */
	uint64_t renew_ns;
	unsigned int audit_ms; /* longest time between two reads */
	/* Deadline of each request in ms; 0: the client's default. */
	unsigned int deadline_ms;
	/*
	 * Maximum delay in ms before a retry after a failure that is not a
	 * refusal by the SA.
	 */
	unsigned int retry_max_ms;
	/* Number of consecutive failures of the same kind. */
	unsigned int failures;
	/*
	 * Number of losses that another program may have caused, since the last
	 * read that found the registration.
	 */
	unsigned int disputes;
	/*
	 * Number of port changes that have moved the alarm of the present step
	 * to a later time.
	 */
	unsigned int changes;
	/* Value of @all->moves when the SA last confirmed the registration. */
	uint32_t moves;
	/* Error of the last step if @is_troubled is set. */
	int err;
	uint16_t status;
	/*
	 * The registration's next step, or the step whose request is in
	 * flight.
	 */
	enum ibsa__registration_step step;
	bool is_registered; /* the SA has confirmed it */
	bool is_troubled;   /* the last step failed */
	bool is_refused;    /* the SA refused the last step */
	bool is_fresh;	    /* set, but not read back yet */
	/*
	 * A Set was queued or sent, so the SA may have the registration, even
	 * without a reply.
	 */
	bool may_be_at_sa;
	bool is_stale; /* the port changed during the request */
	/*
	 * The alarm of this registration is for its next regular read or
	 * renewal, not for a retry.
	 */
	bool is_routine;
	bool releasing;
};

/*
 * Whether the result of a request means that the SA refused it: the SA replied
 * with a status other than BUSY.
 */
static inline bool is_refusal(int err, uint16_t status)
{
	return !err && !(status & IBSA_STATUS_BUSY);
}

/*
 * Whether the port's state is below Armed: the port then sends only subnet
 * management packets.
 */
static inline bool is_port_down(const struct ibsa_port_state *port)
{
	return port->port_state == IBSA_PORT_DOWN ||
	       port->port_state == IBSA_PORT_INIT;
}

void ibsa__registrations_init(struct ibsa__registrations *all,
			      struct ibsa__engine *engine,
			      ibsa__registrations_fn changed);

/*
 * Watch the port, if it is not watched yet. Return: 0; -ENOMEM. An owner that
 * has its own watch of the port calls ibsa__registrations_changed() from that
 * watch instead.
 */
int ibsa__registrations_start(struct ibsa__registrations *all) IBSA_MUST_USE;
void ibsa__registrations_stop(struct ibsa__registrations *all);

/*
 * Handle a change of the port. Unless the port is down, or only its physical
 * state has changed, read or set every registration again, spread over a time
 * that grows with the number of registrations.
 */
void ibsa__registrations_changed(struct ibsa__registrations *all,
				 unsigned int changes,
				 const struct ibsa_port_state *now);

/* Start to release all registrations. */
void ibsa__registrations_close(struct ibsa__registrations *all);

/*
 * Report each registration without a request in flight as released, with
 * -ECANCELED. The other registrations are reported when the engine ends.
 */
void ibsa__registrations_end(struct ibsa__registrations *all);

/* Initialise a registration without a scheduled step. */
void ibsa__registration_init(struct ibsa__registration *registration,
			     struct ibsa__registrations *all,
			     const struct ibsa__registration_ops *ops);

/*
 * ibsa__registration_add() adds the registration to the list of registrations
 * that follow changes of the port; ibsa__registration_remove() removes it and
 * cancels its scheduled step. A registration that is not in the list can be
 * scheduled, too.
 */
void ibsa__registration_add(struct ibsa__registration *registration);
void ibsa__registration_remove(struct ibsa__registration *registration);

/*
 * Cancel the registration's scheduled step; its request in flight ends with
 * -ECANCELED.
 */
void ibsa__registration_cancel(struct ibsa__registration *registration);

/* Send a request of the registration. Return: as ibsa_query_start(). */
int ibsa__registration_query(struct ibsa__registration *registration,
			     const struct ibsa_query *query) IBSA_MUST_USE;

/* Start @step of the registration, a Set or a read, now. */
void ibsa__registration_step(struct ibsa__registration *registration,
			     enum ibsa__registration_step step);

/*
 * Start @step of the registration in @ms, unless a request is in flight. If
 * the port has changed during the last request, the step starts soon instead.
 */
void ibsa__registration_schedule(struct ibsa__registration *registration,
				 enum ibsa__registration_step step,
				 uint64_t ms);

/*
 * Start the registration's next step soon, because the SA's records may have
 * changed since they were last read.
 */
void ibsa__registration_soon(struct ibsa__registration *registration);

/*
 * ibsa__registration_read_next() schedules the next read; or the renewal, if
 * half of the lease has passed before that. ibsa__registration_audit_ms_set()
 * changes the interval of reads.
 */
void ibsa__registration_read_next(struct ibsa__registration *registration);
void ibsa__registration_audit_ms_set(struct ibsa__registration *registration,
				     unsigned int audit_ms);

/*
 * A Set of the registration succeeded; the lease is @lease_s seconds or
 * IBSA_LEASE_INFINITE. If the registration was not confirmed before, read it
 * back.
 */
void ibsa__registration_set_done(struct ibsa__registration *registration,
				 uint32_t lease_s);

/*
 * A read found the registration at the SA. Return: whether this read is the
 * first that confirms the registration since it was set, was lost, or had a
 * failed step.
 */
bool ibsa__registration_present(struct ibsa__registration *registration);

/*
 * A read did not find the registration at the SA: set it again and call the
 * owner's @lost. Return: false if it was just set and the SM has not restarted
 * since; the owner handles this as a failure.
 */
bool ibsa__registration_absent(struct ibsa__registration *registration);

/*
 * Another program may have removed or replaced the registration at the SA: set
 * it again, after a delay that doubles each time this happens.
 */
void ibsa__registration_dispute(struct ibsa__registration *registration);

/* The SA has the registration: count its failures from 0 again. */
void ibsa__registration_succeeded(struct ibsa__registration *registration);

/*
 * A step of the registration failed: retry it later, or much later if the SA
 * refused it. Return: whether the error differs from the last one, so that the
 * owner must report it.
 */
bool ibsa__registration_retry(struct ibsa__registration *registration, int err,
			      uint16_t status, bool refused);

/*
 * Do what ibsa__registration_retry() does; @err and @status show whether the SA
 * refused the step.
 */
bool ibsa__registration_failed(struct ibsa__registration *registration, int err,
			       uint16_t status);

/*
 * Delete the registration at the SA, after a Set that is in flight has ended,
 * and call the owner's @released.
 */
void ibsa__registration_release(struct ibsa__registration *registration);

#endif
