/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tasks of the devices (queries, registrations, watches): their ids and
 * tickets, and how any thread ends them.
 */
#include <errno.h>

#include "base/alloc.h"
#include "ib_sa/state.h"

void ibsa__sa_tasks_init(struct sa_tasks *tasks, uintptr_t first_ticket)
{
	*tasks = (struct sa_tasks){ .first_ticket = first_ticket };
}

void ibsa__sa_tasks_done(struct sa_tasks *tasks)
{
	ibsa__free(tasks->slots);
	ibsa__free(tasks->tickets);
	ibsa__free(tasks->free_ids);
}

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

/*
 * Double the number of task ids. The lowest new id is on top of the stack of
 * free ids.
 */
static bool ids_grow(struct sa_tasks *tasks)
{
	const uint32_t count = tasks->slot_count ? 2 * tasks->slot_count : 64;
	struct sa_task **slots;
	uintptr_t *tickets;
	uint32_t *ids;

	if (count > INT32_MAX)
		return false;
	slots = ibsa__realloc(tasks->slots, count, sizeof(struct sa_task *));
	if (!slots)
		return false;
	tasks->slots = slots;
	tickets = ibsa__realloc(tasks->tickets, count, sizeof(*tickets));
	if (!tickets)
		return false;
	tasks->tickets = tickets;
	ids = ibsa__realloc(tasks->free_ids, count, sizeof(*ids));
	if (!ids)
		return false;
	tasks->free_ids = ids;
	for (uint32_t id = count; id-- > tasks->slot_count;) {
		slots[id] = NULL;
		tickets[id] = ibsa__sa_ticket_first(tasks, id);
		ids[tasks->free_count++] = id;
	}
	tasks->slot_count = count;
	return true;
}

void ibsa__sa_task_init(struct sa_task *task, const struct sa_task_ops *ops,
			struct sa_port *port, struct ib_sa_client *client)
{
	*task = (struct sa_task){
		.ops = ops,
		.start.run = ops->start,
		.end.run = ops->end,
		.port = port,
		.client = client,
	};
	list_init(&task->start.link);
	list_init(&task->end.link);
}

int ibsa__sa_task_submit(struct sa_task *task)
{
	struct ib_device *device = task->port->device;
	struct sa_tasks *tasks = &device->sa->tasks;

	if (device->closing)
		return -ENODEV;
	if (!tasks->free_count && !ids_grow(tasks))
		return -ENOMEM;
	task->id = tasks->free_ids[--tasks->free_count];
	task->ticket = ticket_next(tasks->tickets[task->id]);
	tasks->tickets[task->id] = task->ticket;
	tasks->slots[task->id] = task;
	task->client->users++;
	ibsa__sa_submit(device, &task->start);
	return 0;
}

bool ibsa__sa_task_is_over(const struct sa_task *task)
{
	struct ib_device *device = task->port->device;
	bool over;

	pthread_mutex_lock(&device->sa->lock);
	over = task->is_ended || device->closing;
	pthread_mutex_unlock(&device->sa->lock);
	return over;
}

void ibsa__sa_task_enter(struct sa_task *task, bool is_last)
{
	struct ib_device *device = task->port->device;

	pthread_mutex_lock(&device->sa->lock);
	if (is_last) {
		task->ticket = 0;
		ibsa__sa_withdraw(device, &task->end);
	}
	ibsa__sa_callback_enter(device);
	pthread_mutex_unlock(&device->sa->lock);
}

/*
 * Free a task and its id. An id for which all tickets were used is not used
 * again. With 32-bit pointers, that happens after four billion tasks with one
 * id.
 */
static void task_free(struct sa_tasks *tasks, struct sa_task *task)
{
	const uint32_t id = task->id;

	tasks->slots[id] = NULL;
	if (tasks->tickets[id] != ibsa__sa_ticket_first(tasks, id))
		tasks->free_ids[tasks->free_count++] = id;
	if (task->client)
		task->client->users--;
	task->ops->free(task);
}

void ibsa__sa_task_leave(struct sa_task *task, bool is_last)
{
	struct ib_device *device = task->port->device;
	struct ibsa__sa *sa = device->sa;

	pthread_mutex_lock(&sa->lock);
	ibsa__sa_callback_leave(device);
	if (is_last)
		task_free(&sa->tasks, task);
	pthread_mutex_unlock(&sa->lock);
}

/* @lock is held. */
static void task_end(struct sa_task *task)
{
	if (task->is_ended)
		return;
	task->is_ended = true;
	ibsa__sa_submit(task->port->device, &task->end);
}

/*
 * Return: the id of the task whose last ticket is @ticket, or -1. @lock is
 * held.
 */
static int ticket_find(const struct sa_tasks *tasks, uintptr_t ticket)
{
	for (uint32_t id = 0; id < tasks->slot_count; id++) {
		if (tasks->tickets[id] == ticket)
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
		task = sa->tasks.slots[id];
	if (ticket && task && task->ticket == ticket)
		task_end(task);
	pthread_mutex_unlock(&sa->lock);
	ibsa__sa_put(sa);
}

void ibsa__sa_tasks_release(struct sa_tasks *tasks,
			    const struct ib_sa_client *client, bool forget)
{
	for (uint32_t id = 0; id < tasks->slot_count; id++) {
		struct sa_task *task = tasks->slots[id];

		if (!task || task->client != client)
			continue;
		if (task->ops->is_registration)
			task_end(task);
		if (forget)
			task->client = NULL;
	}
}

struct ib_device *ibsa__sa_tasks_take(const struct sa_tasks *tasks,
				      const struct ib_sa_client *client,
				      uint32_t *at)
{
	for (uint32_t i = 0; i < tasks->slot_count; i++) {
		const uint32_t id = (*at + i) % tasks->slot_count;
		const struct sa_task *task = tasks->slots[id];

		if (!task || task->client != client ||
		    !ibsa__sa_loop_take_idle(task->port->device))
			continue;
		*at = id;
		return task->port->device;
	}
	return NULL;
}
