/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What kernel code includes as <rdma/ib_sa.h>: <ibsa/ib_sa.h> with the
 * kernel's short names. Found with the flags of "pkg-config ibsa-compat".
 */
#ifndef IBSA_COMPAT_RDMA_IB_SA_H
#define IBSA_COMPAT_RDMA_IB_SA_H

#ifndef IBSA_KERNEL_TYPES
#ifdef IBSA_IB_SA_TYPES_H
#error "include <rdma/ib_sa.h> before <ibsa/ib_sa.h>"
#endif
#define IBSA_KERNEL_TYPES
#endif
#include <ibsa/ib_sa.h>

#endif
