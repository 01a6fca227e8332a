/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Omni-Path: in which form its manager can be asked, and the way between. */
#ifndef IB_SA_OPA_H
#define IB_SA_OPA_H

#include "ib_sa/state.h"

/* As opa_pr_query_possible() says. Any thread. */
enum opa_pr_supported ibsa__opa_supported(struct sa_port *port);

/*
 * An OPA record in IB form. If a LID that @mask asks for has no place in it,
 * both LIDs go to the GIDs, and their bits of @mask with them; a GID that was
 * not asked for gets @prefix. Return: the new mask.
 */
ib_sa_comp_mask ibsa__opa_path_to_ib(const struct sa_path_rec *opa,
				     __be64 prefix, ib_sa_comp_mask mask,
				     struct sa_path_rec *out);

/* The prefix of the port's subnet. Any thread. */
__be64 ibsa__sa_prefix(struct sa_port *port);

/* An answer in IB form as an OPA record; @out may be @ib. */
void ibsa__opa_path_from_ib(const struct sa_path_rec *ib,
			    struct sa_path_rec *out);

#endif
