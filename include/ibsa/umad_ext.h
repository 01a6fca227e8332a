/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions of libibumad since rdma-core 53 and 56 (symbol versions IBUMAD_1.3
 * and 1.4), for an older infiniband/umad.h, which does not declare them.
 *
 * A port of a planarized adapter appears as two devices: one with the subnet
 * management interface (SMI, QP 0) and one for the general services (GSI,
 * QP 1). Both have the same port GUID.
 *
 * The functions are in ibsa's libibumad.so.3, the drop-in replacement of
 * libibumad, and in libibumad of these versions of rdma-core.
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
 * struct umad_ca_pair - the two devices of a port
 * @smi_name:           device for subnet management packets; "": none
 * @smi_preferred_port: number of the port to use at @smi_name; 0: port 0 of a
 *                      switch, or not determined
 * @gsi_name:           device for all other MADs; the same as @smi_name, except
 *                      on planarized adapters or if @smi_name is ""; "": none
 * @gsi_preferred_port: as @smi_preferred_port, at @gsi_name
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
 * @ca_name: name of the device; NULL: any
 * @portnum: number of the port; 0: any
 *
 * umad_open_smi_port() opens a port as umad_open_port() does, but selects no
 * port without SMI, except port 0 of a switch. If @ca_name and a @portnum above
 * 0 give a port without SMI, umad_open_smi_port() fails with -ENODEV. A port
 * has an SMI unless the bit IsSMdisabled is set in its CapabilityMask. Any
 * thread may call umad_open_smi_port().
 *
 * Return: a portid, 0 or above, as umad_open_port() returns it; -EOPNOTSUPP the
 * ib_umad module is not loaded, or its interface is older than version 5;
 * -ENODEV there is no device, or @ca_name does not exist or has no such port
 * with SMI; -EINVAL @ca_name is NULL, and no device has such a port with SMI,
 * or the port has no umad device file; -ENOMEM; or the error from opening the
 * umad device file, such as -EACCES.
 *
 * Source: umad_open_smi_port(3) of rdma-core; CapabilityMask bit 10,
 * IsSMdisabled, of IBA vol 1, 14.2.5.6.
 */
int umad_open_smi_port(const char *ca_name, int portnum);

/**
 * umad_get_smi_gsi_pairs - list the pairs of devices of this machine, or of a
 * fabric server
 * @cas: receives the pairs; entries after the last pair are set to 0
 * @max: number of entries of @cas
 *
 * Devices with the same port GUID are a pair; so is a device alone. The first
 * port of a device with a port GUID other than 0 determines the pair of the
 * device. If the pair with this GUID is not in @cas yet, and @cas is full, the
 * next such port determines the pair instead; if @cas has no pair for any port
 * of the device, the device is left out. The device has SMI unless the bit
 * IsSMdisabled is set in the CapabilityMask of the port that determines the
 * pair. If no other port of any device has this GUID, the device is gsi_name,
 * and also smi_name if it has SMI. If several ports, of one or several devices,
 * have this GUID, a device with SMI is smi_name, and a device without SMI is
 * gsi_name. If there are several such devices for smi_name, or for gsi_name,
 * the last of them in the order of names is used. Devices are processed in the
 * order of their names, sorted by bytes. A device that cannot be read, or whose
 * name does not fit, is skipped. This function sets all preferred ports to 0.
 * Any thread may call umad_get_smi_gsi_pairs().
 *
 * Return: the number of pairs, 0 also if the RDMA modules are not loaded; -1
 * not enough memory.
 *
 * Source: umad_get_smi_gsi_pairs(3) of rdma-core; CapabilityMask bit 10,
 * IsSMdisabled, of IBA vol 1, 14.2.5.6.
 */
int umad_get_smi_gsi_pairs(struct umad_ca_pair cas[], size_t max);

/**
 * umad_get_smi_gsi_pair_by_ca_name - one pair of devices, with its ports
 * @devname:     name of either device; NULL: the first pair that qualifies by
 *               the rules below
 * @portnum:     number of a port of the device; 0: any
 * @ca_pair:     receives the pair; all 0 after a failure
 * @enforce_smi: not 0: the pair must have smi_name
 *
 * A pair without gsi_name does not qualify. The port states are read from one
 * device, the selected device: @devname, or, if @devname is NULL, smi_name, or
 * gsi_name if there is no smi_name. The preferred port of the selected device
 * is the port @portnum, which may be down if @devname is given. If @portnum is
 * 0, the preferred port is port 0 of a switch, or port 1 of a device whose
 * highest port number is 1. Of any other device, the preferred port is the
 * first port that is not down; if all ports are down, the pair does not
 * qualify. If @devname is NULL, a pair also does not qualify if the preferred
 * port of its selected device is down.
 *
 * If the pair has two devices, the preferred port of the other device has the
 * number of the selected device's first port that is not down. With @devname,
 * the pair may qualify although all ports of the selected device are down; the
 * preferred port of the other device is then 0. Any thread may call
 * umad_get_smi_gsi_pair_by_ca_name().
 *
 * Return: 0; -ENODEV there is no such device or port, or no pair qualifies, and
 * errno is set to this error; -1 @ca_pair is NULL, and errno is unchanged, or
 * there is not enough memory, and errno is set.
 *
 * Source: umad_get_smi_gsi_pair_by_ca_name(3) of rdma-core.
 */
int umad_get_smi_gsi_pair_by_ca_name(const char *devname, uint8_t portnum,
				     struct umad_ca_pair *ca_pair,
				     unsigned enforce_smi);

IBSA_END

#endif
