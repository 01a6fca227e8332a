/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For code of kernel modules, which includes <rdma/ib_sa.h>: <ibsa/ib_sa.h> with
 * the kernel's short names. The flags of "pkg-config ibsa-compat" make the
 * compiler find this file.
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
