/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Records of the SA: one table per record, from which this header makes the
 * struct, the component mask, and the description for decode, encode and text.
 *
 * ibsa_record_at     one of the record types; NULL: no such index
 * ibsa_record_find   find a record type by its name or short name; NULL: none
 * ibsa_record_decode decode a record into its struct
 * ibsa_record_encode encode a struct into the bytes of its record
 * ibsa_field_values  how many values a field has: 1, unless it is an array
 * ibsa_field_cm      component bits of one value of a field; 0: none
 * ibsa_field_get     read one number of a record
 * ibsa_field_set     write one number of a record
 *
 * Any thread may call these functions.
 */
#ifndef IBSA_RECORDS_H
#define IBSA_RECORDS_H

#include <ibsa/types.h>

IBSA_BEGIN

/* How a field is formatted and parsed as text: the last column of a table. */
enum ibsa_show {
	IBSA_SHOW_dec,	      /* decimal number */
	IBSA_SHOW_hex,	      /* 0x and all hexadecimal digits of the field */
	IBSA_SHOW_gid,	      /* as an IPv6 address, RFC 5952 */
	IBSA_SHOW_guid,	      /* 0x and 16 digits */
	IBSA_SHOW_text,	      /* text, without the NULs at its end */
	IBSA_SHOW_blob,	      /* bytes as hex digits */
	IBSA_SHOW_mtu,	      /* code of an MTU, as bytes */
	IBSA_SHOW_rate,	      /* code of a rate, as Gb/s */
	IBSA_SHOW_node_type,  /* CA, switch, router */
	IBSA_SHOW_port_state, /* Down, Init, Armed, Active */
	IBSA_SHOW_phys_state, /* Sleep, Polling, ... */
	IBSA_SHOW_lease,      /* seconds, or infinite */
	IBSA_SHOW_sm_state,   /* NotActive, Discovering, Standby, Master */
	IBSA_SHOW_vl_weight,  /* VL and weight, as 3:64 */
};

/* Values of the mask column of a table besides the number of a bit. */
#define IBSA_TWO(bit) ((bit) | 0x40) /* two bits, from this one */
#define IBSA_NO_BIT 0x80	     /* the SA cannot select by the field */
#define IBSA_UNMASKED 0x81	     /* no bit; requests carry the field */

/* The component mask of a field, from the mask column of its row. */
#define IBSA__CM(column)                                                    \
	((column)&IBSA_NO_BIT ? UINT64_C(0)                                 \
			      : ((column)&0x40 ? UINT64_C(3) : UINT64_C(1)) \
					<< ((column)&0x3f))

#define IBSA__FIELD_SIZE(type, field) \
	sizeof(IBSA__CAST(struct type *, NULL)->field)

/* Which programs change a record at the SA. */
enum ibsa_writer {
	IBSA_WRITER_CLIENTS, /* Sets and Deletes of clients */
	IBSA_WRITER_SM,	     /* only the subnet manager */
};

/**
 * struct ibsa_field - one field of a record: a row of its table in records.h
 * @name:        name of the member in the struct
 * @bit_offset:  offset on the wire, in bits, from the most significant bit of
 *               the first byte
 * @host_offset: offset in the struct, in bytes
 * @count:       number of elements; more than 1 for arrays, text and blobs
 * @nbits:       bits of one element on the wire, 1 to 64, or 128 for a GID
 * @host_size:   bytes of one element in the struct
 * @cm:          column "mask" of the row; ibsa_field_cm() converts it
 *
 * Text or a blob is one value of @count elements; any other array has @count
 * values, with consecutive component bits or none.
 */
struct ibsa_field {
	const char *name;
	uint16_t bit_offset;
	uint16_t host_offset;
	uint16_t count;
	uint8_t nbits;
	uint8_t host_size;
	uint8_t cm;
	enum ibsa_show show;
};

/**
 * struct ibsa_record - one SA attribute, such as ibsa_path_record
 * @name:       name in the specification, such as "PathRecord"
 * @short_name: such as "PR"; that of saquery, if saquery has one
 * @brief:      names, with commas, of the fields that ibsa(8) shows in a table
 * @class_version: 2, or 0x80 for Omni-Path
 * @size:       bytes on the wire
 * @host_size:  bytes of the struct
 * @reply:      type of the records in replies: the same, except for
 *              MultiPathRecord
 * @mask:       all component bits that the record defines
 * @decode:     decodes @size bytes
 * @encode:     encodes @size bytes; sets *@over to 0, or to another number if a
 *              value does not fit into its field
 */
struct ibsa_record {
	const char *name;
	const char *short_name;
	const char *brief;
	uint16_t attribute;
	uint8_t class_version;
	enum ibsa_writer writer;
	uint16_t size;
	uint16_t host_size;
	const struct ibsa_record *reply;
	uint64_t mask;
	const struct ibsa_field *fields;
	unsigned int field_count;
	void (*decode)(const uint8_t *wire, void *host);
	void (*encode)(const void *host, uint8_t *wire, uint64_t *over);
};

const struct ibsa_record *ibsa_record_at(unsigned int index);

const struct ibsa_record *ibsa_record_find(const char *name) IBSA_NONNULL(1);

/**
 * ibsa_record_decode - decode a record into its struct
 * @wire: network byte order
 * @len:  number of bytes at @wire; bytes after the record are ignored
 * @out:  receives the struct, in host byte order except GIDs
 * @size: of @out
 *
 * Return: 0; -EPROTO @len is too small
 */
int ibsa_record_decode(const struct ibsa_record *record, const void *wire,
		       size_t len, void *out, size_t size) IBSA_MUST_USE
	IBSA_NONNULL(1, 2, 4);

/**
 * ibsa_record_encode - encode a struct into the bytes of its record
 * @host: the struct, in host byte order except GIDs
 * @size: of @host
 * @out:  network byte order; bytes after the record are unchanged
 * @len:  number of bytes at @out
 *
 * Return: 0; -EINVAL @len is too small; -ERANGE a value is wider than its
 * field, or the last byte of a text's array is not NUL
 */
int ibsa_record_encode(const struct ibsa_record *record, const void *host,
		       size_t size, void *out, size_t len) IBSA_MUST_USE
	IBSA_NONNULL(1, 2, 4);

unsigned int ibsa_field_values(const struct ibsa_field *field) IBSA_NONNULL(1);

/**
 * ibsa_field_cm - component bits of one value of a field; 0: none
 * @index: index of the value in an array, from 0; otherwise 0
 */
uint64_t ibsa_field_cm(const struct ibsa_field *field, unsigned int index)
	IBSA_NONNULL(1);

/**
 * ibsa_field_get - read one number of a record
 * @field: a GID, text or blob gives 0
 * @index: index of the value in an array, from 0; otherwise 0
 * @host:  the record's struct
 */
uint64_t ibsa_field_get(const struct ibsa_field *field, unsigned int index,
			const void *host) IBSA_NONNULL(1, 3);

/**
 * ibsa_field_set - write one number of a record
 * @index: index of the value in an array, from 0; otherwise 0
 * @host:  the record's struct
 *
 * Return: 0; -ERANGE @value is wider than the field; -EINVAL @field is a GID,
 * text or blob, or has no value @index
 */
int ibsa_field_set(const struct ibsa_field *field, unsigned int index,
		   uint64_t value, void *host) IBSA_MUST_USE IBSA_NONNULL(1, 4);

/* clang-format off */

/*
 * MAD, RMPP and SA header of one MAD, 56 bytes. Not a record, but described by
 * the same kind of table. Source: IBA vol 1, 13.4.3, 13.6.2, 15.2.1.
 */
#define IBSA_SA_HEADER_FIELDS(F, ARR, PAD, LATE)			\
	F(u8,   base_version,      8, IBSA_NO_BIT, dec)			\
	F(u8,   mgmt_class,        8, IBSA_NO_BIT, hex)			\
	F(u8,   class_version,     8, IBSA_NO_BIT, dec)			\
	F(u8,   method,            8, IBSA_NO_BIT, hex)			\
	F(u16,  status,           16, IBSA_NO_BIT, hex)			\
	PAD(class_specific,       16)					\
	F(u64,  transaction_id,   64, IBSA_NO_BIT, hex)			\
	F(u16,  attribute_id,     16, IBSA_NO_BIT, hex)			\
	PAD(resv0,                16)					\
	F(u32,  attribute_modifier, 32, IBSA_NO_BIT, hex)		\
	F(u8,   rmpp_version,      8, IBSA_NO_BIT, dec)			\
	F(u8,   rmpp_type,         8, IBSA_NO_BIT, dec)			\
	F(u8,   rmpp_resp_time,    5, IBSA_NO_BIT, dec)			\
	F(u8,   rmpp_flags,        3, IBSA_NO_BIT, hex)			\
	F(u8,   rmpp_status,       8, IBSA_NO_BIT, dec)			\
	F(u32,  rmpp_segment,     32, IBSA_NO_BIT, dec)			\
	F(u32,  rmpp_length,      32, IBSA_NO_BIT, dec)			\
	F(u64,  sm_key,           64, IBSA_NO_BIT, hex)			\
	F(u16,  attribute_offset, 16, IBSA_NO_BIT, dec)			\
	PAD(resv1,                16)					\
	F(u64,  component_mask,   64, IBSA_NO_BIT, hex)

/*
 * PathRecord: attribute 0x0035, 64 bytes.
 * Source: IBA vol 1, 15.2.5.16; component bits: Linux include/rdma/ib_sa.h.
 */
#define IBSA_PATH_FIELDS(F, ARR, PAD, LATE)				\
	F(u64,  service_id,       64, IBSA_TWO(0), hex)			\
	F(gid,  dgid,            128,  2, gid)				\
	F(gid,  sgid,            128,  3, gid)				\
	F(u16,  dlid,             16,  4, dec)				\
	F(u16,  slid,             16,  5, dec)				\
	F(u8,   raw_traffic,       1,  6, dec)				\
	PAD(resv0,                 3)					\
	F(u32,  flow_label,       20,  8, hex)				\
	F(u8,   hop_limit,         8,  9, dec)				\
	F(u8,   tclass,            8, 10, hex)				\
	F(u8,   reversible,        1, 11, dec)				\
	F(u8,   numb_path,         7, 12, dec)				\
	F(u16,  pkey,             16, 13, hex)				\
	F(u16,  qos_class,        12, 14, hex)				\
	F(u8,   sl,                4, 15, dec)				\
	F(u8,   mtu_selector,      2, 16, dec)				\
	F(u8,   mtu,               6, 17, mtu)				\
	F(u8,   rate_selector,     2, 18, dec)				\
	F(u8,   rate,              6, 19, rate)				\
	F(u8,   packet_life_time_selector, 2, 20, dec)			\
	F(u8,   packet_life_time,  6, 21, dec)				\
	F(u8,   preference,        8, 22, dec)				\
	PAD(resv1,                48)

/*
 * PathRecord of Omni-Path: attribute 0x0035, class version 0x80, 64 bytes.
 * Source: Linux drivers/infiniband/core/sa_query.c, opa_path_rec_table.
 */
#define IBSA_OPA_PATH_FIELDS(F, ARR, PAD, LATE)				\
	F(u64,  service_id,       64, IBSA_TWO(0), hex)			\
	F(gid,  dgid,            128,  2, gid)				\
	F(gid,  sgid,            128,  3, gid)				\
	F(u32,  dlid,             32,  4, dec)				\
	F(u32,  slid,             32,  5, dec)				\
	F(u8,   raw_traffic,       1,  6, dec)				\
	PAD(resv0,                 3)					\
	F(u32,  flow_label,       20,  8, hex)				\
	F(u8,   hop_limit,         8,  9, dec)				\
	F(u8,   tclass,            8, 10, hex)				\
	F(u8,   reversible,        1, 11, dec)				\
	F(u8,   numb_path,         7, 12, dec)				\
	F(u16,  pkey,             16, 13, hex)				\
	F(u8,   l2_8b,             1, IBSA_NO_BIT, dec)			\
	F(u8,   l2_10b,            1, IBSA_NO_BIT, dec)			\
	F(u8,   l2_9b,             1, IBSA_NO_BIT, dec)			\
	F(u8,   l2_16b,            1, IBSA_NO_BIT, dec)			\
	PAD(resv1,                 2)					\
	F(u8,   qos_type,          2, IBSA_NO_BIT, dec)			\
	F(u8,   qos_priority,      8, 14, dec)				\
	PAD(resv2,                 3)					\
	F(u8,   sl,                5, 15, dec)				\
	PAD(resv3,                 8)					\
	F(u8,   mtu_selector,      2, 16, dec)				\
	F(u8,   mtu,               6, 17, mtu)				\
	F(u8,   rate_selector,     2, 18, dec)				\
	F(u8,   rate,              6, 19, rate)				\
	F(u8,   packet_life_time_selector, 2, 20, dec)			\
	F(u8,   packet_life_time,  6, 21, dec)				\
	F(u8,   preference,        8, 22, dec)

/*
 * NodeRecord: attribute 0x0011, 108 bytes; 112 in a table.
 * Source: IBA vol 1, 15.2.5.2 and 14.2.5.3 (NodeInfo).
 */
#define IBSA_NODE_FIELDS(F, ARR, PAD, LATE)				\
	F(u16,  lid,              16,  0, dec)				\
	PAD(resv0,                16)					\
	F(u8,   base_version,      8,  2, dec)				\
	F(u8,   class_version,     8,  3, dec)				\
	F(u8,   node_type,         8,  4, node_type)			\
	F(u8,   num_ports,         8,  5, dec)				\
	F(u64,  system_image_guid, 64, 6, guid)				\
	F(u64,  node_guid,        64,  7, guid)				\
	F(u64,  port_guid,        64,  8, guid)				\
	F(u16,  partition_cap,    16,  9, dec)				\
	F(u16,  device_id,        16, 10, hex)				\
	F(u32,  revision,         32, 11, hex)				\
	F(u8,   local_port_num,    8, 12, dec)				\
	F(u32,  vendor_id,        24, 13, hex)				\
	ARR(chr, node_description, 8, 64, 14, text)

/*
 * PortInfoRecord: attribute 0x0012, 68 bytes; 72 in a table.
 * Source: IBA vol 1, 15.2.5.3 and 14.2.5.6 (PortInfo). The fields of extended
 * speeds 2 are those of rdma-core's libibmad; no source has component bits for
 * them.
 */
#define IBSA_PORT_INFO_FIELDS(F, ARR, PAD, LATE)			\
	F(u16,  endport_lid,      16,  0, dec)				\
	F(u8,   port_num,          8,  1, dec)				\
	F(u8,   options,           8,  2, hex)				\
	F(u64,  m_key,            64,  3, hex)				\
	F(u64,  gid_prefix,       64,  4, hex)				\
	F(u16,  lid,              16,  5, dec)				\
	F(u16,  master_sm_lid,    16,  6, dec)				\
	F(u32,  capability_mask,  32,  7, hex)				\
	F(u16,  diag_code,        16,  8, hex)				\
	F(u16,  m_key_lease_period, 16, 9, dec)				\
	F(u8,   local_port_num,    8, 10, dec)				\
	F(u8,   link_width_enabled, 8, 11, hex)				\
	F(u8,   link_width_supported, 8, 12, hex)			\
	F(u8,   link_width_active, 8, 13, hex)				\
	F(u8,   link_speed_supported, 4, 14, hex)			\
	F(u8,   port_state,        4, 15, port_state)			\
	F(u8,   port_physical_state, 4, 16, phys_state)			\
	F(u8,   link_down_default_state, 4, 17, phys_state)		\
	F(u8,   m_key_protect_bits, 2, 18, dec)				\
	PAD(resv0,                 3)					\
	F(u8,   lmc,               3, 20, dec)				\
	F(u8,   link_speed_active, 4, 21, hex)				\
	F(u8,   link_speed_enabled, 4, 22, hex)				\
	F(u8,   neighbor_mtu,      4, 23, mtu)				\
	F(u8,   master_sm_sl,      4, 24, dec)				\
	F(u8,   vl_cap,            4, 25, dec)				\
	F(u8,   init_type,         4, 26, hex)				\
	F(u8,   vl_high_limit,     8, 27, dec)				\
	F(u8,   vl_arbitration_high_cap, 8, 28, dec)			\
	F(u8,   vl_arbitration_low_cap, 8, 29, dec)			\
	F(u8,   init_type_reply,   4, 30, hex)				\
	F(u8,   mtu_cap,           4, 31, mtu)				\
	F(u8,   vl_stall_count,    3, 32, dec)				\
	F(u8,   hoq_life,          5, 33, dec)				\
	F(u8,   operational_vls,   4, 34, dec)				\
	F(u8,   partition_enforcement_inbound, 1, 35, dec)		\
	F(u8,   partition_enforcement_outbound, 1, 36, dec)		\
	F(u8,   filter_raw_inbound, 1, 37, dec)				\
	F(u8,   filter_raw_outbound, 1, 38, dec)			\
	F(u16,  m_key_violations, 16, 39, dec)				\
	F(u16,  p_key_violations, 16, 40, dec)				\
	F(u16,  q_key_violations, 16, 41, dec)				\
	F(u8,   guid_cap,          8, 42, dec)				\
	F(u8,   client_reregister, 1, 43, dec)				\
	F(u8,   multicast_pkey_trap_suppression, 2, 44, dec)		\
	F(u8,   subnet_timeout,    5, 45, dec)				\
	PAD(resv1,                 3)					\
	F(u8,   resp_time_value,   5, 47, dec)				\
	F(u8,   local_phy_errors,  4, 48, dec)				\
	F(u8,   overrun_errors,    4, 49, dec)				\
	F(u16,  max_credit_hint,  16, 50, dec)				\
	PAD(resv2,                 1)					\
	F(u8,   link_speed_ext_active2, 2, IBSA_NO_BIT, hex)		\
	F(u8,   link_speed_ext_supported2, 2, IBSA_NO_BIT, hex)		\
	F(u8,   link_speed_ext_enabled2, 3, IBSA_NO_BIT, hex)		\
	F(u32,  link_round_trip_latency, 24, 52, dec)			\
	F(u16,  capability_mask2, 16, 53, hex)				\
	F(u8,   link_speed_ext_active, 4, 54, hex)			\
	F(u8,   link_speed_ext_supported, 4, 55, hex)			\
	PAD(resv3,                 3)					\
	F(u8,   link_speed_ext_enabled, 5, 57, hex)

/*
 * ClassPortInfo: attribute 0x0001, 72 bytes.
 * Source: IBA vol 1, 13.4.8.1.
 */
#define IBSA_CLASS_PORT_INFO_FIELDS(F, ARR, PAD, LATE)			\
	F(u8,   base_version,      8, IBSA_NO_BIT, dec)			\
	F(u8,   class_version,     8, IBSA_NO_BIT, dec)			\
	F(u16,  capability_mask,  16, IBSA_NO_BIT, hex)			\
	F(u32,  capability_mask2, 27, IBSA_NO_BIT, hex)			\
	F(u8,   resp_time_value,   5, IBSA_NO_BIT, dec)			\
	F(gid,  redirect_gid,    128, IBSA_NO_BIT, gid)			\
	F(u8,   redirect_tclass,   8, IBSA_NO_BIT, hex)			\
	F(u8,   redirect_sl,       4, IBSA_NO_BIT, dec)			\
	F(u32,  redirect_flow_label, 20, IBSA_NO_BIT, hex)		\
	F(u16,  redirect_lid,     16, IBSA_NO_BIT, dec)			\
	F(u16,  redirect_pkey,    16, IBSA_NO_BIT, hex)			\
	PAD(resv0,                 8)					\
	F(u32,  redirect_qp,      24, IBSA_NO_BIT, dec)			\
	F(u32,  redirect_qkey,    32, IBSA_NO_BIT, hex)			\
	F(gid,  trap_gid,        128, IBSA_NO_BIT, gid)			\
	F(u8,   trap_tclass,       8, IBSA_NO_BIT, hex)			\
	F(u8,   trap_sl,           4, IBSA_NO_BIT, dec)			\
	F(u32,  trap_flow_label,  20, IBSA_NO_BIT, hex)			\
	F(u16,  trap_lid,         16, IBSA_NO_BIT, dec)			\
	F(u16,  trap_pkey,        16, IBSA_NO_BIT, hex)			\
	F(u8,   trap_hop_limit,    8, IBSA_NO_BIT, dec)			\
	F(u32,  trap_qp,          24, IBSA_NO_BIT, dec)			\
	F(u32,  trap_qkey,        32, IBSA_NO_BIT, hex)

/*
 * ClassPortInfo of Omni-Path: attribute 0x0001, class version 0x80, 80 bytes.
 * Source: opa-ff, stl_mad_types.h, STL_CLASS_PORT_INFO.
 */
#define IBSA_OPA_CLASS_PORT_INFO_FIELDS(F, ARR, PAD, LATE)		\
	F(u8,   base_version,      8, IBSA_NO_BIT, dec)			\
	F(u8,   class_version,     8, IBSA_NO_BIT, dec)			\
	F(u16,  capability_mask,  16, IBSA_NO_BIT, hex)			\
	F(u32,  capability_mask2, 27, IBSA_NO_BIT, hex)			\
	F(u8,   resp_time_value,   5, IBSA_NO_BIT, dec)			\
	F(gid,  redirect_gid,    128, IBSA_NO_BIT, gid)			\
	F(u8,   redirect_tclass,   8, IBSA_NO_BIT, hex)			\
	PAD(resv0,                 4)					\
	F(u32,  redirect_flow_label, 20, IBSA_NO_BIT, hex)		\
	F(u32,  redirect_lid,     32, IBSA_NO_BIT, dec)			\
	F(u8,   redirect_sl,       5, IBSA_NO_BIT, dec)			\
	PAD(resv1,                 3)					\
	F(u32,  redirect_qp,      24, IBSA_NO_BIT, dec)			\
	F(u32,  redirect_qkey,    32, IBSA_NO_BIT, hex)			\
	F(gid,  trap_gid,        128, IBSA_NO_BIT, gid)			\
	F(u8,   trap_tclass,       8, IBSA_NO_BIT, hex)			\
	PAD(resv2,                 4)					\
	F(u32,  trap_flow_label,  20, IBSA_NO_BIT, hex)			\
	F(u32,  trap_lid,         32, IBSA_NO_BIT, dec)			\
	F(u8,   trap_hop_limit,    8, IBSA_NO_BIT, dec)			\
	F(u32,  trap_qp,          24, IBSA_NO_BIT, dec)			\
	F(u32,  trap_qkey,        32, IBSA_NO_BIT, hex)			\
	F(u16,  trap_pkey,        16, IBSA_NO_BIT, hex)			\
	F(u16,  redirect_pkey,    16, IBSA_NO_BIT, hex)			\
	F(u8,   trap_sl,           5, IBSA_NO_BIT, dec)			\
	PAD(resv3,                27)

/*
 * ServiceRecord: attribute 0x0031, 176 bytes; the first 26 bytes identify it.
 * All 64 bytes of a name are sent and compared, with zeros after its end.
 * Source: IBA vol 1, 15.2.5.14; component bits: Linux include/rdma/ib_sa.h.
 */
#define IBSA_SERVICE_FIELDS(F, ARR, PAD, LATE)				\
	F(u64,  service_id,       64,  0, hex)				\
	F(gid,  service_gid,     128,  1, gid)				\
	F(u16,  service_pkey,     16,  2, hex)				\
	PAD(resv0,                16)					\
	F(u32,  service_lease,    32,  4, lease)			\
	ARR(u8, service_key,       8, 16, 5, blob)			\
	ARR(chr, service_name,     8, 64, 6, text)			\
	ARR(u8, service_data8,     8, 16, 7, hex)			\
	ARR(u16, service_data16,  16, 8, 23, hex)			\
	ARR(u32, service_data32,  32, 4, 31, hex)			\
	ARR(u64, service_data64,  64, 2, 35, hex)

/*
 * MCMemberRecord: attribute 0x0038, 52 bytes; 56 in a table.
 * Source: IBA vol 1, 15.2.5.17; component bits: Linux include/rdma/ib_sa.h.
 */
#define IBSA_MCMEMBER_FIELDS(F, ARR, PAD, LATE)				\
	F(gid,  mgid,            128,  0, gid)				\
	F(gid,  port_gid,        128,  1, gid)				\
	F(u32,  qkey,             32,  2, hex)				\
	F(u16,  mlid,             16,  3, hex)				\
	F(u8,   mtu_selector,      2,  4, dec)				\
	F(u8,   mtu,               6,  5, mtu)				\
	F(u8,   tclass,            8,  6, hex)				\
	F(u16,  pkey,             16,  7, hex)				\
	F(u8,   rate_selector,     2,  8, dec)				\
	F(u8,   rate,              6,  9, rate)				\
	F(u8,   packet_life_time_selector, 2, 10, dec)			\
	F(u8,   packet_life_time,  6, 11, dec)				\
	F(u8,   sl,                4, 12, dec)				\
	F(u32,  flow_label,       20, 13, hex)				\
	F(u8,   hop_limit,         8, 14, dec)				\
	F(u8,   scope,             4, 15, dec)				\
	F(u8,   join_state,        4, 16, hex)				\
	F(u8,   proxy_join,        1, 17, dec)				\
	PAD(resv0,                23)

/*
 * GUIDInfoRecord: attribute 0x0030, 72 bytes: a block of eight entries of a
 * port's GUID table. The first entry of block 0 is the port GUID.
 * Source: IBA vol 1, 15.2.5.18 and 14.2.5.5 (GUIDInfo); component bits: Linux
 * include/rdma/ib_sa.h.
 */
#define IBSA_GUID_INFO_FIELDS(F, ARR, PAD, LATE)			\
	F(u16,  lid,              16,  0, dec)				\
	F(u8,   block_num,         8,  1, dec)				\
	PAD(resv0,                 8)					\
	PAD(resv1,                32)					\
	ARR(u64, guid,            64,  8, 4, guid)

/*
 * P_KeyTableRecord: attribute 0x0033, 72 bytes: a block of 32 entries of a
 * port's P_Key table.
 * Source: IBA vol 1, 15.2.5.11 and 14.2.5.7 (P_KeyTable); component bits:
 * OpenSM's ib_types.h, which has none for the entries.
 */
#define IBSA_PKEY_TABLE_FIELDS(F, ARR, PAD, LATE)			\
	F(u16,  lid,              16,  0, dec)				\
	F(u16,  block_num,        16,  1, dec)				\
	F(u8,   port_num,          8,  2, dec)				\
	PAD(resv0,                24)					\
	ARR(u16, pkey,            16, 32, IBSA_NO_BIT, hex)

/*
 * InformInfo: attribute 0x0003, 36 bytes.
 * Source: IBA vol 1, 13.4.8.3; component bits: rdma-core's srp_daemon.
 */
#define IBSA_INFORM_INFO_FIELDS(F, ARR, PAD, LATE)			\
	F(gid,  gid,             128,  0, gid)				\
	F(u16,  lid_range_begin,  16,  1, dec)				\
	F(u16,  lid_range_end,    16,  2, dec)				\
	PAD(resv0,                16)					\
	F(u8,   is_generic,        8,  4, dec)				\
	F(u8,   subscribe,         8,  5, dec)				\
	F(u16,  type,             16,  6, dec)				\
	F(u16,  trap_number,      16,  7, dec)				\
	F(u32,  qpn,              24,  8, hex)				\
	PAD(resv1,                 3)					\
	F(u8,   resp_time_value,   5, 10, dec)				\
	PAD(resv2,                 8)					\
	F(u32,  producer_type,    24, 12, dec)

/*
 * InformInfoRecord: attribute 0x00f3, 60 bytes: an InformInfo and the GID of
 * its subscriber.
 * Source: IBA vol 1, 15.2.5.12; component bits: OpenSM's ib_types.h.
 */
#define IBSA_INFORM_INFO_REC_FIELDS(F, ARR, PAD, LATE)			\
	F(gid,  subscriber_gid,  128,  0, gid)				\
	F(u16,  subscriber_enum,  16,  1, dec)				\
	PAD(resv0,                48)					\
	F(gid,  gid,             128,  3, gid)				\
	F(u16,  lid_range_begin,  16,  4, dec)				\
	F(u16,  lid_range_end,    16,  5, dec)				\
	PAD(resv1,                16)					\
	F(u8,   is_generic,        8,  7, dec)				\
	F(u8,   subscribe,         8,  8, dec)				\
	F(u16,  type,             16,  9, dec)				\
	F(u16,  trap_number,      16, 10, dec)				\
	F(u32,  qpn,              24, 11, hex)				\
	PAD(resv2,                 3)					\
	F(u8,   resp_time_value,   5, 13, dec)				\
	PAD(resv3,                 8)					\
	F(u32,  producer_type,    24, 15, dec)

/*
 * Notice: attribute 0x0002, 80 bytes.
 * Source: IBA vol 1, 13.4.8.2.
 */
#define IBSA_NOTICE_FIELDS(F, ARR, PAD, LATE)				\
	F(u8,   is_generic,        1, IBSA_NO_BIT, dec)			\
	F(u8,   type,              7, IBSA_NO_BIT, dec)			\
	F(u32,  producer_type,    24, IBSA_NO_BIT, dec)			\
	F(u16,  trap_number,      16, IBSA_NO_BIT, dec)			\
	F(u16,  issuer_lid,       16, IBSA_NO_BIT, dec)			\
	F(u8,   toggle,            1, IBSA_NO_BIT, dec)			\
	F(u16,  toggle_count,     15, IBSA_NO_BIT, dec)			\
	ARR(u8, data_details,      8, 54, IBSA_NO_BIT, blob)		\
	F(gid,  issuer_gid,      128, IBSA_NO_BIT, gid)

/*
 * SwitchInfoRecord: attribute 0x0014, 24 bytes.
 * Source: IBA vol 1, 15.2.5.5 and 14.2.5.4 (SwitchInfo); component bits:
 * OpenSM's ib_types.h, which has one for the LID only.
 */
#define IBSA_SWITCH_INFO_FIELDS(F, ARR, PAD, LATE)			\
	F(u16,  lid,              16,  0, dec)				\
	PAD(resv0,                16)					\
	F(u16,  linear_fdb_cap,   16, IBSA_NO_BIT, dec)			\
	F(u16,  random_fdb_cap,   16, IBSA_NO_BIT, dec)			\
	F(u16,  multicast_fdb_cap, 16, IBSA_NO_BIT, dec)		\
	F(u16,  linear_fdb_top,   16, IBSA_NO_BIT, dec)			\
	F(u8,   default_port,      8, IBSA_NO_BIT, dec)			\
	F(u8,   default_multicast_primary_port, 8, IBSA_NO_BIT, dec)	\
	F(u8,   default_multicast_not_primary_port, 8, IBSA_NO_BIT, dec) \
	F(u8,   life_time_value,   5, IBSA_NO_BIT, dec)			\
	F(u8,   port_state_change, 1, IBSA_NO_BIT, dec)			\
	F(u8,   optimized_sl_to_vl, 2, IBSA_NO_BIT, hex)		\
	F(u16,  lids_per_port,    16, IBSA_NO_BIT, dec)			\
	F(u16,  partition_enforcement_cap, 16, IBSA_NO_BIT, dec)	\
	F(u8,   inbound_enforcement_cap, 1, IBSA_NO_BIT, dec)		\
	F(u8,   outbound_enforcement_cap, 1, IBSA_NO_BIT, dec)		\
	F(u8,   filter_raw_inbound_cap, 1, IBSA_NO_BIT, dec)		\
	F(u8,   filter_raw_outbound_cap, 1, IBSA_NO_BIT, dec)		\
	F(u8,   enhanced_port0,    1, IBSA_NO_BIT, dec)			\
	PAD(resv1,                11)					\
	F(u16,  multicast_fdb_top, 16, IBSA_NO_BIT, hex)

/*
 * LinearForwardingTableRecord: attribute 0x0015, 72 bytes: a block of 64
 * entries of a switch's table. Entry i, from 0, is the port through which the
 * switch forwards to LID 64 * block_num + i; 255: no port.
 * Source: IBA vol 1, 15.2.5.6 and 14.2.5.10; component bits: OpenSM's
 * ib_types.h.
 */
#define IBSA_LFT_FIELDS(F, ARR, PAD, LATE)				\
	F(u16,  lid,              16,  0, dec)				\
	F(u16,  block_num,        16,  1, dec)				\
	PAD(resv0,                32)					\
	ARR(u8, port,              8, 64, IBSA_NO_BIT, dec)

/*
 * MulticastForwardingTableRecord: attribute 0x0017, 72 bytes: for 32
 * multicast LIDs, a mask of 16 ports each. Entry i, from 0, is for LID
 * 0xc000 + 32 * block_num + i; its bit b is for port 16 * position + b.
 * Source: IBA vol 1, 15.2.5.8 and 14.2.5.12; component bits: OpenSM's
 * ib_types.h.
 */
#define IBSA_MFT_FIELDS(F, ARR, PAD, LATE)				\
	F(u16,  lid,              16,  0, dec)				\
	F(u8,   position,          4,  1, dec)				\
	PAD(resv0,                 3)					\
	F(u16,  block_num,         9,  3, dec)				\
	PAD(resv1,                32)					\
	ARR(u16, port_mask,       16, 32, IBSA_NO_BIT, hex)

/*
 * SMInfoRecord: attribute 0x0018, 25 bytes; 32 in a table.
 * Source: IBA vol 1, 15.2.5.10 and 14.2.5.13 (SMInfo); component bits:
 * OpenSM's ib_types.h.
 */
#define IBSA_SM_INFO_FIELDS(F, ARR, PAD, LATE)				\
	F(u16,  lid,              16,  0, dec)				\
	PAD(resv0,                16)					\
	F(u64,  guid,             64,  2, guid)				\
	F(u64,  sm_key,           64,  3, hex)				\
	F(u32,  act_count,        32,  4, dec)				\
	F(u8,   priority,          4,  5, dec)				\
	F(u8,   sm_state,          4,  6, sm_state)			\
	PAD(resv1,                24)

/*
 * LinkRecord: attribute 0x0020, 6 bytes; 8 in a table. The SA has two records
 * for each cable, one from each end. All ports of a switch have the LID of the
 * switch.
 * Source: IBA vol 1, 15.2.5.13; component bits: OpenSM's ib_types.h.
 */
#define IBSA_LINK_FIELDS(F, ARR, PAD, LATE)				\
	F(u16,  from_lid,         16,  0, dec)				\
	F(u8,   from_port,         8,  1, dec)				\
	F(u8,   to_port,           8,  2, dec)				\
	F(u16,  to_lid,           16,  3, dec)				\
	PAD(resv0,                16)

/*
 * SLtoVLMappingTableRecord: attribute 0x0013, 16 bytes. Entry i, from 0, is
 * the VL of packets with SL i from the input port to the output port.
 * Source: IBA vol 1, 15.2.5.4 and 14.2.5.8; component bits: OpenSM's
 * ib_types.h.
 */
#define IBSA_SL_TO_VL_FIELDS(F, ARR, PAD, LATE)				\
	F(u16,  lid,              16,  0, dec)				\
	F(u8,   input_port_num,    8,  1, dec)				\
	F(u8,   output_port_num,   8,  2, dec)				\
	PAD(resv0,                32)					\
	ARR(nib, vl,               4, 16, IBSA_NO_BIT, dec)

/*
 * VLArbitrationTableRecord: attribute 0x0036, 72 bytes. Blocks 1 and 2 are the
 * low-priority table, blocks 3 and 4 the high-priority table. An entry has a VL
 * in bits 8 to 11 and its weight, in units of 64 bytes, in bits 0 to 7.
 * Source: IBA vol 1, 15.2.5.9 and 14.2.5.9; component bits: OpenSM's
 * ib_types.h.
 */
#define IBSA_VL_ARBITRATION_FIELDS(F, ARR, PAD, LATE)			\
	F(u16,  lid,              16,  0, dec)				\
	F(u8,   output_port_num,   8,  1, dec)				\
	F(u8,   block_num,         8,  2, dec)				\
	PAD(resv0,                32)					\
	ARR(u16, vl_weight,       16, 32, IBSA_NO_BIT, vl_weight)

/*
 * MultiPathRecord: attribute 0x003a, 200 bytes: the request of a GetMulti, to
 * which the SA replies with PathRecords from each of sgid_count GIDs to each of
 * dgid_count GIDs. In gid, the sources precede the destinations.
 * Source: IBA vol 1, 15.2.5.20; component bits: OpenSM's ib_types.h.
 */
#define IBSA_MULTI_PATH_FIELDS(F, ARR, PAD, LATE)			\
	F(u8,   raw_traffic,       1,  0, dec)				\
	PAD(resv0,                 3)					\
	F(u32,  flow_label,       20,  2, hex)				\
	F(u8,   hop_limit,         8,  3, dec)				\
	F(u8,   tclass,            8,  4, hex)				\
	F(u8,   reversible,        1,  5, dec)				\
	F(u8,   numb_path,         7,  6, dec)				\
	F(u16,  pkey,             16,  7, hex)				\
	F(u16,  qos_class,        12,  8, hex)				\
	F(u8,   sl,                4,  9, dec)				\
	F(u8,   mtu_selector,      2, 10, dec)				\
	F(u8,   mtu,               6, 11, mtu)				\
	F(u8,   rate_selector,     2, 12, dec)				\
	F(u8,   rate,              6, 13, rate)				\
	F(u8,   packet_life_time_selector, 2, 14, dec)			\
	F(u8,   packet_life_time,  6, 15, dec)				\
	F(u8,   service_id_high,   8, 16, hex)				\
	F(u8,   independence_selector, 2, 17, dec)			\
	PAD(resv1,                 6)					\
	F(u8,   sgid_count,        8, 19, dec)				\
	F(u8,   dgid_count,        8, 20, dec)				\
	F(u64,  service_id_low,   56, 21, hex)				\
	ARR(gid, gid,            128, 11, IBSA_UNMASKED, gid)

/*
 * All records: R(struct, TABLE, struct of the records in replies, "name",
 * "short name", attribute, class version, enum ibsa_writer, bytes, "fields of a
 * one-line view").
 */
#define IBSA_RECORDS(R)							\
	R(path, PATH, path, "PathRecord", "PR", 0x0035, 2, SM, 64,	\
	  "slid,dlid,sgid,dgid,pkey,sl,mtu,rate")			\
	R(opa_path, OPA_PATH, opa_path, "OpaPathRecord", "OPR", 0x0035,	\
	  0x80, SM, 64,							\
	  "slid,dlid,sgid,dgid,pkey,sl,mtu,rate")			\
	R(node, NODE, node, "NodeRecord", "NR", 0x0011, 2, SM, 108,	\
	  "lid,node_type,num_ports,node_guid,port_guid,local_port_num,"	\
	  "node_description")						\
	R(port_info, PORT_INFO, port_info, "PortInfoRecord", "PIR",	\
	  0x0012, 2, SM, 68,						\
	  "endport_lid,port_num,lid,lmc,port_state,port_physical_state,"\
	  "link_width_active,link_speed_active,link_speed_ext_active,"	\
	  "neighbor_mtu,capability_mask")				\
	R(class_port_info, CLASS_PORT_INFO, class_port_info,		\
	  "ClassPortInfo", "CPI", 0x0001, 2, SM, 72,			\
	  "base_version,class_version,capability_mask,"			\
	  "capability_mask2,resp_time_value,redirect_lid")		\
	R(service, SERVICE, service, "ServiceRecord", "SR", 0x0031, 2,	\
	  CLIENTS, 176,							\
	  "service_id,service_gid,service_pkey,service_lease,"		\
	  "service_name")						\
	R(mcmember, MCMEMBER, mcmember, "MCMemberRecord", "MCMR",	\
	  0x0038, 2, CLIENTS, 52,					\
	  "mgid,mlid,port_gid,qkey,pkey,mtu,rate,sl,join_state")	\
	R(inform_info, INFORM_INFO, inform_info, "InformInfo", "II",	\
	  0x0003, 2, CLIENTS, 36,					\
	  "gid,lid_range_begin,lid_range_end,is_generic,subscribe,type,"\
	  "trap_number,qpn,producer_type")				\
	R(notice, NOTICE, notice, "Notice", "NT", 0x0002, 2, SM, 80,	\
	  "is_generic,type,producer_type,trap_number,issuer_lid,"	\
	  "data_details")						\
	R(opa_class_port_info, OPA_CLASS_PORT_INFO,			\
	  opa_class_port_info, "OpaClassPortInfo",			\
	  "OCPI", 0x0001, 0x80, SM, 80,					\
	  "base_version,class_version,capability_mask,"			\
	  "capability_mask2,resp_time_value,redirect_lid")		\
	R(guid_info, GUID_INFO, guid_info, "GUIDInfoRecord", "GIR",	\
	  0x0030, 2, CLIENTS, 72,					\
	  "lid,block_num,guid_1,guid_2,guid_3,guid_4,guid_5,guid_6,"	\
	  "guid_7,guid_8")						\
	R(inform_info_rec, INFORM_INFO_REC, inform_info_rec,		\
	  "InformInfoRecord", "IIR", 0x00f3, 2, CLIENTS, 60,		\
	  "subscriber_gid,gid,lid_range_begin,lid_range_end,is_generic,"\
	  "type,trap_number,qpn,producer_type")				\
	R(pkey_table, PKEY_TABLE, pkey_table, "PKeyTableRecord",	\
	  "PKTR", 0x0033, 2, SM, 72,					\
	  "lid,port_num,block_num,pkey_1,pkey_2,pkey_3,pkey_4")		\
	R(switch_info, SWITCH_INFO, switch_info, "SwitchInfoRecord",	\
	  "SWIR", 0x0014, 2, SM, 24,					\
	  "lid,linear_fdb_cap,linear_fdb_top,multicast_fdb_cap,"	\
	  "multicast_fdb_top,life_time_value,port_state_change,"	\
	  "lids_per_port,enhanced_port0")				\
	R(lft, LFT, lft, "LinearForwardingTableRecord", "LFTR", 0x0015,	\
	  2, SM, 72,							\
	  "lid,block_num,port_1,port_2,port_3,port_4,port_5,port_6,"	\
	  "port_7,port_8")						\
	R(mft, MFT, mft, "MulticastForwardingTableRecord", "MFTR",	\
	  0x0017, 2, SM, 72,						\
	  "lid,block_num,position,port_mask_1,port_mask_2,"		\
	  "port_mask_3,port_mask_4")					\
	R(sm_info, SM_INFO, sm_info, "SMInfoRecord", "SMIR", 0x0018, 2,	\
	  SM, 28,							\
	  "lid,guid,act_count,priority,sm_state")			\
	R(link, LINK, link, "LinkRecord", "LR", 0x0020, 2, SM, 8,	\
	  "from_lid,from_port,to_lid,to_port")				\
	R(sl_to_vl, SL_TO_VL, sl_to_vl, "SLtoVLMappingTableRecord",	\
	  "SL2VL", 0x0013, 2, SM, 16,					\
	  "lid,input_port_num,output_port_num,vl_1,vl_2,vl_3,vl_4,"	\
	  "vl_5,vl_6,vl_7,vl_8,vl_9,vl_10,vl_11,vl_12,vl_13,vl_14,"	\
	  "vl_15,vl_16")						\
	R(vl_arbitration, VL_ARBITRATION, vl_arbitration,		\
	  "VLArbitrationTableRecord",					\
	  "VLAR", 0x0036, 2, SM, 72,					\
	  "lid,output_port_num,block_num,vl_weight_1,vl_weight_2,"	\
	  "vl_weight_3,vl_weight_4,vl_weight_5,vl_weight_6,"		\
	  "vl_weight_7,vl_weight_8")					\
	R(multi_path, MULTI_PATH, path, "MultiPathRecord", "MPR",	\
	  0x003a, 2, SM, 200,						\
	  "sgid_count,dgid_count,gid_1,gid_2,pkey,sl,mtu,rate")
/* clang-format on */

/* For each type in a table: its C type, and its extra bytes for a NUL. */
#define IBSA__TYPE_nib uint8_t
#define IBSA__TYPE_u8 uint8_t
#define IBSA__TYPE_u16 uint16_t
#define IBSA__TYPE_u32 uint32_t
#define IBSA__TYPE_u64 uint64_t
#define IBSA__TYPE_gid struct ibsa_gid
#define IBSA__TYPE_chr char
#define IBSA__NUL_nib 0
#define IBSA__NUL_u8 0
#define IBSA__NUL_u16 0
#define IBSA__NUL_u32 0
#define IBSA__NUL_u64 0
#define IBSA__NUL_gid 0
#define IBSA__NUL_chr 1

#define IBSA__HOST_F(type, name, bits, mask, show) IBSA__TYPE_##type name;
#define IBSA__HOST_ARR(type, name, bits, count, mask, show) \
	IBSA__TYPE_##type name[(count) + IBSA__NUL_##type];
#define IBSA__HOST_PAD(name, bits)

/*
 * The layout is a struct with one char for each bit: offsetof() and sizeof() of
 * its members are offsets and widths in bits. In the mask struct, sizeof() of a
 * member minus 1 is the mask column. No object has these types. The bits of a
 * LATE field, whose member stands behind those of an earlier release, are those
 * of the PAD with its name.
 */
#define IBSA__BITS_F(type, name, bits, mask, show) char name[bits];
#define IBSA__BITS_ARR(type, name, bits, count, mask, show) \
	char name[count][bits];
#define IBSA__BITS_PAD(name, bits) char name[bits];
#define IBSA__BITS_LATE(type, name, bits, mask, show)

#define IBSA__MASK_F(type, name, bits, mask, show) char name[(mask) + 1];
#define IBSA__MASK_ARR(type, name, bits, count, mask, show) \
	char name[(mask) + 1];
#define IBSA__MASK_PAD(name, bits)

#define IBSA__DEFINE(record, TABLE)                                    \
	struct ibsa_##record {                                         \
		IBSA_##TABLE##_FIELDS(IBSA__HOST_F, IBSA__HOST_ARR,    \
				      IBSA__HOST_PAD, IBSA__HOST_F)    \
	};                                                             \
	struct ibsa__##record##_bits {                                 \
		IBSA_##TABLE##_FIELDS(IBSA__BITS_F, IBSA__BITS_ARR,    \
				      IBSA__BITS_PAD, IBSA__BITS_LATE) \
	};                                                             \
	struct ibsa__##record##_mask {                                 \
		IBSA_##TABLE##_FIELDS(IBSA__MASK_F, IBSA__MASK_ARR,    \
				      IBSA__MASK_PAD, IBSA__MASK_F)    \
	};                                                             \
	extern const struct ibsa_record ibsa_##record##_record

#define IBSA__DEFINE_RECORD(record, TABLE, ...) IBSA__DEFINE(record, TABLE);
IBSA_RECORDS(IBSA__DEFINE_RECORD)
IBSA__DEFINE(sa_header, SA_HEADER);

/**
 * IBSA_CM - the component bits of a field
 * @record: name of the record's struct without "ibsa_", such as path
 * @field:  name of the field; for an array of numbers, the bit is that of its
 *          first value
 *
 * A constant expression, in host byte order; 0 if the field has no bit.
 * IBSA_PATH_CM(dlid) is short for IBSA_CM(path, dlid); most other records have
 * such a macro, too, for example IBSA_NODE_CM().
 */
#define IBSA_CM(record, field) \
	IBSA__CM(IBSA__FIELD_SIZE(ibsa__##record##_mask, field) - 1)

#define IBSA_PATH_CM(field) IBSA_CM(path, field)
#define IBSA_OPA_PATH_CM(field) IBSA_CM(opa_path, field)
#define IBSA_NODE_CM(field) IBSA_CM(node, field)
#define IBSA_PORT_INFO_CM(field) IBSA_CM(port_info, field)
#define IBSA_SERVICE_CM(field) IBSA_CM(service, field)
#define IBSA_MCMEMBER_CM(field) IBSA_CM(mcmember, field)
#define IBSA_GUID_INFO_CM(field) IBSA_CM(guid_info, field)
#define IBSA_INFORM_INFO_CM(field) IBSA_CM(inform_info, field)
#define IBSA_INFORM_INFO_REC_CM(field) IBSA_CM(inform_info_rec, field)
#define IBSA_PKEY_TABLE_CM(field) IBSA_CM(pkey_table, field)
#define IBSA_SWITCH_INFO_CM(field) IBSA_CM(switch_info, field)
#define IBSA_LFT_CM(field) IBSA_CM(lft, field)
#define IBSA_MFT_CM(field) IBSA_CM(mft, field)
#define IBSA_SM_INFO_CM(field) IBSA_CM(sm_info, field)
#define IBSA_LINK_CM(field) IBSA_CM(link, field)
#define IBSA_SL_TO_VL_CM(field) IBSA_CM(sl_to_vl, field)
#define IBSA_VL_ARBITRATION_CM(field) IBSA_CM(vl_arbitration, field)
#define IBSA_MULTI_PATH_CM(field) IBSA_CM(multi_path, field)

/**
 * IBSA_GET - read one number from the bytes of a record
 * @record: name of the record's struct without "ibsa_"
 * @field:  name of a field that is one number, not an array
 * @wire:   the bytes of the record in network byte order, as ibsa_reply_at()
 *          returns them
 *
 * Reads one field without decoding the others. Use it to read large tables.
 *
 * Return: the value in host byte order, as uint64_t.
 */
#define IBSA_GET(record, field, wire)                                        \
	ibsa_bits_get((wire), offsetof(struct ibsa__##record##_bits, field), \
		      IBSA__FIELD_SIZE(ibsa__##record##_bits, field))

/**
 * IBSA_GET_GID - find a GID in the bytes of a record
 * @record: name of the record's struct without "ibsa_"
 * @field:  name of a field that is a GID
 * @wire:   the bytes of the record in network byte order, as ibsa_reply_at()
 *          returns them
 *
 * Return: a pointer to the 16 bytes of the GID, inside @wire.
 */
#define IBSA_GET_GID(record, field, wire) \
	((wire) + offsetof(struct ibsa__##record##_bits, field) / 8)

IBSA_END

#endif
