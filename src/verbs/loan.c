/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The device's own file, lent to libibverbs while it makes queues. */
#include <errno.h>

#include "verbs/context_state.h"

static bool lend(struct context_state *state)
{
	bool is_spliced;

	pthread_mutex_lock(&state->lock);
	is_spliced = state->async.is_spliced;
	if (is_spliced)
		ibsa__async_lend(state);
	pthread_mutex_unlock(&state->lock);
	return is_spliced;
}

/* The loan is a call under way on that state, which closing waits for. */
struct ibsa_verbs_loan *ibsa_verbs_lend(struct ibv_context *context)
{
	struct context_state *state = NULL;
	const int before = errno;

	if (!ibsa__context_state_find(context, &state) && !lend(state)) {
		ibsa__context_state_leave(state);
		state = NULL;
	}
	errno = before;
	return (struct ibsa_verbs_loan *)state;
}

void ibsa_verbs_return(struct ibsa_verbs_loan *loan)
{
	struct context_state *state = (struct context_state *)loan;
	const int before = errno;

	if (!state)
		return;
	pthread_mutex_lock(&state->lock);
	ibsa__async_return(state);
	pthread_mutex_unlock(&state->lock);
	ibsa__context_state_leave(state);
	errno = before;
}
