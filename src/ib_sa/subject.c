/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Registrations and watches, from any thread. */
#include <errno.h>

#include "ib_sa/subject.h"

void ibsa__sa_subject_init(struct sa_subject *subject,
			   void (*start)(struct sa_job *job),
			   void (*release)(struct sa_job *job))
{
	list_init(&subject->start.link);
	list_init(&subject->release.link);
	subject->start.run = start;
	subject->release.run = release;
}

int ibsa__sa_subject_submit(struct sa_subject *subject, struct sa_port *port,
			    struct ib_sa_client *client)
{
	struct ib_device *device = port->device;

	if (device->closing)
		return -ENODEV;
	device->sa->subject_ticket =
		ibsa__sa_ticket_next(device->sa->subject_ticket);
	subject->ticket = device->sa->subject_ticket;
	subject->port = port;
	subject->client = client;
	client->users++;
	list_append(&device->sa->subjects, &subject->link);
	ibsa__sa_submit(device, &subject->start);
	return 0;
}

bool ibsa__sa_subject_is_over(const struct sa_subject *subject)
{
	struct ib_device *device = subject->port->device;
	bool over;

	pthread_mutex_lock(&device->sa->lock);
	over = subject->is_released || device->closing;
	pthread_mutex_unlock(&device->sa->lock);
	return over;
}

void ibsa__sa_subject_enter(struct sa_subject *subject)
{
	struct ib_device *device = subject->port->device;

	pthread_mutex_lock(&device->sa->lock);
	ibsa__sa_callback_enter(device);
	pthread_mutex_unlock(&device->sa->lock);
}

/* @lock is held. */
static void subject_forget(struct sa_subject *subject)
{
	list_remove(&subject->link);
	ibsa__sa_withdraw(subject->port->device, &subject->release);
	if (subject->client)
		subject->client->users--;
}

void ibsa__sa_subject_leave(struct sa_subject *subject, bool is_last)
{
	struct ib_device *device = subject->port->device;

	pthread_mutex_lock(&device->sa->lock);
	if (is_last)
		subject_forget(subject);
	ibsa__sa_callback_leave(device);
	pthread_mutex_unlock(&device->sa->lock);
}

/* @lock is held. */
static void subject_release(struct sa_subject *subject)
{
	if (subject->is_released)
		return;
	subject->is_released = true;
	ibsa__sa_submit(subject->port->device, &subject->release);
}

/*
 * Find the subject with that ticket, unless its last callback has returned.
 * @lock is held.
 */
static struct sa_subject *subject_find(const struct ibsa__sa *sa,
				       uintptr_t ticket)
{
	struct list *at = sa->subjects.next;

	for (; at != &sa->subjects; at = at->next) {
		struct sa_subject *subject = list_object(at, struct sa_subject,
							 link);

		if (subject->ticket == ticket)
			return subject;
	}
	return NULL;
}

void ibsa__sa_subject_release(uintptr_t ticket)
{
	struct ibsa__sa *sa = ibsa__sa_find();
	struct sa_subject *subject;

	if (!sa)
		return;
	pthread_mutex_lock(&sa->lock);
	subject = subject_find(sa, ticket);
	if (subject)
		subject_release(subject);
	pthread_mutex_unlock(&sa->lock);
	ibsa__sa_put(sa);
}

/* The client's next subject from @at on, or NULL. */
static struct sa_subject *subject_next(const struct ibsa__sa *sa,
				       const struct list *at,
				       const struct ib_sa_client *client)
{
	for (; at != &sa->subjects; at = at->next) {
		struct sa_subject *subject = list_object(at, struct sa_subject,
							 link);

		if (subject->client == client)
			return subject;
	}
	return NULL;
}

void ibsa__sa_subjects_release(struct ibsa__sa *sa,
			       const struct ib_sa_client *client)
{
	struct sa_subject *subject = subject_next(sa, sa->subjects.next,
						  client);

	for (; subject; subject = subject_next(sa, subject->link.next, client))
		subject_release(subject);
}

void ibsa__sa_subjects_forget(struct ibsa__sa *sa,
			      const struct ib_sa_client *client)
{
	struct sa_subject *subject = subject_next(sa, sa->subjects.next,
						  client);

	for (; subject;
	     subject = subject_next(sa, subject->link.next, client)) {
		subject_release(subject);
		subject->client = NULL;
	}
}

struct ib_device *ibsa__sa_subjects_take(const struct ibsa__sa *sa,
					 const struct ib_sa_client *client)
{
	struct sa_subject *subject = subject_next(sa, sa->subjects.next,
						  client);

	for (; subject;
	     subject = subject_next(sa, subject->link.next, client)) {
		if (ibsa__sa_loop_take_idle(subject->port->device))
			return subject->port->device;
	}
	return NULL;
}
