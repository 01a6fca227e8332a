/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Conversion between the kernel's struct for a multicast member record and
 * ibsa's struct.
 */
#ifndef IB_SA_MCMEMBER_H
#define IB_SA_MCMEMBER_H

#include <ibsa/ib_sa.h>
#include <ibsa/records.h>

/*
 * Convert the kernel's record @rec to @out. A value that is wider than its
 * field on the wire is cut to the field's width, as in the kernel.
 */
void ibsa__sa_mcmember_to_host(const struct ib_sa_mcmember_rec *rec,
			       struct ibsa_mcmember *out);
void ibsa__sa_mcmember_from_host(const struct ibsa_mcmember *host,
				 struct ib_sa_mcmember_rec *out);

/*
 * Return: a member record with only those fields that identify the membership
 * of @rec, and its join states.
 */
struct ibsa_mcmember ibsa__sa_membership(const struct ib_sa_mcmember_rec *rec,
					 uint8_t join_state);

/*
 * Whether a group with the record @have has the values that @want requires in
 * the fields of @mask. Rates are compared by speed; MGID and join state are
 * not compared.
 */
bool ibsa__sa_mcmember_fits(const struct ib_sa_mcmember_rec *have,
			    const struct ib_sa_mcmember_rec *want,
			    ib_sa_comp_mask mask);

#endif
