/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A program with <ibsa/verbs.h> and rdma-core's header, in the words that C11
 * and C++17 have in common. Compiled only: VERBS_FIRST has ours come first,
 * VERBS_COMPAT leaves ours to the compat folder.
 */
#ifdef VERBS_FIRST
#include <ibsa/verbs.h>
#endif
#include <infiniband/verbs.h>
#if !defined(VERBS_FIRST) && !defined(VERBS_COMPAT)
#include <ibsa/verbs.h>
#endif

int entries_use(struct ibv_context *context, struct ibv_gid_entry *entry);

int entries_use(struct ibv_context *context, struct ibv_gid_entry *entry)
{
	if (ibv_query_gid_ex(context, 1, 0, entry, 0) ||
	    ibv_query_gid_table(context, entry, 1, 0) < 0)
		return 1;
	if (ibsa_query_gid_ex(context, 1, 0, entry, 0) ||
	    ibsa_query_gid_table(context, entry, 1, 0) < 0)
		return 1;
	return ibsa_verbs_close(context);
}
