/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Converts requests to register an agent at a umad file.
 *
 * Source: Linux Documentation/infiniband/user_mad.rst.
 */
#include <endian.h>
#include <errno.h>

#include <ibsa/types.h>

#include "umad/header.h"

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
