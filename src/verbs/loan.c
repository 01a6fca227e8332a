/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The device's own file, lent to libibverbs while it makes queues. */
#include <errno.h>

#include "verbs/side.h"

static bool lend(struct ibsa__side *side)
{
	bool is_spliced;

	pthread_mutex_lock(&side->lock);
	is_spliced = side->async.is_spliced;
	if (is_spliced)
		ibsa__async_lend(side);
	pthread_mutex_unlock(&side->lock);
	return is_spliced;
}

/* The loan is a call under way on that side, which closing waits for. */
struct ibsa_verbs_loan *ibsa_verbs_lend(struct ibv_context *context)
{
	struct ibsa__side *side = NULL;
	const int before = errno;

	if (!ibsa__side_find(context, &side) && !lend(side)) {
		ibsa__side_leave(side);
		side = NULL;
	}
	errno = before;
	return (struct ibsa_verbs_loan *)side;
}

void ibsa_verbs_return(struct ibsa_verbs_loan *loan)
{
	struct ibsa__side *side = (struct ibsa__side *)loan;
	const int before = errno;

	if (!side)
		return;
	pthread_mutex_lock(&side->lock);
	ibsa__async_return(side);
	pthread_mutex_unlock(&side->lock);
	ibsa__side_leave(side);
	errno = before;
}
