/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel's multicast member record and ours. */
#ifndef IB_SA_MCMEMBER_H
#define IB_SA_MCMEMBER_H

#include <ibsa/ib_sa_types.h>
#include <ibsa/records.h>

/* Values wider than their field are cut, as the kernel does. */
void ibsa__sa_mcmember_to_host(const struct ib_sa_mcmember_rec *rec,
			       struct ibsa_mcmember *out);
void ibsa__sa_mcmember_from_host(const struct ibsa_mcmember *host,
				 struct ib_sa_mcmember_rec *out);

#endif
