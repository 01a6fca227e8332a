/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions of libibumad since rdma-core 53 and 56 (symbol versions IBUMAD_1.3
 * and 1.4), for an older infiniband/umad.h, which does not declare them.
 *
 * umad_open_smi_port           open a port for subnet management packets
 * umad_get_smi_gsi_pairs       list the pairs of SMI and GSI devices
 * umad_get_smi_gsi_pair_by_ca_name find one pair, with its ports
 *
 * A port of a planarized adapter appears as two devices with one port GUID: one
 * with the subnet management interface (SMI, QP 0) and one for the general
 * services (GSI, QP 1). Any thread may call these functions, which are in
 * libibumad.so.3 of ibsa and of these versions of rdma-core.
 */
#ifndef IBSA_UMAD_EXT_H
#define IBSA_UMAD_EXT_H

#include <infiniband/umad.h>

#include <ibsa/types.h>

IBSA_BEGIN

/*
 * The header of rdma-core 56 to 60 declares the struct, but no macro that tells
 * so. Programs that include these versions define IBSA_UMAD_HAS_PAIRS.
 */
#if UMAD_MAX_DEVICES < 128 && !defined(IBSA_UMAD_HAS_PAIRS)
/**
 * struct umad_ca_pair - the two devices of a physical port
 * @smi_name: device for subnet management packets; "": none
 * @smi_preferred_port: 0: port 0 of a switch, or not determined
 * @gsi_name: device for all other MADs, usually the same as @smi_name; "": none
 */
struct umad_ca_pair {
	char smi_name[UMAD_CA_NAME_LEN];
	uint32_t smi_preferred_port;
	char gsi_name[UMAD_CA_NAME_LEN];
	uint32_t gsi_preferred_port;
};
#endif

/**
 * umad_open_smi_port - open a port for subnet management packets
 * @ca_name: name of a device; NULL: any
 * @portnum: 0: any; of a switch, port 0
 *
 * Return: a portid; -ENODEV there is no device, or @ca_name has no such port
 * with SMI; -EINVAL @ca_name is NULL and no device has one, or the port has no
 * umad device file; -EOPNOTSUPP, -ENOMEM; or the error from opening that file
 *
 * Source: umad_open_smi_port(3) of rdma-core; IBA vol 1, 14.2.5.6.
 */
int umad_open_smi_port(const char *ca_name, int portnum);

/**
 * umad_get_smi_gsi_pairs - list the pairs of SMI and GSI devices
 * @max: number of entries of @cas; those after the last pair are set to 0
 *
 * Return: the number of pairs in @cas; -1 not enough memory
 *
 * Source: umad_get_smi_gsi_pairs(3) of rdma-core; IBA vol 1, 14.2.5.6.
 */
int umad_get_smi_gsi_pairs(struct umad_ca_pair cas[], size_t max);

/**
 * umad_get_smi_gsi_pair_by_ca_name - find one pair, with its ports
 * @devname:     either device of the pair; NULL: the first pair with such a
 *               port that is not down
 * @portnum:     0: the only port, or else the first that is not down; of a
 *               switch, port 0
 * @ca_pair:     after an error, all 0
 * @enforce_smi: not 0: the pair must have smi_name; it always has gsi_name
 *
 * Return: 0; -ENODEV no such pair; -1 @ca_pair is NULL, or not enough memory
 *
 * Source: umad_get_smi_gsi_pair_by_ca_name(3) of rdma-core.
 */
int umad_get_smi_gsi_pair_by_ca_name(const char *devname, uint8_t portnum,
				     struct umad_ca_pair *ca_pair,
				     unsigned enforce_smi);

IBSA_END

#endif
