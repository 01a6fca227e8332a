/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What stays the same for a program while a umad file is opened again at the
 * next server: the portid, which is an epoll set with the umad file's
 * socket, and what the file's memory holds.
 */
#ifndef REMOTE_PORTID_H
#define REMOTE_PORTID_H

#include <stdatomic.h>

#include "remote/connection.h"
#include "remote/control.h"
#include "remote/data.h"
#include "remote/pending.h"

enum portid_step {
	STEP_NONE,	 /* no connection */
	STEP_CONNECTING, /* TCP: the connection is not established yet */
	/* The hello and the request REMOTE_ATTACH were sent. */
	STEP_OPENING,
	STEP_JOINING,	 /* TCP: the data socket is not connected yet */
	STEP_REGISTERING /* agents are registered */
};

/* An attempt to open the umad file at a server. */
struct portid_attempt {
	unsigned int process; /* ibsa__process() of its process */
	enum portid_step step;
	struct remote_address address;
	struct remote_connection connection;
	struct remote_control control;
	/*
	 * Buffer for the received data of @control, so that no memory is
	 * allocated.
	 */
	uint8_t bytes[2048];
	struct remote_data data;
	uint32_t count; /* of the numbers of agents */
	/* Number of the next agent to register or to unregister. */
	uint32_t agent;
	/*
	 * Agents with unused numbers, which were registered only to reach
	 * higher numbers, are now unregistered.
	 */
	bool removes;
	bool has_agent[PENDING_AGENTS];
	struct umad_agent_request2 agents[PENDING_AGENTS];
};

struct remote_file;

struct remote_portid {
	atomic_uint uses; /* files that have it */
	int set_fd;	  /* the portid, an epoll set */
	/* Timer in the epoll set: it expires when something is to be done. */
	int timer_fd;
	struct remote_address address;
	struct remote_pending *pending;
	/* For how long calls wait for the next server; 0: they do not wait. */
	uint64_t reopen_ns;
	/* The time at which the server ended; 0: it has not ended. */
	_Atomic(uint64_t) lost_ns;
	_Atomic(uint64_t) next_ns; /* of the next attempt */
	uint64_t pause_ns;	   /* between two attempts */
	/*
	 * The file that calls use; NULL: its server has ended, and no file was
	 * opened since.
	 */
	_Atomic(struct remote_file *) current;
	/*
	 * Number of the process (ibsa__process()) plus 1, if a thread of this
	 * process uses @attempt; 0: no thread uses it.
	 */
	atomic_uint user;
	struct portid_attempt attempt;
};

/*
 * Make a portid for a umad file. @data_fd: the socket of its first file. Return:
 * 0; or -errno.
 */
int ibsa__remote_portid_new(const struct remote_address *address, int data_fd,
			    struct remote_portid **out) IBSA_MUST_USE;
void ibsa__remote_portid_put(struct remote_portid *portid);

/*
 * The server of the file with the socket @data_fd has ended. From now on, the
 * portid is readable when it is time to call ibsa__remote_portid_try(), or when
 * a lost request has timed out.
 */
void ibsa__remote_portid_lose(struct remote_portid *portid, int data_fd);

/* Whether calls fail, because the server has been absent for too long. */
bool ibsa__remote_portid_fails(const struct remote_portid *portid);

/*
 * Whether a receive call has something to return: a lost request, or the error
 * after the server has been absent for too long.
 */
bool ibsa__remote_portid_has_result(struct remote_portid *portid);

/* Set the timer again after a change of the requests. */
void ibsa__remote_portid_timer_set(struct remote_portid *portid);

/*
 * Begin and end the use of @attempt by this thread; ibsa__remote_portid_enter()
 * returns false if another thread uses it.
 */
bool ibsa__remote_portid_enter(struct remote_portid *portid);
void ibsa__remote_portid_leave(struct remote_portid *portid);

/*
 * Try to open the umad file again, without waiting and without allocating
 * memory. Return: 0, and @attempt has its connection and data, which the caller
 * takes; -EAGAIN not yet.
 */
int ibsa__remote_portid_try(struct remote_portid *portid) IBSA_MUST_USE;

/*
 * After a successful attempt: @is_taken: a file has taken the connection and the
 * data; otherwise close them, and try again later.
 */
void ibsa__remote_portid_end(struct remote_portid *portid, bool is_taken);

#endif
