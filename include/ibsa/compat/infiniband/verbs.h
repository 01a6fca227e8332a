/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For code that includes only <infiniband/verbs.h>: rdma-core's header and
 * <ibsa/verbs.h> with the names of libibverbs. The flags of "pkg-config
 * ibsa-compat" make the compiler find this file first, also for <ibsa/verbs.h>,
 * which itself decides on the names.
 */
#pragma GCC system_header /* or -Wpedantic warns of include_next */
#include_next <infiniband/verbs.h>

#ifndef IBSA__IN_VERBS_H
#ifndef IBSA_VERBS_NAMES
#define IBSA_VERBS_NAMES
#endif
#include <ibsa/verbs.h>
#endif
