/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The agents of a umad file: which agents can be registered, and which MADs
 * each receives.
 *
 * Source: Linux drivers/infiniband/core/mad.c, ib_register_mad_agent() and
 * find_mad_agent().
 */
#include <errno.h>

#include <ibsa/types.h>

#include "fabric/mad/agent.h"
#include "fabric/mad/mad.h"

enum {
	CLASS_DEVICE_MGMT = 0x06,
	CLASS_DEVICE_ADM = 0x10,
	CLASS_BIS = 0x12,
	/*
	 * first of the vendor classes whose MADs have an OUI and may use RMPP
	 */
	CLASS_OUI_MIN = 0x30,
	CLASS_OUI_MAX = 0x4f,
	CLASSES_MAX = 80, /* size of the kernel's table */
	VERSIONS_MAX = 0x83,
	OUI_AT = MAD_RMPP_END + 1,
};

static bool has_oui(uint8_t mgmt_class)
{
	return mgmt_class >= CLASS_OUI_MIN && mgmt_class <= CLASS_OUI_MAX;
}

static bool is_smi(uint8_t mgmt_class)
{
	return mgmt_class == CLASS_SMP_LID || mgmt_class == CLASS_SMP_DIRECT;
}

bool ibsa__class_has_rmpp(uint8_t mgmt_class)
{
	return mgmt_class == IBSA_CLASS_SA || mgmt_class == CLASS_DEVICE_ADM ||
	       mgmt_class == CLASS_BIS || has_oui(mgmt_class);
}

size_t ibsa__class_header_bytes(uint8_t mgmt_class)
{
	if (mgmt_class == IBSA_CLASS_SA)
		return IBSA_SA_HEADER_BYTES;
	if (mgmt_class == CLASS_DEVICE_MGMT || mgmt_class == CLASS_DEVICE_ADM ||
	    mgmt_class == CLASS_BIS)
		return 64;
	return has_oui(mgmt_class) ? 40 : MAD_HEADER_BYTES;
}

static int check_class(const struct agent_request *request)
{
	const uint8_t mgmt_class = request->mgmt_class;

	if (request->class_version >= VERSIONS_MAX ||
	    (mgmt_class >= CLASSES_MAX && mgmt_class != CLASS_SMP_DIRECT) ||
	    (has_oui(mgmt_class) && !request->oui) ||
	    (request->rmpp_version && !ibsa__class_has_rmpp(mgmt_class)))
		return -EINVAL;
	return is_smi(mgmt_class) == !request->qpn ? 0 : -EINVAL;
}

int ibsa__agent_check(const struct agent_request *request)
{
	if (request->qpn > IBSA_QPN_GSI || request->rmpp_version > 1 ||
	    request->flags & ~(uint32_t)UMAD_RMPP_BY_USER)
		return -EINVAL;
	if (request->mgmt_class)
		return check_class(request);
	return request->flags & UMAD_RMPP_BY_USER ? -EINVAL : 0;
}

static bool is_same_class(const struct agent_request *a,
			  const struct agent_request *b)
{
	return a->mgmt_class == b->mgmt_class &&
	       a->class_version == b->class_version &&
	       (!has_oui(a->mgmt_class) || a->oui == b->oui);
}

bool ibsa__agents_collide(const struct agent_request *a,
			  const struct agent_request *b)
{
	return a->mgmt_class && is_same_class(a, b) &&
	       (a->method_mask[0] & b->method_mask[0] ||
		a->method_mask[1] & b->method_mask[1]);
}

static uint32_t oui_of(const uint8_t *mad)
{
	return (uint32_t)mad[OUI_AT] << 16 | ibsa_be16(mad + OUI_AT + 1);
}

bool ibsa__agent_wants(const struct agent *agent, const uint8_t *mad)
{
	const struct agent_request *what = &agent->what;
	const uint8_t method = mad[MAD_METHOD] & (METHOD_RESPONSE - 1);

	return agent->is_open && what->mgmt_class &&
	       what->mgmt_class == mad[MAD_CLASS] &&
	       what->class_version == mad[MAD_CLASS_VERSION] &&
	       what->method_mask[method / 64] >> method % 64 & 1 &&
	       (!has_oui(what->mgmt_class) || what->oui == oui_of(mad));
}
