/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ibsa env: the facts about ports and paths from which the values of its
 * variables follow.
 */
#ifndef COMMAND_ENV_H
#define COMMAND_ENV_H

#include "names/machine.h"

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

/* A value that all ports, or all paths, should have in common. */
struct env_value {
	enum { ENV_UNKNOWN, ENV_KNOWN, ENV_DIFFERS } kind;
	unsigned int number;
	/*
	 * If the ports have different values (ENV_DIFFERS): a value other than
	 * @number.
	 */
	unsigned int other;
};

/* An active port, and the index of the P_Key that it uses. */
struct env_port {
	const struct machine_port *port;
	size_t pkey_index;
};

/**
 * struct env_facts - what all active ports have in common
 * @ports:           the @count active ports
 * @gid_index:       index of the best GID of a RoCE port
 * @pkey:            P_Key without the membership bit
 * @pkey_index:      index of this P_Key in the P_Key table
 * @pkey_is_given:   --pkey is given
 * @sl, @traffic_class: service level and traffic class of the SA's paths to
 *                      other channel adapters
 * @path_count:      number of these paths
 */
struct env_facts {
	struct machine machine;
	struct env_port *ports;
	size_t count;
	struct env_value gid_index;
	struct env_value pkey;
	struct env_value pkey_index;
	bool pkey_is_given;
	struct env_value sl;
	struct env_value traffic_class;
	size_t path_count;
};

/*
 * Read the ports of this machine and query the SA. Return: the exit status; a
 * failure is printed. After a failure, @out contains what was read. The caller
 * frees @out in any case.
 */
int env_facts_read(struct cli *cli, struct env_facts *out);
void env_facts_free(struct env_facts *facts);

#endif
