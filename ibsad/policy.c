/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The policy of ibsad: everything that is not in the table is refused.
 *
 * Source: IBA vol 1, 13.4.2 (MAD header), 15.2.2 (methods of the SA), 15.2.5
 * (its attributes), 16.1.3 (attributes of performance management).
 */
#include <errno.h>

#include <ibsa/records.h>

#include "ibsad/policy.h"
#include "serve/serve.h"
#include "wire/mad.h"

enum {
	CLASS_PERFORMANCE = 0x04,
	PERFORMANCE_VERSION = 1,
	BASE_VERSION = 1,
	METHOD_GET_TRACE_TABLE = 0x13,
	LARGEST_MAD = 65536, /* of a GetMulti in several segments */
	RETRIES_MAX = SERVE_TRIES_MAX - 1,
};

/* The methods of a row. */
enum {
	GET = 1 << IBSA_METHOD_GET,
	TABLE = GET | 1 << IBSA_METHOD_GET_TABLE,
	TRACE = 1 << METHOD_GET_TRACE_TABLE,
	MULTI = 1 << IBSA_METHOD_GET_MULTI,
	SET = 1 << IBSA_METHOD_SET,
	DELETE = 1 << IBSA_METHOD_DELETE,
};

/* @owned: methods that register or delete something. */
struct row {
	uint8_t class;
	uint16_t attribute;
	uint32_t methods;
	uint32_t owned;
};

/*
 * Records that contain keys can be read, because requests have no SM_Key: the
 * SA then returns the keys as 0 (IBA vol 1, 15.4.1). ServiceAssociationRecord,
 * which selects by a ServiceKey, is not permitted.
 */
/* clang-format off */
static const struct row rows[] = {
	/* class           attribute  methods, owned */
	{ IBSA_CLASS_SA,     0x0001,  GET },	/* ClassPortInfo */
	{ IBSA_CLASS_SA,     0x0003,  0, SET },	/* InformInfo */
	{ IBSA_CLASS_SA,     0x0011,  TABLE },	/* NodeRecord */
	{ IBSA_CLASS_SA,     0x0012,  TABLE },	/* PortInfoRecord */
	{ IBSA_CLASS_SA,     0x0013,  TABLE },	/* SLtoVLMappingTableRecord */
	{ IBSA_CLASS_SA,     0x0014,  TABLE },	/* SwitchInfoRecord */
	{ IBSA_CLASS_SA,     0x0015,  TABLE },	/* LinearForwardingTableRecord */
	{ IBSA_CLASS_SA,     0x0016,  TABLE },	/* RandomForwardingTableRecord */
	{ IBSA_CLASS_SA,     0x0017,  TABLE },	/* MulticastForwardingTableRecord */
	{ IBSA_CLASS_SA,     0x0018,  TABLE },	/* SMInfoRecord */
	{ IBSA_CLASS_SA,     0x0020,  TABLE },	/* LinkRecord */
	/* Set and Delete only with the option guid-info */
	{ IBSA_CLASS_SA,     0x0030,  TABLE, SET | DELETE }, /* GUIDInfoRecord */
	{ IBSA_CLASS_SA,     0x0031,  TABLE, SET | DELETE }, /* ServiceRecord */
	{ IBSA_CLASS_SA,     0x0033,  TABLE },	/* P_KeyTableRecord */
	{ IBSA_CLASS_SA,     0x0035,  TABLE },	/* PathRecord */
	{ IBSA_CLASS_SA,     0x0036,  TABLE },	/* VLArbitrationTableRecord */
	/* Set and Delete only with the option multicast */
	{ IBSA_CLASS_SA,     0x0038,  TABLE, SET | DELETE }, /* MCMemberRecord */
	{ IBSA_CLASS_SA,     0x0039,  TRACE },	/* TraceRecord */
	{ IBSA_CLASS_SA,     0x003a,  MULTI },	/* MultiPathRecord */
	{ IBSA_CLASS_SA,     0x00f3,  TABLE },	/* InformInfoRecord */
	/* only with the option performance */
	{ CLASS_PERFORMANCE, 0x0001,  GET },	/* ClassPortInfo */
	{ CLASS_PERFORMANCE, 0x0012,  GET },	/* PortCounters */
	{ CLASS_PERFORMANCE, 0x0015,  GET },	/* PortRcvErrorDetails */
	{ CLASS_PERFORMANCE, 0x0016,  GET },	/* PortXmitDiscardDetails */
	{ CLASS_PERFORMANCE, 0x001d,  GET },	/* PortCountersExtended */
};
/* clang-format on */

static const struct row *row_find(const uint8_t *mad)
{
	const uint16_t attribute = ibsa_be16(mad + MAD_ATTRIBUTE);

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (rows[i].class == mad[MAD_CLASS] &&
		    rows[i].attribute == attribute)
			return &rows[i];
	}
	return NULL;
}

static bool has_method(uint32_t methods, const uint8_t *mad)
{
	return mad[MAD_METHOD] < 32 && methods >> mad[MAD_METHOD] & 1;
}

static bool is_permitted(const uint8_t *mad)
{
	const struct row *row = row_find(mad);

	return row && has_method(row->methods, mad);
}

static bool is_for_owners(const uint8_t *mad)
{
	const struct row *row = row_find(mad);

	return row && has_method(row->owned, mad);
}

/* The answer to a Report, which only its receiver may send. */
static bool is_report_answer(const uint8_t *mad)
{
	return mad[MAD_METHOD] == IBSA_METHOD_REPORT_RESP &&
	       ibsa_be16(mad + MAD_ATTRIBUTE) == ibsa_notice_record.attribute;
}

static struct policy_verdict verdict(enum policy_answer answer,
				     const char *reason)
{
	return (struct policy_verdict){ answer, reason };
}

/*
 * With another Q_Key or QP, a packet could reach receivers of datagrams that
 * are not MADs.
 */
static bool is_to_general_services(const struct umad_header *header)
{
	return be32toh(header->qpn) == IBSA_QPN_GSI &&
	       be32toh(header->qkey) == IBSA_QKEY_GSI;
}

static bool has_key(const uint8_t *mad)
{
	return ibsa_be64(mad + MAD_SM_KEY) != 0;
}

/* Only a GetMulti is sent by RMPP. */
static bool is_sent_by_rmpp(const uint8_t *mad)
{
	return mad[MAD_RMPP_FLAGS] & IBSA_RMPP_ACTIVE;
}

/* With all of these, a join creates the group if there is none. */
static const uint64_t create_mask =
	IBSA_MCMEMBER_CM(qkey) | IBSA_MCMEMBER_CM(pkey) | IBSA_MCMEMBER_CM(sl) |
	IBSA_MCMEMBER_CM(flow_label) | IBSA_MCMEMBER_CM(tclass);

static bool group_has(const struct policy_group *group, const uint8_t *mgid)
{
	const size_t whole = group->bits / 8;
	const uint8_t rest = (uint8_t)(0xff00 >> group->bits % 8);

	return !memcmp(group->mgid.raw, mgid, whole) &&
	       (!rest || !((group->mgid.raw[whole] ^ mgid[whole]) & rest));
}

static bool may_join(const struct policy_groups *groups, const uint8_t *mgid)
{
	for (uint32_t i = 0; i < groups->count; i++) {
		if (group_has(&groups->at[i], mgid))
			return true;
	}
	return false;
}

/* Judge a Set or Delete of a membership, regardless of its owner. */
static struct policy_verdict
membership_judge(const struct policy_groups *groups, const uint8_t *mad,
		 size_t len)
{
	const uint64_t mask = ibsa_be64(mad + MAD_COMPONENT_MASK);

	if (!groups || !groups->count)
		return verdict(POLICY_DENIED, "method or attribute");
	if (len < IBSA_MAD_BYTES)
		return verdict(POLICY_DENIED, "a short record");
	if (!(mask & IBSA_MCMEMBER_CM(join_state)) ||
	    !may_join(groups, mad + IBSA_SA_HEADER_BYTES))
		return verdict(POLICY_DENIED, "multicast group");
	if (mad[MAD_METHOD] == IBSA_METHOD_SET && !groups->may_create &&
	    (mask & create_mask) == create_mask)
		return verdict(POLICY_DENIED,
			       "join that could create the group");
	return verdict(POLICY_OWNED, NULL);
}

/* A request that only the owner of something may send. */
static struct policy_verdict owners_judge(const struct policy *policy,
					  const uint8_t *mad, size_t len)
{
	const uint16_t attribute = ibsa_be16(mad + MAD_ATTRIBUTE);

	if (attribute == ibsa_mcmember_record.attribute)
		return membership_judge(policy->groups, mad, len);
	if (attribute == ibsa_guid_info_record.attribute && !policy->guid_info)
		return verdict(POLICY_DENIED, "method or attribute");
	return verdict(POLICY_OWNED, NULL);
}

static struct policy_verdict request_judge(const struct policy *policy,
					   const struct umad_header *header,
					   const uint8_t *mad, size_t len)
{
	if (mad[MAD_CLASS_VERSION] != IBSA_CLASS_VERSION)
		return verdict(POLICY_NOT_SENT, "class version");
	if (is_sent_by_rmpp(mad) && mad[MAD_METHOD] != IBSA_METHOD_GET_MULTI)
		return verdict(POLICY_NOT_SENT, "RMPP in a request");
	if (mad[MAD_METHOD] & METHOD_RESPONSE && !is_report_answer(mad))
		return verdict(POLICY_NOT_SENT, "a response");
	if (!policy->sm_lid || be16toh(header->lid) != policy->sm_lid)
		return verdict(POLICY_UNANSWERED,
			       "the address is not that of the SA");
	if (has_key(mad))
		return verdict(POLICY_DENIED, "SM_Key");
	if (is_for_owners(mad) || is_report_answer(mad))
		return owners_judge(policy, mad, len);
	if (!is_permitted(mad))
		return verdict(POLICY_DENIED, "method or attribute");
	return verdict(POLICY_PASS, NULL);
}

static struct policy_verdict counters_judge(const struct policy *policy,
					    const struct umad_header *header,
					    const uint8_t *mad)
{
	const uint16_t lid = be16toh(header->lid);

	if (!policy->performance)
		return verdict(POLICY_NOT_SENT, "management class");
	if (mad[MAD_CLASS_VERSION] != PERFORMANCE_VERSION)
		return verdict(POLICY_NOT_SENT, "class version");
	if (!is_permitted(mad))
		return verdict(POLICY_NOT_SENT, "method or attribute");
	if (!lid || lid > IBSA_LID_UNICAST_MAX)
		return verdict(POLICY_NOT_SENT, "LID");
	return verdict(POLICY_PASS, NULL);
}

static size_t largest_of(const uint8_t *mad)
{
	return mad[MAD_CLASS] == IBSA_CLASS_SA &&
			       mad[MAD_METHOD] == IBSA_METHOD_GET_MULTI
		       ? LARGEST_MAD
		       : IBSA_MAD_BYTES;
}

struct policy_verdict ibsad_policy_send(const struct policy *policy,
					const uint8_t *packet, size_t len)
{
	const uint8_t *mad = packet + UMAD_HEADER_BYTES;
	struct umad_header header;

	memcpy(&header, packet, sizeof(header));
	if (len < UMAD_HEADER_BYTES + IBSA_SA_HEADER_BYTES ||
	    len > UMAD_HEADER_BYTES + largest_of(mad))
		return verdict(POLICY_NOT_SENT, "length");
	if (mad[MAD_BASE_VERSION] != BASE_VERSION)
		return verdict(POLICY_NOT_SENT, "base version");
	if (!is_to_general_services(&header))
		return verdict(POLICY_NOT_SENT, "queue pair or Q_Key");
	/* The quota of requests counts no more: see serve/user.c. */
	if (header.retries > RETRIES_MAX)
		return verdict(POLICY_NOT_SENT, "retries");
	switch (mad[MAD_CLASS]) {
	case IBSA_CLASS_SA:
		return request_judge(policy, &header, mad,
				     len - UMAD_HEADER_BYTES);
	case CLASS_PERFORMANCE:
		return counters_judge(policy, &header, mad);
	default:
		return verdict(POLICY_NOT_SENT, "management class");
	}
}

/* The methods of requests that an agent may receive. */
#define REPORTS (UINT64_C(1) << IBSA_METHOD_REPORT)

int ibsad_policy_register(const struct policy *policy,
			  const struct umad_agent_request2 *request,
			  const char **out_reason)
{
	const bool is_sa = request->mgmt_class == IBSA_CLASS_SA &&
			   request->mgmt_class_version == IBSA_CLASS_VERSION;
	const bool is_counters = request->mgmt_class == CLASS_PERFORMANCE &&
				 request->mgmt_class_version ==
					 PERFORMANCE_VERSION &&
				 policy->performance;

	if (!is_sa && !is_counters) {
		*out_reason = "agent of this management class";
		return -EPERM;
	}
	if (request->method_mask[0] & ~REPORTS || request->method_mask[1] ||
	    (request->method_mask[0] && !is_sa)) {
		*out_reason = "agent that receives requests";
		return -EPERM;
	}
	/* The policy does not check RMPP segments that a program makes itself.
	 */
	return request->flags ? -EINVAL : 0;
}
