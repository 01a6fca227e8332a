/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the files of ib_sa share. One lock guards all that several threads
 * touch: short sections, no call out of the library, no system call but a
 * wake-up. What is marked so belongs to the thread that dispatches a device.
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

/* Queries that wait at one port; more are -ENOBUFS. */
enum { PORT_QUERIES_MAX = 1 << 20, DEVICE_PORTS = 256 };

/* Something to do for the thread that dispatches a device. */
struct sa_job {
	struct list link;
	void (*run)(struct sa_job *job);
};

/* The one object of a process: who asks, what is asked, and where. */
struct ibsa__sa {
	unsigned int process; /* whose it is; see ibsa__process() */
	pthread_mutex_t lock;
	pthread_cond_t ended; /* a query, or a dispatch */
	struct list devices;
	struct list subjects; /* kept services, watches */
	struct list members;  /* of multicast groups */
	uint32_t member_count;
	struct pool queries;
	struct sa_query **slots; /* by id; NULL: free */
	uint32_t *free_ids;	 /* a stack */
	uint32_t free_count;
	uint32_t slot_count;
	uintptr_t *slot_tickets; /* by id: its last ticket */
	uintptr_t first_ticket;
	uintptr_t subject_ticket; /* the last that was given out */
};

/* What the manager of an OPA port has said of itself, in the OPA form; and,
 * the dispatcher's, how it is asked. */
struct sa_cpi {
	bool is_valid;
	uint64_t awaited_ns; /* until then, what was first asked; 0: it ended */
	uint32_t capability_mask2;
	struct ibsa__alarm again;
	uint64_t asked; /* the engine's id; 0: not asked now */
	unsigned int retries;
};

/* What may happen at a port, as the kernel tells it. */
enum sa_event {
	SA_PORT_ERR = 1,
	SA_PORT_ACTIVE = 2,
	SA_LID_CHANGE = 4,
	SA_SM_CHANGE = 8,
	SA_PKEY_CHANGE = 16,
	SA_CLIENT_REREGISTER = 32,
};

struct sa_port {
	struct sa_job refresh; /* reads the state afresh */
	struct ib_device *device;
	struct ibsa_client *client;   /* the dispatcher's, but for calls of any
				     * thread */
	struct ibsa_port_state state; /* as the dispatcher has last read it */
	struct sa_cpi cpi;
	struct list groups;			/* of multicast */
	struct hash mgids;			/* those whose MGID is known */
	struct ibsa__registrations memberships; /* the dispatcher's */
	uint32_t queries;			/* that have not ended */
	uint8_t number;
};

struct ib_device {
	struct ibsa__sa *sa;
	struct list link; /* among all of the process */
	char *name;
	struct ibsa_fabric *fabric; /* held for its ports; or NULL */
	/* As the device was opened: ports are opened later. */
	struct ibsa__environment *environment;
	/* Of a device of this machine; NULL: in a fabric, whose ports are
	 * opened to read them. */
	struct device_files *files;
	struct ibsa_device_options options;
	struct ibsa_address sa_address; /* what options.access.sa points to */
	unsigned int users;
	bool is_shared; /* with those who get it by its name */
	bool closing;
	struct list jobs;
	unsigned int job_count;
	pthread_mutex_t opening;	     /* held while a port is opened */
	struct sa_port *ports[DEVICE_PORTS]; /* in the order of opening */
	unsigned int port_count;
	/* Waiting. */
	int epoll_fd; /* over all ports and wake_fd */
	int wake_fd;
	bool is_pollable; /* so far: all its ports are in epoll_fd */
	bool is_waiting;
	struct ibsa_client *waiting_on; /* or NULL: the epoll fd */
	/* Dispatching. */
	pthread_t thread;
	bool has_worker;
	bool frees_itself; /* nobody waits for the worker's end */
	bool is_dispatching;
	bool is_missed; /* by somebody who polls, what is dispatched now */
	bool in_callback;
	bool has_told; /* the dispatcher's: a callback ran since it looked */
	pthread_t dispatcher;
	const struct ibsa_reply *reply; /* the dispatcher's */
};

struct sa_query;

/* How one kind of query tells its callback; the dispatcher runs it. */
typedef void (*sa_tell_fn)(struct sa_query *query, int status,
			   const struct ibsa_reply *reply);

struct sa_query {
	struct sa_job start;
	struct sa_job cancel;
	struct ib_sa_client *client; /* NULL: it has unregistered meanwhile */
	struct sa_port *port;
	uintptr_t ticket;   /* 0: its callback runs */
	uint64_t engine_id; /* 0: not started */
	uint32_t id;
	bool is_canceled;
	bool was_opa; /* asked in the IB form for want of the other */
	uint8_t method;
	const struct ibsa_record *record;
	uint64_t mask;
	unsigned int timeout_ms;
	sa_tell_fn tell;
	void (*callback)(void); /* of the type that @tell knows */
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
 * process.c: the process-wide object. Each is followed by a put. Return: NULL
 * if there is no memory; of find, if nobody has it.
 */
struct ibsa__sa *ibsa__sa_get(void);
struct ibsa__sa *ibsa__sa_find(void);
void ibsa__sa_put(struct ibsa__sa *sa);

/*
 * Whether it is of this process. What a forked child inherits is not: its
 * lock may be held, and its workers awaited, for ever.
 */
bool ibsa__sa_is_ours(const struct ibsa__sa *sa);

/* The ticket after this one; a program holds it as a pointer. Never 0. */
uintptr_t ibsa__sa_ticket_next(uintptr_t ticket);

/* What the last ticket of an id is before its first query. Never 0. */
uintptr_t ibsa__sa_ticket_first(const struct ibsa__sa *sa, uint32_t id);

/* A query with its id and ticket. Locked. Return: NULL without memory. */
struct sa_query *ibsa__sa_query_new(struct ibsa__sa *sa);
void ibsa__sa_query_free(struct ibsa__sa *sa, struct sa_query *query);

/* The query of an id, if its ticket is that one. Locked. */
struct sa_query *ibsa__sa_query_find(const struct ibsa__sa *sa, int id,
				     uintptr_t ticket);

/* device.c. */
void ibsa__sa_device_free(struct ib_device *device);

/*
 * port.c. The open port, opened if it is not yet. Return: 0; -ENODEV;
 * -EAGAIN it is down; -EOPNOTSUPP; -ENOMEM; or the error of opening it.
 */
int ibsa__sa_port_open(struct ib_device *device, uint8_t number,
		       struct sa_port **out) IBSA_MUST_USE;

/* The port if it is open, or NULL. */
struct sa_port *ibsa__sa_port_find(struct ib_device *device, uint8_t number);

/* A port that can be asked through, opened as @options say, which is not its
 * device's yet. Return: 0; -EAGAIN; -ENOMEM; or the error of opening it. */
int ibsa__sa_port_new(struct ib_device *device,
		      const struct ibsa_options *options,
		      struct sa_port **out) IBSA_MUST_USE;

/* Close and free what is no more, or not yet, one of a device's. */
void ibsa__sa_port_free(struct sa_port *port);

/*
 * ah.c: the state of a port that need not be open, nor up. Return: 0; -EAGAIN
 * it is one of a fabric and has no cable; or the error of reading it.
 */
int ibsa__sa_port_state(struct ib_device *device, uint8_t port_num,
			struct ibsa_port_state *out) IBSA_MUST_USE;

/* How the device's ports are opened. */
struct ibsa_options ibsa__sa_client_options(const struct ib_device *device);

/*
 * cpi.c: ask for the ClassPortInfo of a port's manager, if it matters, and
 * wait for it where nobody else takes in the answer; and what events mean to
 * it. Dispatcher.
 */
void ibsa__sa_cpi_open(struct sa_port *port);
void ibsa__sa_cpi_event(struct sa_port *port, unsigned int events);

/* Until what was first asked has ended, but not from a callback. Locked. */
void ibsa__sa_cpi_await(struct sa_port *port);

/* groups.c: an open port without multicast groups. Return: 0; -ENOMEM. */
int ibsa__mc_groups_init(struct sa_port *port) IBSA_MUST_USE;
/* The port has changed, which means these @events. Dispatcher. */
void ibsa__mc_groups_event(struct sa_port *port, unsigned int events,
			   unsigned int changes,
			   const struct ibsa_port_state *now);

/* Before the port closes: leave what is joined, and do not wait. Then tell
 * those who were in, and free the groups. Dispatcher. */
void ibsa__mc_groups_leave(struct sa_port *port);
void ibsa__mc_groups_done(struct sa_port *port);

/* multicast.c: end the memberships of a client that unregisters. Locked. */
void ibsa__mc_members_end(struct ibsa__sa *sa, struct ib_sa_client *client);

/* loop.c: what the thread that dispatches does. */
int ibsa__sa_loop_init(struct ib_device *device) IBSA_MUST_USE;
void ibsa__sa_loop_done(struct ib_device *device);

/* Take in a port that was opened, and start the worker. Locked. Return: 0;
 * -ENODEV the device is closing; -EOPNOTSUPP; -ENOMEM. */
int ibsa__sa_loop_add(struct ib_device *device,
		      struct sa_port *port) IBSA_MUST_USE;

/* Have @job run by the dispatcher, if it is not to be already. Locked. */
void ibsa__sa_submit(struct ib_device *device, struct sa_job *job);

/* Have it not run after all, if it waits to be. Locked. */
void ibsa__sa_withdraw(struct ib_device *device, struct sa_job *job);

/* Around each callback, so that it is known whose thread it is. Locked. */
void ibsa__sa_callback_enter(struct ib_device *device);
void ibsa__sa_callback_leave(struct ib_device *device);

/* Whether a device without a worker, which is not closing, is dispatched by
 * nobody; and to take that over. Locked. Return: false: it is not. */
bool ibsa__sa_loop_is_idle(const struct ib_device *device);
bool ibsa__sa_loop_take_idle(struct ib_device *device);

/* Wait and dispatch, then let go of what was taken. */
int ibsa__sa_loop_wait(struct ib_device *device, int timeout_ms);

/* End everything on the device and free it; from a callback, afterwards. */
void ibsa__sa_loop_end(struct ib_device *device);

/* Whether this thread runs a callback, of any device. Locked. */
bool ibsa__sa_in_callback(const struct ibsa__sa *sa);

/* query.c: the status that callbacks are told. */
int ibsa__sa_status(const struct ibsa_reply *reply);

/* A query has ended; tell it and free it. */
void ibsa__sa_query_end(struct sa_query *query, int status,
			const struct ibsa_reply *reply);

#endif
