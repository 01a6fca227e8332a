/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The Linux kernel's ib_sa functions for user space: path, service, multicast
 * and GUID queries from any thread, with replies in callbacks; and the types,
 * constants and component masks that code written against <rdma/ib_sa.h> names.
 *
 * ib_sa_register_client       register a client before its first query
 * ib_sa_unregister_client     wait until no callback of a client will run
 * ibsa_ib_device_get          open a device with all defaults, or share it
 * ibsa_ib_device_open         open a device with options; it is not shared
 * ibsa_ib_device_put          end the use of a device
 * ibsa_ib_device_fd           file descriptor to poll, without a worker
 * ibsa_ib_device_timeout_ms   longest time to poll it; -1: no limit
 * ibsa_ib_device_dispatch     process what is due, without waiting
 * ibsa_ib_device_wait         wait for something to do, then dispatch
 * ibsa_last_reply             the reply that caused a callback
 * ib_sa_path_rec_get          query the SA for one path
 * ib_sa_service_rec_query     look up, register or delete a service
 * ib_sa_service_rec_get       look up all services that match
 * ib_sa_mcmember_rec_query    send one request about a multicast group
 * ib_sa_guid_info_rec_query   look up, assign or remove alias GUIDs
 * ibsa_service_rec_register   register a service and keep it registered
 * ibsa_service_rec_release    end a registration and delete its record
 * ibsa_device_watch_start     receive the events that the SA reports
 * ibsa_device_watch_stop      end a watch, without waiting
 * ib_sa_join_multicast        join a group, and create it if necessary
 * ib_sa_free_multicast        end a membership, also during its join
 * ib_sa_get_mcmember_rec      the record of a group that the port has joined
 * opa_pr_query_possible       which form of path query the SA supports
 * ib_sa_cancel_query          cancel a query: its callback runs with -EINTR
 * ib_sa_pack_path             encode a path record as in a MAD
 * ib_sa_unpack_path           decode a path record of a MAD
 * rdma_get_gid_attr           read one entry of a port's GID table
 * rdma_find_gid_by_port       the entry of a port's GID table with a GID
 * rdma_hold_gid_attr          add a reference to an entry
 * rdma_put_gid_attr           remove a reference to an entry; the last frees it
 * ib_init_ah_attr_from_path   make address handle attributes from a path
 * ibsa_init_ah_attr_from_path attributes with a GRH if the port requires one
 * rdma_destroy_ah_attr        release the reference to the source GID
 * ibsa_ah_attr_to_ibv         convert attributes for ibv_create_ah()
 *
 * sa_path_is_roce             whether a path record is of a RoCE type
 * sa_path_set_slid            set a LID, host byte order
 * sa_path_set_dlid            set a LID, host byte order
 * sa_path_get_slid            a LID, 32 bits in network byte order; 0: RoCE
 * sa_path_get_dlid            a LID, 32 bits in network byte order; 0: RoCE
 * sa_path_set_raw_traffic     set raw_traffic, not of a RoCE record
 * sa_path_get_raw_traffic     raw_traffic; 0: RoCE
 * ibsa_ptr_err                the negative errno that a pointer contains
 * ibsa_is_err                 whether a pointer is a negative errno; NULL: no
 *
 * Any thread and any callback may call these functions, except
 * ibsa_ib_device_dispatch() and ibsa_ib_device_wait(). Each device has a worker
 * thread that runs its callbacks; of a device without a worker, callbacks run
 * inside ibsa_ib_device_dispatch(), ibsa_ib_device_wait(),
 * ib_sa_unregister_client() and ibsa_ib_device_put(). A callback never runs
 * inside a function that starts a query; a device runs one callback at a time.
 * A forked child cannot use clients and devices of its parent; it registers and
 * opens others.
 *
 * Record members of more than one byte, except rec_type, are in network byte
 * order, whatever their type, and so are component masks. struct rdma_ah_attr
 * and struct ib_gid_attr are in host byte order, except for their GIDs.
 *
 * The functions are in libibsa-compat: link with the flags of "pkg-config
 * ibsa-compat".
 *
 * Source: Linux include/rdma/ib_sa.h, ib_verbs.h,
 * drivers/infiniband/core/sa_query.c; the layouts of Linux 6.1, that of struct
 * ib_sa_service_rec of Linux 5.8.
 */
#ifndef IBSA_IB_SA_H
#define IBSA_IB_SA_H

#include <linux/types.h>

#include <ibsa/event.h>
#include <ibsa/ibsa.h>
#include <ibsa/service.h>
#include <ibsa/types.h>

IBSA_BEGIN

/*
 * The kernel's short names collide with names of many programs: a program that
 * needs them defines IBSA_KERNEL_TYPES before it includes this header.
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
#define PTR_ERR(pointer) IBSA__CAST(long, ibsa_ptr_err(pointer))
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

/* Component mask: one bit for each component, in network byte order. */
typedef __be64 ib_sa_comp_mask;
#define IB_SA_COMP_MASK(n) \
	IBSA__CAST(ib_sa_comp_mask, IBSA__BE64(UINT64_C(1) << (n)))

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
	uint32_t flags; /* 0 in replies; ignored in queries */
};

static inline bool sa_path_is_roce(const struct sa_path_rec *rec)
{
	return rec->rec_type == SA_PATH_REC_TYPE_ROCE_V1 ||
	       rec->rec_type == SA_PATH_REC_TYPE_ROCE_V2;
}

static inline void sa_path_set_slid(struct sa_path_rec *rec, uint32_t slid)
{
	if (rec->rec_type == SA_PATH_REC_TYPE_IB)
		rec->ib.slid = IBSA__BE16(IBSA__CAST(uint16_t, slid));
	else if (rec->rec_type == SA_PATH_REC_TYPE_OPA)
		rec->opa.slid = IBSA__BE32(slid);
}

static inline void sa_path_set_dlid(struct sa_path_rec *rec, uint32_t dlid)
{
	if (rec->rec_type == SA_PATH_REC_TYPE_IB)
		rec->ib.dlid = IBSA__BE16(IBSA__CAST(uint16_t, dlid));
	else if (rec->rec_type == SA_PATH_REC_TYPE_OPA)
		rec->opa.dlid = IBSA__BE32(dlid);
}

static inline __be32 sa_path_get_slid(const struct sa_path_rec *rec)
{
	if (rec->rec_type == SA_PATH_REC_TYPE_IB)
		return IBSA__BE32(
			IBSA__CAST(uint32_t, IBSA__BE16(rec->ib.slid)));
	return rec->rec_type == SA_PATH_REC_TYPE_OPA ? rec->opa.slid : 0;
}

static inline __be32 sa_path_get_dlid(const struct sa_path_rec *rec)
{
	if (rec->rec_type == SA_PATH_REC_TYPE_IB)
		return IBSA__BE32(
			IBSA__CAST(uint32_t, IBSA__BE16(rec->ib.dlid)));
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

/* All members are in network byte order, whatever their type. */
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

/* A ServiceRecord with the layout of Linux 6.18. */
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

/* The results of opa_pr_query_possible(). */
enum opa_pr_supported {
	PR_NOT_SUPPORTED,
	PR_OPA_SUPPORTED,
	PR_IB_SUPPORTED,
};

struct ib_device;

/* A copy of one entry of a port's GID table, with a count of references. */
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

static inline intptr_t ibsa__address(const void *pointer)
{
	intptr_t address;

	memcpy(&address, &pointer, sizeof(address));
	return address;
}

static inline int ibsa_ptr_err(const void *pointer)
{
	return IBSA__CAST(int, ibsa__address(pointer));
}

static inline bool ibsa_is_err(const void *pointer)
{
	const intptr_t address = ibsa__address(pointer);

	return address < 0 && address >= -4095;
}

struct ib_sa_query;
struct ibv_ah_attr;
struct ibsa_fabric;
struct ibsa__sa;

/**
 * struct ib_sa_client - a client, which starts queries; all zero: not
 * registered
 */
struct ib_sa_client {
	struct ibsa__sa *sa;
	unsigned long users;
};

/**
 * ib_sa_register_client - register a client before its first query
 * @client: memory of the program, which must stay at its address until
 *          ib_sa_unregister_client()
 *
 * If there is not enough memory, later calls with @client fail with -EINVAL.
 */
void ib_sa_register_client(struct ib_sa_client *client) IBSA_NONNULL(1);

/**
 * ib_sa_unregister_client - wait until no callback of a client will run
 * @client: all zero: nothing happens
 *
 * Ends the client's services, watches and memberships, but cancels no query:
 * call ib_sa_cancel_query() first. Inside a callback, ib_sa_unregister_client()
 * returns without waiting: the memory to which the contexts of the client's
 * other callbacks point must stay valid until these have run.
 */
void ib_sa_unregister_client(struct ib_sa_client *client) IBSA_NONNULL(1);

/**
 * struct ibsa_ib_device_options - how to open a device; zero: the default of a
 * member
 * @name:       name of the device, or of a node of a fabric; NULL: the device
 *              of @context, or the one that ibsa_open() chooses
 * @fabric:     as in struct ibsa_options
 * @on:         a loaded fabric to use instead of @fabric; it must not be freed
 *              before the device is closed
 * @context:    as in struct ibsa_options; close it only after the first use of
 *              each needed port
 * @window:     most requests that each port sends again at a time while the SA
 *              does not reply; while the SA replies, 64 times as many;
 *              IBSA_DEFAULT_RETRIES
 * @audit_ms:   longest time between two reads of memberships, services and
 *              subscriptions at the SA; IBSA_DEFAULT_AUDIT_MS
 * @no_sharing: send each PathRecord query as a request of its own
 * @no_environment: as ibsa_environment_ignore(), for this device
 * @no_thread:  the device has no worker: the program calls
 *              ibsa_ib_device_dispatch() or ibsa_ib_device_wait()
 */
struct ibsa_ib_device_options {
	const char *name;
	const char *fabric;
	struct ibsa_fabric *on;
	struct ibv_context *context;
	struct ibsa_sa_access access;
	unsigned int window;
	unsigned int audit_ms;
	bool no_sharing;
	bool no_thread;
	bool no_environment;
	uint8_t reserved[5];
};

/**
 * ibsa_ib_device_get - open a device with all defaults, or share it
 * @name: as in struct ibsa_ib_device_options
 * @out:  receives the device; call ibsa_ib_device_put() once for each get
 *
 * A port is opened, and needs access to its device, at its first use.
 *
 * Return: 0; -ENODEV no such device, node or server; -ENETDOWN no device is
 * named, and no InfiniBand port is active; -EACCES no access to the fabric
 * server; others as ibsa_open()
 */
int ibsa_ib_device_get(const char *name, struct ib_device **out) IBSA_MUST_USE
	IBSA_NONNULL(2);

int ibsa_ib_device_open_sized(const struct ibsa_ib_device_options *options,
			      size_t size, struct ibsa_error *error,
			      struct ib_device **out) IBSA_MUST_USE
	IBSA_NONNULL(4);

/**
 * ibsa_ib_device_open - open a device with options; it is not shared
 * @options: NULL: all defaults; copied
 * @error:   after an error, what failed and what to do; may be NULL
 *
 * Return: as ibsa_ib_device_get(); -EINVAL also if an option is out of range
 */
IBSA_INLINE IBSA_MUST_USE int
ibsa_ib_device_open(const struct ibsa_ib_device_options *options,
		    struct ibsa_error *error, struct ib_device **out)
{
	return ibsa_ib_device_open_sized(options, sizeof(*options), error, out);
}

/**
 * ibsa_ib_device_put - end the use of a device
 * @device: NULL: nothing happens
 *
 * The last put closes the device: the library waits, up to two seconds for each
 * port, until the SA has deleted the services and subscriptions of the device;
 * queries without a reply end with -EINTR. After a put inside a callback, the
 * worker or the thread that dispatches the device, if any, closes it later.
 */
void ibsa_ib_device_put(struct ib_device *device);

/**
 * ibsa_ib_device_fd - file descriptor to poll, without a worker
 *
 * Call this function after the first use of a port, and poll the descriptor for
 * at most ibsa_ib_device_timeout_ms().
 *
 * Return: a descriptor, readable when ibsa_ib_device_dispatch() can receive or
 * start something; -1: a worker or only ibsa_ib_device_wait() can wait
 */
int ibsa_ib_device_fd(struct ib_device *device) IBSA_NONNULL(1);

int ibsa_ib_device_timeout_ms(struct ib_device *device) IBSA_NONNULL(1);

/**
 * ibsa_ib_device_dispatch - process what is due, without waiting
 *
 * Return: 0; -EBUSY a callback of the device called this function, or another
 * thread dispatches the device: poll again; -EINVAL the device has a worker; or
 * the receive error of a port
 */
int ibsa_ib_device_dispatch(struct ib_device *device) IBSA_NONNULL(1);

/**
 * ibsa_ib_device_wait - wait for something to do, then dispatch
 * @timeout_ms: 0: do not wait; -1: no limit
 *
 * Return: as ibsa_ib_device_dispatch(); -EINTR a signal ended the wait
 */
int ibsa_ib_device_wait(struct ib_device *device, int timeout_ms)
	IBSA_NONNULL(1);

/**
 * ibsa_last_reply - the reply that caused a callback
 * @device: the device whose callback calls ibsa_last_reply()
 *
 * Return: how the query or join ended, valid until the callback returns; err is
 * not 0 if no reply arrived. NULL in callbacks of services and watches, and
 * usually if no request was sent or a membership was lost
 */
const struct ibsa_reply *ibsa_last_reply(const struct ib_device *device)
	IBSA_NONNULL(1);

/**
 * ib_sa_path_rec_get - query the SA for one path
 * @client:     registered
 * @device:     from ibsa_ib_device_get() or ibsa_ib_device_open()
 * @port_num:   from 1
 * @rec:        the values to match; copied. Of type SA_PATH_REC_TYPE_IB or _OPA
 * @comp_mask:  IB_SA_PATH_REC_DGID | ...: the members that the SA compares
 * @timeout_ms: longest time from the call (without a worker: from the next
 *              dispatch) to the end of the query; 0 counts as 1
 * @gfp_mask:   ignored
 * @callback:   called once, never within the call, but by the worker possibly
 *              before it returns; may be NULL. @status: 0: @resp is the path,
 *              valid until the callback returns; -EINVAL: the SA replied with a
 *              MAD status other than 0, see ibsa_last_reply(); -ETIMEDOUT: no
 *              reply; -EINTR: the query was cancelled, or the device was closed
 *              or disappeared; -EIO: not sent, or the reply is malformed or
 *              truncated
 * @context:    passed to @callback
 * @sa_query:   receives the pointer for ib_sa_cancel_query(), before @callback
 *              can run; NULL after an error. May be NULL
 *
 * The first call for a port opens the port, and may block.
 *
 * Return: the id of the query, 0 or more; -EINVAL @client is not registered, or
 * @comp_mask or the type of @rec is not valid or not supported; -EAGAIN the
 * port has no SM, or is down or initializing; -ENODEV no such port, a RoCE port
 * without access.sa, or the device is closing; -ENOBUFS the port has 1048576
 * queries; -EOPNOTSUPP the device can have only one open port; -ENOMEM; or the
 * error from opening the port. After an error, @callback is not called
 *
 * Source: Linux drivers/infiniband/core/sa_query.c; IBA vol 1, 15.2.5.16.
 */
int ib_sa_path_rec_get(struct ib_sa_client *client, struct ib_device *device,
		       uint8_t port_num, struct sa_path_rec *rec,
		       ib_sa_comp_mask comp_mask, unsigned long timeout_ms,
		       unsigned int gfp_mask,
		       void (*callback)(int status, struct sa_path_rec *resp,
					void *context),
		       void *context, struct ib_sa_query **sa_query)
	IBSA_NONNULL(1, 2, 4);

/**
 * ib_sa_service_rec_query - look up, register or delete a service
 * @method: IB_MGMT_METHOD_GET, IB_MGMT_METHOD_SET, IB_SA_METHOD_DELETE
 * @rec:    the service, in network byte order, whatever the types of members
 * @client, @device, @port_num, @comp_mask, @timeout_ms, @gfp_mask, @callback,
 *          @context, @sa_query: as for ib_sa_path_rec_get()
 *
 * The results are those of ib_sa_path_rec_get(); -EINVAL also for other
 * methods.
 *
 * Source: Linux 5.8 drivers/infiniband/core/sa_query.c; IBA vol 1, 15.2.5.14.
 */
int ib_sa_service_rec_query(struct ib_sa_client *client,
			    struct ib_device *device, uint8_t port_num,
			    uint8_t method, struct ib_sa_service_rec *rec,
			    ib_sa_comp_mask comp_mask, unsigned long timeout_ms,
			    unsigned int gfp_mask,
			    void (*callback)(int status,
					     struct ib_sa_service_rec *resp,
					     void *context),
			    void *context, struct ib_sa_query **sa_query)
	IBSA_NONNULL(1, 2, 5);

/**
 * ib_sa_service_rec_get - look up all services that match
 * @callback: with @status 0, @resp is an array of @num_services; @status may
 *            also be -ENODATA (an empty table) or -ENOMEM
 * @client, @device, @port_num, @rec, @comp_mask, @timeout_ms, @gfp_mask,
 *            @context, @sa_query: as for ib_sa_path_rec_get()
 *
 * The results are those of ib_sa_path_rec_get().
 *
 * Source: Linux 6.18 drivers/infiniband/core/sa_query.c.
 */
int ib_sa_service_rec_get(
	struct ib_sa_client *client, struct ib_device *device, uint8_t port_num,
	struct sa_service_rec *rec, ib_sa_comp_mask comp_mask,
	unsigned long timeout_ms, unsigned int gfp_mask,
	void (*callback)(int status, struct sa_service_rec *resp,
			 unsigned int num_services, void *context),
	void *context, struct ib_sa_query **sa_query) IBSA_NONNULL(1, 2, 4);

/**
 * ib_sa_mcmember_rec_query - send one request about a multicast group
 * @method: IB_MGMT_METHOD_GET to look the group up; IB_MGMT_METHOD_SET to join
 *          or create it; IB_SA_METHOD_DELETE to leave it, which ends the join
 *          states in @rec for all programs at the port
 * @client, @device, @port_num, @rec, @comp_mask, @timeout_ms, @gfp_mask,
 *          @callback, @context, @sa_query: as for ib_sa_path_rec_get()
 *
 * To stay a member, use ib_sa_join_multicast(). The results are those of
 * ib_sa_path_rec_get(); -EINVAL also for other methods.
 *
 * Source: Linux drivers/infiniband/core/sa_query.c; IBA vol 1, 15.2.5.17.
 */
int ib_sa_mcmember_rec_query(struct ib_sa_client *client,
			     struct ib_device *device, uint8_t port_num,
			     uint8_t method, struct ib_sa_mcmember_rec *rec,
			     ib_sa_comp_mask comp_mask,
			     unsigned long timeout_ms, unsigned int gfp_mask,
			     void (*callback)(int status,
					      struct ib_sa_mcmember_rec *resp,
					      void *context),
			     void *context, struct ib_sa_query **sa_query)
	IBSA_NONNULL(1, 2, 5);

/**
 * ib_sa_guid_info_rec_query - look up, assign or remove alias GUIDs
 * @rec:    eight entries of the GUID table of the port with the LID rec->lid
 * @method: IB_MGMT_METHOD_GET to look them up; IB_MGMT_METHOD_SET to assign the
 *          entries in @comp_mask (for an entry that is 0 and not assigned yet,
 *          the SA chooses the GUID); IB_SA_METHOD_DELETE to remove them
 * @client, @device, @port_num, @comp_mask, @timeout_ms, @gfp_mask, @callback,
 *          @context, @sa_query: as for ib_sa_path_rec_get()
 *
 * The results are those of ib_sa_path_rec_get(); -EINVAL also for other
 * methods.
 *
 * Source: Linux drivers/infiniband/core/sa_query.c; IBA vol 1, 15.2.5.18.
 */
int ib_sa_guid_info_rec_query(
	struct ib_sa_client *client, struct ib_device *device, uint8_t port_num,
	struct ib_sa_guidinfo_rec *rec, ib_sa_comp_mask comp_mask,
	uint8_t method, unsigned long timeout_ms, unsigned int gfp_mask,
	void (*callback)(int status, struct ib_sa_guidinfo_rec *resp,
			 void *context),
	void *context, struct ib_sa_query **sa_query) IBSA_NONNULL(1, 2, 4);

struct ibsa_rec_registration;

/**
 * ibsa_service_rec_register - register a service and keep it registered
 * @client, @device, @port_num: as for ib_sa_path_rec_get()
 * @rec:       network byte order; copied
 * @comp_mask: the members of @rec that are set; 0: all that are not zero
 * @report:    called for each event; in the report, service is in host byte
 *             order, and registration is NULL. May be NULL
 * @out:       receives the handle, valid until IBSA_REGISTRATION_RELEASED is
 *             reported; may be NULL
 *
 * Registers the service as ibsa_service_register() does.
 *
 * Return: 0, even if the port has no SM; -EAGAIN the call opens the port, which
 * is not active; others as ib_sa_path_rec_get(), -EINVAL also if @comp_mask has
 * the lease or GID, and it is 0. Later failures are the err of
 * IBSA_REGISTRATION_RELEASED: -EEXIST as ibsa_service_register(); -ECANCELED it
 * was released before it began, or the device closed before the SA replied
 *
 * Source: IBA vol 1, 15.2.5.14.
 */
int ibsa_service_rec_register(struct ib_sa_client *client,
			      struct ib_device *device, uint8_t port_num,
			      const struct ib_sa_service_rec *rec,
			      ib_sa_comp_mask comp_mask,
			      ibsa_registration_fn report, void *arg,
			      struct ibsa_rec_registration **out) IBSA_MUST_USE
	IBSA_NONNULL(1, 2, 4);

void ibsa_service_rec_release(struct ibsa_rec_registration *registration);

struct ibsa_device_watch;

int ibsa_device_watch_start_sized(struct ib_sa_client *client,
				  struct ib_device *device, uint8_t port_num,
				  const struct ibsa_event_options *options,
				  size_t size, ibsa_event_fn report, void *arg,
				  struct ibsa_device_watch **out) IBSA_MUST_USE
	IBSA_NONNULL(1, 2);

/**
 * ibsa_device_watch_start - receive the events that the SA reports
 * @client, @device, @port_num: as for ib_sa_path_rec_get()
 * @options: as for ibsa_event_watch_start(), audit_ms by default that of
 *           @device; NULL: all defaults
 * @report:  called for each event; the member watch of the event is NULL
 * @out:     receives the handle, valid until IBSA_EVENT_ENDED is reported; may
 *           be NULL
 *
 * Return: 0, even if the port has no SM; -EAGAIN the call opens the port, which
 * is not active; others as ib_sa_path_rec_get(), -EINVAL also if @options are
 * not valid or @report is NULL. Later failures are the err of IBSA_EVENT_ENDED:
 * -EBUSY, -EOPNOTSUPP, -EINVAL as ibsa_event_watch_start(); -ECANCELED it was
 * stopped before it began, or the device closed before the SA replied
 *
 * Source: IBA vol 1, 13.4.8.3 and 13.4.11.
 */
IBSA_INLINE IBSA_MUST_USE int ibsa_device_watch_start(
	struct ib_sa_client *client, struct ib_device *device, uint8_t port_num,
	const struct ibsa_event_options *options, ibsa_event_fn report,
	void *arg, struct ibsa_device_watch **out)
{
	return ibsa_device_watch_start_sized(client, device, port_num, options,
					     sizeof(*options), report, arg,
					     out);
}

/**
 * ibsa_device_watch_stop - end a watch, without waiting
 * @watch: NULL, or a watch that has ended: nothing happens
 *
 * Until IBSA_EVENT_ENDED is reported, events may still be reported. No later
 * watch gets the same handle.
 */
void ibsa_device_watch_stop(struct ibsa_device_watch *watch);

/* Numbers of the bits of a join state; the spelling is the kernel's. */
enum {
	FULLMEMBER_JOIN,
	NONMEMBER_JOIN,
	SENDONLY_NONMEBER_JOIN,
	SENDONLY_FULLMEMBER_JOIN,
	NUM_JOIN_MEMBERSHIP_TYPES,
};

/**
 * struct ib_sa_multicast - a membership in a multicast group
 * @rec: the record that the program passed; after the join, and also after a
 *       loss, the record that the SA returned, with these join states
 */
struct ib_sa_multicast {
	struct ib_sa_mcmember_rec rec;
	ib_sa_comp_mask comp_mask;
	int (*callback)(int status, struct ib_sa_multicast *multicast);
	void *context;
};

/**
 * ib_sa_join_multicast - join a group, and create it if necessary
 * @client, @device, @port_num, @gfp_mask: as for ib_sa_path_rec_get()
 * @rec:       the group and the join states; copied. mgid 0: the SA chooses
 * @comp_mask: the members of @rec that are set: MGID, PORT_GID, JOIN_STATE, and
 *             more to create a group
 * @callback:  called when the join has ended, possibly before
 *             ib_sa_join_multicast() returns, and once more if the membership
 *             is lost, with -ENETRESET, or the device closed, with -EINTR.
 *             Errors of the join: -EINVAL: the SA refused, or the group differs
 *             from @rec; -EAGAIN: the port is down or has no SM; others as for
 *             ib_sa_path_rec_get() or ibsa_query_start(). If the callback does
 *             not return 0, the membership is freed; otherwise call
 *             ib_sa_free_multicast(), also after an error
 *
 * The SA has one membership of a port in a group, for all programs. After a
 * loss, the library does not join again; the program may.
 *
 * Return: the membership; or an error for ibsa_is_err(): -EAGAIN the call opens
 * the port, which is not active; -ENOBUFS the process has 1048576 memberships;
 * others as ib_sa_path_rec_get(), -EINVAL also without @callback or join state
 *
 * Source: Linux drivers/infiniband/core/multicast.c; IBA vol 1, 15.2.5.17.
 */
struct ib_sa_multicast *ib_sa_join_multicast(
	struct ib_sa_client *client, struct ib_device *device, uint8_t port_num,
	struct ib_sa_mcmember_rec *rec, ib_sa_comp_mask comp_mask,
	unsigned int gfp_mask,
	int (*callback)(int status, struct ib_sa_multicast *multicast),
	void *context) IBSA_NONNULL(1, 2, 4);

/**
 * ib_sa_free_multicast - end a membership, also during its join
 * @multicast: NULL: nothing happens
 *
 * Waits until a running callback of @multicast has returned, but not for the
 * SA; inside a callback, it does not wait.
 */
void ib_sa_free_multicast(struct ib_sa_multicast *multicast);

/**
 * ib_sa_get_mcmember_rec - the record of a group that the port has joined
 * @rec: receives the record, with all join states joined through @device
 *
 * Return: 0; -EADDRNOTAVAIL the port has not joined the group through @device,
 * or the membership was lost; -EINVAL a parent process opened @device
 */
int ib_sa_get_mcmember_rec(struct ib_device *device, uint8_t port_num,
			   union ib_gid *mgid, struct ib_sa_mcmember_rec *rec)
	IBSA_NONNULL(1, 3, 4);

/**
 * opa_pr_query_possible - which form of path query the SA supports
 * @client: ignored
 * @rec:    ignored
 *
 * May wait for the SA's ClassPortInfo at the first use of an Omni-Path port.
 *
 * Return: PR_OPA_SUPPORTED; PR_IB_SUPPORTED, also without ClassPortInfo; or
 * PR_NOT_SUPPORTED, also if @device has no port @port_num or the port cannot be
 * opened
 *
 * Source: Linux drivers/infiniband/core/sa_query.c.
 */
int opa_pr_query_possible(struct ib_sa_client *client, struct ib_device *device,
			  uint8_t port_num, struct sa_path_rec *rec)
	IBSA_NONNULL(2);

/**
 * ib_sa_cancel_query - cancel a query: its callback runs with -EINTR
 * @id:    the id that the query function returned; negative: nothing happens
 * @query: the pointer that the query function stored; NULL: nothing happens
 *
 * Does not wait. A reply in process still reaches the callback. If the query
 * has ended, nothing happens: no later query has the same @id and @query.
 */
void ib_sa_cancel_query(int id, struct ib_sa_query *query);

/**
 * ib_sa_pack_path - encode a path record as in a MAD
 * @rec:       the path; the LIDs in rec->ib are used, whatever rec_type is
 * @attribute: receives 64 bytes
 */
void ib_sa_pack_path(struct sa_path_rec *rec, void *attribute)
	IBSA_NONNULL(1, 2);

/**
 * ib_sa_unpack_path - decode a path record of a MAD
 * @attribute: 64 bytes
 * @rec:       receives the record, of type IB
 */
void ib_sa_unpack_path(void *attribute, struct sa_path_rec *rec)
	IBSA_NONNULL(1, 2);

/**
 * rdma_get_gid_attr - read one entry of a port's GID table
 * @device: must stay open while the entry is used
 *
 * Return: a copy, which rdma_put_gid_attr() releases; or an error for
 * ibsa_is_err(): -EINVAL no such entry; -ENODATA it is empty; -ENOMEM
 *
 * Source: Linux drivers/infiniband/core/cache.c.
 */
const struct ib_gid_attr *rdma_get_gid_attr(struct ib_device *device,
					    uint32_t port_num, int index)
	IBSA_NONNULL(1);

/**
 * rdma_find_gid_by_port - the entry of a port's GID table with a GID
 * @gid:          network byte order
 * @ndev_ifindex: network interface of the entry; 0: any
 *
 * Return: a copy, which rdma_put_gid_attr() releases; or an error for
 * ibsa_is_err(): -ENOENT no such entry; -EINVAL device of a parent; -ENOMEM
 *
 * Source: Linux drivers/infiniband/core/cache.c.
 */
const struct ib_gid_attr *
rdma_find_gid_by_port(struct ib_device *device, const union ib_gid *gid,
		      enum ib_gid_type gid_type, uint32_t port_num,
		      uint32_t ndev_ifindex) IBSA_NONNULL(1, 2);

void rdma_hold_gid_attr(const struct ib_gid_attr *attr) IBSA_NONNULL(1);

void rdma_put_gid_attr(const struct ib_gid_attr *attr) IBSA_NONNULL(1);

/**
 * ib_init_ah_attr_from_path - make address handle attributes from a path
 * @device, @port_num: as for ib_sa_path_rec_get()
 * @rec:      the path, network byte order
 * @ah_attr:  receives the attributes, host byte order; call
 *            rdma_destroy_ah_attr() after use
 * @gid_attr: source GID of the GRH, from rdma_get_gid_attr(); NULL: the sgid of
 *            @rec is looked up
 *
 * The attributes have a GRH if the hop limit of @rec is above 0 or the path is
 * RoCE; see ib_init_ah_attr_from_path(3) about RoCE. The call may sleep.
 *
 * Return: 0; -ENODEV no such port; -ENOENT the source GID is not in the port's
 * GID table; -EINVAL no route with this @gid_attr and these GIDs; -ELIBACC
 * libnl-3 is not installed; -ENOMEM; or the error of the route or the port
 *
 * Source: Linux drivers/infiniband/core/sa_query.c, addr.c.
 */
int ib_init_ah_attr_from_path(struct ib_device *device, uint8_t port_num,
			      struct sa_path_rec *rec,
			      struct rdma_ah_attr *ah_attr,
			      const struct ib_gid_attr *gid_attr)
	IBSA_NONNULL(1, 3, 4);

/**
 * ibsa_init_ah_attr_from_path - attributes with a GRH if the port requires one
 * @device, @port_num, @rec, @ah_attr, @gid_attr: as for
 *            ib_init_ah_attr_from_path()
 *
 * Does the same as ib_init_ah_attr_from_path(), and adds the GRH. Whether the
 * port requires a GRH is access.grh of struct ibsa_ib_device_options; with
 * IBSA_GRH_AUTO, a RoCE port does, and an open port for which the kernel
 * reports so through @context of these options.
 *
 * Return: as ib_init_ah_attr_from_path()
 */
int ibsa_init_ah_attr_from_path(struct ib_device *device, uint8_t port_num,
				struct sa_path_rec *rec,
				struct rdma_ah_attr *ah_attr,
				const struct ib_gid_attr *gid_attr)
	IBSA_NONNULL(1, 3, 4);

void rdma_destroy_ah_attr(struct rdma_ah_attr *ah_attr) IBSA_NONNULL(1);

/**
 * ibsa_ah_attr_to_ibv - convert attributes for ibv_create_ah()
 * @out: receives the attributes, without the MAC address, which libibverbs
 *       derives from the GID
 *
 * Return: 0; -EINVAL the type of @ah_attr is unknown; -ERANGE its DLID has more
 * than 16 bits, make_grd is set, or the port number has more than 8 bits
 */
int ibsa_ah_attr_to_ibv(const struct rdma_ah_attr *ah_attr,
			struct ibv_ah_attr *out) IBSA_MUST_USE
	IBSA_NONNULL(1, 2);

IBSA_END

#endif
