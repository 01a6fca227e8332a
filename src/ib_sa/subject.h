/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What lasts: it starts at a port, calls back any number of times, and ends
 * when it is released, by a last callback. A program knows it by a ticket, so
 * that to release it late hits nothing.
 */
#ifndef IB_SA_SUBJECT_H
#define IB_SA_SUBJECT_H

#include "ib_sa/state.h"

/* The first member of a kept service, and of a watch for events. */
struct sa_subject {
	struct list link; /* among all of the process */
	uintptr_t ticket;
	struct sa_job start;
	struct sa_job release;
	struct ib_sa_client *client; /* NULL: it has unregistered meanwhile */
	struct sa_port *port;
	bool is_released;
};

/* The dispatcher runs @start, and @release later unless the last callback has
 * come before. */
void ibsa__sa_subject_init(struct sa_subject *subject,
			   void (*start)(struct sa_job *job),
			   void (*release)(struct sa_job *job));

/* Have it started, with a ticket. Locked. Return: 0; -ENODEV the device is
 * closing. */
int ibsa__sa_subject_submit(struct sa_subject *subject, struct sa_port *port,
			    struct ib_sa_client *client) IBSA_MUST_USE;

/* Whether it was released, or its device closed, before it began. */
bool ibsa__sa_subject_is_over(const struct sa_subject *subject);

/* Around each callback. After the last it is known to nobody: to be freed. */
void ibsa__sa_subject_enter(struct sa_subject *subject);
void ibsa__sa_subject_leave(struct sa_subject *subject, bool is_last);

/* Release the one of a ticket, if it is still there. Any thread. */
void ibsa__sa_subject_release(uintptr_t ticket);

/*
 * process.c, when a client unregisters. Locked. Release all of its; have them
 * go on without it to their end; a device without a worker that has one of
 * them, taken, or NULL.
 */
void ibsa__sa_subjects_release(struct ibsa__sa *sa,
			       const struct ib_sa_client *client);
void ibsa__sa_subjects_forget(struct ibsa__sa *sa,
			      const struct ib_sa_client *client);
struct ib_device *ibsa__sa_subjects_take(const struct ibsa__sa *sa,
					 const struct ib_sa_client *client);

#endif
