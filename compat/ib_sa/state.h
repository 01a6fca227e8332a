/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Types and functions shared by the source files of compat/ib_sa. One lock,
 * @lock of struct ibsa__sa, guards all data that several threads use. The lock
 * is held for short times only, never during a call out of the library or a
 * system call other than a wake-up. The dispatcher is the thread that
 * dispatches a device; "Dispatcher" marks what only this thread may use.
 */
#ifndef IB_SA_STATE_H
#define IB_SA_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include <ibsa/ib_sa.h>

#include "base/environment.h"
#include "base/hash.h"
#include "base/list.h"
#include "base/pool.h"
#include "device/files.h"
#include "engine/engine.h"
#include "ib_sa/device.h"
#include "registration/registration.h"

/*
 * Maximum number of queries that have not ended at one port; further ones are
 * refused with -ENOBUFS.
 */
enum { PORT_QUERIES_MAX = 1 << 20, DEVICE_PORTS = 256 };

/*
 * Total time and first retry interval, in ms, of those SA requests that the
 * kernel also sends on its own behalf.
 */
enum { SA_TOTAL_MS = 3000, SA_FIRST_INTERVAL_MS = 300 };

/* A function that another thread queues for the dispatcher of a device. */
struct sa_job {
	struct list link;
	void (*run)(struct sa_job *job);
};

struct sa_task;

/* The functions that differ between the kinds of tasks. */
struct sa_task_ops {
	void (*start)(struct sa_task *task); /* without @lock */
	void (*end)(struct sa_job *job);
	/* Called with @lock held, after the last callback of the task. */
	void (*free)(struct sa_task *task);
	bool is_registration; /* the task ends when its client unregisters */
};

/*
 * A task is what a program starts at a port and gets callbacks from: a query,
 * a service registration, or a watch for events. Programs refer to a task by
 * its ticket; ending a ticket whose task no longer exists has no effect.
 * struct sa_task is the first member of each kind of task.
 */
struct sa_task {
	/* In the device's list @starts until the dispatcher starts the task. */
	struct list link;
	struct sa_job end;
	const struct sa_task_ops *ops;
	struct ib_sa_client *client; /* NULL: it has unregistered */
	struct sa_port *port;
	uintptr_t ticket;
	uint32_t id;
	/*
	 * The program has cancelled or released the task, or the last callback
	 * of the task has begun: @end is not queued again.
	 */
	atomic_bool is_ended;
};

/* The slot of an id. The slot has a task, or is in the list of free slots. */
struct sa_slot {
	struct sa_task *task; /* NULL: the id is free */
	uintptr_t ticket;     /* the last ticket of the id */
	uint32_t next_free;
};

struct sa_tasks {
	struct sa_slot *slots; /* by id */
	uint32_t slot_count;
	/*
	 * The first slot in the list of free slots; @slot_count: no slot is
	 * free.
	 */
	uint32_t free_id;
	uintptr_t first_ticket;
};

/* The process-wide object: its lock, devices, queries and multicast members. */
struct ibsa__sa {
	/* value of ibsa__process() when the object was created */
	unsigned int process;
	pthread_mutex_t lock;
	pthread_cond_t ended; /* a query, or dispatching */
	struct list devices;
	struct list members; /* of multicast groups */
	uint32_t member_count;
	struct pool queries;
	struct sa_tasks tasks;
};

/*
 * The ClassPortInfo of an OPA port's manager, in the OPA form, and the state
 * of the query for it, which only the dispatcher uses.
 */
struct sa_cpi {
	bool is_valid;
	/*
	 * Time (ns of the monotonic clock) until which calls wait for the
	 * first ClassPortInfo; 0: calls do not wait any more.
	 */
	uint64_t awaited_ns;
	uint32_t capability_mask2;
	struct ibsa__alarm again;
	/*
	 * Engine id of the ClassPortInfo query in flight; 0: no query is in
	 * flight.
	 */
	uint64_t asked;
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
	/*
	 * The port's SA client. Only the dispatcher uses it, except for
	 * functions that any thread may call.
	 */
	struct ibsa_client *client;
	struct ibsa_port_state state; /* as the dispatcher last read it */
	/*
	 * The port can have an SA: its link layer has one, or the program's
	 * options contain the SA's address.
	 */
	atomic_bool may_have_sa;
	/* the port's state has the address of the SA, so queries can be sent */
	bool is_sa_known;
	struct sa_cpi cpi;
	struct list groups;			/* multicast groups */
	struct hash mgids;			/* those with a known MGID */
	struct ibsa__registrations memberships; /* used by the dispatcher */
	uint32_t queries;			/* that have not ended */
	uint8_t number;
};

struct ib_device {
	struct ibsa__sa *sa;
	struct list link;	    /* in ibsa__sa.devices */
	char *name;		    /* in a fabric, the node id */
	struct ibsa_fabric *fabric; /* a reference for its ports; or NULL */
	/*
	 * Copy of the environment variables when the device was opened. The
	 * copy is used again when ports of the device are opened later.
	 */
	struct ibsa__environment *environment;
	/*
	 * The sysfs files of a device of this machine. NULL: the device is in
	 * a fabric, and a port must be opened before its state can be read.
	 */
	struct device_files *files;
	struct ibsa_ib_device_options options;
	struct ibsa_address sa_address; /* target of options.access.sa */
	unsigned int users;
	enum sa_users sharing;
	/* the program passed a verbs context when it opened the device */
	bool has_context;
	atomic_bool closing;
	struct list starts; /* tasks that the dispatcher will start */
	struct list jobs;
	unsigned int job_count;
	pthread_mutex_t opening; /* held while a port is opened */
	/*
	 * Open ports, in the order of opening. Ports are added with @lock, and
	 * read without it.
	 */
	struct sa_port *ports[DEVICE_PORTS];
	atomic_uint port_count;
	/* For waiting. */
	/* contains wake_fd and the fds of the ports; see ports_watch() */
	int epoll_fd;
	int wake_fd;
	bool is_pollable; /* all ports could be added to epoll_fd */
	bool is_waiting;
	struct ibsa_client *waiting_on; /* or NULL: waiting on epoll_fd */
	/* For dispatching. */
	pthread_t thread;
	bool has_worker;
	/* The worker thread is detached, and frees the device when it ends. */
	bool frees_itself;
	bool is_dispatching;
	/*
	 * When the current dispatching ends, a program that polls the device
	 * must be woken, because its timeout may have changed.
	 */
	bool is_missed;
	/*
	 * The dispatcher runs a callback, or has run one since it last held
	 * @lock.
	 */
	bool in_callback;
	/*
	 * The task whose last callback has returned since the dispatcher last
	 * held @lock. Only the dispatcher uses it.
	 */
	struct sa_task *finished;
	/*
	 * A callback has run since the dispatcher last set this flag to false.
	 */
	bool has_told;
	pthread_t dispatcher;
	/* For the dispatcher: the reply whose callback is running. */
	const struct ibsa_reply *reply;
};

struct sa_query;

/*
 * Calls the program's callback for one type of query. The function runs in the
 * dispatcher.
 */
typedef void (*sa_tell_fn)(struct sa_query *query, int status,
			   const struct ibsa_reply *reply);

struct sa_query {
	struct sa_task task;
	uint64_t engine_id; /* 0: not started */
	struct ibsa_query query;
	sa_tell_fn tell;
	void (*callback)(void);
	void *context;
	bool was_opa;
	union {
		struct ibsa_path path;
		struct ibsa_opa_path opa_path;
		struct ibsa_service service;
		struct ibsa_mcmember mcmember;
		struct ibsa_guid_info guid_info;
	} match;
};

/*
 * process.c. ibsa__sa_get() and ibsa__sa_find() return a reference to the
 * process-wide object, which the caller puts. ibsa__sa_get() creates the object
 * if it does not exist, and returns NULL if memory is short. ibsa__sa_find()
 * returns NULL if the object does not exist.
 */
struct ibsa__sa *ibsa__sa_get(void);
struct ibsa__sa *ibsa__sa_find(void);
void ibsa__sa_put(struct ibsa__sa *sa);

/*
 * Whether the process-wide object belongs to this process. A forked child must
 * not use the object of its parent: the lock may be held, and the worker
 * threads do not exist in the child.
 */
bool ibsa__sa_is_ours(const struct ibsa__sa *sa);

/* task.c. */

/* Return: the first ticket for tasks with the id @id; never 0. */
uintptr_t ibsa__sa_ticket_first(const struct sa_tasks *tasks, uint32_t id);

/*
 * Initialise @task, assign an id and a ticket to it, and queue its start for
 * the dispatcher; the dispatcher ends it later if the program ends the task
 * before its last callback. @lock is held. Return: 0; -ENODEV the device is
 * closing; -ENOMEM.
 */
int ibsa__sa_task_submit(struct sa_task *task, const struct sa_task_ops *ops,
			 struct sa_port *port,
			 struct ib_sa_client *client) IBSA_MUST_USE;

/*
 * Whether, before the start of @task ran, the program ended the task or its
 * device was closed.
 */
bool ibsa__sa_task_is_over(const struct sa_task *task);

/*
 * ibsa__sa_task_enter() is called before, ibsa__sa_task_leave() after each
 * callback of a task. If @is_last is set, the task is freed when the dispatcher
 * holds @lock next: before it calls another callback, and before it waits.
 */
void ibsa__sa_task_enter(struct sa_task *task, bool is_last);
void ibsa__sa_task_leave(struct sa_task *task, bool is_last);

/* Free a task after its last callback. @lock is held. */
void ibsa__sa_task_free(struct sa_task *task);

/*
 * End the task with this ticket, if it exists. @id: the task's id; below 0 for
 * a registration or watch, whose id the program does not have. Any thread may
 * call this.
 */
void ibsa__sa_task_end(int id, uintptr_t ticket);

/* End all tasks of @client, queries included. */
void ibsa__sa_tasks_cancel(struct ibsa__sa *sa,
			   const struct ib_sa_client *client);

/*
 * ibsa__sa_tasks_release() and ibsa__sa_tasks_take() are for process.c, when a
 * client unregisters. @lock is held.
 *
 * ibsa__sa_tasks_release() ends the client's registrations; if @forget is set,
 * all its tasks continue without the client. ibsa__sa_tasks_take() finds a
 * device with a task of @client that no worker and no other thread dispatches,
 * and makes this thread its dispatcher; it returns NULL if there is no such
 * device. The search begins at slot *@at, where the previous call found a
 * task, so that it is short even among very many tasks.
 */
void ibsa__sa_tasks_release(struct sa_tasks *tasks,
			    const struct ib_sa_client *client, bool forget);
struct ib_device *ibsa__sa_tasks_take(const struct sa_tasks *tasks,
				      const struct ib_sa_client *client,
				      uint32_t *at);

/* device.c. */
void ibsa__sa_device_free(struct ib_device *device);

/*
 * port.c. Return in *@out the port @number of the device; open it if it is not
 * open. Return: 0; -ENODEV no such port; -EAGAIN the port is down; -EOPNOTSUPP
 * the port has no SA; -ENOMEM; or the error from opening the port.
 */
int ibsa__sa_port_open(struct ib_device *device, uint8_t number,
		       struct sa_port **out) IBSA_MUST_USE;

/* Return: the port @number of the device if it is open, otherwise NULL. */
struct sa_port *ibsa__sa_port_find(struct ib_device *device, uint8_t number);

/*
 * Open a port with @options, without adding it to the device's list of ports.
 * Return: 0; -EAGAIN the port is down; -ENOMEM; or the error from opening it.
 */
int ibsa__sa_port_new(struct ib_device *device,
		      const struct ibsa_options *options,
		      struct sa_port **out) IBSA_MUST_USE;

/* Close and free a port that is not in its device's list of ports. */
void ibsa__sa_port_free(struct sa_port *port);

/*
 * ah.c. Read the state of a port, which need not be open or active. Return: 0;
 * -EAGAIN the port is in a fabric and has no link; or the error from reading
 * it.
 */
int ibsa__sa_port_state(struct ib_device *device, uint8_t port_num,
			struct ibsa_port_state *out) IBSA_MUST_USE;

/* Return: the options with which the device's ports are opened. */
struct ibsa_options ibsa__sa_client_options(const struct ib_device *device);

/*
 * cpi.c. ibsa__sa_cpi_open() queries the ClassPortInfo of an OPA port's
 * manager, and waits for the reply if no other thread receives it.
 * ibsa__sa_cpi_event() queries it again after events that may bring a new
 * manager. Only the dispatcher calls them.
 */
void ibsa__sa_cpi_open(struct sa_port *port);
void ibsa__sa_cpi_event(struct sa_port *port, unsigned int events);

/*
 * Wait until the first query for the ClassPortInfo has ended. Within a
 * callback, return at once. @lock is held.
 */
void ibsa__sa_cpi_await(struct sa_port *port);

/*
 * groups.c. Initialise the port's list of multicast groups. Return: 0;
 * -ENOMEM.
 */
int ibsa__mc_groups_init(struct sa_port *port) IBSA_MUST_USE;
/*
 * Handle a change of the port in its multicast groups: @events are its port
 * events, @changes the bits of its watch, @now its new state. Only the
 * dispatcher calls this.
 */
void ibsa__mc_groups_event(struct sa_port *port, unsigned int events,
			   unsigned int changes,
			   const struct ibsa_port_state *now);

/*
 * ibsa__mc_groups_leave(): before the port closes, send a leave request for
 * each multicast group, and do not wait for replies. ibsa__mc_groups_done():
 * report the end to the members, and free the groups. Only the dispatcher
 * calls them.
 */
void ibsa__mc_groups_leave(struct sa_port *port);
void ibsa__mc_groups_done(struct sa_port *port);

/*
 * multicast.c. End the memberships of the client @client, which unregisters.
 * @lock is held.
 */
void ibsa__mc_members_end(struct ibsa__sa *sa, struct ib_sa_client *client);

/* loop.c: the dispatcher. */
int ibsa__sa_loop_init(struct ib_device *device) IBSA_MUST_USE;
void ibsa__sa_loop_done(struct ib_device *device);

/*
 * Add a newly opened port to the device, and start its worker unless the
 * program dispatches the device. @lock is held. Return: 0; -ENODEV the device
 * is closing; -EOPNOTSUPP it is impossible to wait for all ports of the device
 * at once; -ENOMEM.
 */
int ibsa__sa_loop_add(struct ib_device *device,
		      struct sa_port *port) IBSA_MUST_USE;

/*
 * Queue @job for the dispatcher of the device, unless it is queued already.
 * @lock is held. ibsa__sa_start() does this with the start of a task. Starts
 * run before jobs.
 */
void ibsa__sa_submit(struct ib_device *device, struct sa_job *job);
void ibsa__sa_start(struct ib_device *device, struct sa_task *task);

/* Remove @job from the dispatcher's queue, if @job is queued. */
void ibsa__sa_withdraw(struct ib_device *device, struct sa_job *job);

/*
 * The dispatcher calls ibsa__sa_callback_enter() before and
 * ibsa__sa_callback_leave() after each callback, to record which thread runs
 * the callback. Both functions also free a task whose last callback has
 * returned. @lock is held.
 */
void ibsa__sa_callback_enter(struct ib_device *device);
void ibsa__sa_callback_leave(struct ib_device *device);

/*
 * ibsa__sa_loop_is_idle(): whether the device has no worker, is not closing,
 * and no thread dispatches it. ibsa__sa_loop_take_idle(): if this is true,
 * make this thread the dispatcher, and return true. @lock is held.
 */
bool ibsa__sa_loop_is_idle(const struct ib_device *device);
bool ibsa__sa_loop_take_idle(struct ib_device *device);

/* Wait for events and handle them, then stop being the dispatcher. */
int ibsa__sa_loop_wait(struct ib_device *device, int timeout_ms);

/*
 * End all tasks of the device and free it. If called within a callback, this
 * happens after the callback has returned.
 */
void ibsa__sa_loop_end(struct ib_device *device);

/*
 * Whether this thread runs a callback of any device of the process. @lock is
 * held.
 */
bool ibsa__sa_in_callback(const struct ibsa__sa *sa);

/* query.c: the status for callbacks. */
int ibsa__sa_status(const struct ibsa_reply *reply);

#endif
