/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What lasts until it is released, from any thread. */
#include <errno.h>

#include "ib_sa/lasting.h"

void ibsa__sa_lasting_init(struct sa_lasting *lasting,
			   void (*start)(struct sa_job *job),
			   void (*release)(struct sa_job *job))
{
	list_init(&lasting->start.link);
	list_init(&lasting->release.link);
	lasting->start.run = start;
	lasting->release.run = release;
}

int ibsa__sa_lasting_submit(struct sa_lasting *lasting, struct sa_port *port,
			    struct ib_sa_client *client)
{
	struct ib_device *device = port->device;

	if (device->closing)
		return -ENODEV;
	device->sa->lasting_ticket =
		ibsa__sa_ticket_next(device->sa->lasting_ticket);
	lasting->ticket = device->sa->lasting_ticket;
	lasting->port = port;
	lasting->client = client;
	client->users++;
	list_append(&device->sa->lasting, &lasting->link);
	ibsa__sa_submit(device, &lasting->start);
	return 0;
}

bool ibsa__sa_lasting_is_over(const struct sa_lasting *lasting)
{
	struct ib_device *device = lasting->port->device;
	bool over;

	pthread_mutex_lock(&device->sa->lock);
	over = lasting->is_released || device->closing;
	pthread_mutex_unlock(&device->sa->lock);
	return over;
}

void ibsa__sa_lasting_enter(struct sa_lasting *lasting)
{
	struct ib_device *device = lasting->port->device;

	pthread_mutex_lock(&device->sa->lock);
	ibsa__sa_callback_enter(device);
	pthread_mutex_unlock(&device->sa->lock);
}

/* Locked. */
static void forget(struct sa_lasting *lasting)
{
	list_remove(&lasting->link);
	ibsa__sa_withdraw(lasting->port->device, &lasting->release);
	if (lasting->client)
		lasting->client->users--;
}

void ibsa__sa_lasting_leave(struct sa_lasting *lasting, bool is_last)
{
	struct ib_device *device = lasting->port->device;

	pthread_mutex_lock(&device->sa->lock);
	if (is_last)
		forget(lasting);
	ibsa__sa_callback_leave(device);
	pthread_mutex_unlock(&device->sa->lock);
}

/* Locked. */
static void release(struct sa_lasting *lasting)
{
	if (lasting->is_released)
		return;
	lasting->is_released = true;
	ibsa__sa_submit(lasting->port->device, &lasting->release);
}

/* The one of a ticket, if its last callback has not returned. Locked. */
static struct sa_lasting *find(const struct ibsa__sa *sa, uintptr_t ticket)
{
	struct list *at = sa->lasting.next;

	for (; at != &sa->lasting; at = at->next) {
		struct sa_lasting *lasting = list_object(at, struct sa_lasting,
							 link);

		if (lasting->ticket == ticket)
			return lasting;
	}
	return NULL;
}

void ibsa__sa_lasting_release(uintptr_t ticket)
{
	struct ibsa__sa *sa = ibsa__sa_find();
	struct sa_lasting *lasting;

	if (!sa)
		return;
	pthread_mutex_lock(&sa->lock);
	lasting = find(sa, ticket);
	if (lasting)
		release(lasting);
	pthread_mutex_unlock(&sa->lock);
	ibsa__sa_put(sa);
}

/* The next of a client's from @at on, or NULL. */
static struct sa_lasting *next_of(const struct ibsa__sa *sa,
				  const struct list *at,
				  const struct ib_sa_client *client)
{
	for (; at != &sa->lasting; at = at->next) {
		struct sa_lasting *lasting = list_object(at, struct sa_lasting,
							 link);

		if (lasting->client == client)
			return lasting;
	}
	return NULL;
}

void ibsa__sa_lasting_release_all(struct ibsa__sa *sa,
				  const struct ib_sa_client *client)
{
	struct sa_lasting *lasting = next_of(sa, sa->lasting.next, client);

	for (; lasting; lasting = next_of(sa, lasting->link.next, client))
		release(lasting);
}

void ibsa__sa_lasting_forget(struct ibsa__sa *sa,
			     const struct ib_sa_client *client)
{
	struct sa_lasting *lasting = next_of(sa, sa->lasting.next, client);

	for (; lasting; lasting = next_of(sa, lasting->link.next, client)) {
		release(lasting);
		lasting->client = NULL;
	}
}

struct ib_device *ibsa__sa_lasting_take(const struct ibsa__sa *sa,
					const struct ib_sa_client *client)
{
	struct sa_lasting *lasting = next_of(sa, sa->lasting.next, client);

	for (; lasting; lasting = next_of(sa, lasting->link.next, client)) {
		if (ibsa__sa_loop_take_idle(lasting->port->device))
			return lasting->port->device;
	}
	return NULL;
}
