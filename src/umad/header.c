/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Converts between an address and the umad header, which precedes each MAD in
 * a umad file.
 *
 * Source: Linux Documentation/infiniband/user_mad.rst.
 */
#include <endian.h>
#include <errno.h>

#include <ibsa/bits.h>
#include <ibsa/sa.h>

#include "umad/header.h"

enum {
	ERRNO_MAX = 4095,
	QPN_MASK = 0xffffff,
	FLOW_LABEL_MASK = 0xfffff,
};

enum { METHODS_WORD_BITS = 8 * sizeof(umad_methods_word) };

void ibsa__umad_methods_put(struct umad_agent_request *request,
			    const uint64_t methods[2])
{
	for (unsigned int i = 0; i < UMAD_METHODS_WORDS; i++) {
		const unsigned int bit = i * METHODS_WORD_BITS;

		request->method_mask[i] =
			(umad_methods_word)(methods[bit / 64] >> bit % 64);
	}
}

static void methods_get(const struct umad_agent_request *request,
			uint64_t methods[2])
{
	methods[0] = 0;
	methods[1] = 0;
	for (unsigned int i = 0; i < UMAD_METHODS_WORDS; i++) {
		const unsigned int bit = i * METHODS_WORD_BITS;

		methods[bit / 64] |= (uint64_t)request->method_mask[i]
				     << bit % 64;
	}
}

struct umad_agent_request2
ibsa__umad_request_renew(const struct umad_agent_request *old)
{
	struct umad_agent_request2 request = {
		.qpn = old->qpn,
		.mgmt_class = old->mgmt_class,
		.mgmt_class_version = old->mgmt_class_version,
		.oui = (uint32_t)old->oui[0] << 16 |
		       (uint32_t)old->oui[1] << 8 | old->oui[2],
		.rmpp_version = old->rmpp_version,
	};

	methods_get(old, request.method_mask);
	return request;
}

int ibsa__umad_address_put(struct umad_header *header,
			   const struct ibsa_address *to)
{
	/*
	 * An Omni-Path LID of more than 16 bits is also in the GID, from which
	 * the driver takes it.
	 */
	if (to->lid > UINT16_MAX && !to->has_grh)
		return -ERANGE;
	header->lid = htobe16(to->lid > UINT16_MAX ? 0 : (uint16_t)to->lid);
	header->qpn = htobe32(to->qpn & QPN_MASK);
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
	header->flow_label = htobe32(to->flow_label & FLOW_LABEL_MASK);
	memcpy(header->gid, to->gid.raw, sizeof(header->gid));
	return 0;
}

void ibsa__umad_address_get(const struct umad_header *header,
			    struct ibsa_address *out)
{
	*out = (struct ibsa_address){
		.lid = be16toh(header->lid),
		.qpn = be32toh(header->qpn) & QPN_MASK,
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
	out->flow_label = be32toh(header->flow_label) & FLOW_LABEL_MASK;
	memcpy(out->gid.raw, header->gid, sizeof(out->gid.raw));
}

int ibsa__umad_status(const struct umad_header *header)
{
	if (header->status > ERRNO_MAX)
		return -EIO;
	return -(int)header->status;
}
