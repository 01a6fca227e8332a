/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Converts a path record to the attributes of an address handle, and manages
 * the source GID entries that address handles refer to. Any thread.
 *
 * Source: Linux drivers/infiniband/core/sa_query.c, cache.c, verbs.c, addr.c.
 */
#include <endian.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "client/open.h"
#include "device/device.h"
#include "device/route.h"
#include "ib_sa/state.h"

enum {
	/*
	 * Mask for the path bits of a LID while the LMC of the port is unknown.
	 */
	PATH_BITS = 0x7f,
	LID_PERMISSIVE = 0xffff,
};

/*
 * A GID table entry with its reference count. Callers of the library hold a
 * pointer to @attr.
 */
struct counted_gid {
	struct ib_gid_attr attr;
	atomic_uint holders;
};

/* The properties of a port that the conversion needs. */
struct port_view {
	enum ibsa_link_layer link;
	uint8_t path_bits;
	bool needs_grh;
};

/*
 * Return: @err as a pointer, as kernel functions return errors; see
 * ibsa_is_err().
 */
static struct ib_gid_attr *error_pointer(int err)
{
	return (struct ib_gid_attr *)(intptr_t)err;
}

/*
 * Whether the device is in a simulated fabric. The files of a device of this
 * machine are read without opening a port: that needs no permission and works
 * while the port is down.
 */
static bool device_is_in_fabric(const struct ib_device *device)
{
	return !device->files;
}

static int state_in_fabric(struct ib_device *device, uint8_t port_num,
			   struct ibsa_port_state *out)
{
	struct sa_port *port;
	int err = ibsa__sa_port_open(device, port_num, &port);

	if (err)
		return err;
	pthread_mutex_lock(&device->sa->lock);
	*out = port->state;
	pthread_mutex_unlock(&device->sa->lock);
	return 0;
}

/*
 * Whether packets of the port need a GRH: because of the program's options,
 * because of the port's type, or because the kernel has reported it through the
 * verbs context of an open port.
 */
static bool needs_grh(struct ib_device *device, uint8_t port_num,
		      const struct ibsa_port_state *state)
{
	const struct sa_port *port = ibsa__sa_port_find(device, port_num);
	bool needed = state->needs_grh;

	if (device->options.access.grh != IBSA_GRH_AUTO)
		return device->options.access.grh == IBSA_GRH_ALWAYS;
	if (!port)
		return needed;
	pthread_mutex_lock(&device->sa->lock);
	needed = needed || port->state.needs_grh;
	pthread_mutex_unlock(&device->sa->lock);
	return needed;
}

/*
 * Store only the port's link layer in @out, because the whole state of the port
 * cannot be read.
 */
static int port_link_read(const struct ib_device *device, uint8_t port_num,
			  struct ibsa_port_state *out)
{
	struct ibsa_port_state state = { 0 };
	int err = ibsa__folder_check(device->files,
				     "class/infiniband/%s/ports/%u",
				     device->name, port_num);

	if (err)
		return err == -ENOENT ? -ENODEV : err;
	err = ibsa__link_read(device->files, device->name, port_num,
			      &state.link);
	if (err)
		return err;
	state.needs_grh = state.link == IBSA_LINK_ETHERNET;
	*out = state;
	return 0;
}

int ibsa__sa_port_state(struct ib_device *device, uint8_t port_num,
			struct ibsa_port_state *out)
{
	int err;

	if (device_is_in_fabric(device))
		return state_in_fabric(device, port_num, out);
	err = ibsa__port_read(device->files, device->name, port_num, out);
	return err && err != -ENOMEM ? port_link_read(device, port_num, out)
				     : err;
}

/*
 * Return: the link type of a port in a fabric whose state cannot be read. The
 * state of a port at a fabric server can always be read.
 */
static uint8_t port_link_without_state(const struct ib_device *device)
{
	struct ibsa_fabric *fabric = device->fabric ? device->fabric
						    : device->options.on;

	return fabric ? ibsa__fabric_link(fabric) : IBSA_LINK_INFINIBAND;
}

static int port_view_read(struct ib_device *device, uint8_t port_num,
			  struct port_view *out)
{
	struct ibsa_port_state state = { 0 };
	int err = -EINVAL;

	if (ibsa__sa_is_ours(device->sa))
		err = ibsa__sa_port_state(device, port_num, &state);
	/*
	 * Although the port, in a fabric, has no link (-EAGAIN), the type of
	 * the port can be determined; the zeros in @state stand for a port
	 * without a LID.
	 */
	if (err && err != -EAGAIN)
		return err;
	if (err)
		state.link = port_link_without_state(device);
	*out = (struct port_view){
		.link = state.link,
		.needs_grh = needs_grh(device, port_num, &state),
		.path_bits = PATH_BITS,
	};
	if (state.sm_lid)
		out->path_bits = (uint8_t)((1 << state.lmc) - 1);
	return 0;
}

/* enum ib_gid_type and enum ibsa_gid_type have the same values. */
static struct ib_gid_attr *counted_gid_new(struct ib_device *device,
					   uint8_t port_num,
					   const struct ibsa_gid_entry *entry)
{
	struct counted_gid *counted_gid = ibsa__calloc(1, sizeof(*counted_gid));

	if (!counted_gid)
		return error_pointer(-ENOMEM);
	counted_gid->attr = (struct ib_gid_attr){
		.device = device,
		.gid_type = (enum ib_gid_type)entry->type,
		.index = (uint16_t)entry->index,
		.port_num = port_num,
		.ndev_ifindex = entry->ifindex,
	};
	memcpy(&counted_gid->attr.gid, &entry->gid,
	       sizeof(counted_gid->attr.gid));
	atomic_init(&counted_gid->holders, 1);
	return &counted_gid->attr;
}

static int gid_in_fabric(struct ib_device *device, uint8_t port_num,
			 uint32_t index, struct ibsa_gid_entry *out)
{
	struct sa_port *port;
	int err = ibsa__sa_port_open(device, port_num, &port);

	/*
	 * ibsa_gid_get() may be called in any thread, also while another thread
	 * dispatches the device.
	 */
	return err ? err : ibsa_gid_get(port->client, index, out);
}

static int gid_entry_read(struct ib_device *device, uint8_t port_num,
			  uint32_t index, struct ibsa_gid_entry *out)
{
	if (device_is_in_fabric(device))
		return gid_in_fabric(device, port_num, index, out);
	return ibsa__gid_read(device->files, device->name, port_num, index,
			      out);
}

/*
 * Map the error at the end of a GID table. Reading a GID table of a fabric
 * device ends with -EINVAL, reading the files of a device of this machine with
 * -ENOENT.
 */
static int entry_error(int err)
{
	switch (err) {
	case -ENOENT:
		return -EINVAL;
	case -EINVAL:
	case -ENOMEM:
		return err;
	default:
		return -ENODATA;
	}
}

const struct ib_gid_attr *rdma_get_gid_attr(struct ib_device *device,
					    uint32_t port_num, int index)
{
	struct ibsa_gid_entry entry;
	struct port_view port;
	int err = -EINVAL;

	if (port_num && port_num <= UINT8_MAX)
		err = port_view_read(device, (uint8_t)port_num, &port);
	if (err)
		return error_pointer(err == -ENOMEM ? err : -EINVAL);
	if (index < 0 || index > UINT16_MAX)
		return error_pointer(-EINVAL);
	err = gid_entry_read(device, (uint8_t)port_num, (uint32_t)index,
			     &entry);
	if (err)
		return error_pointer(entry_error(err));
	return counted_gid_new(device, (uint8_t)port_num, &entry);
}

/*
 * Whether the GID table entry @entry has the GID @gid, the wanted type and the
 * network interface @ifindex (0: any interface).
 */
static bool entry_fits(const struct ibsa_gid_entry *entry,
		       const struct ibsa_gid *gid, enum ibsa_gid_type type,
		       uint32_t ifindex)
{
	return entry->type == type &&
	       !memcmp(&entry->gid, gid, sizeof(entry->gid)) &&
	       (!ifindex || entry->ifindex == ifindex);
}

static int gid_find_in_fabric(struct ib_device *device, uint8_t port_num,
			      const struct ibsa_gid *gid,
			      enum ibsa_gid_type type, uint32_t ifindex,
			      struct ibsa_gid_entry *out)
{
	for (uint32_t index = 0; index <= UINT16_MAX; index++) {
		struct ibsa_gid_entry entry;
		int err = gid_in_fabric(device, port_num, index, &entry);

		if (err == -ENOMEM)
			return err;
		if (err && err != -ENODATA)
			break;
		if (err || !entry_fits(&entry, gid, type, ifindex))
			continue;
		*out = entry;
		return 0;
	}
	return -ENOENT;
}

const struct ib_gid_attr *rdma_find_gid_by_port(struct ib_device *device,
						const union ib_gid *gid,
						enum ib_gid_type gid_type,
						uint32_t port_num,
						uint32_t ndev_ifindex)
{
	const enum ibsa_gid_type type = (enum ibsa_gid_type)gid_type;
	struct ibsa_gid_entry entry;
	struct ibsa_gid wanted;
	int err;

	if (!ibsa__sa_is_ours(device->sa))
		return error_pointer(-EINVAL);
	if (!port_num || port_num > UINT8_MAX)
		return error_pointer(-ENOENT);
	memcpy(&wanted, gid, sizeof(wanted));
	if (device_is_in_fabric(device))
		err = gid_find_in_fabric(device, (uint8_t)port_num, &wanted,
					 type, ndev_ifindex, &entry);
	else
		err = ibsa__gid_find(device->files, device->name, port_num,
				     &wanted, type, ndev_ifindex, &entry);
	if (err)
		return error_pointer(err == -ENOMEM ? err : -ENOENT);
	return counted_gid_new(device, (uint8_t)port_num, &entry);
}

void rdma_hold_gid_attr(const struct ib_gid_attr *attr)
{
	struct counted_gid *counted_gid = (struct counted_gid *)(uintptr_t)attr;

	atomic_fetch_add(&counted_gid->holders, 1);
}

void rdma_put_gid_attr(const struct ib_gid_attr *attr)
{
	struct counted_gid *counted_gid = (struct counted_gid *)(uintptr_t)attr;

	if (atomic_fetch_sub(&counted_gid->holders, 1) == 1)
		ibsa__free(counted_gid);
}

void rdma_destroy_ah_attr(struct rdma_ah_attr *ah_attr)
{
	if (!ah_attr->grh.sgid_attr)
		return;
	rdma_put_gid_attr(ah_attr->grh.sgid_attr);
	ah_attr->grh.sgid_attr = NULL;
}

static bool path_is_roce(const struct sa_path_rec *rec)
{
	return rec->rec_type == SA_PATH_REC_TYPE_ROCE_V1 ||
	       rec->rec_type == SA_PATH_REC_TYPE_ROCE_V2;
}

/*
 * Whether the device is one of iWARP or usNIC: its ports are Ethernet, but not
 * RoCE. Source: Linux include/rdma/ib_verbs.h, enum rdma_node_type.
 */
static bool device_is_not_roce(const struct ib_device *device)
{
	enum { RDMA_NODE_RNIC = 4 };
	unsigned int type;

	return !device_is_in_fabric(device) &&
	       !ibsa__node_type_read(device->files, device->name, &type) &&
	       type >= RDMA_NODE_RNIC;
}

/* Source: Linux include/rdma/ib_verbs.h, rdma_ah_find_type(). */
static enum rdma_ah_attr_type ah_type(const struct ib_device *device,
				      enum ibsa_link_layer link)
{
	switch (link) {
	case IBSA_LINK_ETHERNET:
		return device_is_not_roce(device) ? RDMA_AH_ATTR_TYPE_IB
						  : RDMA_AH_ATTR_TYPE_ROCE;
	case IBSA_LINK_OPA:
		return RDMA_AH_ATTR_TYPE_OPA;
	default:
		return RDMA_AH_ATTR_TYPE_IB;
	}
}

static int route_resolve(struct sa_path_rec *rec,
			 const struct ib_gid_attr *gid_attr)
{
	struct ibsa_gid destination;
	struct ibsa_gid source;
	uint32_t ifindex = gid_attr ? gid_attr->ndev_ifindex : 0;
	int err;

	if (rec->roce.route_resolved)
		return 0;
	memcpy(&source, &rec->sgid, sizeof(source));
	memcpy(&destination, &rec->dgid, sizeof(destination));
	err = ibsa__route_check(&source, &destination, ifindex,
				rec->rec_type == SA_PATH_REC_TYPE_ROCE_V2);
	if (!err)
		rec->roce.route_resolved = true;
	return err;
}

/* Copy the LIDs of the path record, if the port's type has LIDs. */
static void ah_set_lids(const struct sa_path_rec *rec, uint8_t path_bits,
			struct rdma_ah_attr *ah_attr)
{
	bool is_opa = rec->rec_type == SA_PATH_REC_TYPE_OPA;
	uint32_t dlid = is_opa ? be32toh(rec->opa.dlid) : be16toh(rec->ib.dlid);
	uint32_t slid = is_opa ? be32toh(rec->opa.slid) : be16toh(rec->ib.slid);

	if (ah_attr->type == RDMA_AH_ATTR_TYPE_IB) {
		ah_attr->ib.dlid = (uint16_t)dlid;
		ah_attr->ib.src_path_bits = (uint8_t)(slid & path_bits);
	} else if (ah_attr->type == RDMA_AH_ATTR_TYPE_OPA) {
		ah_attr->opa.dlid = dlid;
		ah_attr->opa.src_path_bits = (uint8_t)(slid & path_bits);
		ah_attr->opa.make_grd = is_opa && dlid == LID_PERMISSIVE;
	}
}

static enum ib_gid_type path_gid_type(const struct sa_path_rec *rec)
{
	switch (rec->rec_type) {
	case SA_PATH_REC_TYPE_ROCE_V1:
		return IB_GID_TYPE_ROCE;
	case SA_PATH_REC_TYPE_ROCE_V2:
		return IB_GID_TYPE_ROCE_UDP_ENCAP;
	default:
		return IB_GID_TYPE_IB;
	}
}

static int ah_set_grh(struct ib_device *device, uint8_t port_num,
		      const struct sa_path_rec *rec,
		      struct rdma_ah_attr *ah_attr,
		      const struct ib_gid_attr *gid_attr)
{
	if (gid_attr)
		rdma_hold_gid_attr(gid_attr);
	else
		gid_attr = rdma_find_gid_by_port(
			device, &rec->sgid, path_gid_type(rec), port_num, 0);
	if (ibsa_is_err(gid_attr))
		return ibsa_ptr_err(gid_attr);
	ah_attr->ah_flags = IB_AH_GRH;
	ah_attr->grh = (struct ib_global_route){
		.sgid_attr = gid_attr,
		.dgid = rec->dgid,
		.flow_label = be32toh(rec->flow_label),
		.sgid_index = (uint8_t)gid_attr->index,
		.hop_limit = rec->hop_limit,
		.traffic_class = rec->traffic_class,
	};
	return 0;
}

static int ah_attr_init(struct ib_device *device, uint8_t port_num,
			const struct port_view *port, struct sa_path_rec *rec,
			struct rdma_ah_attr *ah_attr,
			const struct ib_gid_attr *gid_attr)
{
	int err;

	ah_attr->type = ah_type(device, port->link);
	ah_attr->sl = rec->sl;
	ah_attr->port_num = port_num;
	ah_attr->static_rate = rec->rate;
	if (path_is_roce(rec)) {
		err = route_resolve(rec, gid_attr);
		if (err)
			return err;
		memcpy(ah_attr->roce.dmac, rec->roce.dmac,
		       sizeof(ah_attr->roce.dmac));
	} else {
		ah_set_lids(rec, port->path_bits, ah_attr);
	}
	if (!rec->hop_limit && !path_is_roce(rec))
		return 0;
	return ah_set_grh(device, port_num, rec, ah_attr, gid_attr);
}

/*
 * Fill @ah_attr from the path record @rec. If @is_grh_added is set and the port
 * requires a GRH, also a path whose hop limit is 0 gets a GRH.
 */
static int path_ah_attr_init(struct ib_device *device, uint8_t port_num,
			     struct sa_path_rec *rec, bool is_grh_added,
			     struct rdma_ah_attr *ah_attr,
			     const struct ib_gid_attr *gid_attr)
{
	struct port_view port;
	int err;

	memset(ah_attr, 0, sizeof(*ah_attr));
	err = port_view_read(device, port_num, &port);
	if (err)
		return err;
	if (is_grh_added && port.needs_grh && !rec->hop_limit)
		rec->hop_limit = 1;
	return ah_attr_init(device, port_num, &port, rec, ah_attr, gid_attr);
}

int ib_init_ah_attr_from_path(struct ib_device *device, uint8_t port_num,
			      struct sa_path_rec *rec,
			      struct rdma_ah_attr *ah_attr,
			      const struct ib_gid_attr *gid_attr)
{
	return path_ah_attr_init(device, port_num, rec, false, ah_attr,
				 gid_attr);
}

int ibsa_init_ah_attr_from_path(struct ib_device *device, uint8_t port_num,
				struct sa_path_rec *rec,
				struct rdma_ah_attr *ah_attr,
				const struct ib_gid_attr *gid_attr)
{
	struct sa_path_rec global = *rec;
	int err = path_ah_attr_init(device, port_num, &global, true, ah_attr,
				    gid_attr);

	if (path_is_roce(rec))
		rec->roce.route_resolved = global.roce.route_resolved;
	return err;
}

/* Only IB and OPA ports have LIDs. */
static int ah_lid_convert(const struct rdma_ah_attr *ah_attr,
			  struct ibv_ah_attr *out)
{
	switch (ah_attr->type) {
	case RDMA_AH_ATTR_TYPE_IB:
		out->dlid = ah_attr->ib.dlid;
		out->src_path_bits = ah_attr->ib.src_path_bits;
		return 0;
	case RDMA_AH_ATTR_TYPE_OPA:
		if (ah_attr->opa.dlid > UINT16_MAX || ah_attr->opa.make_grd)
			return -ERANGE;
		out->dlid = (uint16_t)ah_attr->opa.dlid;
		out->src_path_bits = ah_attr->opa.src_path_bits;
		return 0;
	case RDMA_AH_ATTR_TYPE_ROCE:
		return 0;
	default:
		return -EINVAL;
	}
}

int ibsa_ah_attr_to_ibv(const struct rdma_ah_attr *ah_attr,
			struct ibv_ah_attr *out)
{
	struct ibv_ah_attr ibv = { 0 };
	int err = ah_lid_convert(ah_attr, &ibv);

	if (err)
		return err;
	if (ah_attr->port_num > UINT8_MAX)
		return -ERANGE;
	ibv.sl = ah_attr->sl;
	ibv.static_rate = ah_attr->static_rate;
	ibv.port_num = (uint8_t)ah_attr->port_num;
	if (ah_attr->ah_flags & IB_AH_GRH) {
		ibv.is_global = 1;
		memcpy(&ibv.grh.dgid, &ah_attr->grh.dgid, sizeof(ibv.grh.dgid));
		ibv.grh.flow_label = ah_attr->grh.flow_label;
		ibv.grh.sgid_index = ah_attr->grh.sgid_index;
		ibv.grh.hop_limit = ah_attr->grh.hop_limit;
		ibv.grh.traffic_class = ah_attr->grh.traffic_class;
	}
	*out = ibv;
	return 0;
}
