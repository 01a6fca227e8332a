/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The watches, registrations and memberships of stress.c, which end by
 * themselves, in a callback, by a call of another thread, or with their client
 * or device.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>

#include "stress.h"

enum { TASKS = 12, SERVICES = 3, GROUPS = 3 };

enum task_kind { WATCH, REGISTRATION, MEMBERSHIP, QUERY, TASK_KINDS };

/* What ends a task, unless another task or the client ends it first. */
enum task_end {
	BY_CLIENT,
	BY_THREAD,
	BY_FIRST_CALLBACK,
	TASK_ENDS,
};

struct task {
	struct tasks *tasks;
	enum task_kind kind;
	enum task_end end;
	uint64_t chance; /* random state of its callbacks */
	bool accepted;
	_Atomic(void *) handle; /* NULL until the call has returned */
	atomic_int id;
	atomic_bool over; /* its last callback has been called */
};

struct tasks {
	struct rig *rig;
	struct ib_device *device;
	struct ib_sa_client *client;
	/* One callback may unregister the client. */
	atomic_bool client_is_offered;
	struct task tasks[TASKS];
};

static void count(const struct task *task, enum task_count what)
{
	atomic_fetch_add(&task->tasks->rig->task_counts[what], 1);
}

static void task_stop(struct task *task)
{
	void *handle = atomic_load(&task->handle);

	if (task->kind == WATCH)
		ibsa_device_watch_stop(handle);
	if (task->kind == REGISTRATION)
		ibsa_service_rec_release(handle);
	if (task->kind == QUERY)
		ib_sa_cancel_query(atomic_load(&task->id), handle);
}

/* A callback of @task: it may end any task, or unregister the client. */
static void task_called(struct task *task, bool is_last)
{
	struct tasks *tasks = task->tasks;
	const bool was_over = is_last ? atomic_exchange(&task->over, true)
				      : atomic_load(&task->over);

	if (was_over)
		report_wrong(tasks->rig,
			     "a callback of kind %d after the last one",
			     (int)task->kind);
	if (task->end == BY_FIRST_CALLBACK)
		task_stop(task);
	if (!random_below(&task->chance, 4))
		task_stop(&tasks->tasks[random_below(&task->chance, TASKS)]);
	if (!atomic_exchange(&tasks->client_is_offered, false))
		return;
	ib_sa_unregister_client(tasks->client);
	count(task, UNREGISTERED_IN_CALLBACK);
}

static void watch_called(const struct ibsa_event *event, void *arg)
{
	struct task *task = arg;
	const bool is_last = event->kind == IBSA_EVENT_ENDED;

	if (is_last)
		count(task, event->err == -EBUSY ? WATCH_BUSY : WATCH_ENDED);
	else
		count(task, WATCH_EVENT);
	task_called(task, is_last);
}

static void registration_called(const struct ibsa_registration_report *report,
				void *arg)
{
	struct task *task = arg;
	const bool is_last = report->event == IBSA_REGISTRATION_RELEASED;

	if (is_last)
		count(task, report->err == -EEXIST ? SERVICE_EXISTS
						   : SERVICE_RELEASED);
	else
		count(task, SERVICE_EVENT);
	task_called(task, is_last);
}

static int membership_called(int status, struct ib_sa_multicast *multicast)
{
	struct task *task = multicast->context;
	const bool frees = task->end == BY_FIRST_CALLBACK;

	count(task, status ? JOIN_FAILED : JOINED);
	task_called(task, frees);
	if (!frees)
		return 0;
	if (random_below(&task->chance, 2))
		return 1;
	ib_sa_free_multicast(multicast);
	return 0;
}

static void query_called(int status, struct sa_path_rec *resp, void *context)
{
	struct task *task = context;

	(void)resp;
	count(task, status == -EINTR ? QUERY_CANCELLED : QUERY_ENDED);
	task_called(task, true);
}

static int registration_start(struct task *task, uint8_t port, uint64_t *chance,
			      struct ibsa_rec_registration **out)
{
	const struct ib_sa_service_rec rec = {
		.id = htobe64(1 + random_below(chance, SERVICES)),
	};

	return ibsa_service_rec_register(task->tasks->client,
					 task->tasks->device, port, &rec,
					 IB_SA_SERVICE_REC_SERVICE_ID,
					 registration_called, task, out);
}

static int membership_start(struct task *task,
			    const struct ibsa_fabric_port *host,
			    uint64_t *chance, void **out)
{
	struct ib_sa_mcmember_rec rec = {
		.mgid.raw = { 0xff, 0x12,
			      [15] = (uint8_t)random_below(chance, GROUPS) },
		.port_gid.global.subnet_prefix = htobe64(PREFIX),
		.port_gid.global.interface_id = htobe64(host->guid),
		.qkey = htobe32(1),
		.pkey = htobe16(0xffff),
		.join_state = (uint8_t)(1 << random_below(chance, 3)),
	};

	*out = ib_sa_join_multicast(
		task->tasks->client, task->tasks->device, (uint8_t)host->number,
		&rec,
		IB_SA_MCMEMBER_REC_MGID | IB_SA_MCMEMBER_REC_PORT_GID |
			IB_SA_MCMEMBER_REC_JOIN_STATE |
			IB_SA_MCMEMBER_REC_QKEY | IB_SA_MCMEMBER_REC_PKEY |
			IB_SA_MCMEMBER_REC_TRAFFIC_CLASS |
			IB_SA_MCMEMBER_REC_SL | IB_SA_MCMEMBER_REC_FLOW_LABEL,
		0, membership_called, task);
	return ibsa_is_err(*out) ? (int)(intptr_t)*out : 0;
}

static int path_start(struct task *task, uint8_t port, uint64_t *chance,
		      struct ib_sa_query **out)
{
	struct sa_path_rec rec = {
		.ib.slid = htobe16(1),
		.ib.dlid = htobe16((uint16_t)(1 + random_below(chance, HOSTS))),
	};

	return ib_sa_path_rec_get(task->tasks->client, task->tasks->device,
				  port, &rec,
				  IB_SA_PATH_REC_SLID | IB_SA_PATH_REC_DLID,
				  random_below(chance, 200), 0, query_called,
				  task, out);
}

static int task_begin(struct task *task, const struct ibsa_fabric_port *host,
		      uint64_t *chance, void **out)
{
	const uint8_t port = (uint8_t)host->number;
	struct ibsa_rec_registration *registration = NULL;
	struct ibsa_device_watch *watch = NULL;
	struct ib_sa_query *query = NULL;
	int err;

	switch (task->kind) {
	case WATCH:
		err = ibsa_device_watch_start(task->tasks->client,
					      task->tasks->device, port, NULL,
					      watch_called, task, &watch);
		*out = watch;
		return err;
	case REGISTRATION:
		err = registration_start(task, port, chance, &registration);
		*out = registration;
		return err;
	case MEMBERSHIP:
		return membership_start(task, host, chance, out);
	default:
		err = path_start(task, port, chance, &query);
		*out = query;
		return err;
	}
}

static void task_start(struct task *task, const struct ibsa_fabric_port *host,
		       uint64_t *chance)
{
	void *handle = NULL;
	int id;

	id = task_begin(task, host, chance, &handle);
	task->accepted = id >= 0;
	if (task->accepted) {
		atomic_store(&task->id, id);
		atomic_store(&task->handle, handle);
	} else if (id != -EAGAIN) {
		report_wrong(task->tasks->rig, "kind %d: start %d",
			     (int)task->kind, id);
	}
}

static struct tasks *tasks_start(struct rig *rig, struct ib_device *device,
				 const struct ibsa_fabric_port *host,
				 struct ib_sa_client *client, uint64_t *chance)
{
	struct tasks *tasks = calloc(1, sizeof(*tasks));

	tasks->rig = rig;
	tasks->device = device;
	tasks->client = client;
	for (size_t i = 0; i < TASKS; i++) {
		struct task *task = &tasks->tasks[i];

		task->tasks = tasks;
		task->kind = random_below(chance, TASK_KINDS);
		task->end = random_below(chance, TASK_ENDS);
		task->chance = random_next(chance);
	}
	for (size_t i = 0; i < TASKS; i++)
		task_start(&tasks->tasks[i], host, chance);
	return tasks;
}

static void tasks_end_some(struct tasks *tasks)
{
	for (size_t i = 0; i < TASKS; i++) {
		struct task *task = &tasks->tasks[i];

		if (!task->accepted || task->end != BY_THREAD)
			continue;
		task_stop(task);
		if (task->kind != MEMBERSHIP)
			continue;
		ib_sa_free_multicast(atomic_load(&task->handle));
		atomic_store(&task->over, true);
	}
}

/* No callback may come any more: check that all tasks have ended. */
static void tasks_finish(struct tasks *tasks)
{
	for (size_t i = 0; i < TASKS; i++) {
		const struct task *task = &tasks->tasks[i];

		if (task->accepted && task->kind != MEMBERSHIP &&
		    !atomic_load(&task->over))
			report_wrong(tasks->rig, "kind %d has not ended",
				     (int)task->kind);
	}
	free(tasks);
}

/* Unregister a client at once, or after a callback has had time to do it. */
static void tasks_unregister(struct tasks *tasks, struct ib_sa_client *client,
			     uint64_t *chance)
{
	atomic_store(&tasks->client_is_offered, true);
	nap_ms(random_below(chance, 3));
	if (atomic_exchange(&tasks->client_is_offered, false))
		ib_sa_unregister_client(client);
}

/*
 * The device of a life of tasks: the run's, one of its own, or one of a second
 * fabric, which the threads share and the last of them closes.
 */
enum task_device { RUNS, OWN, SHARED };

static struct ib_device *task_device_open(struct rig *rig,
					  enum task_device which,
					  unsigned int host, uint64_t *chance)
{
	struct device own = { 0 };
	int err;

	if (which == RUNS)
		return rig->devices[host].ib;
	if (which == OWN)
		err = open_device(rig, &own, host, random_below(chance, 2));
	else
		err = ibsa_ib_device_get(rig->hosts[host].node, &own.ib);
	if (err)
		report_wrong(rig, "a device does not open: %d", err);
	return own.ib;
}

void tasks_life(struct rig *rig, uint64_t *chance)
{
	const enum task_device which = random_below(chance, 3);
	const unsigned int host = random_below(chance, which ? HOSTS : 2);
	const bool put_first = which == OWN && random_below(chance, 2);
	struct ib_device *device = task_device_open(rig, which, host, chance);
	struct ib_sa_client client;
	struct tasks *tasks;

	ib_sa_register_client(&client);
	tasks = tasks_start(rig, device, &rig->hosts[host], &client, chance);
	nap_ms(random_below(chance, 3));
	tasks_end_some(tasks);
	if (put_first)
		ibsa_ib_device_put(device);
	if (which == OWN && !put_first)
		tasks_unregister(tasks, &client, chance);
	else
		ib_sa_unregister_client(&client);
	if (which != OWN)
		tasks_finish(tasks);
	if (which != RUNS && !put_first)
		ibsa_ib_device_put(device);
	if (which == OWN)
		tasks_finish(tasks);
}
