/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes events of a context from the changes of its device's ports. The
 * transport of a port at a fabric server receives each change, with the port's
 * GID and P_Key tables.
 */
#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "base/alloc.h"
#include "base/fd.h"
#include "verbs/context_state.h"
#include "verbs/port_events.h"

/* A port, as it was read last. @gids, @pkeys: hashes of its tables. */
struct watched_port {
	struct ibsa_transport *transport;
	struct ibsa_port_state state;
	uint64_t gids;
	uint64_t pkeys;
	int number;
};

/* @set_fd: epoll set of @wake_fd, which ends the thread, and of the ports. */
struct port_events {
	struct context_state *state;
	pthread_t thread;
	bool has_thread;
	int wake_fd;
	int set_fd;
	unsigned int count;
	struct watched_port ports[UINT8_MAX];
};

static uint64_t hash_add(uint64_t hash, const void *bytes, size_t len)
{
	const uint8_t *at = bytes;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
	return hash;
}

/*
 * FNV-1a hash of the GID table. An entry that cannot be read is hashed as a GID
 * of zeros.
 */
static uint64_t gids_hash(struct ibsa_transport *transport)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	int err = 0;

	for (uint32_t i = 0; !err || err == -ENODATA; i++) {
		struct ibsa_gid_entry entry = { .index = 0 };

		err = transport->ops->gid(transport, i, &entry);
		hash = hash_add(hash, &entry.gid, sizeof(entry.gid));
	}
	return hash;
}

static uint64_t pkeys_hash(struct ibsa_transport *transport)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	uint16_t pkey = 0;

	for (uint32_t i = 0; !transport->ops->pkey(transport, i, &pkey); i++)
		hash = hash_add(hash, &pkey, sizeof(pkey));
	return hash;
}

/*
 * Read the present values of a port. A port that cannot be read, because its
 * server has gone, is down.
 */
static struct watched_port port_now(const struct watched_port *port)
{
	struct ibsa_transport *transport = port->transport;
	struct watched_port now = *port;

	if (transport->ops->port(transport, &now.state, sizeof(now.state))) {
		now.state.port_state = IBSA_PORT_DOWN;
		return now;
	}
	now.gids = gids_hash(transport);
	now.pkeys = pkeys_hash(transport);
	return now;
}

/*
 * Queue an event for each difference, as drivers of the kernel report them.
 * PORT_ACTIVE is the last, so that a program which reads the port then finds all
 * values. @lock is held.
 */
static void port_report(struct context_state *state,
			const struct watched_port *was,
			const struct watched_port *now)
{
	const struct ibsa_port_state *a = &was->state;
	const struct ibsa_port_state *b = &now->state;
	const bool was_active = a->port_state == IBSA_PORT_ACTIVE;
	const bool is_active = b->port_state == IBSA_PORT_ACTIVE;
	const struct {
		int type;
		bool has_happened;
	} events[] = {
		{ IBV_EVENT_PORT_ERR, was_active && !is_active },
		{ IBV_EVENT_LID_CHANGE, a->lid != b->lid || a->lmc != b->lmc },
		{ IBV_EVENT_PKEY_CHANGE, was->pkeys != now->pkeys },
		{ IBV_EVENT_GID_CHANGE, was->gids != now->gids },
		{ IBV_EVENT_SM_CHANGE,
		  a->sm_lid != b->sm_lid || a->sm_sl != b->sm_sl },
		{ IBV_EVENT_CLIENT_REREGISTER,
		  a->reregisters != b->reregisters },
		{ IBV_EVENT_PORT_ACTIVE, !was_active && is_active },
	};

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (events[i].has_happened)
			ibsa__sm_queue_push_port(&state->queue, events[i].type,
						 now->number);
}

/* Receive what has arrived at a port, and report its changes. */
static void port_check(struct context_state *state, struct watched_port *port)
{
	struct ibsa_transport *transport = port->transport;
	struct ibsa_message message;
	struct watched_port now;

	/* No agent is registered, so there are no messages but errors. */
	(void)!transport->ops->recv(transport, &message);
	if (!transport->ops->changed(transport))
		return;
	now = port_now(port);
	pthread_mutex_lock(&state->lock);
	if (!state->is_closed)
		port_report(state, port, &now);
	ibsa__async_update(state);
	pthread_mutex_unlock(&state->lock);
	*port = now;
}

static void *events_run(void *arg)
{
	struct port_events *events = arg;
	struct epoll_event ready;

	for (;;) {
		const int count = epoll_wait(events->set_fd, &ready, 1, -1);

		if (count < 0 && errno != EINTR)
			return NULL;
		if (count > 0 && ready.data.fd == events->wake_fd)
			return NULL;
		for (unsigned int i = 0; i < events->count; i++)
			port_check(events->state, &events->ports[i]);
	}
}

/* Add a descriptor to the set, with its number as the data. */
static int set_add(const struct port_events *events, int fd)
{
	struct epoll_event readable = { .events = EPOLLIN, .data.fd = fd };

	return epoll_ctl(events->set_fd, EPOLL_CTL_ADD, fd, &readable) ? -errno
								       : 0;
}

static int port_add(struct port_events *events, unsigned int number)
{
	struct watched_port *port = &events->ports[events->count];
	struct ibsa_transport *transport;
	int err = ibsa__verbs_port_open(events->state->verbs, number,
					&transport);

	if (err)
		return err;
	port->transport = transport;
	port->number = (int)number;
	events->count++;
	err = set_add(events, transport->ops->fd(transport));
	if (!err)
		*port = port_now(port);
	return err;
}

static int ports_add(struct port_events *events)
{
	int err = 0;

	for (unsigned int i = 1; !err && i <= UINT8_MAX; i++)
		err = port_add(events, i);
	return err == -ENXIO ? 0 : err;
}

/* All signals are blocked in the thread: the program's own threads get them. */
static int thread_start(struct port_events *events)
{
	sigset_t before;
	int err;

	signals_hold(&before);
	err = pthread_create(&events->thread, NULL, events_run, events);
	signals_restore(&before);
	events->has_thread = !err;
	return err ? -ENOMEM : 0;
}

static int events_open(struct port_events *events)
{
	int err;

	events->set_fd = epoll_create1(EPOLL_CLOEXEC);
	events->wake_fd = eventfd(0, EFD_CLOEXEC);
	if (events->set_fd < 0 || events->wake_fd < 0)
		return -errno;
	err = set_add(events, events->wake_fd);
	if (!err)
		err = ports_add(events);
	return err ? err : thread_start(events);
}

void ibsa__port_events_stop(struct port_events *events)
{
	if (!events)
		return;
	if (events->has_thread) {
		fd_wake(events->wake_fd);
		pthread_join(events->thread, NULL);
	}
	for (unsigned int i = 0; i < events->count; i++)
		events->ports[i].transport->ops->close(
			events->ports[i].transport);
	fd_close(&events->set_fd);
	fd_close(&events->wake_fd);
	ibsa__free(events);
}

static int state_begin(struct context_state *state)
{
	int err;

	pthread_mutex_lock(&state->lock);
	err = state->is_closed ? -EINVAL : ibsa__async_begin(state);
	if (!err)
		ibsa__context_state_anchor(state);
	pthread_mutex_unlock(&state->lock);
	return err;
}

/* @registering is held. */
static int events_start(struct context_state *state)
{
	struct port_events *events;
	int err;

	if (!state->verbs || !state->verbs->server)
		return -EINVAL;
	if (state->port_events)
		return 0;
	err = state_begin(state);
	if (err)
		return err;
	events = ibsa__calloc(1, sizeof(*events));
	if (!events)
		return -ENOMEM;
	events->state = state;
	events->set_fd = -1;
	events->wake_fd = -1;
	err = events_open(events);
	if (err)
		ibsa__port_events_stop(events);
	else
		state->port_events = events;
	return err;
}

int ibsa__verbs_port_events_start(struct ibv_context *context)
{
	struct context_call call;
	int err = ibsa__context_state_enter(context, &call);

	if (err)
		return err;
	ibsa__context_call_lock(&call);
	err = events_start(call.state);
	ibsa__context_call_unlock(&call);
	ibsa__context_state_leave(&call);
	return err;
}
