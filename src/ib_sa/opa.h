/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Omni-Path: the form in which its manager is queried, and the conversion
 * between both forms.
 */
#ifndef IB_SA_OPA_H
#define IB_SA_OPA_H

#include "ib_sa/state.h"

/* As opa_pr_query_possible(). Any thread. */
enum opa_pr_supported ibsa__opa_supported(struct sa_port *port);

/*
 * Convert an OPA record to the IB form. If a LID in @mask does not fit, both
 * LIDs move into the GIDs, and so do their bits of @mask; a GID that was not in
 * @mask gets @prefix. Return: the new mask.
 */
ib_sa_comp_mask ibsa__opa_path_to_ib(const struct sa_path_rec *opa,
				     __be64 prefix, ib_sa_comp_mask mask,
				     struct sa_path_rec *out);

/* The prefix of the port's subnet. Any thread. */
__be64 ibsa__sa_prefix(struct sa_port *port);

/* Convert a reply in IB form to an OPA record; @out may be @ib. */
void ibsa__opa_path_from_ib(const struct sa_path_rec *ib,
			    struct sa_path_rec *out);

#endif
