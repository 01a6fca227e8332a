/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Faults: which MAD they strike is drawn from the fabric's seed. */
#include <errno.h>

#include "sim/fabric.h"

enum { DELAY_MS_DEFAULT = 100 };

bool ibsa__fault_strikes(struct ibsa_fabric *fabric, enum ibsa_fault_kind kind)
{
	struct fault_state *state = &fabric->faults[kind];
	/* 53 bits: what a double holds. */
	double drawn;

	if (!state->active)
		return false;
	drawn = (double)(random_next(&fabric->random) >> 11) * 0x1p-53;
	if (drawn * 100 >= state->fault.percent)
		return false;
	fabric->stats.faults[kind]++;
	if (state->fault.count && !--state->left)
		state->active = false;
	return true;
}

int ibsa_fabric_fault(struct ibsa_fabric *fabric,
		      const struct ibsa_fault *fault)
{
	struct fault_state *state;

	if ((unsigned int)fault->kind >= IBSA_FAULT_KINDS ||
	    !(fault->percent >= 0 && fault->percent <= 100))
		return -EINVAL;
	pthread_mutex_lock(&fabric->lock);
	state = &fabric->faults[fault->kind];
	*state = (struct fault_state){
		.fault = *fault,
		.left = fault->count,
		.active = fault->percent > 0,
	};
	if (!fault->delay_ms)
		state->fault.delay_ms = DELAY_MS_DEFAULT;
	pthread_mutex_unlock(&fabric->lock);
	return 0;
}
