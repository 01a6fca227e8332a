/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes the member async_fd of a verbs context name the device's own event
 * file while libibverbs creates queues.
 */
#include <errno.h>

#include "base/alloc.h"
#include "base/registry.h"
#include "verbs/context_state.h"

/*
 * A use of the device's event file that has not been put yet. Closing the
 * context waits for the put, so the thread must not be cancelled before it.
 */
struct ibsa_verbs_async_fd {
	struct context_call call;
	enum async_get kind;
};

static void device_file_get(struct ibsa_verbs_async_fd *held)
{
	struct context_state *state = held->call.state;

	pthread_mutex_lock(&state->lock);
	held->kind = ibsa__async_get(state);
	if (held->kind == ASYNC_GET_NUMBER)
		held->call.flags |= CALL_HAS_NUMBER;
	pthread_mutex_unlock(&state->lock);
}

/*
 * Put the device's event file. In a forked child, the state of the parent is
 * not changed.
 */
static void device_file_put(struct ibsa_verbs_async_fd *held)
{
	struct context_state *state = held->call.state;

	if (state->process != ibsa__process())
		return;
	pthread_mutex_lock(&state->lock);
	ibsa__async_put(state, held->kind);
	pthread_mutex_unlock(&state->lock);
	ibsa__context_state_leave(&held->call);
}

static struct ibsa_verbs_async_fd *held_new(struct ibv_context *context)
{
	struct ibsa_verbs_async_fd *held = ibsa__calloc(1, sizeof(*held));

	if (held && ibsa__context_state_hold(context, &held->call)) {
		ibsa__free(held);
		held = NULL;
	}
	return held;
}

/*
 * Get the device's event file. For a context of ibsa_verbs_open() this does
 * nothing, because no queue can be created on it.
 */
struct ibsa_verbs_async_fd *ibsa_verbs_async_fd_get(struct ibv_context *context)
{
	struct ibsa_verbs_async_fd *held = NULL;
	const int before = errno;
	struct interrupts interrupts;

	interrupts_hold(&interrupts);
	if (context && context->cmd_fd >= 0)
		held = held_new(context);
	if (held) {
		device_file_get(held);
		held->call.before = interrupts;
		signals_restore(&interrupts.signals);
	} else {
		interrupts_restore(&interrupts);
	}
	errno = before;
	return held;
}

void ibsa_verbs_async_fd_put(struct ibsa_verbs_async_fd *held)
{
	const int before = errno;
	struct interrupts interrupts;

	if (!held)
		return;
	interrupts_hold(&interrupts);
	interrupts.cancel = held->call.before.cancel;
	/*
	 * Signals and cancellation stay blocked until this function returns,
	 * although ibsa__context_state_leave() restores call.before: block
	 * them here once more.
	 */
	interrupts_hold(&held->call.before);
	device_file_put(held);
	ibsa__free(held);
	interrupts_restore(&interrupts);
	errno = before;
}
