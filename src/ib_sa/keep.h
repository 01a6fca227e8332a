/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Kept services, as far as their clients' end concerns them. Locked. */
#ifndef IB_SA_KEEP_H
#define IB_SA_KEEP_H

#include "ib_sa/state.h"

/* Release what a client still keeps. */
void ibsa__sa_keep_release(struct ibsa__sa *sa,
			   const struct ib_sa_client *client);

/* Those of a client go on without it, to their end. */
void ibsa__sa_keep_forget(struct ibsa__sa *sa,
			  const struct ib_sa_client *client);

/* A device without a worker that has one of a client's; taken. Or NULL. */
struct ib_device *ibsa__sa_keep_take(const struct ibsa__sa *sa,
				     const struct ib_sa_client *client);

#endif
