/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The types, constants and component masks of the kernel's ib_sa, for user
 * space: what code written against <rdma/ib_sa.h> names.
 *
 * sa_path_is_roce         whether a path record is of a RoCE type
 * sa_path_set_slid        set a LID, host byte order
 * sa_path_set_dlid        set a LID, host byte order
 * sa_path_get_slid        a LID, 32 bits in network byte order; 0: RoCE
 * sa_path_get_dlid        a LID, 32 bits in network byte order; 0: RoCE
 * sa_path_set_raw_traffic set raw_traffic, not of a RoCE record
 * sa_path_get_raw_traffic raw_traffic; 0: RoCE
 * ibsa_ptr_err            the negative errno that a pointer contains
 * ibsa_is_err             whether a pointer is an errno, not for NULL
 *
 * Members of more than one byte are in network byte order, whatever their type
 * says, and so are component masks. Only rdma_ah_attr is in host byte order.
 * Any thread may call these functions.
 *
 * Source: Linux include/rdma/ib_sa.h, ib_verbs.h; the layouts of Linux 6.1,
 * that of struct ib_sa_service_rec of Linux 5.8.
 */
#ifndef IBSA_IB_SA_TYPES_H
#define IBSA_IB_SA_TYPES_H

#include <linux/types.h>

#include <ibsa/types.h>

IBSA_BEGIN

/*
 * The kernel's short names collide with those of many programs: they are
 * here for code that asks for them.
 */
#ifdef IBSA_KERNEL_TYPES
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef unsigned int gfp_t;
#define GFP_KERNEL 0u
#define GFP_ATOMIC 1u
#define IS_ERR(pointer) ibsa_is_err(pointer)
#define PTR_ERR(pointer) ((long)ibsa_ptr_err(pointer))
#endif

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define IBSA__BE16(value) __builtin_bswap16(value)
#define IBSA__BE32(value) __builtin_bswap32(value)
#define IBSA__BE64(value) __builtin_bswap64(value)
#else
#define IBSA__BE16(value) (value)
#define IBSA__BE32(value) (value)
#define IBSA__BE64(value) (value)
#endif

/* One bit a component, in network order. */
typedef __be64 ib_sa_comp_mask;
#define IB_SA_COMP_MASK(n) ((ib_sa_comp_mask)IBSA__BE64(UINT64_C(1) << (n)))

enum {
	IB_SA_CLASS_VERSION = 2,
	IB_SA_METHOD_GET_TABLE = 0x12,
	IB_SA_METHOD_GET_TABLE_RESP = 0x92,
	IB_SA_METHOD_DELETE = 0x15,
	IB_SA_METHOD_DELETE_RESP = 0x95,
	IB_SA_METHOD_GET_MULTI = 0x14,
	IB_SA_METHOD_GET_MULTI_RESP = 0x94,
	IB_SA_METHOD_GET_TRACE_TBL = 0x13,
};

#define IB_MGMT_METHOD_GET 0x01
#define IB_MGMT_METHOD_SET 0x02

#define IB_DEFAULT_SERVICE_LEASE 0xFFFFFFFF
#define IB_SA_WELL_KNOWN_GUID (UINT64_C(0x02) << 56 | 2)

enum ib_sa_selector {
	IB_SA_GT = 0,
	IB_SA_LT = 1,
	IB_SA_EQ = 2,
	IB_SA_BEST = 3,
};

union ib_gid {
	uint8_t raw[16];
	struct {
		__be64 subnet_prefix;
		__be64 interface_id;
	} global;
};

enum ib_gid_type {
	IB_GID_TYPE_IB = 0,
	IB_GID_TYPE_ROCE = 1,
	IB_GID_TYPE_ROCE_UDP_ENCAP = 2,
};

/* clang-format off */
#define IB_SA_PATH_REC_SERVICE_ID	(IB_SA_COMP_MASK(0) | \
					 IB_SA_COMP_MASK(1))
#define IB_SA_PATH_REC_DGID		IB_SA_COMP_MASK(2)
#define IB_SA_PATH_REC_SGID		IB_SA_COMP_MASK(3)
#define IB_SA_PATH_REC_DLID		IB_SA_COMP_MASK(4)
#define IB_SA_PATH_REC_SLID		IB_SA_COMP_MASK(5)
#define IB_SA_PATH_REC_RAW_TRAFFIC	IB_SA_COMP_MASK(6)
#define IB_SA_PATH_REC_FLOW_LABEL	IB_SA_COMP_MASK(8)
#define IB_SA_PATH_REC_HOP_LIMIT	IB_SA_COMP_MASK(9)
#define IB_SA_PATH_REC_TRAFFIC_CLASS	IB_SA_COMP_MASK(10)
#define IB_SA_PATH_REC_REVERSIBLE	IB_SA_COMP_MASK(11)
#define IB_SA_PATH_REC_NUMB_PATH	IB_SA_COMP_MASK(12)
#define IB_SA_PATH_REC_PKEY		IB_SA_COMP_MASK(13)
#define IB_SA_PATH_REC_QOS_CLASS	IB_SA_COMP_MASK(14)
#define IB_SA_PATH_REC_SL		IB_SA_COMP_MASK(15)
#define IB_SA_PATH_REC_MTU_SELECTOR	IB_SA_COMP_MASK(16)
#define IB_SA_PATH_REC_MTU		IB_SA_COMP_MASK(17)
#define IB_SA_PATH_REC_RATE_SELECTOR	IB_SA_COMP_MASK(18)
#define IB_SA_PATH_REC_RATE		IB_SA_COMP_MASK(19)
#define IB_SA_PATH_REC_PACKET_LIFE_TIME_SELECTOR IB_SA_COMP_MASK(20)
#define IB_SA_PATH_REC_PACKET_LIFE_TIME	IB_SA_COMP_MASK(21)
#define IB_SA_PATH_REC_PREFERENCE	IB_SA_COMP_MASK(22)

#define IB_SA_MCMEMBER_REC_MGID		IB_SA_COMP_MASK(0)
#define IB_SA_MCMEMBER_REC_PORT_GID	IB_SA_COMP_MASK(1)
#define IB_SA_MCMEMBER_REC_QKEY		IB_SA_COMP_MASK(2)
#define IB_SA_MCMEMBER_REC_MLID		IB_SA_COMP_MASK(3)
#define IB_SA_MCMEMBER_REC_MTU_SELECTOR	IB_SA_COMP_MASK(4)
#define IB_SA_MCMEMBER_REC_MTU		IB_SA_COMP_MASK(5)
#define IB_SA_MCMEMBER_REC_TRAFFIC_CLASS IB_SA_COMP_MASK(6)
#define IB_SA_MCMEMBER_REC_PKEY		IB_SA_COMP_MASK(7)
#define IB_SA_MCMEMBER_REC_RATE_SELECTOR IB_SA_COMP_MASK(8)
#define IB_SA_MCMEMBER_REC_RATE		IB_SA_COMP_MASK(9)
#define IB_SA_MCMEMBER_REC_PACKET_LIFE_TIME_SELECTOR IB_SA_COMP_MASK(10)
#define IB_SA_MCMEMBER_REC_PACKET_LIFE_TIME IB_SA_COMP_MASK(11)
#define IB_SA_MCMEMBER_REC_SL		IB_SA_COMP_MASK(12)
#define IB_SA_MCMEMBER_REC_FLOW_LABEL	IB_SA_COMP_MASK(13)
#define IB_SA_MCMEMBER_REC_HOP_LIMIT	IB_SA_COMP_MASK(14)
#define IB_SA_MCMEMBER_REC_SCOPE	IB_SA_COMP_MASK(15)
#define IB_SA_MCMEMBER_REC_JOIN_STATE	IB_SA_COMP_MASK(16)
#define IB_SA_MCMEMBER_REC_PROXY_JOIN	IB_SA_COMP_MASK(17)

#define IB_SA_SERVICE_REC_SERVICE_ID	IB_SA_COMP_MASK(0)
#define IB_SA_SERVICE_REC_SERVICE_GID	IB_SA_COMP_MASK(1)
#define IB_SA_SERVICE_REC_SERVICE_PKEY	IB_SA_COMP_MASK(2)
#define IB_SA_SERVICE_REC_SERVICE_LEASE	IB_SA_COMP_MASK(4)
#define IB_SA_SERVICE_REC_SERVICE_KEY	IB_SA_COMP_MASK(5)
#define IB_SA_SERVICE_REC_SERVICE_NAME	IB_SA_COMP_MASK(6)
#define IB_SA_SERVICE_REC_SERVICE_DATA8_0 IB_SA_COMP_MASK(7)
#define IB_SA_SERVICE_REC_SERVICE_DATA8_1 IB_SA_COMP_MASK(8)
#define IB_SA_SERVICE_REC_SERVICE_DATA8_2 IB_SA_COMP_MASK(9)
#define IB_SA_SERVICE_REC_SERVICE_DATA8_3 IB_SA_COMP_MASK(10)
#define IB_SA_SERVICE_REC_SERVICE_DATA8_4 IB_SA_COMP_MASK(11)
#define IB_SA_SERVICE_REC_SERVICE_DATA8_5 IB_SA_COMP_MASK(12)
#define IB_SA_SERVICE_REC_SERVICE_DATA8_6 IB_SA_COMP_MASK(13)
#define IB_SA_SERVICE_REC_SERVICE_DATA8_7 IB_SA_COMP_MASK(14)
#define IB_SA_SERVICE_REC_SERVICE_DATA8_8 IB_SA_COMP_MASK(15)
#define IB_SA_SERVICE_REC_SERVICE_DATA8_9 IB_SA_COMP_MASK(16)
#define IB_SA_SERVICE_REC_SERVICE_DATA8_10 IB_SA_COMP_MASK(17)
#define IB_SA_SERVICE_REC_SERVICE_DATA8_11 IB_SA_COMP_MASK(18)
#define IB_SA_SERVICE_REC_SERVICE_DATA8_12 IB_SA_COMP_MASK(19)
#define IB_SA_SERVICE_REC_SERVICE_DATA8_13 IB_SA_COMP_MASK(20)
#define IB_SA_SERVICE_REC_SERVICE_DATA8_14 IB_SA_COMP_MASK(21)
#define IB_SA_SERVICE_REC_SERVICE_DATA8_15 IB_SA_COMP_MASK(22)
#define IB_SA_SERVICE_REC_SERVICE_DATA16_0 IB_SA_COMP_MASK(23)
#define IB_SA_SERVICE_REC_SERVICE_DATA16_1 IB_SA_COMP_MASK(24)
#define IB_SA_SERVICE_REC_SERVICE_DATA16_2 IB_SA_COMP_MASK(25)
#define IB_SA_SERVICE_REC_SERVICE_DATA16_3 IB_SA_COMP_MASK(26)
#define IB_SA_SERVICE_REC_SERVICE_DATA16_4 IB_SA_COMP_MASK(27)
#define IB_SA_SERVICE_REC_SERVICE_DATA16_5 IB_SA_COMP_MASK(28)
#define IB_SA_SERVICE_REC_SERVICE_DATA16_6 IB_SA_COMP_MASK(29)
#define IB_SA_SERVICE_REC_SERVICE_DATA16_7 IB_SA_COMP_MASK(30)
#define IB_SA_SERVICE_REC_SERVICE_DATA32_0 IB_SA_COMP_MASK(31)
#define IB_SA_SERVICE_REC_SERVICE_DATA32_1 IB_SA_COMP_MASK(32)
#define IB_SA_SERVICE_REC_SERVICE_DATA32_2 IB_SA_COMP_MASK(33)
#define IB_SA_SERVICE_REC_SERVICE_DATA32_3 IB_SA_COMP_MASK(34)
#define IB_SA_SERVICE_REC_SERVICE_DATA64_0 IB_SA_COMP_MASK(35)
#define IB_SA_SERVICE_REC_SERVICE_DATA64_1 IB_SA_COMP_MASK(36)

#define IB_SA_GUIDINFO_REC_LID		IB_SA_COMP_MASK(0)
#define IB_SA_GUIDINFO_REC_BLOCK_NUM	IB_SA_COMP_MASK(1)
#define IB_SA_GUIDINFO_REC_RES1		IB_SA_COMP_MASK(2)
#define IB_SA_GUIDINFO_REC_RES2		IB_SA_COMP_MASK(3)
#define IB_SA_GUIDINFO_REC_GID0		IB_SA_COMP_MASK(4)
#define IB_SA_GUIDINFO_REC_GID1		IB_SA_COMP_MASK(5)
#define IB_SA_GUIDINFO_REC_GID2		IB_SA_COMP_MASK(6)
#define IB_SA_GUIDINFO_REC_GID3		IB_SA_COMP_MASK(7)
#define IB_SA_GUIDINFO_REC_GID4		IB_SA_COMP_MASK(8)
#define IB_SA_GUIDINFO_REC_GID5		IB_SA_COMP_MASK(9)
#define IB_SA_GUIDINFO_REC_GID6		IB_SA_COMP_MASK(10)
#define IB_SA_GUIDINFO_REC_GID7		IB_SA_COMP_MASK(11)
/* clang-format on */

enum sa_path_rec_type {
	SA_PATH_REC_TYPE_IB,
	SA_PATH_REC_TYPE_ROCE_V1,
	SA_PATH_REC_TYPE_ROCE_V2,
	SA_PATH_REC_TYPE_OPA,
};

struct sa_path_rec_ib {
	__be16 dlid;
	__be16 slid;
	uint8_t raw_traffic;
};

struct sa_path_rec_roce {
	bool route_resolved;
	uint8_t dmac[6];
};

struct sa_path_rec_opa {
	__be32 dlid;
	__be32 slid;
	uint8_t raw_traffic;
	uint8_t l2_8B;
	uint8_t l2_10B;
	uint8_t l2_9B;
	uint8_t l2_16B;
	uint8_t qos_type;
	uint8_t qos_priority;
};

struct sa_path_rec {
	union ib_gid dgid;
	union ib_gid sgid;
	__be64 service_id;
	__be32 flow_label;
	uint8_t hop_limit;
	uint8_t traffic_class;
	uint8_t reversible;
	uint8_t numb_path;
	__be16 pkey;
	__be16 qos_class;
	uint8_t sl;
	uint8_t mtu_selector;
	uint8_t mtu;
	uint8_t rate_selector;
	uint8_t rate;
	uint8_t packet_life_time_selector;
	uint8_t packet_life_time;
	uint8_t preference;
	union {
		struct sa_path_rec_ib ib;
		struct sa_path_rec_roce roce;
		struct sa_path_rec_opa opa;
	};
	enum sa_path_rec_type rec_type;
	uint32_t flags; /* 0: no local service is asked */
};

static inline bool sa_path_is_roce(const struct sa_path_rec *rec)
{
	return rec->rec_type == SA_PATH_REC_TYPE_ROCE_V1 ||
	       rec->rec_type == SA_PATH_REC_TYPE_ROCE_V2;
}

static inline void sa_path_set_slid(struct sa_path_rec *rec, uint32_t slid)
{
	if (rec->rec_type == SA_PATH_REC_TYPE_IB)
		rec->ib.slid = IBSA__BE16((uint16_t)slid);
	else if (rec->rec_type == SA_PATH_REC_TYPE_OPA)
		rec->opa.slid = IBSA__BE32(slid);
}

static inline void sa_path_set_dlid(struct sa_path_rec *rec, uint32_t dlid)
{
	if (rec->rec_type == SA_PATH_REC_TYPE_IB)
		rec->ib.dlid = IBSA__BE16((uint16_t)dlid);
	else if (rec->rec_type == SA_PATH_REC_TYPE_OPA)
		rec->opa.dlid = IBSA__BE32(dlid);
}

static inline __be32 sa_path_get_slid(const struct sa_path_rec *rec)
{
	if (rec->rec_type == SA_PATH_REC_TYPE_IB)
		return IBSA__BE32((uint32_t)IBSA__BE16(rec->ib.slid));
	return rec->rec_type == SA_PATH_REC_TYPE_OPA ? rec->opa.slid : 0;
}

static inline __be32 sa_path_get_dlid(const struct sa_path_rec *rec)
{
	if (rec->rec_type == SA_PATH_REC_TYPE_IB)
		return IBSA__BE32((uint32_t)IBSA__BE16(rec->ib.dlid));
	return rec->rec_type == SA_PATH_REC_TYPE_OPA ? rec->opa.dlid : 0;
}

static inline void sa_path_set_raw_traffic(struct sa_path_rec *rec,
					   uint8_t raw_traffic)
{
	if (rec->rec_type == SA_PATH_REC_TYPE_IB)
		rec->ib.raw_traffic = raw_traffic;
	else if (rec->rec_type == SA_PATH_REC_TYPE_OPA)
		rec->opa.raw_traffic = raw_traffic;
}

static inline uint8_t sa_path_get_raw_traffic(const struct sa_path_rec *rec)
{
	if (rec->rec_type == SA_PATH_REC_TYPE_IB)
		return rec->ib.raw_traffic;
	return rec->rec_type == SA_PATH_REC_TYPE_OPA ? rec->opa.raw_traffic : 0;
}

struct ib_sa_mcmember_rec {
	union ib_gid mgid;
	union ib_gid port_gid;
	__be32 qkey;
	__be16 mlid;
	uint8_t mtu_selector;
	uint8_t mtu;
	uint8_t traffic_class;
	__be16 pkey;
	uint8_t rate_selector;
	uint8_t rate;
	uint8_t packet_life_time_selector;
	uint8_t packet_life_time;
	uint8_t sl;
	__be32 flow_label;
	uint8_t hop_limit;
	uint8_t scope;
	uint8_t join_state;
	uint8_t proxy_join;
};

/* id, lease and the data words are big-endian in memory, as on the wire. */
struct ib_sa_service_rec {
	uint64_t id;
	union ib_gid gid;
	__be16 pkey;
	uint32_t lease;
	uint8_t key[16];
	uint8_t name[64];
	uint8_t data8[16];
	uint16_t data16[8];
	uint32_t data32[4];
	uint64_t data64[2];
};

/* The same record as Linux 6.18 has it. */
struct sa_service_rec {
	__be64 id;
	uint8_t gid[16];
	__be16 pkey;
	uint8_t reserved[2];
	__be32 lease;
	uint8_t key[16];
	uint8_t name[64];
	uint8_t data_8[16];
	__be16 data_16[8];
	__be32 data_32[4];
	__be64 data_64[2];
};

struct ib_sa_guidinfo_rec {
	__be16 lid;
	uint8_t block_num;
	uint8_t res1;
	__be32 res2;
	uint8_t guid_info_list[64];
};

/* What opa_pr_query_possible() says. */
enum opa_pr_supported {
	PR_NOT_SUPPORTED,
	PR_OPA_SUPPORTED,
	PR_IB_SUPPORTED,
};

struct ib_device;

/* One entry of a port's GID table, held by a reference. */
struct ib_gid_attr {
	struct ib_device *device;
	union ib_gid gid;
	enum ib_gid_type gid_type;
	uint16_t index;
	uint32_t port_num;
	uint32_t ndev_ifindex; /* 0: no network interface */
};

enum ib_ah_flags { IB_AH_GRH = 1 };

enum rdma_ah_attr_type {
	RDMA_AH_ATTR_TYPE_UNDEFINED,
	RDMA_AH_ATTR_TYPE_IB,
	RDMA_AH_ATTR_TYPE_ROCE,
	RDMA_AH_ATTR_TYPE_OPA,
};

struct ib_global_route {
	const struct ib_gid_attr *sgid_attr;
	union ib_gid dgid;
	uint32_t flow_label;
	uint8_t sgid_index;
	uint8_t hop_limit;
	uint8_t traffic_class;
};

struct ib_ah_attr {
	uint16_t dlid;
	uint8_t src_path_bits;
};

struct roce_ah_attr {
	uint8_t dmac[6];
};

struct opa_ah_attr {
	uint32_t dlid;
	uint8_t src_path_bits;
	bool make_grd;
};

struct rdma_ah_attr {
	struct ib_global_route grh;
	uint8_t sl;
	uint8_t static_rate;
	uint32_t port_num;
	uint8_t ah_flags;
	enum rdma_ah_attr_type type;
	union {
		struct ib_ah_attr ib;
		struct roce_ah_attr roce;
		struct opa_ah_attr opa;
	};
};

static inline int ibsa_ptr_err(const void *pointer)
{
	return (int)(intptr_t)pointer;
}

static inline bool ibsa_is_err(const void *pointer)
{
	return (uintptr_t)pointer >= (uintptr_t)-4095;
}

IBSA_END

#endif
