/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The environment variables that ibsa env writes, also for its columns. */
#ifndef COMMAND_ENV_LIBRARIES_H
#define COMMAND_ENV_LIBRARIES_H

/*
 * The libraries and their environment variables: L(name, devices, prefix of a
 * list of devices that makes the library compare whole names, GID index, P_Key,
 * whether the value for the P_Key is its index in the P_Key table, SL, traffic
 * class). Source: ucx_info -c -f of UCX 1.13; NCCL user guide, "Environment
 * Variables"; for NCCL_IB_PKEY the sources of NCCL 2.
 */
/* clang-format off */
#define ENV_LIBRARIES(L)                                                    \
	L("ucx", "UCX_NET_DEVICES", "", "UCX_IB_GID_INDEX", "UCX_IB_PKEY",  \
	  false, "UCX_IB_SL", "UCX_IB_TRAFFIC_CLASS")                       \
	L("nccl", "NCCL_IB_HCA", "=", "NCCL_IB_GID_INDEX", "NCCL_IB_PKEY",  \
	  true, "NCCL_IB_SL", "NCCL_IB_TC")
/* clang-format on */

#endif
