/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Omni-Path path records: the choice between the OPA and the IB form of a
 * query, and the conversion between both forms.
 *
 * Source: Linux include/rdma/ib_sa.h, opa_addr.h, core/sa_query.c.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "ib_sa/opa.h"
#include "ib_sa/query.h"

/*
 * Upper bits of the interface id of a GID that stands for an OPA LID; the LID
 * is in the lower bits.
 */
#define OPA_OUI UINT64_C(0x00066a)
enum { OUI_SHIFT = 40, IB_LID_END = 0xc000 };

/*
 * Bit of CapabilityMask2 in a ClassPortInfo: the OPA manager answers queries
 * for OPA path records.
 */
#define CAP2_OPA_PATH (UINT32_C(1) << 26)

enum opa_pr_supported ibsa__opa_supported(struct sa_port *port)
{
	struct ibsa__sa *sa = port->device->sa;
	enum opa_pr_supported result = PR_IB_SUPPORTED;

	pthread_mutex_lock(&sa->lock);
	ibsa__sa_cpi_await(port);
	if (port->cpi.is_valid && port->cpi.capability_mask2 & CAP2_OPA_PATH)
		result = PR_OPA_SUPPORTED;
	else if (port->state.lid >= IB_LID_END)
		result = PR_NOT_SUPPORTED;
	pthread_mutex_unlock(&sa->lock);
	return result;
}

/*
 * The ClassPortInfo of the port's manager is not known, so the LID of the port
 * decides whether path records in the IB form are possible: a LID of 0xC000 or
 * above is a multicast LID on InfiniBand, which an InfiniBand path record must
 * not contain.
 */
static enum opa_pr_supported supported_by_down_port(struct ib_device *device,
						    uint8_t port_num)
{
	struct ibsa_port_state state = { 0 };
	int err = ibsa__sa_port_state(device, port_num, &state);

	/*
	 * -EAGAIN: the port is in a fabric and has no link. After -EAGAIN,
	 * @state is still all zeros: the port has no LID.
	 */
	if (err && err != -EAGAIN)
		return PR_NOT_SUPPORTED;
	return state.lid >= IB_LID_END ? PR_NOT_SUPPORTED : PR_IB_SUPPORTED;
}

int opa_pr_query_possible(struct ib_sa_client *client, struct ib_device *device,
			  uint8_t port_num, struct sa_path_rec *rec)
{
	struct sa_port *port;
	int err;

	(void)client;
	(void)rec;
	if (!ibsa__sa_is_ours(device->sa))
		return PR_NOT_SUPPORTED;
	err = ibsa__sa_port_open(device, port_num, &port);
	if (err == -EAGAIN)
		return supported_by_down_port(device, port_num);
	return err ? PR_NOT_SUPPORTED : ibsa__opa_supported(port);
}

static __be64 gid_of_lid(uint32_t lid)
{
	return htobe64(OPA_OUI << OUI_SHIFT | lid);
}

static bool is_opa_gid(const union ib_gid *gid)
{
	return be64toh(gid->global.interface_id) >> OUI_SHIFT == OPA_OUI;
}

static uint32_t lid_of_gid(const union ib_gid *gid)
{
	return (uint32_t)be64toh(gid->global.interface_id);
}

/*
 * One end of a path, source or destination: its LID, and the component mask
 * bits of its LID and its GID.
 */
struct path_end {
	uint32_t lid;
	ib_sa_comp_mask lid_bit;
	ib_sa_comp_mask gid_bit;
};

static bool lid_is_too_long(const struct path_end *end, ib_sa_comp_mask mask)
{
	return mask & end->lid_bit && end->lid >= IB_LID_END;
}

/*
 * Replace the GID at one end of the path by a GID that contains the end's LID.
 * If the LID is not in the component mask, the GID stays as it is.
 */
static ib_sa_comp_mask lid_move_to_gid(const struct path_end *end,
				       __be64 prefix, union ib_gid *gid,
				       ib_sa_comp_mask mask)
{
	if (!(mask & end->lid_bit))
		return mask;
	if (!(mask & end->gid_bit))
		gid->global.subnet_prefix = prefix;
	gid->global.interface_id = gid_of_lid(end->lid);
	return (mask & ~end->lid_bit) | end->gid_bit;
}

ib_sa_comp_mask ibsa__opa_path_to_ib(const struct sa_path_rec *opa,
				     __be64 prefix, ib_sa_comp_mask mask,
				     struct sa_path_rec *out)
{
	const struct path_end to = {
		.lid = be32toh(opa->opa.dlid),
		.lid_bit = IB_SA_PATH_REC_DLID,
		.gid_bit = IB_SA_PATH_REC_DGID,
	};
	const struct path_end from = {
		.lid = be32toh(opa->opa.slid),
		.lid_bit = IB_SA_PATH_REC_SLID,
		.gid_bit = IB_SA_PATH_REC_SGID,
	};
	struct sa_path_rec ib = *opa;

	ib.rec_type = SA_PATH_REC_TYPE_IB;
	memset(&ib.ib, 0, sizeof(ib.ib));
	ib.ib.raw_traffic = opa->opa.raw_traffic;
	if (lid_is_too_long(&to, mask) || lid_is_too_long(&from, mask)) {
		mask = lid_move_to_gid(&to, prefix, &ib.dgid, mask);
		mask = lid_move_to_gid(&from, prefix, &ib.sgid, mask);
	} else {
		ib.ib.dlid = htobe16((uint16_t)to.lid);
		ib.ib.slid = htobe16((uint16_t)from.lid);
	}
	*out = ib;
	return mask;
}

__be64 ibsa__sa_prefix(struct sa_port *port)
{
	struct ibsa__sa *sa = port->device->sa;
	__be64 prefix;

	pthread_mutex_lock(&sa->lock);
	memcpy(&prefix, &port->state.gid, sizeof(prefix));
	pthread_mutex_unlock(&sa->lock);
	return prefix;
}

static __be32 opa_lid(const union ib_gid *gid, __be16 lid)
{
	return htobe32(is_opa_gid(gid) ? lid_of_gid(gid) : be16toh(lid));
}

void ibsa__opa_path_from_ib(const struct sa_path_rec *ib,
			    struct sa_path_rec *out)
{
	struct sa_path_rec opa = *ib;

	opa.rec_type = SA_PATH_REC_TYPE_OPA;
	memset(&opa.opa, 0, sizeof(opa.opa));
	opa.opa.dlid = opa_lid(&ib->dgid, ib->ib.dlid);
	opa.opa.slid = opa_lid(&ib->sgid, ib->ib.slid);
	opa.opa.raw_traffic = ib->ib.raw_traffic;
	*out = opa;
}
