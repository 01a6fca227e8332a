/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What code includes that has <infiniband/verbs.h> for all that it needs:
 * rdma-core's header, and <ibsa/verbs.h> with it. Found with the flags of
 * "pkg-config ibsa-compat".
 */
#ifndef IBSA_COMPAT_INFINIBAND_VERBS_H
#define IBSA_COMPAT_INFINIBAND_VERBS_H

#pragma GCC system_header /* include_next is no C that -Wpedantic knows */
#include_next <infiniband/verbs.h>
#include <ibsa/verbs.h>

#endif
