/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Part of the library for LD_PRELOAD: the queries of a device, its ports and their
 * P_Keys.
 * Values come from the device files of the fabric server, and from PortInfo and
 * NodeInfo, which it has as files, too.
 */
#include <string.h>

#include <ibsa/records.h>
#include <ibsa/text.h>

#include "base/interrupt.h"
#include "device/device.h"
#include "preload/device.h"
#include "preload/stock.h"

/* libibverbs' header has these names as macros. */
#undef ibv_query_port

enum {
	RECORD_BYTES = 128,
	SPEED_FDR = 16, /* active_speed; EDR, HDR and NDR are the next bits */
	SPEED_NDR = 128,
	MESSAGE_BYTES_MAX = 0x40000000, /* of all adapters of mlx5 */
};

/*
 * The attributes for which a fabric has no values: the vendor, unless the
 * topology file names it, and the limits of queues, which cannot be created.
 * The values are those that ibv_devinfo -v shows of adapters with mlx5, without
 * flags of queues.
 */
static const struct ibv_device_attr usual = {
	.vendor_id = 0x02c9,
	.max_mr_size = UINT64_MAX,
	.page_size_cap = UINT64_C(0xfffffffffffff000),
	.max_qp = 262144,
	.max_qp_wr = 32768,
	.device_cap_flags =
		IBV_DEVICE_BAD_PKEY_CNTR | IBV_DEVICE_BAD_QKEY_CNTR |
		IBV_DEVICE_AUTO_PATH_MIG | IBV_DEVICE_CHANGE_PHY_PORT |
		IBV_DEVICE_PORT_ACTIVE_EVENT | IBV_DEVICE_SYS_IMAGE_GUID |
		IBV_DEVICE_RC_RNR_NAK_GEN,
	.max_sge = 30,
	.max_sge_rd = 30,
	.max_cq = 16777216,
	.max_cqe = 4194303,
	.max_mr = 16777216,
	.max_pd = 8388608,
	.max_qp_rd_atom = 16,
	.max_res_rd_atom = 4194304,
	.max_qp_init_rd_atom = 16,
	.atomic_cap = IBV_ATOMIC_HCA,
	.max_mw = 16777216,
	.max_mcast_grp = 2097152,
	.max_mcast_qp_attach = 240,
	.max_total_mcast_qp_attach = 503316480,
	.max_ah = 2147483647,
	.max_srq = 8388608,
	.max_srq_wr = 32767,
	.max_srq_sge = 31,
	.local_ca_ack_delay = 16,
};

/* Parse hexadecimal digits. Return: the number of bytes. */
static size_t bytes_parse(const char *text, uint8_t *out, size_t room)
{
	size_t count = 0;
	char digits[] = "0x..";
	uint64_t value;

	for (; count < room && text[0] && text[1]; text += 2) {
		digits[2] = text[0];
		digits[3] = text[1];
		if (ibsa_number_parse(digits, 8, &value))
			break;
		out[count++] = (uint8_t)value;
	}
	return count;
}

/*
 * Read PortInfo or NodeInfo of a port. Return: 0; -EINVAL there is no such port;
 * -EPROTO; or the error from reading the file.
 */
static int info_read(struct own_device *own, unsigned int port,
		     const struct ibsa_record *record, const char *name,
		     void *out, size_t size)
{
	struct ibsa__file_text text;
	uint8_t wire[RECORD_BYTES];
	int err = ibsa__file_read(own->files, &text,
				  "class/infiniband/%s/ports/%u/%s",
				  own->device.name, port, name);

	if (err)
		return err == -ENOENT ? -EINVAL : err;
	return ibsa_record_decode(record, wire,
				  bytes_parse(text.bytes, wire, sizeof(wire)),
				  out, size);
}

static int node_info_read(struct own_device *own, unsigned int port,
			  struct ibsa_node *out)
{
	return info_read(own, port, &ibsa_node_record, "node_info", out,
			 sizeof(*out));
}

/*
 * Return: active_speed, which has a bit for each speed, as IBTA numbers them.
 * XDR has no bit: the kernel gives the largest.
 * Source: Linux drivers/infiniband/core/uverbs_cmd.c, copy_port_attr_to_resp().
 */
static uint8_t speed_of(const struct ibsa_port_info *info)
{
	if (info->link_speed_ext_active2)
		return SPEED_NDR;
	if (info->link_speed_ext_active)
		return (uint8_t)(info->link_speed_ext_active * SPEED_FDR);
	return info->link_speed_active;
}

static struct ibv_port_attr port_attr(const struct ibsa_port_info *info,
				      const struct ibsa_node *node)
{
	return (struct ibv_port_attr){
		.state = (enum ibv_port_state)info->port_state,
		.max_mtu = (enum ibv_mtu)info->mtu_cap,
		.active_mtu = (enum ibv_mtu)info->neighbor_mtu,
		.gid_tbl_len = info->guid_cap,
		.port_cap_flags = info->capability_mask,
		.max_msg_sz = MESSAGE_BYTES_MAX,
		.bad_pkey_cntr = info->p_key_violations,
		.qkey_viol_cntr = info->q_key_violations,
		.pkey_tbl_len = node->partition_cap,
		.lid = info->lid,
		.sm_lid = info->master_sm_lid,
		.lmc = info->lmc,
		.max_vl_num = info->vl_cap,
		.sm_sl = info->master_sm_sl,
		.subnet_timeout = info->subnet_timeout,
		.init_type_reply = info->init_type_reply,
		.active_width = info->link_width_active,
		.active_speed = speed_of(info),
		.phys_state = info->port_physical_state,
		.link_layer = IBV_LINK_LAYER_INFINIBAND,
		.port_cap_flags2 = info->capability_mask2,
	};
}

/* Copy as much of a struct as the program has room for, and clear the rest. */
static void attr_copy(void *to, size_t room, const void *from, size_t size)
{
	memset(to, 0, room);
	memcpy(to, from, room < size ? room : size);
}

static int port_query(struct own_device *own, uint8_t port,
		      struct ibv_port_attr *out)
{
	struct ibsa_port_info info;
	struct ibsa_node node;
	int err = info_read(own, port, &ibsa_port_info_record, "port_info",
			    &info, sizeof(info));

	if (!err)
		err = node_info_read(own, port, &node);
	if (!err)
		*out = port_attr(&info, &node);
	return err;
}

int ibsa__own_query_port(struct ibv_context *context, uint8_t port_num,
			 struct ibv_port_attr *attr, size_t size)
{
	struct cancelability before;
	struct ibv_port_attr all;
	int err;

	cancel_hold(&before);
	err = port_query(own_device_of(context), port_num, &all);
	cancel_restore(&before);
	if (!err)
		attr_copy(attr, size, &all, sizeof(all));
	return -err;
}

/* Return: the length of a version that fits into fw_ver, with its NUL. */
static size_t firmware_len(const struct ibsa__file_text *text)
{
	const size_t most = sizeof(usual.fw_ver) - 1;
	const size_t len = strcspn(text->bytes, "\n");

	return len < most ? len : most;
}

static int device_attr(struct own_device *own, struct ibv_device_attr *out)
{
	const bool is_switch = own->device.node_type == IBV_NODE_SWITCH;
	const char *name = own->device.name;
	struct ibsa__file_text firmware;
	struct ibsa_node node;
	uint64_t part;
	int err = node_info_read(own, !is_switch, &node);

	if (!err)
		err = ibsa__file_read(own->files, &firmware,
				      "class/infiniband/%s/fw_ver", name);
	if (!err)
		err = ibsa__number_read(own->files, UINT16_MAX, &part,
					"class/infiniband/%s/device/device",
					name);
	if (err)
		return err;
	*out = usual;
	memcpy(out->fw_ver, firmware.bytes, firmware_len(&firmware));
	out->node_guid = htobe64(node.node_guid);
	out->sys_image_guid = htobe64(node.system_image_guid);
	if (node.vendor_id)
		out->vendor_id = node.vendor_id;
	out->vendor_part_id = (uint32_t)part;
	out->hw_ver = node.revision;
	out->max_pkeys = node.partition_cap;
	out->phys_port_cnt = is_switch ? 1 : node.num_ports;
	return 0;
}

int ibsa__own_query_device(struct ibv_context *context,
			   const struct ibv_query_device_ex_input *input,
			   struct ibv_device_attr_ex *attr, size_t size)
{
	struct ibv_device_attr_ex all = { .comp_mask = 0 };
	struct cancelability before;
	int err;

	if (input && input->comp_mask)
		return EINVAL;
	cancel_hold(&before);
	err = device_attr(own_device_of(context), &all.orig_attr);
	cancel_restore(&before);
	if (err)
		return -err;
	all.device_cap_flags_ex = all.orig_attr.device_cap_flags;
	all.phys_port_cnt_ex = all.orig_attr.phys_port_cnt;
	attr_copy(attr, size, &all, sizeof(all));
	return 0;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	/* The first member of the extended struct is this struct. */
	void *first = attr;

	return own_device_of(context)
		       ? ibsa__own_query_device(context, NULL, first,
						sizeof(*attr))
		       : STOCK(ENOSYS, ibv_query_device, context, attr);
}

/*
 * For programs that were compiled with a header before rdma-core 22, whose struct
 * ends before port_cap_flags2.
 */
int ibv_query_port(struct ibv_context *context, uint8_t port_num,
		   struct _compat_ibv_port_attr *attr)
{
	void *first = attr;

	return own_device_of(context)
		       ? ibsa__own_query_port(context, port_num, first,
					      offsetof(struct ibv_port_attr,
						       port_cap_flags2))
		       : STOCK(ENOSYS, ibv_query_port, context, port_num, attr);
}

int ibv_query_pkey(struct ibv_context *context, uint8_t port_num, int index,
		   __be16 *pkey)
{
	struct own_device *own = own_device_of(context);
	struct cancelability before;
	uint16_t value;
	int err;

	if (!own)
		return STOCK(-1, ibv_query_pkey, context, port_num, index,
			     pkey);
	if (index < 0)
		return errno_result(ENOENT);
	cancel_hold(&before);
	err = ibsa__pkey_read(own->files, own->device.name, port_num,
			      (size_t)index, &value);
	cancel_restore(&before);
	if (!err)
		*pkey = htobe16(value);
	return errno_result(-err);
}

int ibv_get_pkey_index(struct ibv_context *context, uint8_t port_num,
		       __be16 pkey)
{
	__be16 found;

	if (!own_device_of(context))
		return STOCK(-1, ibv_get_pkey_index, context, port_num, pkey);
	for (int i = 0; !ibv_query_pkey(context, port_num, i, &found); i++)
		if (found == pkey)
			return i;
	return -1;
}
