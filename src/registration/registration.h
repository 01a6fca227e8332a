/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Schedule of registrations at the SA: when to set, read back, renew and delete
 * a service, subscription or membership, how long to wait after a failure, and
 * what to do after a change of the port.
 *
 * The owner of a registration sends the requests when its functions are called,
 * and evaluates the replies. A registration has a request in flight, or an
 * alarm for its next step, or neither: it then waits until its owner schedules
 * a step.
 */
#ifndef REGISTRATION_REGISTRATION_H
#define REGISTRATION_REGISTRATION_H

#include "base/list.h"
#include "engine/engine.h"

enum { IBSA__AUDIT_MS = 30000 }; /* default interval between two reads */

enum ibsa__registration_step {
	IBSA__STEP_SET,
	IBSA__STEP_READ,
	IBSA__STEP_DELETE,
};

struct ibsa__registration;

/* The owner's functions. Each is called from dispatch and may end the
 * registration. A function that is not needed is NULL. */
struct ibsa__registration_ops {
	/*
	 * Send the request of a step by ibsa__registration_query(). Return: 0;
	 * or an error, with which @answered is then called.
	 */
	int (*set)(struct ibsa__registration *registration);
	int (*read)(struct ibsa__registration *registration);
	int (*delete)(struct ibsa__registration *registration);
	/* A Set or a read has ended; @step tells which. */
	void (*answered)(struct ibsa__registration *registration,
			 const struct ibsa_reply *reply);
	/* The SA has lost the registration. */
	void (*lost)(struct ibsa__registration *registration);
	/*
	 * The registration is released and removed; @err and @status are those
	 * of the Delete.
	 */
	void (*released)(struct ibsa__registration *registration, int err,
			 uint16_t status);
};

struct ibsa__registrations;

/* Called after a change of the port, when the registrations have been scheduled
 * again. */
typedef void (*ibsa__registrations_fn)(struct ibsa__registrations *all,
				       unsigned int changes,
				       const struct ibsa_port_state *now);

/*
 * The registrations of one owner at one port. @watch is NULL before
 * ibsa__registrations_start() and after ibsa__registrations_stop().
 */
struct ibsa__registrations {
	struct ibsa__engine *engine;
	ibsa__registrations_fn changed; /* or NULL */
	struct ibsa_port_watch *watch;
	struct list list;
	struct ibsa_port_state port; /* as last read */
	unsigned int spread_ms;	     /* duration of the last recovery */
	unsigned int queue_ms;	     /* as in struct ibsa_query */
	/*
	 * number of port changes that may have made the SA lose registrations
	 */
	uint32_t moves;
	bool is_ahead; /* @watch has not reported the last change yet, but it is
		        * already counted */
	bool closing;
};

struct ibsa__registration {
	struct list link;
	struct ibsa__registrations *all;
	const struct ibsa__registration_ops *ops;
	struct ibsa__alarm alarm;
	uint64_t query_id;     /* of the request in flight, or 0 */
	uint64_t read_ns;      /* time of the last Set or read */
	uint64_t renew_ns;     /* time at which half of the lease has passed */
	unsigned int audit_ms; /* longest time between two reads */
	unsigned int deadline_ms; /* of each request; 0: the client's default */
	/* longest time between tries without a reply; 0: default */
	unsigned int retry_max_ms;
	unsigned int failures; /* consecutive failures of one kind */
	/* losses that another program may have caused, since the last
	 * successful read */
	unsigned int disputes;
	unsigned int changes; /* port changes that have moved the alarm */
	uint32_t moves;	      /* @all->moves when the SA last confirmed it */
	int err;	      /* of the last step if @is_troubled */
	uint16_t status;
	/* next step, or step of the request in flight */
	enum ibsa__registration_step step;
	bool is_registered; /* the SA has confirmed it */
	bool is_troubled;   /* the last step failed */
	bool is_refused;    /* the SA refused the last step */
	bool is_fresh;	    /* set, but not read back yet */
	bool may_be_at_sa;  /* a Set was sent, so that the SA may have the
			     * registration */
	bool is_stale;	    /* the port changed during the request */
	bool is_routine; /* the alarm is for the next regular read or renewal */
	bool releasing;
};

/*
 * Whether the SA refused a request: it answered with a status other than BUSY.
 */
static inline bool is_refusal(int err, uint16_t status)
{
	return !err && !(status & IBSA_STATUS_BUSY);
}

/* Whether a port carries only subnet management packets, as below Armed. */
static inline bool is_port_down(const struct ibsa_port_state *port)
{
	return port->port_state == IBSA_PORT_DOWN ||
	       port->port_state == IBSA_PORT_INIT;
}

void ibsa__registrations_init(struct ibsa__registrations *all,
			      struct ibsa__engine *engine,
			      ibsa__registrations_fn changed);

/* Watch the port if it is not watched yet. Return: 0; -ENOMEM. An owner with
 * its own watch of the port calls ibsa__registrations_changed() instead. */
int ibsa__registrations_start(struct ibsa__registrations *all) IBSA_MUST_USE;
void ibsa__registrations_stop(struct ibsa__registrations *all);

/* The port has changed. Unless it is down, read or set every registration
 * again, spread over a time that grows with their number. */
void ibsa__registrations_changed(struct ibsa__registrations *all,
				 unsigned int changes,
				 const struct ibsa_port_state *now);

/* Start to release all registrations. */
void ibsa__registrations_close(struct ibsa__registrations *all);

/* Report the registrations without a request in flight as released, with
 * -ECANCELED. The others are reported when the engine ends. */
void ibsa__registrations_end(struct ibsa__registrations *all);

/* Initialise a registration without a scheduled step. */
void ibsa__registration_init(struct ibsa__registration *registration,
			     struct ibsa__registrations *all,
			     const struct ibsa__registration_ops *ops);

/*
 * Add the registration to the list of registrations that follow changes of the
 * port; or remove it and cancel its scheduled step. A registration that is not
 * in the list can be scheduled, too.
 */
void ibsa__registration_add(struct ibsa__registration *registration);
void ibsa__registration_remove(struct ibsa__registration *registration);

/* Cancel the scheduled step; a request in flight ends with -ECANCELED. */
void ibsa__registration_cancel(struct ibsa__registration *registration);

/* Send the request of a step. Return: as ibsa_query(). */
int ibsa__registration_query(struct ibsa__registration *registration,
			     const struct ibsa_query *query) IBSA_MUST_USE;

/* Start @step, a Set or a read, now. */
void ibsa__registration_step(struct ibsa__registration *registration,
			     enum ibsa__registration_step step);

/*
 * Start @step in @ms, unless a request is in flight. If the port changed during
 * the last request, the step starts soon instead.
 */
void ibsa__registration_schedule(struct ibsa__registration *registration,
				 enum ibsa__registration_step step,
				 uint64_t ms);

/*
 * Start the next step soon, because the known state of the SA is out of date.
 */
void ibsa__registration_soon(struct ibsa__registration *registration);

/* Schedule the next read, or the renewal if half of the lease has passed
 * before. _audit_ms_set() changes the interval of reads. */
void ibsa__registration_read_next(struct ibsa__registration *registration);
void ibsa__registration_audit_ms_set(struct ibsa__registration *registration,
				     unsigned int audit_ms);

/*
 * A Set succeeded; @lease_s may be IBSA_LEASE_INFINITE. If the registration was
 * not confirmed before, read it back.
 */
void ibsa__registration_set_done(struct ibsa__registration *registration,
				 uint32_t lease_s);

/*
 * A read found the registration at the SA. Return: whether it was not confirmed
 * before.
 */
bool ibsa__registration_present(struct ibsa__registration *registration);

/*
 * A read did not find the registration: set it again and call @lost. Return:
 * false if it was just set and the SM has not restarted since; the owner then
 * handles this as a failure.
 */
bool ibsa__registration_absent(struct ibsa__registration *registration);

/*
 * Another program may have removed or replaced the registration: set it again.
 * The delay doubles each time this happens.
 */
void ibsa__registration_dispute(struct ibsa__registration *registration);

/* The SA has it: reset its failures. */
void ibsa__registration_succeeded(struct ibsa__registration *registration);

/* A step failed: retry it later, or much later if the SA refused it. Return:
 * whether the error differs from the last one, so that it is to be reported. */
bool ibsa__registration_retry(struct ibsa__registration *registration, int err,
			      uint16_t status, bool refused);
/* The same, with @refused from is_refusal(). */
bool ibsa__registration_failed(struct ibsa__registration *registration, int err,
			       uint16_t status);

/*
 * Delete the registration, after a Set that is in flight, and then call
 * @released.
 */
void ibsa__registration_release(struct ibsa__registration *registration);

#endif
