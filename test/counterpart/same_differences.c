/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Known differences between OpenSM and the embedded SA, each with its reason
 * and with what must be equal nevertheless.
 */
#include <string.h>

#include "test/counterpart/same.h"
#include "test/support/port_links.h"
#include "wire/mad.h"

static uint16_t status_of(const struct answer *answer)
{
	return answer->len ? ibsa_be16(answer->bytes + MAD_STATUS) : 0;
}

/*
 * Whether both SAs have answered with records of this kind, and with the status
 * field of the request, which some requests set.
 */
static bool is_of(const struct request *request, const struct answer *theirs,
		  const struct answer *ours, uint16_t attribute)
{
	const uint16_t status = ibsa_be16(request->mad + MAD_STATUS);

	return theirs->len && ours->len && status_of(theirs) == status &&
	       status_of(ours) == status &&
	       mad_attribute(theirs->bytes) == attribute;
}

/* Return: the number of records in an answer to a Get or GetTable. */
static size_t record_count(const struct answer *answer)
{
	if (answer->bytes[MAD_METHOD] == IBSA_METHOD_GET_RESP)
		return answer_stride(answer) != 0;
	return answer_count(answer);
}

/*
 * Accept other exit ports of routes: both answers get the numbers of hops of
 * the routes instead, which are then compared.
 */
static bool level_lft(const struct request *request, struct answer *theirs,
		      struct answer *ours)
{
	return is_of(request, theirs, ours, ATTR_LFT) &&
	       same_routes_level(theirs, ours);
}

/* Move ProxyJoin to the other end of its byte. Return: whether it was set. */
bool same_turn_proxy(uint8_t *member)
{
	enum { AT_PROXY = 49, PROXY = 0x80, TURNED = 0x01 };

	if (member[AT_PROXY] != TURNED)
		return false;
	member[AT_PROXY] = PROXY;
	return true;
}

/*
 * Remove a difference in a path to a group: OpenSM treats raw traffic, flow
 * label and hop limit as one number.
 */
static bool level_group_label(const struct request *request,
			      struct answer *theirs, struct answer *ours)
{
	enum { AT_DGID = 8, AT_FLOW_LABEL = 44 };
	bool is_any = false;

	if (!is_of(request, theirs, ours, ATTR_PATH))
		return false;
	for (size_t i = 0; i < record_count(theirs); i++) {
		uint8_t *record = answer_at(theirs, i);
		uint32_t label;

		if (record[AT_DGID] != 0xff)
			continue;
		label = ibsa_be32(record + AT_FLOW_LABEL);
		ibsa_put_be32(record + AT_FLOW_LABEL, __builtin_bswap32(label));
		is_any = true;
	}
	return is_any;
}

/*
 * Whether the request selects by ProxyJoin, which no group has, and the
 * embedded SA finds no record. OpenSM compares the wrong bit, which is 0, and
 * finds groups; a Get then fails if there are several.
 */
static bool is_nothing_by_proxy(const struct request *request,
				const struct answer *ours)
{
	enum { AT_PROXY = 49, PROXY = 0x80 };
	const uint64_t mask = ibsa_be64(request->mad + MAD_COMPONENT_MASK);

	if (!(mask & IBSA_MCMEMBER_CM(proxy_join)) ||
	    !(request->mad[IBSA_SA_HEADER_BYTES + AT_PROXY] & PROXY))
		return false;
	return status_of(ours) == IBSA_STATUS_NO_RECORDS ||
	       (!status_of(ours) && !record_count(ours));
}

/*
 * Handle ProxyJoin in both answers; an answer with an error contains the
 * record of the request.
 */
static bool level_proxy(const struct request *request, struct answer *theirs,
			struct answer *ours)
{
	const uint16_t status = ibsa_be16(request->mad + MAD_STATUS);
	size_t count = 1;
	bool is_any = false;

	if (!theirs->len || !ours->len ||
	    mad_attribute(theirs->bytes) != ATTR_MCMEMBER)
		return false;
	if (!status && is_nothing_by_proxy(request, ours) &&
	    (!status_of(theirs) ||
	     status_of(theirs) == IBSA_STATUS_TOO_MANY_RECORDS)) {
		theirs->len = ours->len = 0;
		return true;
	}
	if (status_of(theirs) == status)
		count = record_count(theirs);
	for (size_t i = 0; i < count; i++)
		is_any |= same_turn_proxy(answer_at(theirs, i));
	return is_any;
}

static bool level_act_count(const struct request *request,
			    struct answer *theirs, struct answer *ours)
{
	enum { ATTR_SM_INFO = 0x0018, AT_ACT_COUNT = 20 };

	if (!is_of(request, theirs, ours, ATTR_SM_INFO))
		return false;
	for (size_t i = 0; i < record_count(theirs); i++)
		memset(answer_at(theirs, i) + AT_ACT_COUNT, 0, 4);
	for (size_t i = 0; i < record_count(ours); i++)
		memset(answer_at(ours, i) + AT_ACT_COUNT, 0, 4);
	return true;
}

/*
 * Accept that one SA refuses the request and the other answers it, after the
 * caller has checked which one: clear both answers.
 */
static bool settle(struct answer *theirs, struct answer *ours)
{
	theirs->len = ours->len = 0;
	return true;
}

static bool level_class_version(const struct request *request,
				struct answer *theirs, struct answer *ours)
{
	return request->mad[MAD_CLASS_VERSION] < IBSA_CLASS_VERSION &&
	       theirs->len && status_of(ours) == IBSA_STATUS_BAD_VERSION &&
	       settle(theirs, ours);
}

static uint64_t mask_of(const struct request *request)
{
	return ibsa_be64(request->mad + MAD_COMPONENT_MASK);
}

/*
 * Whether only one of the two SAs has the requested block of the multicast
 * forwarding table of a switch without end ports.
 */
static bool is_of_transit(const struct request *request,
			  const struct answer *theirs,
			  const struct answer *ours)
{
	const uint8_t *want = request->mad + IBSA_SA_HEADER_BYTES;

	return mad_attribute(request->mad) == ATTR_MFT &&
	       request->mad[MAD_METHOD] == IBSA_METHOD_GET &&
	       mask_of(request) & 1 && same_is_transit(ibsa_be16(want)) &&
	       (status_of(theirs) == IBSA_STATUS_NO_RECORDS) !=
		       (status_of(ours) == IBSA_STATUS_NO_RECORDS);
}

/* Accept another multicast tree if it leads to the same ports. */
static bool level_mft(const struct request *request, struct answer *theirs,
		      struct answer *ours)
{
	if (is_of_transit(request, theirs, ours))
		return settle(theirs, ours);
	return is_of(request, theirs, ours, ATTR_MFT) &&
	       same_trees_level(theirs, ours);
}

/* Return: the rate code in the request, if its mask selects it. */
static uint8_t rate_of(const struct request *request)
{
	const uint64_t mask = mask_of(request);
	const uint64_t path = IBSA_PATH_CM(rate) | IBSA_PATH_CM(rate_selector);
	const uint64_t multi = UINT64_C(3) << 12;
	const uint8_t *record = request->mad + IBSA_SA_HEADER_BYTES;

	if (mad_attribute(request->mad) == ATTR_PATH && (mask & path) == path)
		return record[55] & 0x3f;
	if (mad_attribute(request->mad) == ATTR_MULTIPATH &&
	    (mask & multi) == multi)
		return record[11] & 0x3f;
	return 0;
}

static bool level_ndr(const struct request *request, struct answer *theirs,
		      struct answer *ours)
{
	enum { NDR_FIRST = 23, XDR_LAST = 25 };
	const uint8_t rate = rate_of(request);

	return rate >= NDR_FIRST && rate <= XDR_LAST &&
	       status_of(theirs) == IBSA_STATUS_REQ_INVALID &&
	       status_of(ours) != IBSA_STATUS_REQ_INVALID &&
	       settle(theirs, ours);
}

static bool level_lid_alone(const struct request *request,
			    struct answer *theirs, struct answer *ours)
{
	const uint64_t mask = mask_of(request) &
			      (IBSA_PATH_CM(sgid) | IBSA_PATH_CM(dgid) |
			       IBSA_PATH_CM(slid) | IBSA_PATH_CM(dlid));

	return mad_attribute(request->mad) == ATTR_PATH &&
	       request->mad[MAD_METHOD] == IBSA_METHOD_GET &&
	       (mask == IBSA_PATH_CM(slid) || mask == IBSA_PATH_CM(dlid)) &&
	       status_of(theirs) == IBSA_STATUS_TOO_MANY_RECORDS &&
	       !status_of(ours) && settle(theirs, ours);
}

static bool has_record(struct answer *table, const uint8_t *record)
{
	for (size_t i = 0; i < answer_count(table); i++) {
		if (!memcmp(answer_at(table, i), record, answer_stride(table)))
			return true;
	}
	return false;
}

/* Accept that each SA has chosen another one of the existing paths. */
static bool level_first_path(const struct request *request,
			     struct answer *theirs, struct answer *ours)
{
	static struct answer all;
	struct request table = *request;

	if (request->mad[MAD_METHOD] != IBSA_METHOD_GET ||
	    !is_of(request, theirs, ours, ATTR_PATH))
		return false;
	table.mad[MAD_METHOD] = IBSA_METHOD_GET_TABLE;
	ibsa_put_be64(table.mad + MAD_COMPONENT_MASK,
		      mask_of(request) & ~IBSA_PATH_CM(numb_path));
	same_exchange_embedded(&table, &all);
	if (answer_count(&all) < 2 || !has_record(&all, answer_at(theirs, 0)) ||
	    !has_record(&all, answer_at(ours, 0)))
		return false;
	memcpy(answer_at(ours, 0), answer_at(theirs, 0), answer_stride(&all));
	return true;
}

/*
 * Accept that OpenSM's SLtoVL and VL arbitration tables are empty, and those of
 * the embedded SA are not.
 */
static bool level_lanes(const struct request *request, struct answer *theirs,
			struct answer *ours)
{
	enum { ATTR_SL_TO_VL = 0x0013, ATTR_VL_ARB = 0x0036, AT_TABLE = 8 };
	static const uint8_t none[64];

	if (!is_of(request, theirs, ours, ATTR_SL_TO_VL) &&
	    !is_of(request, theirs, ours, ATTR_VL_ARB))
		return false;
	for (size_t i = 0; i < record_count(theirs); i++) {
		if (memcmp(answer_at(theirs, i) + AT_TABLE, none,
			   answer_stride(theirs) - AT_TABLE))
			return false;
	}
	for (size_t i = 0; i < record_count(ours); i++)
		memset(answer_at(ours, i) + AT_TABLE, 0,
		       answer_stride(ours) - AT_TABLE);
	return true;
}

static bool level_pkey_block(const struct request *request,
			     struct answer *theirs, struct answer *ours)
{
	enum { ATTR_PKEY = 0x0033, AT_BLOCK = 2 };

	if (!is_of(request, theirs, ours, ATTR_PKEY))
		return false;
	for (size_t i = 0; i < record_count(theirs); i++) {
		uint8_t *block = answer_at(theirs, i) + AT_BLOCK;

		ibsa_put_be16(block, (uint16_t)(block[1] << 8 | block[0]));
	}
	return true;
}

/*
 * Accept a difference in records that were selected by a field which differs
 * between the fabrics.
 */
static bool level_port_links(const struct request *request,
			     struct answer *theirs, struct answer *ours)
{
	enum { ATTR_PORT_INFO = 0x0012 };
	bool is_any = false;

	if (mad_attribute(request->mad) == ATTR_PORT_INFO &&
	    mask_of(request) & port_links_mask() && theirs->len && ours->len)
		return settle(theirs, ours);
	if (!is_of(request, theirs, ours, ATTR_PORT_INFO))
		return false;
	for (size_t i = 0; i < record_count(theirs); i++)
		is_any |= port_links_clear(answer_at(theirs, i));
	for (size_t i = 0; i < record_count(ours); i++)
		is_any |= port_links_clear(answer_at(ours, i));
	return is_any;
}

/*
 * Whether a switch has this LID, and the LID is not a multiple of the number
 * that divides all LIDs of adapters.
 */
static bool is_loose_switch(uint16_t lid)
{
	const struct same_ends *ends = same_ends();
	unsigned int all = 0;

	for (size_t i = 0; i < ends->count; i++) {
		if (ends->all[i].type == IBSA_NODE_CA)
			all |= ends->all[i].lid;
	}
	/* Below the lowest bit of them all. */
	return lid & ((all & -all) - 1) && same_is_switch(lid);
}

/*
 * Accept that OpenSM finds no link by the LID of a switch that is not a
 * multiple of the number of LIDs of an adapter's port: it clears the low bits
 * of the LID in the request, but not those of the switch's LID.
 */
static bool level_link_lid(const struct request *request, struct answer *theirs,
			   struct answer *ours)
{
	const uint8_t *want = request->mad + IBSA_SA_HEADER_BYTES;
	const uint64_t mask = mask_of(request);
	const bool is_loose =
		(mask & IBSA_LINK_CM(from_lid) &&
		 is_loose_switch((uint16_t)IBSA_GET(link, from_lid, want))) ||
		(mask & IBSA_LINK_CM(to_lid) &&
		 is_loose_switch((uint16_t)IBSA_GET(link, to_lid, want)));
	const bool finds_none = status_of(theirs) == IBSA_STATUS_NO_RECORDS ||
				(theirs->len && !status_of(theirs) &&
				 !record_count(theirs));

	return mad_attribute(request->mad) == ATTR_LINK && ours->len &&
	       is_loose && finds_none && settle(theirs, ours);
}

const struct difference same_differences[] = {
	{ "port-links",
	  "ibsim's ports support every width and QDR, ours what the file says; "
	  "of a port that never was up OpenSM has no widths and speeds; ibsim "
	  "does not store the thresholds, timeouts and enforcement that "
	  "OpenSM sets, and its adapters do not support reregistration",
	  level_port_links },
	{ "pkey-block",
	  "OpenSM on a little-endian machine writes the number of a block of "
	  "P_Keys turned round",
	  level_pkey_block },
	{ "class-version",
	  "ibsim hands OpenSM requests of class versions 0 and 1, which no "
	  "kernel does; the embedded SA refuses them (0x0004)",
	  level_class_version },
	{ "ndr-rates",
	  "OpenSM 3.3.23 does not support the rates 23, 24 and 25, of NDR and "
	  "XDR, and refuses them (0x0200)",
	  level_ndr },
	{ "link-by-lid",
	  "with an LMC, OpenSM finds no link by the LID of a switch that is "
	  "not a multiple of the number of LIDs of a port",
	  level_link_lid },
	{ "get-by-lid",
	  "OpenSM forgets that a Get is for one path if all that it has of "
	  "the ends is one LID, of a port with aliases (0x0400)",
	  level_lid_alone },
	{ "first-path",
	  "the one path of a Get is the first of several; OpenSM on a "
	  "little-endian machine has GUIDs in the order of their last bytes",
	  level_first_path },
	{ "lanes",
	  "without QoS, OpenSM never reads which lanes the ports use, and "
	  "says zero",
	  level_lanes },
	{ "group-flow-label",
	  "a path to a group has its flow label; OpenSM on a little-endian "
	  "machine writes that turned round",
	  level_group_label },
	{ "proxy-join",
	  "ProxyJoin is the first bit of its byte; OpenSM on a little-endian "
	  "machine writes the last, and looks for it there",
	  level_proxy },
	{ "act-count",
	  "ActCount counts what an SM has sent, which the embedded one has "
	  "not",
	  level_act_count },
	{ "route",
	  "of several shortest routes each SM chooses its own: from every "
	  "switch to every LID they have equally many hops",
	  level_lft },
	{ "tree",
	  "of several trees each SM chooses its own for a group: both reach "
	  "the same ports, each by one way",
	  level_mft },
};

const size_t same_difference_count = sizeof(same_differences) /
				     sizeof(same_differences[0]);
