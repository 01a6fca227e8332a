/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <sched.h>

#include "test/ib_sa/tally.h"

void tally_note(struct tally *tally, int status)
{
	if (!status)
		atomic_fetch_add(&tally->good, 1);
	if (status == -EINTR)
		atomic_fetch_add(&tally->interrupted, 1);
	/* Last, since tests wait for it. */
	atomic_fetch_add(&tally->calls, 1);
}

void tally_path(int status, struct sa_path_rec *resp, void *context)
{
	(void)resp;
	tally_note(context, status);
}

void tally_await(const atomic_int *count, int wanted)
{
	while (atomic_load(count) < wanted)
		sched_yield();
}

void rig_start_worker(struct rig *rig)
{
	*rig = (struct rig){ .fabric = rig_fabric(false) };
	rig->device = rig_open(rig->fabric, "node1", false);
	ib_sa_register_client(&rig->client);
}
