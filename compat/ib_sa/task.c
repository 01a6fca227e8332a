/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tasks of the devices (queries, registrations, watches): their ids and
 * tickets, and how any thread ends them.
 */
#include <errno.h>

#include "base/alloc.h"
#include "ib_sa/state.h"

uintptr_t ibsa__sa_ticket_first(const struct sa_tasks *tasks, uint32_t id)
{
	/*
	 * The first tickets of two ids are far apart, so that no ticket ever
	 * belongs to both.
	 */
	const uint64_t apart = id * UINT64_C(0x9e3779b97f4a7c15);

	return (tasks->first_ticket + (uintptr_t)apart) | 1;
}

/*
 * Return: the next ticket for the same id; never 0, because a program holds a
 * ticket as a pointer.
 */
static uintptr_t ticket_next(uintptr_t ticket)
{
	return ticket == UINTPTR_MAX ? 1 : ticket + 1;
}

/* Double the number of task ids, none of which is free. */
static bool ids_grow(struct sa_tasks *tasks)
{
	const uint32_t count = tasks->slot_count ? 2 * tasks->slot_count : 64;
	struct sa_slot *slots;

	if (count > INT32_MAX)
		return false;
	slots = ibsa__realloc(tasks->slots, count, sizeof(*slots));
	if (!slots)
		return false;
	for (uint32_t id = tasks->slot_count; id < count; id++)
		slots[id] = (struct sa_slot){
			.ticket = ibsa__sa_ticket_first(tasks, id),
			.next_free = id + 1,
		};
	tasks->slots = slots;
	tasks->slot_count = count;
	return true;
}

int ibsa__sa_task_submit(struct sa_task *task, const struct sa_task_ops *ops,
			 struct sa_port *port, struct ib_sa_client *client)
{
	struct sa_tasks *tasks = &port->device->sa->tasks;
	struct sa_slot *slot;

	if (port->device->closing)
		return -ENODEV;
	if (tasks->free_id == tasks->slot_count && !ids_grow(tasks))
		return -ENOMEM;
	slot = &tasks->slots[tasks->free_id];
	slot->ticket = ticket_next(slot->ticket);
	slot->task = task;
	task->ops = ops;
	task->end.run = ops->end;
	list_init(&task->end.link);
	task->client = client;
	task->port = port;
	task->ticket = slot->ticket;
	task->id = tasks->free_id;
	atomic_init(&task->is_ended, false);
	tasks->free_id = slot->next_free;
	client->users++;
	ibsa__sa_start(port->device, task);
	return 0;
}

bool ibsa__sa_task_is_over(const struct sa_task *task)
{
	return task->is_ended || task->port->device->closing;
}

void ibsa__sa_task_enter(struct sa_task *task, bool is_last)
{
	struct ib_device *device = task->port->device;

	pthread_mutex_lock(&device->sa->lock);
	ibsa__sa_callback_enter(device);
	if (is_last) {
		task->is_ended = true;
		ibsa__sa_withdraw(device, &task->end);
	}
	pthread_mutex_unlock(&device->sa->lock);
}

void ibsa__sa_task_leave(struct sa_task *task, bool is_last)
{
	struct ib_device *device = task->port->device;

	device->has_told = true;
	if (is_last) {
		device->finished = task;
		return;
	}
	pthread_mutex_lock(&device->sa->lock);
	ibsa__sa_callback_leave(device);
	pthread_mutex_unlock(&device->sa->lock);
}

/*
 * Free the task and its id. An id for which all tickets were used is not used
 * again. With 32-bit pointers, that happens after four billion tasks with one
 * id.
 */
void ibsa__sa_task_free(struct sa_task *task)
{
	struct ibsa__sa *sa = task->port->device->sa;
	struct sa_slot *slot = &sa->tasks.slots[task->id];

	slot->task = NULL;
	if (slot->ticket != ibsa__sa_ticket_first(&sa->tasks, task->id)) {
		slot->next_free = sa->tasks.free_id;
		sa->tasks.free_id = task->id;
	}
	/*
	 * A thread that unregisters the client waits until @users is 1: only
	 * the registration itself is left.
	 */
	if (task->client && --task->client->users == 1)
		pthread_cond_broadcast(&sa->ended);
	task->ops->free(task);
}

/* @lock is held. */
static void task_end(struct sa_task *task)
{
	if (task->is_ended)
		return;
	task->is_ended = true;
	ibsa__sa_submit(task->port->device, &task->end);
}

/* Return: the task id that @ticket was last given for, or -1. @lock is held. */
static int ticket_find(const struct sa_tasks *tasks, uintptr_t ticket)
{
	for (uint32_t id = 0; id < tasks->slot_count; id++) {
		if (tasks->slots[id].ticket == ticket)
			return (int)id;
	}
	return -1;
}

void ibsa__sa_task_end(int id, uintptr_t ticket)
{
	struct ibsa__sa *sa = ibsa__sa_find();
	struct sa_task *task = NULL;

	if (!sa)
		return;
	pthread_mutex_lock(&sa->lock);
	if (id < 0)
		id = ticket_find(&sa->tasks, ticket);
	if (id >= 0 && (uint32_t)id < sa->tasks.slot_count)
		task = sa->tasks.slots[id].task;
	if (task && task->ticket == ticket)
		task_end(task);
	pthread_mutex_unlock(&sa->lock);
	ibsa__sa_put(sa);
}

void ibsa__sa_tasks_release(struct sa_tasks *tasks,
			    const struct ib_sa_client *client, bool forget)
{
	for (uint32_t id = 0; id < tasks->slot_count; id++) {
		struct sa_task *task = tasks->slots[id].task;

		if (!task || task->client != client)
			continue;
		if (task->ops->is_registration)
			task_end(task);
		if (forget)
			task->client = NULL;
	}
}

void ibsa__sa_tasks_cancel(struct ibsa__sa *sa,
			   const struct ib_sa_client *client)
{
	pthread_mutex_lock(&sa->lock);
	for (uint32_t id = 0; id < sa->tasks.slot_count; id++) {
		struct sa_task *task = sa->tasks.slots[id].task;

		if (task && task->client == client)
			task_end(task);
	}
	pthread_mutex_unlock(&sa->lock);
}

struct ib_device *ibsa__sa_tasks_take(const struct sa_tasks *tasks,
				      const struct ib_sa_client *client,
				      uint32_t *at)
{
	for (uint32_t i = 0; i < tasks->slot_count; i++) {
		const uint32_t id = (*at + i) % tasks->slot_count;
		const struct sa_task *task = tasks->slots[id].task;

		if (!task || task->client != client ||
		    !ibsa__sa_loop_take_idle(task->port->device))
			continue;
		*at = id;
		return task->port->device;
	}
	return NULL;
}
