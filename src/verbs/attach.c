/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How a context is used, and the end of it. */
#include <errno.h>

#include "client/open.h"
#include "verbs/side.h"
#include "verbs/sm_events.h"
#include "verbs/stock.h"

enum { EVENTS_MAX = 1 << 20 };

/* Whether it is said how the SA is asked, which the device has to be told. */
static bool has_address(const struct ibsa_verbs_options *options)
{
	return options->sa || options->grh || options->sm_key;
}

static int options_check(const struct ibsa__side *side,
			 const struct ibsa_verbs_options *options)
{
	const struct ibsa_options address = {
		.sa = options->sa,
		.grh = options->grh,
		.sm_key = options->sm_key,
	};

	if (options->max_events > EVENTS_MAX ||
	    (side->verbs && has_address(options)))
		return -EINVAL;
	return ibsa__options_check(&address, NULL);
}

/* @asking is held for writing: nobody looks at the options meanwhile. */
static void address_take(struct ibsa__side *side,
			 const struct ibsa_verbs_options *options)
{
	if (!has_address(options))
		return;
	side->options.grh = options->grh;
	side->options.sm_key = options->sm_key;
	side->options.sa = NULL;
	if (options->sa) {
		side->sa = *options->sa;
		side->options.sa = &side->sa;
	}
}

/* Locked. */
static int splice(struct ibsa__side *side,
		  const struct ibsa_verbs_options *options)
{
	int err = side->is_closed ? -EINVAL : ibsa__async_begin(side);

	if (!err && side->is_attached)
		err = -EALREADY;
	if (!err)
		err = ibsa__async_splice(side);
	if (err)
		return err;
	side->is_attached = true;
	side->queue.gaps_wanted = options->gaps;
	side->queue.limit = options->max_events ? options->max_events
						: SM_QUEUE_LIMIT;
	side->options.audit_ms = options->audit_ms;
	return 0;
}

static int attach(struct ibsa__side *side,
		  const struct ibsa_verbs_options *options)
{
	int err = options_check(side, options);

	if (err)
		return err;
	pthread_rwlock_wrlock(&side->asking);
	pthread_mutex_lock(&side->lock);
	err = side->device && has_address(options) ? -EBUSY
						   : splice(side, options);
	if (!err)
		address_take(side, options);
	pthread_mutex_unlock(&side->lock);
	pthread_rwlock_unlock(&side->asking);
	return err;
}

int ibsa_verbs_attach(struct ibv_context *context,
		      const struct ibsa_verbs_options *options)
{
	static const struct ibsa_verbs_options defaults;
	struct ibsa__side *side;
	int err = ibsa__side_enter(context, &side);

	if (err)
		return err;
	pthread_mutex_lock(&side->registering);
	err = attach(side, options ? options : &defaults);
	pthread_mutex_unlock(&side->registering);
	ibsa__side_leave(side);
	return err;
}

/* Whether there is something that a detach would end. */
static bool is_used(struct ibsa__side *side)
{
	bool used;

	pthread_mutex_lock(&side->lock);
	used = side->is_attached || !ibsa__sm_filter_is_empty(&side->filter);
	pthread_mutex_unlock(&side->lock);
	return used;
}

/*
 * Of libibverbs' context nothing is kept: from now on libibverbs may close it,
 * which we do not hear of, and the next may be at the same place. Who waits for
 * an event goes on to.
 */
static bool is_to_end(struct ibsa__side *side)
{
	bool is_alone;

	pthread_mutex_lock(&side->lock);
	is_alone = side->users == 1;
	pthread_mutex_unlock(&side->lock);
	return is_alone && !side->verbs;
}

int ibsa_verbs_detach(struct ibv_context *context)
{
	struct ibsa__side *side;
	bool ends = false;
	int err = ibsa__side_find(context, &side);

	if (err)
		return err;
	pthread_mutex_lock(&side->registering);
	if (is_used(side)) {
		ibsa__sm_events_clear(side);
		ends = is_to_end(side);
	} else {
		err = -EINVAL;
	}
	pthread_mutex_unlock(&side->registering);
	ibsa__side_leave(side);
	if (ends)
		ibsa__side_end(context);
	return err;
}

int ibsa_close_device(struct ibv_context *context)
{
	if (!context)
		return ibsa__side_result(-EINVAL);
	if (context->cmd_fd < 0)
		return ibsa__side_result(ibsa_verbs_close(context));
	ibsa__side_end(context);
	return ibsa__side_result(ibsa__stock_close(context));
}
