/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * <ibsa/ib_sa.h> together with headers of rdma-core and OpenSM, before or after
 * them: what it declares, where members lie, and each bit of the component
 * masks, which OpenSM's headers have too. It is compiled only, as C11 and as
 * C++17.
 *
 * Source: Linux 6.1 include/rdma/ib_sa.h, Linux 5.8 for the service record.
 */
#ifdef IB_SA_FIRST
#include <ibsa/ib_sa.h>
#endif
#include <infiniband/mad.h>
#include <infiniband/umad.h>
#include <infiniband/umad_sa.h>
#include <infiniband/verbs.h>
#include <iba/ib_types.h>
#ifndef IB_SA_FIRST
#include <ibsa/ib_sa.h>
#endif

#ifdef __cplusplus
#define IS_TRUE(condition) static_assert(condition, #condition)
#else
#define IS_TRUE(condition) _Static_assert(condition, #condition)
#endif

/*
 * Columns: the bit's name in this library without IB_SA_x_REC_; its number; its
 * name in OpenSM without IB_x_COMPMASK_.
 */
/* clang-format off */
#define PATH_BITS(M)							\
	M(DGID,                      2,  DGID)				\
	M(SGID,                      3,  SGID)				\
	M(DLID,                      4,  DLID)				\
	M(SLID,                      5,  SLID)				\
	M(RAW_TRAFFIC,               6,  RAWTRAFFIC)			\
	M(FLOW_LABEL,                8,  FLOWLABEL)			\
	M(HOP_LIMIT,                 9,  HOPLIMIT)			\
	M(TRAFFIC_CLASS,             10, TCLASS)			\
	M(REVERSIBLE,                11, REVERSIBLE)			\
	M(NUMB_PATH,                 12, NUMBPATH)			\
	M(PKEY,                      13, PKEY)				\
	M(QOS_CLASS,                 14, QOS_CLASS)			\
	M(SL,                        15, SL)				\
	M(MTU_SELECTOR,              16, MTUSELEC)			\
	M(MTU,                       17, MTU)				\
	M(RATE_SELECTOR,             18, RATESELEC)			\
	M(RATE,                      19, RATE)				\
	M(PACKET_LIFE_TIME_SELECTOR, 20, PKTLIFETIMESELEC)		\
	M(PACKET_LIFE_TIME,          21, PKTLIFETIME)

#define MCMEMBER_BITS(M)						\
	M(MGID,                      0,  MGID)				\
	M(PORT_GID,                  1,  PORT_GID)			\
	M(QKEY,                      2,  QKEY)				\
	M(MLID,                      3,  MLID)				\
	M(MTU_SELECTOR,              4,  MTU_SEL)			\
	M(MTU,                       5,  MTU)				\
	M(TRAFFIC_CLASS,             6,  TCLASS)			\
	M(PKEY,                      7,  PKEY)				\
	M(RATE_SELECTOR,             8,  RATE_SEL)			\
	M(RATE,                      9,  RATE)				\
	M(PACKET_LIFE_TIME_SELECTOR, 10, LIFE_SEL)			\
	M(PACKET_LIFE_TIME,          11, LIFE)				\
	M(SL,                        12, SL)				\
	M(FLOW_LABEL,                13, FLOW)				\
	M(HOP_LIMIT,                 14, HOP)				\
	M(SCOPE,                     15, SCOPE)				\
	M(JOIN_STATE,                16, JOIN_STATE)			\
	M(PROXY_JOIN,                17, PROXY)

#define SERVICE_BITS(M)							\
	M(ID,                        0,  SID)				\
	M(GID,                       1,  SGID)				\
	M(PKEY,                      2,  SPKEY)				\
	M(LEASE,                     4,  SLEASE)			\
	M(KEY,                       5,  SKEY)				\
	M(NAME,                      6,  SNAME)				\
	M(DATA8_0,                   7,  SDATA8_0)			\
	M(DATA8_1,                   8,  SDATA8_1)			\
	M(DATA8_2,                   9,  SDATA8_2)			\
	M(DATA8_3,                   10, SDATA8_3)			\
	M(DATA8_4,                   11, SDATA8_4)			\
	M(DATA8_5,                   12, SDATA8_5)			\
	M(DATA8_6,                   13, SDATA8_6)			\
	M(DATA8_7,                   14, SDATA8_7)			\
	M(DATA8_8,                   15, SDATA8_8)			\
	M(DATA8_9,                   16, SDATA8_9)			\
	M(DATA8_10,                  17, SDATA8_10)			\
	M(DATA8_11,                  18, SDATA8_11)			\
	M(DATA8_12,                  19, SDATA8_12)			\
	M(DATA8_13,                  20, SDATA8_13)			\
	M(DATA8_14,                  21, SDATA8_14)			\
	M(DATA8_15,                  22, SDATA8_15)			\
	M(DATA16_0,                  23, SDATA16_0)			\
	M(DATA16_1,                  24, SDATA16_1)			\
	M(DATA16_2,                  25, SDATA16_2)			\
	M(DATA16_3,                  26, SDATA16_3)			\
	M(DATA16_4,                  27, SDATA16_4)			\
	M(DATA16_5,                  28, SDATA16_5)			\
	M(DATA16_6,                  29, SDATA16_6)			\
	M(DATA16_7,                  30, SDATA16_7)			\
	M(DATA32_0,                  31, SDATA32_0)			\
	M(DATA32_1,                  32, SDATA32_1)			\
	M(DATA32_2,                  33, SDATA32_2)			\
	M(DATA32_3,                  34, SDATA32_3)			\
	M(DATA64_0,                  35, SDATA64_0)			\
	M(DATA64_1,                  36, SDATA64_1)

#define GUIDINFO_BITS(M)						\
	M(LID,                       0,  LID)				\
	M(BLOCK_NUM,                 1,  BLOCKNUM)			\
	M(RES1,                      2,  RESV1)				\
	M(RES2,                      3,  RESV2)				\
	M(GID0,                      4,  GID0)				\
	M(GID1,                      5,  GID1)				\
	M(GID2,                      6,  GID2)				\
	M(GID3,                      7,  GID3)				\
	M(GID4,                      8,  GID4)				\
	M(GID5,                      9,  GID5)				\
	M(GID6,                      10, GID6)				\
	M(GID7,                      11, GID7)
/* clang-format on */

#define BIT(number) CL_HTON64(UINT64_C(1) << (number))
#define SAME(ours, number, theirs) \
	IS_TRUE((ours) == BIT(number) && (ours) == (theirs));
#define SAME_PATH(ours, number, theirs) \
	SAME(IB_SA_PATH_REC_##ours, number, IB_PR_COMPMASK_##theirs)
#define SAME_MCMEMBER(ours, number, theirs) \
	SAME(IB_SA_MCMEMBER_REC_##ours, number, IB_MCR_COMPMASK_##theirs)
#define SAME_SERVICE(ours, number, theirs) \
	SAME(IB_SA_SERVICE_REC_SERVICE_##ours, number, IB_SR_COMPMASK_##theirs)
#define SAME_GUIDINFO(ours, number, theirs) \
	SAME(IB_SA_GUIDINFO_REC_##ours, number, IB_GIR_COMPMASK_##theirs)

PATH_BITS(SAME_PATH)
MCMEMBER_BITS(SAME_MCMEMBER)
SERVICE_BITS(SAME_SERVICE)
GUIDINFO_BITS(SAME_GUIDINFO)

/*
 * The service id has two bits of the component mask. OpenSM's headers have no
 * name for the bit of the preference.
 */
IS_TRUE(IB_SA_PATH_REC_SERVICE_ID == (BIT(0) | BIT(1)));
IS_TRUE(IB_SA_PATH_REC_SERVICE_ID == IB_PR_COMPMASK_SERVICEID);
IS_TRUE(IB_SA_PATH_REC_PREFERENCE == BIT(22));

IS_TRUE(IB_SA_METHOD_GET_TABLE == IB_MAD_METHOD_GETTABLE);
IS_TRUE(IB_SA_METHOD_DELETE == IB_MAD_METHOD_DELETE);
IS_TRUE(IB_MGMT_METHOD_GET == IB_MAD_METHOD_GET);
IS_TRUE(IB_MGMT_METHOD_SET == IB_MAD_METHOD_SET);
IS_TRUE(IBSA__CAST(unsigned int, IB_SA_EQ) ==
	IBSA__CAST(unsigned int, IB_PATH_SELECTOR_EXACTLY));
IS_TRUE(IBSA__CAST(unsigned int, IB_SA_BEST) ==
	IBSA__CAST(unsigned int, IB_PATH_SELECTOR_LARGEST));

#define AT(type, member, offset) \
	IS_TRUE(offsetof(struct type, member) == (offset))

AT(sa_path_rec, dgid, 0);
AT(sa_path_rec, sgid, 16);
AT(sa_path_rec, service_id, 32);
AT(sa_path_rec, flow_label, 40);
AT(sa_path_rec, hop_limit, 44);
AT(sa_path_rec, traffic_class, 45);
AT(sa_path_rec, reversible, 46);
AT(sa_path_rec, numb_path, 47);
AT(sa_path_rec, pkey, 48);
AT(sa_path_rec, qos_class, 50);
AT(sa_path_rec, sl, 52);
AT(sa_path_rec, mtu_selector, 53);
AT(sa_path_rec, mtu, 54);
AT(sa_path_rec, rate_selector, 55);
AT(sa_path_rec, rate, 56);
AT(sa_path_rec, packet_life_time_selector, 57);
AT(sa_path_rec, packet_life_time, 58);
AT(sa_path_rec, preference, 59);
AT(sa_path_rec, ib, 60);
AT(sa_path_rec, roce, 60);
AT(sa_path_rec, opa, 60);
AT(sa_path_rec, rec_type, 76);
AT(sa_path_rec, flags, 80);
IS_TRUE(sizeof(struct sa_path_rec) == 88);
IS_TRUE(SA_PATH_REC_TYPE_IB == 0 && SA_PATH_REC_TYPE_OPA == 3);

/*
 * Check that a member is at the same offset in both service records of this
 * library and in OpenSM's struct, which has the layout on the wire.
 */
#define AT_SERVICE(member, newer, theirs, offset) \
	AT(ib_sa_service_rec, member, offset);    \
	AT(sa_service_rec, newer, offset);        \
	IS_TRUE(offsetof(ib_service_record_t, theirs) == (offset))

AT_SERVICE(id, id, service_id, 0);
AT_SERVICE(gid, gid, service_gid, 8);
AT_SERVICE(pkey, pkey, service_pkey, 24);
AT_SERVICE(lease, lease, service_lease, 28);
AT_SERVICE(key, key, service_key, 32);
AT_SERVICE(name, name, service_name, 48);
AT_SERVICE(data8, data_8, service_data8, 112);
AT_SERVICE(data16, data_16, service_data16, 128);
AT_SERVICE(data32, data_32, service_data32, 144);
AT_SERVICE(data64, data_64, service_data64, 160);
IS_TRUE(sizeof(struct ib_sa_service_rec) == 176);
IS_TRUE(sizeof(struct sa_service_rec) == 176);

AT(ib_sa_guidinfo_rec, block_num, offsetof(ib_guidinfo_record_t, block_num));
AT(ib_sa_guidinfo_rec, guid_info_list,
   offsetof(ib_guidinfo_record_t, guid_info));
IS_TRUE(sizeof(struct ib_sa_guidinfo_rec) == sizeof(ib_guidinfo_record_t));

/* As drivers have it: masks in objects that are initialised at build time. */
static const ib_sa_comp_mask asked = IB_SA_PATH_REC_DGID | IB_SA_PATH_REC_SGID |
				     IB_SA_PATH_REC_NUMB_PATH;

ib_sa_comp_mask headers_mask(void);

ib_sa_comp_mask headers_mask(void)
{
	return asked;
}

#ifdef IBSA_KERNEL_TYPES
IS_TRUE(sizeof(u8) == 1 && sizeof(u16) == 2);
IS_TRUE(sizeof(u32) == 4 && sizeof(u64) == 8);

long headers_error(const void *pointer, gfp_t *mask);

long headers_error(const void *pointer, gfp_t *mask)
{
	*mask = GFP_KERNEL;
	return IS_ERR(pointer) ? PTR_ERR(pointer) : 0;
}
#endif
