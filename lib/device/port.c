/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The state of one port from its sysfs files.
 *
 * Source: Linux Documentation/ABI/stable/sysfs-class-infiniband.
 */
#include <errno.h>
#include <string.h>

#include <ibsa/types.h>

#include "base/alloc.h"
#include "base/array.h"
#include "device/device.h"
#include "device/parse.h"
#include "device/files.h"

enum {
	PKEYS_MAX = 65536, /* an index has 16 bits */
	PKEY_DEFAULT_LIMITED = 0x7fff,
	SL_MAX = 15,
	SL_MAX_OPA = 31,
};

enum port_attribute {
	LID,
	LMC,
	SM_LID,
	SM_SL,
	STATE,
	PHYS_STATE,
	PORT_ATTRIBUTES
};

/*
 * The files of a port that contain numbers, and the largest valid value of
 * each.
 */
static const struct {
	const char *name;
	uint64_t max;
} port_attributes[PORT_ATTRIBUTES] = {
	[LID] = { "lid", UINT32_MAX },
	[LMC] = { "lid_mask_count", IBSA_LMC_MAX },
	[SM_LID] = { "sm_lid", UINT32_MAX },
	[SM_SL] = { "sm_sl", SL_MAX_OPA },
	[STATE] = { "state", UINT8_MAX },
	[PHYS_STATE] = { "phys_state", UINT8_MAX },
};

int ibsa__port_gid_read(struct device_files *files, const char *device,
			unsigned int port, uint32_t index, struct ibsa_gid *out)
{
	struct ibsa__file_text text;
	int err;

	err = ibsa__file_read(files, &text,
			      "class/infiniband/%s/ports/%u/gids/%u", device,
			      port, index);
	if (err)
		return err;
	return ibsa__parse_gid(text.bytes, out);
}

int ibsa__pkey_read(struct device_files *files, const char *device,
		    unsigned int port, size_t index, uint16_t *out)
{
	uint64_t pkey;
	int err = ibsa__number_read(files, UINT16_MAX, &pkey,
				    "class/infiniband/%s/ports/%u/pkeys/%zu",
				    device, port, index);

	if (err)
		return err;
	*out = (uint16_t)pkey;
	return 0;
}

int ibsa__pkeys_read(struct device_files *files, const char *device,
		     unsigned int port, uint16_t **out, size_t *out_count)
{
	uint16_t *pkeys = NULL;
	size_t room = 0;
	size_t count;
	int err = 0;

	for (count = 0; count < PKEYS_MAX; count++) {
		uint16_t pkey;

		err = ibsa__pkey_read(files, device, port, count, &pkey);
		if (!err)
			err = ARRAY_GROW(pkeys, room, count + 1);
		if (err)
			break;
		pkeys[count] = pkey;
	}
	if (err && err != -ENOENT) {
		ibsa__free(pkeys);
		return err;
	}
	*out = pkeys;
	*out_count = count;
	return 0;
}

/*
 * Find the index of the default P_Key in a port's P_Key table. The search ends
 * at 0xffff, the default P_Key with full membership, which is nearly always the
 * first entry. If the table does not have 0xffff, *@out is the index of 0x7fff,
 * the limited membership; if the table has neither, 0.
 */
static int default_pkey_find(struct device_files *files, const char *device,
			     unsigned int port, uint16_t *out)
{
	size_t limited = PKEYS_MAX;
	int err = 0;

	for (size_t i = 0; i < PKEYS_MAX; i++) {
		uint16_t pkey;

		err = ibsa__pkey_read(files, device, port, i, &pkey);
		if (err)
			break;
		if (pkey == IBSA_PKEY_DEFAULT) {
			*out = (uint16_t)i;
			return 0;
		}
		if (pkey == PKEY_DEFAULT_LIMITED && limited == PKEYS_MAX)
			limited = i;
	}
	if (err && err != -ENOENT)
		return err;
	*out = limited == PKEYS_MAX ? 0 : (uint16_t)limited;
	return 0;
}

/*
 * Whether a device is an Omni-Path adapter. sysfs gives "InfiniBand" as the
 * link layer of Omni-Path ports; only the driver's name shows what they are.
 */
static bool device_is_opa(struct device_files *files, const char *device)
{
	struct ibsa__file_text text;

	return !ibsa__file_read(files, &text,
				"class/infiniband/%s/device/uevent", device) &&
	       ibsa__parse_is_opa(text.bytes);
}

/*
 * Read the link layer of a port. Kernels before 2.6.37, and ibsim, do not have
 * the file: their ports are InfiniBand.
 */
int ibsa__link_read(struct device_files *files, const char *device,
		    unsigned int port, enum ibsa_link_layer *out)
{
	struct ibsa__file_text text;
	int err;

	err = ibsa__file_read(files, &text,
			      "class/infiniband/%s/ports/%u/link_layer", device,
			      port);
	if (err && err != -ENOENT)
		return err;
	if (!err && !strncmp(text.bytes, "Ethernet", strlen("Ethernet")))
		*out = IBSA_LINK_ETHERNET;
	else
		*out = device_is_opa(files, device) ? IBSA_LINK_OPA
						    : IBSA_LINK_INFINIBAND;
	return 0;
}

/*
 * Return: the port's LID, or 0 if it has none. A port without a LID has the
 * permissive LID, or 0, in its file. On Omni-Path the permissive LID has 32
 * bits, and 0xffff is an ordinary LID.
 */
static uint32_t lid_or_none(uint64_t lid, enum ibsa_link_layer link)
{
	const uint32_t permissive = link == IBSA_LINK_OPA ? UINT32_MAX
							  : IBSA_LID_PERMISSIVE;

	return lid == permissive || lid == UINT32_MAX ? 0 : (uint32_t)lid;
}

int ibsa__port_read(struct device_files *files, const char *device,
		    unsigned int port, struct ibsa_port_state *out)
{
	struct ibsa_port_state state = { 0 };
	uint64_t numbers[PORT_ATTRIBUTES];
	int err;

	for (enum port_attribute i = 0; i < PORT_ATTRIBUTES; i++) {
		err = ibsa__number_read(files, port_attributes[i].max,
					&numbers[i],
					"class/infiniband/%s/ports/%u/%s",
					device, port, port_attributes[i].name);
		if (err)
			return err;
	}
	err = ibsa__port_gid_read(files, device, port, 0, &state.gid);
	if (!err)
		err = default_pkey_find(files, device, port, &state.pkey_index);
	if (!err)
		err = ibsa__link_read(files, device, port, &state.link);
	if (!err && numbers[SM_SL] > SL_MAX && state.link != IBSA_LINK_OPA)
		err = -ERANGE;
	if (err)
		return err;
	state.needs_grh = state.link == IBSA_LINK_ETHERNET;
	state.lid = lid_or_none(numbers[LID], state.link);
	state.sm_lid = lid_or_none(numbers[SM_LID], state.link);
	state.sm_sl = (uint8_t)numbers[SM_SL];
	state.lmc = (uint8_t)numbers[LMC];
	state.port_state = (uint8_t)numbers[STATE];
	state.phys_state = (uint8_t)numbers[PHYS_STATE];
	*out = state;
	return 0;
}
