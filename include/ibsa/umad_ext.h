/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What libibumad has had since rdma-core 53 and 56 (symbol versions IBUMAD_1.3
 * and 1.4), for an infiniband/umad.h that lacks it.
 *
 * On planarized adapters one port is two devices: one that has the subnet
 * management interface (SMI, QP 0) and one for the general services (GSI,
 * QP 1). Both show the same port GUID.
 */
#ifndef IBSA_UMAD_EXT_H
#define IBSA_UMAD_EXT_H

#include <infiniband/umad.h>

#include <ibsa/types.h>

IBSA_BEGIN

/*
 * Headers of rdma-core 56 to 60 have the struct and nothing to know that by:
 * with them, define IBSA_UMAD_HAS_PAIRS.
 */
#if UMAD_MAX_DEVICES < 128 && !defined(IBSA_UMAD_HAS_PAIRS)
/**
 * struct umad_ca_pair - the two sides of a port
 * @smi_name:           device for subnet management; "" if there is none
 * @smi_preferred_port: its port
 * @gsi_name:           device for all else; often the same
 * @gsi_preferred_port: its port
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
 * @ca_name: device; NULL: any
 * @portnum: port of it; 0: any
 *
 * As umad_open_port(), but a port without SMI is never chosen, and refused if
 * it is the one that is named.
 *
 * Return: a portid, 0 or above, for all that takes one of umad_open_port();
 * -EOPNOTSUPP the ib_umad module is not loaded, or too old; -ENODEV there is
 * no such device, or none with a port with SMI; -EINVAL the port sends no
 * MADs; -ENOMEM; or the error of opening its device file, such as -EACCES.
 * Thread-safe.
 *
 * Source: umad_open_smi_port(3) of rdma-core; CapabilityMask bit 10,
 * IsSMdisabled, of IBA vol 1, 14.2.5.6.
 */
int umad_open_smi_port(const char *ca_name, int portnum);

/**
 * umad_get_smi_gsi_pairs - the devices of this machine, in pairs
 * @cas: where to put them; all entries are set
 * @max: number of entries
 *
 * The first port of a device that has a GUID decides which pair the device
 * belongs to. If no other port has this GUID, the device is both sides, but
 * without SMI it is gsi_name only. If several ports have it, a device with SMI
 * is smi_name, one without is gsi_name, and the last device of a kind is taken.
 * Devices are in byte order; one that cannot be read, or whose name does not
 * fit, is left out. The preferred ports are 0, and so are further entries.
 *
 * Return: the number of pairs, 0 also if the RDMA modules are not loaded; -1
 * not enough memory. Thread-safe.
 *
 * Source: umad_get_smi_gsi_pairs(3) of rdma-core; CapabilityMask bit 10,
 * IsSMdisabled, of IBA vol 1, 14.2.5.6.
 */
int umad_get_smi_gsi_pairs(struct umad_ca_pair cas[], size_t max);

/**
 * umad_get_smi_gsi_pair_by_ca_name - the pair of a device, and its ports
 * @devname:     either side's name; NULL: the first pair that has such a port
 * @portnum:     port of that device; 0: any
 * @ca_pair:     where to put it; all 0 after a failure
 * @enforce_smi: not 0: only a pair that has SMI
 *
 * The ports of one device are looked at: of @devname, or without it of
 * smi_name, or of gsi_name if there is no smi_name. A port that is named with
 * its device is taken in any state, and so is port 1 of a device that has no
 * higher one; any other port is taken only if it is not down. If the two sides
 * are two devices, the other side's preferred port is the first one of the same
 * device that is not down; if there is none, 0 with @devname, and -ENODEV
 * without.
 *
 * Return: 0; -ENODEV, in errno too, there is no such device or port; -1
 * @ca_pair is NULL, or not enough memory. Thread-safe.
 *
 * Source: umad_get_smi_gsi_pair_by_ca_name(3) of rdma-core.
 */
int umad_get_smi_gsi_pair_by_ca_name(const char *devname, uint8_t portnum,
				     struct umad_ca_pair *ca_pair,
				     unsigned enforce_smi);

IBSA_END

#endif
