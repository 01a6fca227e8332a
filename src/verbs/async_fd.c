/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The device's own file behind the member async_fd, while libibverbs creates
 * queues. */
#include <errno.h>

#include "verbs/context_state.h"

static bool device_file_get(struct context_state *state)
{
	bool is_spliced;

	pthread_mutex_lock(&state->lock);
	is_spliced = state->async.is_spliced;
	if (is_spliced)
		ibsa__async_get(state);
	pthread_mutex_unlock(&state->lock);
	return is_spliced;
}

/* It counts as a call in progress on that state, which closing waits for. */
struct ibsa_verbs_async_fd *ibsa_verbs_async_fd_get(struct ibv_context *context)
{
	struct context_state *state = NULL;
	const int before = errno;

	if (!ibsa__context_state_find(context, &state) &&
	    !device_file_get(state)) {
		ibsa__context_state_leave(state);
		state = NULL;
	}
	errno = before;
	return (struct ibsa_verbs_async_fd *)state;
}

void ibsa_verbs_async_fd_put(struct ibsa_verbs_async_fd *held)
{
	struct context_state *state = (struct context_state *)held;
	const int before = errno;

	if (!state)
		return;
	pthread_mutex_lock(&state->lock);
	ibsa__async_put(state);
	pthread_mutex_unlock(&state->lock);
	ibsa__context_state_leave(state);
	errno = before;
}
