/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Constants of umad files of any kind, and the umad header, which precedes
 * each MAD.
 *
 * Source: Linux Documentation/infiniband/user_mad.rst.
 */
#ifndef UMAD_HEADER_H
#define UMAD_HEADER_H

#include <endian.h>
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include <ibsa/types.h>
#include <ibsa/transport.h>

enum {
	UMAD_HEADER_BYTES = 64, /* once P_Key indices are enabled; else 56 */
	UMAD_ABI_VERSION = 5,
	/*
	 * The only flag of an agent that the kernel defines: the program
	 * handles RMPP itself.
	 */
	UMAD_RMPP_BY_USER = 1 << 0,
	UMAD_ERRNO_MAX = 4095, /* in the status of a packet */
	UMAD_QPN_MASK = 0xffffff,
	UMAD_FLOW_LABEL_MASK = 0xfffff,
	/*
	 * Index in the reserved bytes of the header. A value other than 0 in a
	 * packet tells a server that the SA itself must reply, not a cache. The
	 * kernel ignores these bytes.
	 */
	UMAD_IS_FRESH = 0,
};

/*
 * The umad header, which precedes a MAD. id, status, timeout_ms, retries,
 * length and pkey_index are in host byte order, all other numbers in network
 * byte order.
 */
struct umad_header {
	uint32_t id, status, timeout_ms, retries, length;
	uint32_t qpn;
	uint32_t qkey;
	uint16_t lid;
	uint8_t sl;
	uint8_t path_bits;
	uint8_t grh_present;
	uint8_t gid_index;
	uint8_t hop_limit;
	uint8_t traffic_class;
	uint8_t gid[16];
	uint32_t flow_label;
	uint16_t pkey_index; /* host order again */
	uint8_t reserved[6];
};
_Static_assert(sizeof(struct umad_header) == UMAD_HEADER_BYTES, "umad header");
_Static_assert(offsetof(struct umad_header, pkey_index) == 56, "umad header");

/*
 * A word of a mask of methods: the kernel reads it as the unsigned long of the
 * program, 4-byte aligned in the 32-bit and the 64-bit ABI. Source:
 * packed_ulong in Linux include/uapi/rdma/ib_user_mad.h; ib_umad_compat_ioctl()
 * in user_mad.c turns the words of a 32-bit program into those of a 64-bit
 * kernel.
 */
typedef unsigned long umad_methods_word __attribute__((aligned(4)));

enum { UMAD_METHODS_WORDS = 16 / sizeof(umad_methods_word) };

struct umad_agent_request {
	uint32_t id; /* filled by the kernel */
	umad_methods_word method_mask[UMAD_METHODS_WORDS];
	uint8_t qpn;
	uint8_t mgmt_class;
	uint8_t mgmt_class_version;
	uint8_t oui[3];
	uint8_t rmpp_version;
};
_Static_assert(sizeof(struct umad_agent_request) == 28, "umad agent request");

/*
 * The request UMAD_REGISTER_AGENT2: struct umad_agent_request with flags.
 * Registering with it also enables P_Key indices in the header.
 */
struct umad_agent_request2 {
	uint32_t id; /* filled by the kernel */
	uint32_t qpn;
	uint8_t mgmt_class;
	uint8_t mgmt_class_version;
	uint16_t reserved0;
	/*
	 * Flags of the agent. If the kernel does not support a flag, it returns
	 * the supported flags here.
	 */
	uint32_t flags;
	uint64_t method_mask[2]; /* 64-bit words in both ABIs */
	uint32_t oui;
	uint8_t rmpp_version;
	uint8_t reserved[3];
};
_Static_assert(sizeof(struct umad_agent_request2) == 40, "umad agent request");

#define UMAD_REGISTER_AGENT _IOWR(0x1b, 1, struct umad_agent_request)
#define UMAD_UNREGISTER_AGENT _IOW(0x1b, 2, uint32_t)
#define UMAD_ENABLE_PKEY _IO(0x1b, 3)
#define UMAD_REGISTER_AGENT2 _IOWR(0x1b, 4, struct umad_agent_request2)

/*
 * Set the method mask of a request from a mask of 128 methods: method n is bit
 * n % 64 of word n / 64.
 */
void ibsa__umad_methods_put(struct umad_agent_request *request,
			    const uint64_t methods[2]);
/* Convert a request to the newer form with flags, as the kernel does. */
struct umad_agent_request2
ibsa__umad_request_renew(const struct umad_agent_request *old);

/*
 * Write the address @to into the umad header. Return: 0; -ERANGE the LID has
 * too many bits for the header.
 */
IBSA_MUST_USE static inline int
umad_header_address_put(struct umad_header *header,
			const struct ibsa_address *to)
{
	/*
	 * An Omni-Path LID of more than 16 bits is also in the GID, from which
	 * the driver takes it.
	 */
	if (to->lid > UINT16_MAX && !to->has_grh)
		return -ERANGE;
	header->lid = htobe16(to->lid > UINT16_MAX ? 0 : (uint16_t)to->lid);
	header->qpn = htobe32(to->qpn & UMAD_QPN_MASK);
	header->qkey = htobe32(IBSA_QKEY_GSI);
	header->pkey_index = to->pkey_index;
	header->sl = to->sl;
	header->path_bits = to->path_bits;
	header->grh_present = to->has_grh;
	if (!to->has_grh)
		return 0;
	header->gid_index = to->gid_index;
	header->hop_limit = to->hop_limit;
	header->traffic_class = to->traffic_class;
	header->flow_label = htobe32(to->flow_label & UMAD_FLOW_LABEL_MASK);
	memcpy(header->gid, to->gid.raw, sizeof(header->gid));
	return 0;
}

static inline void umad_header_address_get(const struct umad_header *header,
					   struct ibsa_address *out)
{
	*out = (struct ibsa_address){
		.lid = be16toh(header->lid),
		.qpn = be32toh(header->qpn) & UMAD_QPN_MASK,
		.pkey_index = header->pkey_index,
		.sl = header->sl,
		.path_bits = header->path_bits,
		.has_grh = header->grh_present,
	};
	if (!out->has_grh)
		return;
	out->gid_index = header->gid_index;
	out->hop_limit = header->hop_limit;
	out->traffic_class = header->traffic_class;
	out->flow_label = be32toh(header->flow_label) & UMAD_FLOW_LABEL_MASK;
	memcpy(out->gid.raw, header->gid, sizeof(out->gid.raw));
}

/* Return: the status of a received packet as negative errno; 0 for a reply. */
static inline int umad_header_status(const struct umad_header *header)
{
	if (header->status > UMAD_ERRNO_MAX)
		return -EIO;
	return -(int)header->status;
}

#endif
