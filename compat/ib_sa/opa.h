/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Omni-Path path records: the choice between the OPA and the IB form of a
 * query, and the conversion between both forms.
 */
#ifndef IB_SA_OPA_H
#define IB_SA_OPA_H

#include "ib_sa/state.h"

/* As opa_pr_query_possible(). Any thread. */
enum opa_pr_supported ibsa__opa_supported(struct sa_port *port);

/*
 * Convert an OPA path record to the IB form. If a LID in the component mask
 * @mask is 0xC000 or above, which is not a unicast LID of InfiniBand, each LID
 * in @mask is replaced by a GID that contains it, in the record and in the
 * mask; a GID that was not in @mask gets the subnet prefix @prefix. Return: the
 * new component mask.
 */
ib_sa_comp_mask ibsa__opa_path_to_ib(const struct sa_path_rec *opa,
				     __be64 prefix, ib_sa_comp_mask mask,
				     struct sa_path_rec *out);

/* Return: the subnet prefix of the port. Any thread may call this. */
__be64 ibsa__sa_prefix(struct sa_port *port);

/*
 * Convert the path record @ib of a reply, which is in IB form, to an OPA
 * record @out; @out may be the same object as @ib.
 */
void ibsa__opa_path_from_ib(const struct sa_path_rec *ib,
			    struct sa_path_rec *out);

#endif
