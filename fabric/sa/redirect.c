/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes the embedded SA redirect requests to other ports.
 *
 * Source: IBA vol 1, 13.4.8.1 (ClassPortInfo), 13.5.2 (redirection).
 */
#include <limits.h>
#include <string.h>

#include "fabric/sa/redirect.h"
#include "wire/mad.h"
#include "wire/request.h"

enum { NOWHERE = INT_MAX, QPN_FIRST = 0x100, SL_MAX = 15 };

/*
 * Return: how many times a request is redirected before the SA answers it; 0:
 * the SA does not redirect.
 */
static unsigned int redirect_hops(const struct sa *sa)
{
	const struct ibsa_fault *fault =
		&sa->net->faults[IBSA_FAULT_REDIRECT].fault;

	if (!(fault->percent > 0))
		return 0;
	return fault->hops ? fault->hops : 1;
}

static bool is_adapter(const struct sa *sa, uint32_t end)
{
	const struct topology *topo = &sa->subnet->topo;
	const uint32_t node = topo->ports[sa->subnet->ends[end].port].node;

	return topo->nodes[node].type == IBSA_NODE_CA;
}

/*
 * Return: the end port to which @end redirects: the next adapter in the chain;
 * after the last adapter, the SA's own port.
 */
static uint32_t redirect_next(const struct sa *sa, uint32_t end)
{
	do
		end = end + 1 < sa->subnet->ends_to ? end + 1
						    : sa->subnet->ends_from;
	while (end != sa->subnet->sa_end &&
	       (!sa->subnet->ends[end].is_seen || !is_adapter(sa, end)));
	return end;
}

/*
 * Return: the position of an end port in the chain of redirections; 0: the
 * SA's own port; NOWHERE: it is not in the chain.
 */
static unsigned int redirect_position(const struct sa *sa, uint32_t end)
{
	const unsigned int hops = redirect_hops(sa);
	uint32_t at = sa->subnet->sa_end;

	for (unsigned int position = 0; position <= hops; position++) {
		if (at == end)
			return position;
		at = redirect_next(sa, at);
		if (at == sa->subnet->sa_end)
			break;
	}
	return NOWHERE;
}

static uint32_t redirect_qpn(unsigned int position)
{
	return position ? QPN_FIRST + position : IBSA_QPN_GSI;
}

bool ibsa__sa_is_at(const struct sa *sa, uint32_t end, uint32_t qpn)
{
	const unsigned int position = redirect_position(sa, end);

	return position != NOWHERE && qpn == redirect_qpn(position);
}

bool ibsa__sa_has_qp(void *arg, uint32_t end, uint32_t qpn)
{
	return ibsa__sa_is_at(arg, end, qpn);
}

/*
 * Return: the last P_Key in the requester's table that the redirection's target
 * accepts; the default P_Key if there is none.
 */
static uint16_t redirect_pkey(const struct sa *sa, uint32_t from, uint32_t to)
{
	const struct end_setup *own = &sa->subnet->setups[from];

	for (uint32_t i = setup_pkey_count(own); i-- > 0;) {
		const uint16_t pkey = setup_pkey(own, i);

		if (pkey && ibsa__pkey_passes(&sa->subnet->setups[to], pkey))
			return pkey;
	}
	return IBSA_PKEY_DEFAULT;
}

#define PUT(kind, wire)                                                       \
	do {                                                                  \
		const struct ibsa_##kind info = {                             \
			.base_version = (wire)[MAD_BASE_VERSION],             \
			.class_version = (wire)[MAD_CLASS_VERSION],           \
			.redirect_gid = gid,                                  \
			.redirect_lid = is_by_gid ? 0 : target->lid,          \
			.redirect_sl = position < SL_MAX ? position : SL_MAX, \
			.redirect_pkey = pkey,                                \
			.redirect_qp = redirect_qpn(position),                \
			.redirect_qkey = IBSA_QKEY_GSI,                       \
		};                                                            \
		uint64_t over;                                                \
                                                                              \
		ibsa_##kind##_record.encode(                                  \
			&info, (wire) + IBSA_SA_HEADER_BYTES, &over);         \
	} while (0)

/*
 * Write the ClassPortInfo that redirects a request from end port @from to end
 * port @to.
 */
static void redirect_put(const struct sa *sa, uint32_t from, uint32_t to,
			 uint8_t *mad)
{
	const bool is_by_gid =
		sa->net->faults[IBSA_FAULT_REDIRECT].fault.by_gid;
	const struct end_port *target = &sa->subnet->ends[to];
	const uint16_t pkey = redirect_pkey(sa, from, to);
	const uint8_t position = (uint8_t)redirect_position(sa, to);
	struct ibsa_gid gid;

	ibsa_put_be64(gid.raw, sa->subnet->gid_prefix);
	ibsa_put_be64(gid.raw + 8, target->guid);
	memset(mad + IBSA_SA_HEADER_BYTES, 0, IBSA_SA_DATA_BYTES);
	if (mad[MAD_CLASS_VERSION] == IBSA_CLASS_VERSION_OPA)
		PUT(opa_class_port_info, mad);
	else
		PUT(class_port_info, mad);
}

/*
 * Whether the request asks for the path to the GID of port @end, to which the
 * SA has redirected. The SA answers this request instead of redirecting it,
 * since a client cannot send to a GID without its path.
 */
static bool is_path_to(const struct sa *sa, const uint8_t *mad, uint32_t end)
{
	const uint8_t *path = mad + IBSA_SA_HEADER_BYTES;

	return sa->net->faults[IBSA_FAULT_REDIRECT].fault.by_gid &&
	       IBSA_GET(sa_header, attribute_id, mad) ==
		       ibsa_path_record.attribute &&
	       IBSA_GET(sa_header, component_mask, mad) & IBSA_PATH_CM(dgid) &&
	       ibsa_be64(IBSA_GET_GID(path, dgid, path) + 8) ==
		       sa->subnet->ends[end].guid;
}

bool ibsa__sa_redirect(struct sa *sa, const struct sa_request *request,
		       struct sa_reply *reply)
{
	const unsigned int hops = redirect_hops(sa);
	uint8_t *mad = reply->bytes;
	uint32_t to;

	if (!hops || redirect_position(sa, request->at) >= hops)
		return false;
	to = redirect_next(sa, request->at);
	if (is_path_to(sa, request->mad, to) ||
	    !ibsa__fault_strikes(sa->net, IBSA_FAULT_REDIRECT))
		return false;
	memcpy(mad, request->mad, IBSA_MAD_BYTES);
	mad[MAD_METHOD] = ibsa__response_method(mad[MAD_METHOD]);
	ibsa_put_be16(mad + MAD_STATUS, IBSA_STATUS_REDIRECT);
	redirect_put(sa, request->end, to, mad);
	reply->len = IBSA_MAD_BYTES;
	return true;
}
