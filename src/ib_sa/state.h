/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the source files of ib_sa share. One lock guards all that several
 * threads use. It is held for short sections, without calls out of the library
 * and without system calls except a wake-up. "Dispatcher" marks what only the
 * thread that dispatches the device may use.
 */
#ifndef IB_SA_STATE_H
#define IB_SA_STATE_H

#include <pthread.h>

#include <ibsa/ib_sa.h>

#include "base/environment.h"
#include "base/hash.h"
#include "base/list.h"
#include "base/pool.h"
#include "device/files.h"
#include "engine/engine.h"
#include "registration/registration.h"

/* Maximum of queries at one port; more are refused with -ENOBUFS. */
enum { PORT_QUERIES_MAX = 1 << 20, DEVICE_PORTS = 256 };

/* Times of the requests that the kernel sends by itself, too. */
enum { SA_TOTAL_MS = 3000, SA_FIRST_INTERVAL_MS = 300 };

/* A task for the dispatcher of a device. */
struct sa_job {
	struct list link;
	void (*run)(struct sa_job *job);
};

struct sa_task;

/* What differs between tasks. */
struct sa_task_ops {
	void (*start)(struct sa_job *job);
	void (*end)(struct sa_job *job);
	/* After the last callback, with @lock held. */
	void (*free)(struct sa_task *task);
	bool is_registration; /* ended when its client unregisters */
};

/*
 * A task is what a program starts at a port and gets callbacks from: a query,
 * the registration of a service, or a watch of events. Programs refer to it by
 * its ticket, so that a late end has no effect. A task is the first member of
 * its struct.
 */
struct sa_task {
	struct sa_job start;
	struct sa_job end;
	const struct sa_task_ops *ops;
	struct ib_sa_client *client; /* NULL: it has unregistered */
	struct sa_port *port;
	uintptr_t ticket; /* 0: its last callback runs */
	uint32_t id;
	bool is_ended; /* the program has cancelled or released it */
};

struct sa_tasks {
	struct sa_task **slots; /* by id; NULL: free */
	uintptr_t *tickets;	/* by id: its last ticket */
	uint32_t *free_ids;	/* a stack */
	uint32_t free_count;
	uint32_t slot_count;
	uintptr_t first_ticket;
};

/* The single object of a process: its clients, queries and devices. */
struct ibsa__sa {
	unsigned int process; /* as ibsa__process() was at its creation */
	pthread_mutex_t lock;
	pthread_cond_t ended; /* a query, or dispatching */
	struct list devices;
	struct list members; /* of multicast groups */
	uint32_t member_count;
	struct pool queries;
	struct sa_tasks tasks;
};

/*
 * ClassPortInfo of an OPA port's manager, in the OPA form; and, for the
 * dispatcher, the state of its query.
 */
struct sa_cpi {
	bool is_valid;
	/* Calls wait for the first reply until then; 0: no longer. */
	uint64_t awaited_ns;
	uint32_t capability_mask2;
	struct ibsa__alarm again;
	uint64_t asked; /* the engine's id; 0: no query in flight */
	unsigned int retries;
};

/* Port events, as the kernel has them. */
enum sa_event {
	SA_PORT_ERR = 1,
	SA_PORT_ACTIVE = 2,
	SA_LID_CHANGE = 4,
	SA_SM_CHANGE = 8,
	SA_PKEY_CHANGE = 16,
	SA_CLIENT_REREGISTER = 32,
};

struct sa_port {
	struct sa_job refresh; /* reads the port's state again */
	struct ib_device *device;
	/* Used by the dispatcher, but for calls that any thread may make. */
	struct ibsa_client *client;
	struct ibsa_port_state state; /* as the dispatcher last read it */
	struct sa_cpi cpi;
	struct list groups;			/* multicast groups */
	struct hash mgids;			/* those with a known MGID */
	struct ibsa__registrations memberships; /* used by the dispatcher */
	uint32_t queries;			/* that have not ended */
	uint8_t number;
};

struct ib_device {
	struct ibsa__sa *sa;
	struct list link; /* in ibsa__sa.devices */
	char *name;
	struct ibsa_fabric *fabric; /* a reference for its ports; or NULL */
	/* From the time of opening; ports are opened later. */
	struct ibsa__environment *environment;
	/*
	 * The files of a device of this machine. NULL: the device is in a
	 * fabric, and a port must be opened before its state can be read.
	 */
	struct device_files *files;
	struct ibsa_device_options options;
	struct ibsa_address sa_address; /* target of options.access.sa */
	unsigned int users;
	bool is_shared; /* found by ibsa_device_get() */
	bool closing;
	struct list jobs;
	unsigned int job_count;
	pthread_mutex_t opening;	     /* held while a port is opened */
	struct sa_port *ports[DEVICE_PORTS]; /* in the order of opening */
	unsigned int port_count;
	/* For waiting. */
	int epoll_fd; /* contains all ports and wake_fd */
	int wake_fd;
	bool is_pollable; /* all ports could be added to epoll_fd */
	bool is_waiting;
	struct ibsa_client *waiting_on; /* or NULL: waiting on epoll_fd */
	/* For dispatching. */
	pthread_t thread;
	bool has_worker;
	bool frees_itself; /* the worker is detached and frees the device */
	bool is_dispatching;
	/* A program that polls must be woken after dispatching. */
	bool is_missed;
	bool in_callback;
	bool has_told; /* dispatcher: a callback has run since it was cleared */
	pthread_t dispatcher;
	/* dispatcher: the reply of the current callback. */
	const struct ibsa_reply *reply;
};

struct sa_query;

/* Calls the callback of one kind of query, in the dispatcher. */
typedef void (*sa_tell_fn)(struct sa_query *query, int status,
			   const struct ibsa_reply *reply);

struct sa_query {
	struct sa_task task;
	uint64_t engine_id; /* 0: not started */
	/*
	 * Sent in the IB form because the manager does not support the OPA
	 * form.
	 */
	bool was_opa;
	uint8_t method;
	const struct ibsa_record *record;
	uint64_t mask;
	unsigned int timeout_ms;
	sa_tell_fn tell;
	void (*callback)(void); /* of the type that @tell needs */
	void *context;
	union {
		struct ibsa_path path;
		struct ibsa_opa_path opa_path;
		struct ibsa_service service;
		struct ibsa_mcmember mcmember;
		struct ibsa_guid_info guid_info;
	} match;
};

/*
 * process.c: the object of the process. The caller puts it. Return: NULL if
 * memory is short; of find, if there is none.
 */
struct ibsa__sa *ibsa__sa_get(void);
struct ibsa__sa *ibsa__sa_find(void);
void ibsa__sa_put(struct ibsa__sa *sa);

/*
 * Whether the object belongs to this process. A forked child must not use its
 * parent's: the lock may be held, and the worker threads do not exist.
 */
bool ibsa__sa_is_ours(const struct ibsa__sa *sa);

/* task.c. */
void ibsa__sa_tasks_init(struct sa_tasks *tasks, uintptr_t first_ticket);
void ibsa__sa_tasks_done(struct sa_tasks *tasks);

/* The initial ticket of an id. Never 0. */
uintptr_t ibsa__sa_ticket_first(const struct sa_tasks *tasks, uint32_t id);

void ibsa__sa_task_init(struct sa_task *task, const struct sa_task_ops *ops,
			struct sa_port *port, struct ib_sa_client *client);

/*
 * Assign an id and a ticket, and have the dispatcher run @start, and later @end
 * if the program ends the task before its last callback. @lock is held. Return:
 * 0; -ENODEV the device is closing; -ENOMEM.
 */
int ibsa__sa_task_submit(struct sa_task *task) IBSA_MUST_USE;

/* Whether it was ended, or its device closed, before its start. */
bool ibsa__sa_task_is_over(const struct sa_task *task);

/* Called before and after each callback. The last one frees the task. */
void ibsa__sa_task_enter(struct sa_task *task, bool is_last);
void ibsa__sa_task_leave(struct sa_task *task, bool is_last);

/*
 * End the task with that ticket, if it exists. @id: below 0 for a registration
 * or watch, whose id the program does not have. Any thread.
 */
void ibsa__sa_task_end(int id, uintptr_t ticket);

/*
 * For process.c, when a client unregisters. @lock is held.
 *
 * _release ends the client's registrations; if @forget is set, all tasks go on
 * without the client. _take takes over dispatching a device of one of its
 * tasks, if that has no worker and is not being dispatched; else NULL. The
 * search begins at slot *@at, where the last call found a task: most searches
 * among very many tasks then end at once.
 */
void ibsa__sa_tasks_release(struct sa_tasks *tasks,
			    const struct ib_sa_client *client, bool forget);
struct ib_device *ibsa__sa_tasks_take(const struct sa_tasks *tasks,
				      const struct ib_sa_client *client,
				      uint32_t *at);

/* device.c. */
void ibsa__sa_device_free(struct ib_device *device);

/*
 * port.c. Get the open port; open it if needed. Return: 0; -ENODEV no such
 * port; -EAGAIN it is down; -EOPNOTSUPP; -ENOMEM; or the error of opening it.
 */
int ibsa__sa_port_open(struct ib_device *device, uint8_t number,
		       struct sa_port **out) IBSA_MUST_USE;

/* The port if it is open, or NULL. */
struct sa_port *ibsa__sa_port_find(struct ib_device *device, uint8_t number);

/*
 * Open a port as @options say, without adding it to the device. Return: 0;
 * -EAGAIN; -ENOMEM; or the error of opening it.
 */
int ibsa__sa_port_new(struct ib_device *device,
		      const struct ibsa_options *options,
		      struct sa_port **out) IBSA_MUST_USE;

/* Close and free a port that is not in the device's list. */
void ibsa__sa_port_free(struct sa_port *port);

/*
 * ah.c: read the state of a port, which need not be open or up. Return: 0;
 * -EAGAIN it is in a fabric and has no link; or the error of reading it.
 */
int ibsa__sa_port_state(struct ib_device *device, uint8_t port_num,
			struct ibsa_port_state *out) IBSA_MUST_USE;

/* The options for opening the device's ports. */
struct ibsa_options ibsa__sa_client_options(const struct ib_device *device);

/*
 * cpi.c: query the ClassPortInfo of an OPA port's manager, and wait for the
 * reply if no other thread receives it; and update it after events. Dispatcher.
 */
void ibsa__sa_cpi_open(struct sa_port *port);
void ibsa__sa_cpi_event(struct sa_port *port, unsigned int events);

/*
 * Wait until the first query has ended, unless inside a callback. @lock is
 * held.
 */
void ibsa__sa_cpi_await(struct sa_port *port);

/* groups.c: initialise the list of multicast groups. Return: 0; -ENOMEM. */
int ibsa__mc_groups_init(struct sa_port *port) IBSA_MUST_USE;
/* The port has changed, with these @events. Dispatcher. */
void ibsa__mc_groups_event(struct sa_port *port, unsigned int events,
			   unsigned int changes,
			   const struct ibsa_port_state *now);

/*
 * Before the port closes, send leave requests without waiting; then tell the
 * members, and free the groups. Dispatcher.
 */
void ibsa__mc_groups_leave(struct sa_port *port);
void ibsa__mc_groups_done(struct sa_port *port);

/*
 * multicast.c: end the memberships of a client that unregisters. @lock is held.
 */
void ibsa__mc_members_end(struct ibsa__sa *sa, struct ib_sa_client *client);

/* loop.c: the dispatcher. */
int ibsa__sa_loop_init(struct ib_device *device) IBSA_MUST_USE;
void ibsa__sa_loop_done(struct ib_device *device);

/*
 * Add a port that was opened, and start the worker. @lock is held. Return: 0;
 * -ENODEV the device is closing; -EOPNOTSUPP; -ENOMEM.
 */
int ibsa__sa_loop_add(struct ib_device *device,
		      struct sa_port *port) IBSA_MUST_USE;

/* Schedule @job for the dispatcher, unless it is scheduled. @lock is held. */
void ibsa__sa_submit(struct ib_device *device, struct sa_job *job);

/* Remove @job from the schedule, if it is there. @lock is held. */
void ibsa__sa_withdraw(struct ib_device *device, struct sa_job *job);

/* Called before and after each callback, to note its thread. @lock is held. */
void ibsa__sa_callback_enter(struct ib_device *device);
void ibsa__sa_callback_leave(struct ib_device *device);

/*
 * Whether the device has no worker, is not closing, and is not being
 * dispatched; and if so, take over dispatching it. @lock is held. Return:
 * false: it is not.
 */
bool ibsa__sa_loop_is_idle(const struct ib_device *device);
bool ibsa__sa_loop_take_idle(struct ib_device *device);

/* Wait and dispatch, then stop dispatching. */
int ibsa__sa_loop_wait(struct ib_device *device, int timeout_ms);

/*
 * End everything on the device and free it; inside a callback, after its
 * return.
 */
void ibsa__sa_loop_end(struct ib_device *device);

/* Whether this thread runs a callback of any device. @lock is held. */
bool ibsa__sa_in_callback(const struct ibsa__sa *sa);

/* query.c: the status for callbacks. */
int ibsa__sa_status(const struct ibsa_reply *reply);

/* Call the callback of a query that has ended, and free the query. */
void ibsa__sa_query_end(struct sa_query *query, int status,
			const struct ibsa_reply *reply);

#endif
