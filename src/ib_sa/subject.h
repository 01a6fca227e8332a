/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A subject is what registrations and watches have in common: it starts at a
 * port, calls back any number of times, and ends after its release with a last
 * callback. Programs refer to it by a ticket, so that a late release has no
 * effect.
 */
#ifndef IB_SA_SUBJECT_H
#define IB_SA_SUBJECT_H

#include "ib_sa/state.h"

/* The first member of a service's registration and of a watch for events. */
struct sa_subject {
	struct list link; /* in ibsa__sa.subjects */
	uintptr_t ticket;
	struct sa_job start;
	struct sa_job release;
	struct ib_sa_client *client; /* NULL: it has unregistered */
	struct sa_port *port;
	bool is_released;
};

/*
 * The dispatcher runs @start, and later @release unless the last callback has
 * come before.
 */
void ibsa__sa_subject_init(struct sa_subject *subject,
			   void (*start)(struct sa_job *job),
			   void (*release)(struct sa_job *job));

/*
 * Assign a ticket and schedule the start. @lock is held. Return: 0; -ENODEV the
 * device is closing.
 */
int ibsa__sa_subject_submit(struct sa_subject *subject, struct sa_port *port,
			    struct ib_sa_client *client) IBSA_MUST_USE;

/* Whether it was released, or its device closed, before its start. */
bool ibsa__sa_subject_is_over(const struct sa_subject *subject);

/*
 * Called before and after each callback. After the last one, no other reference
 * exists, and the caller frees the subject.
 */
void ibsa__sa_subject_enter(struct sa_subject *subject);
void ibsa__sa_subject_leave(struct sa_subject *subject, bool is_last);

/* Release the subject with that ticket, if it exists. Any thread. */
void ibsa__sa_subject_release(uintptr_t ticket);

/*
 * For process.c, when a client unregisters. @lock is held.
 *
 * _release releases the client's subjects. _forget does, too, and lets them go on
 * without the client. _take takes over dispatching a device of one of its
 * subjects, if that has no worker and is not being dispatched; else NULL.
 */
void ibsa__sa_subjects_release(struct ibsa__sa *sa,
			       const struct ib_sa_client *client);
void ibsa__sa_subjects_forget(struct ibsa__sa *sa,
			      const struct ib_sa_client *client);
struct ib_device *ibsa__sa_subjects_take(const struct ibsa__sa *sa,
					 const struct ib_sa_client *client);

#endif
