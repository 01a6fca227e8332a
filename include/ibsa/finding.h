/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The list of findings: everything that a check of a topology file, of a fabric
 * or of a machine can report.
 *
 * ibsa_finding_name     the name of a kind, such as "link-down"
 * ibsa_finding_severity the severity of a kind
 */
#ifndef IBSA_FINDING_H
#define IBSA_FINDING_H

#include <ibsa/types.h>

IBSA_BEGIN

/*
 * Kinds of findings, their names and severities.
 *
 * In a topology file (ibsa_fabric_finding_at()):
 * - one-way: the file lists the cable at only one of its two ends, although it
 *   lists at least one other cable at both ends
 * - rate-differs: the two ends of a cable give different rates
 * - no-rate: the file gives no rate at either end of the cable, although it
 *   gives a rate for at least one other cable; or the rate is invalid
 * - narrow: the cable has fewer lanes than most cables
 * - parallel-differs: two cables between the same nodes have different rates
 * - guid-differs: two lines give different GUIDs for a port
 * - no-cable: the node has no cable
 * - apart: nodes that are not connected with the first adapter
 * - same-name: two adapters have the same description
 * - same-lid: two ports have the same LID; in a fabric, too
 * - no-guid: the GUID of the node is 0; the fabric assigns another one
 *
 * In a fabric (ibsa_topology_finding_at() and ibsa check):
 * - link-down: a port of a link, or an adapter's or router's port without a
 *   link, is not active
 * - link-degraded: a link is narrower or slower than both ends support, and not
 *   reported as slower
 * - one-end: only one end of a link reports it
 * - hidden: ports are active, but the SA does not show their other ends; or the
 *   SA returns records with a LID that belongs to no node
 * - no-path: the SA has no path from the local port to the port of the finding
 * - same-guid: two nodes or two ports have the same GUID
 * - two-masters: more than one subnet manager is master
 * - no-name: the node has no description, or one of blanks only
 * - missing: a node or a link that is expected is missing in the fabric
 * - new: the fabric has a node or a link that is not expected
 * - moved: a cable is in another port than expected
 * - slower: a link is narrower or slower than expected
 *
 * At one machine (ibsa check node):
 * - port-down: the port is not active
 * - rate-low: the rate of the port is not the required one, or is unknown
 * - no-pkey: the P_Key table of the port does not have a required P_Key
 * - no-sm: the port has no subnet manager
 * - no-sa: a query of the SA failed, usually because the SA did not answer
 * - peer-unreachable: the SA has no path from this machine to a port that
 *   should be reachable, or no record of that port
 */
/* clang-format off */
#define IBSA_FINDINGS(F)                                        \
	F(ONE_DIRECTION,    "one-way",          WARNING)        \
	F(RATE_DIFFERS,     "rate-differs",     WARNING)        \
	F(NO_RATE,          "no-rate",          WARNING)        \
	F(NARROW,           "narrow",           WARNING)        \
	F(PARALLEL_DIFFERS, "parallel-differs", WARNING)        \
	F(GUID_DIFFERS,     "guid-differs",     WARNING)        \
	F(NO_CABLE,         "no-cable",         WARNING)        \
	F(APART,            "apart",            WARNING)        \
	F(SAME_NAME,        "same-name",        WARNING)        \
	F(SAME_LID,         "same-lid",         CRITICAL)       \
	F(NO_GUID,          "no-guid",          WARNING)        \
	F(LINK_DOWN,        "link-down",        CRITICAL)       \
	F(LINK_DEGRADED,    "link-degraded",    WARNING)        \
	F(ONE_END,          "one-end",          WARNING)        \
	F(HIDDEN,           "hidden",           WARNING)        \
	F(NO_PATH,          "no-path",          CRITICAL)       \
	F(SAME_GUID,        "same-guid",        CRITICAL)       \
	F(TWO_MASTERS,      "two-masters",      CRITICAL)       \
	F(NO_NAME,          "no-name",          WARNING)        \
	F(MISSING,          "missing",          CRITICAL)       \
	F(NEW,              "new",              WARNING)        \
	F(MOVED,            "moved",            CRITICAL)       \
	F(SLOWER,           "slower",           WARNING)        \
	F(PORT_DOWN,        "port-down",        CRITICAL)       \
	F(RATE_LOW,         "rate-low",         WARNING)        \
	F(NO_PKEY,          "no-pkey",          CRITICAL)       \
	F(NO_SM,            "no-sm",            CRITICAL)       \
	F(NO_SA,            "no-sa",            CRITICAL)       \
	F(PEER_UNREACHABLE, "peer-unreachable", CRITICAL)
/* clang-format on */

enum ibsa_finding_kind {
#define IBSA_FINDING_ROW(kind, name, severity) IBSA_FINDING_##kind,
	IBSA_FINDINGS(IBSA_FINDING_ROW)
#undef IBSA_FINDING_ROW
};

/* Most critical findings prevent communication; most warnings do not. */
enum ibsa_severity {
	IBSA_SEVERITY_WARNING,
	IBSA_SEVERITY_CRITICAL,
};

/**
 * struct ibsa_finding - one finding of a check
 * @name: of @kind in IBSA_FINDINGS
 * @guid: of the node, host byte order; 0: none
 * @port: 0: none, or port 0
 * @what: one sentence
 */
struct ibsa_finding {
	enum ibsa_finding_kind kind;
	enum ibsa_severity severity;
	const char *name;
	uint64_t guid;
	unsigned int port;
	struct ibsa_error what;
};

const char *ibsa_finding_name(enum ibsa_finding_kind kind);

enum ibsa_severity ibsa_finding_severity(enum ibsa_finding_kind kind);

IBSA_END

#endif
