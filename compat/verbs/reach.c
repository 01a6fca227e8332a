/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The reachability of a GID, by a function with the name that it has in
 * Solaris.
 */
#include <errno.h>
#include <semaphore.h>
#include <string.h>

#include <ibsa/types.h>

#include "base/clock.h"
#include "verbs/context_state.h"

enum {
	/*
	 * Maximum time that a device may take to detect that a port is active
	 * again: REFRESH_TRIES tries, REFRESH_MS ms apart.
	 */
	REFRESH_TRIES = 100,
	REFRESH_MS = 2,
};

/*
 * A path query of ibv_gid_reachable(), its result, and the semaphore on which
 * the calling thread waits for the reply.
 */
struct reach_query {
	struct context_call *call;
	struct context_state *state;
	struct sa_path_rec wanted;
	uint8_t port;
	sem_t answered;
	bool is_cut; /* it ended without a reply */
	int err;
};

static bool is_zero(const union ibv_gid *gid)
{
	static const union ibv_gid zero;

	return !memcmp(gid, &zero, sizeof(zero));
}

static bool is_active(const struct context_state *state,
		      const struct ibsa_port_state *port)
{
	return ibsa__context_state_port_fits(state, port) &&
	       port->port_state == IBSA_PORT_ACTIVE;
}

/*
 * Choose the port for the query: the first active port in the GID's subnet,
 * otherwise the first active port.
 */
static int port_choose(const struct context_state *state,
		       const union ibv_gid *gid, uint8_t *out,
		       struct ibsa_port_state *out_state)
{
	struct ibsa_port_state port_state;
	int err = 0;

	*out = 0;
	for (unsigned int number = 1; err != -ENODEV; number++) {
		err = ibsa__context_state_port(state, number, &port_state);
		if (err == -ENOMEM)
			return err;
		if (err || !is_active(state, &port_state))
			continue;
		if (*out && memcmp(port_state.gid.raw, gid->raw, 8) != 0)
			continue;
		*out = (uint8_t)number;
		*out_state = port_state;
		if (!memcmp(port_state.gid.raw, gid->raw, 8))
			return 0;
	}
	return *out ? 0 : -EIO;
}

static int port_check(const struct context_state *state, unsigned int number,
		      struct ibsa_port_state *out_state)
{
	int err = ibsa__context_state_port(state, number, out_state);

	if (err == -ENODEV)
		return -EINVAL;
	if (err)
		return err;
	return ibsa__context_state_port_fits(state, out_state) ? 0 : -EINVAL;
}

static int reply_result(const struct ibsa_reply *reply)
{
	if (!reply)
		return -EIO;
	switch (ibsa_reply_outcome(reply)) {
	case IBSA_OUTCOME_OK:
		return 0;
	case IBSA_OUTCOME_NONE:
		return -ENXIO;
	default:
		return reply->err == -ENOMEM ? -ENOMEM : -EIO;
	}
}

static void reply_note(int status, struct sa_path_rec *rec, void *arg)
{
	struct reach_query *reach = arg;

	(void)rec;
	reach->is_cut = status == -EINTR;
	reach->err = reply_result(ibsa_last_reply(reach->state->device));
	sem_post(&reach->answered);
}

static int query_send_once(struct reach_query *reach,
			   struct ib_sa_query **out_query)
{
	struct context_state *state = reach->state;
	const ib_sa_comp_mask mask = IB_SA_PATH_REC_SGID | IB_SA_PATH_REC_DGID |
				     IB_SA_PATH_REC_REVERSIBLE |
				     IB_SA_PATH_REC_NUMB_PATH;
	int id;

	pthread_rwlock_rdlock(&state->asking);
	id = ibsa__context_state_device(state);
	if (!id)
		id = ib_sa_path_rec_get(&state->client, state->device,
					reach->port, &reach->wanted, mask,
					IBSA_DEFAULT_DEADLINE_MS, 0, reply_note,
					reach, out_query);
	pthread_rwlock_unlock(&state->asking);
	return id;
}

/*
 * Submit the path query. The port has an SM, as was just read, but the device's
 * information about it may be older. ib_sa_path_rec_get() then returns -EAGAIN
 * and lets the port be read again, so the call is repeated.
 */
static int query_send(struct reach_query *reach, struct ib_sa_query **out_query)
{
	const struct timespec while_read = { .tv_nsec = REFRESH_MS *
							NS_PER_MS };
	int id = query_send_once(reach, out_query);

	for (int i = 0; id == -EAGAIN && i < REFRESH_TRIES; i++) {
		signals_restore(&reach->call->before.signals);
		nanosleep(&while_read, NULL);
		signals_hold(&reach->call->before.signals);
		id = query_send_once(reach, out_query);
	}
	return id;
}

/*
 * Wait for the reply. Signal handlers run during this wait. A cancellation
 * takes effect only after the call.
 */
static int reply_wait(struct reach_query *reach)
{
	int failed;

	signals_restore(&reach->call->before.signals);
	failed = sem_wait(&reach->answered);
	signals_hold(&reach->call->before.signals);
	return failed;
}

/*
 * Wait for the reply. A signal whose handler was installed without SA_RESTART
 * cancels the query.
 */
static int reply_await(struct reach_query *reach, int id,
		       struct ib_sa_query *query)
{
	bool is_canceled = false;

	while (reply_wait(reach)) {
		if (is_canceled)
			continue;
		is_canceled = true;
		ib_sa_cancel_query(id, query);
	}
	return is_canceled && reach->is_cut ? -EINTR : reach->err;
}

static int gid_query(struct context_call *call, uint8_t port,
		     const struct ibsa_port_state *port_state,
		     const union ibv_gid *gid)
{
	struct reach_query reach = {
		.call = call,
		.state = call->state,
		.wanted = { .reversible = 1, .numb_path = 1 },
		.port = port,
	};
	struct ib_sa_query *query;
	int err;
	int id;

	memcpy(&reach.wanted.sgid, &port_state->gid, sizeof(reach.wanted.sgid));
	memcpy(&reach.wanted.dgid, gid, sizeof(reach.wanted.dgid));
	sem_init(&reach.answered, 0, 0);
	id = query_send(&reach, &query);
	err = id < 0 ? id : reply_await(&reach, id, query);
	sem_destroy(&reach.answered);
	return err;
}

/*
 * Find the port for the query, and check that a query can be sent from it now.
 */
static int port_find(struct context_state *state, unsigned int port,
		     const union ibv_gid *gid, uint8_t *out,
		     struct ibsa_port_state *out_state)
{
	int err;

	pthread_rwlock_rdlock(&state->asking);
	*out = (uint8_t)port;
	if (port)
		err = port_check(state, port, out_state);
	else
		err = port_choose(state, gid, out, out_state);
	if (!err && !state->options.access.sa && !ibsa_port_has_sm(out_state))
		err = -EIO;
	pthread_rwlock_unlock(&state->asking);
	return err;
}

static int gid_reach(struct context_call *call, unsigned int port,
		     const union ibv_gid *gid)
{
	struct ibsa_port_state port_state;
	uint8_t number;
	int err = port_find(call->state, port, gid, &number, &port_state);

	return err ? err : gid_query(call, number, &port_state, gid);
}

/* Map errors that are not listed in the manual page to EIO. */
static int listed_errno(int err)
{
	switch (err) {
	case 0:
	case -EINVAL:
	case -ENXIO:
	case -ENOMEM:
	case -EINTR:
		return err;
	default:
		return -EIO;
	}
}

int ibv_gid_reachable(struct ibv_context *context, unsigned int port,
		      union ibv_gid *gid_p, int timeout)
{
	struct context_call call;
	int err;

	(void)timeout;
	if (!gid_p || is_zero(gid_p))
		return ibsa__context_state_result(-EINVAL);
	err = ibsa__context_state_enter(context, &call);
	if (!err) {
		err = gid_reach(&call, port, gid_p);
		ibsa__context_state_leave(&call);
	}
	return ibsa__context_state_result(listed_errno(err));
}
