/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Converts the kernel's multicast member record and ours. */
#ifndef IB_SA_MCMEMBER_H
#define IB_SA_MCMEMBER_H

#include <ibsa/ib_sa_types.h>
#include <ibsa/records.h>

/* Values wider than their field are cut, as in the kernel. */
void ibsa__sa_mcmember_to_host(const struct ib_sa_mcmember_rec *rec,
			       struct ibsa_mcmember *out);
void ibsa__sa_mcmember_from_host(const struct ibsa_mcmember *host,
				 struct ib_sa_mcmember_rec *out);

/* A record with only the fields that identify the membership of @rec. */
struct ibsa_mcmember ibsa__sa_membership(const struct ib_sa_mcmember_rec *rec,
					 uint8_t join_state);

/*
 * Whether a group with the record @have matches the fields of @want in @mask.
 * Rates compare by their speed; MGID and join state are not compared.
 */
bool ibsa__sa_mcmember_fits(const struct ib_sa_mcmember_rec *have,
			    const struct ib_sa_mcmember_rec *want,
			    ib_sa_comp_mask mask);

#endif
