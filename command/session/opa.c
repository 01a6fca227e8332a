/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Omni-Path: detects whether the SA supports Omni-Path PathRecords, and
 * converts LIDs of 32 bits.
 *
 * Source: Linux drivers/infiniband/core/sa_query.c, opa_pr_query_possible()
 * and update_ib_cpi(); include/rdma/opa_addr.h.
 */
#include "output/fields.h"
#include "session/opa.h"

enum { CPI_MS = 3000, OUI_SHIFT = 40 };

/*
 * The OUI in the upper 24 bits of a GID's interface ID: the lower bits encode
 * an Omni-Path LID.
 */
#define OPA_OUI UINT64_C(0x00066a)

/* ClassPortInfo, capability_mask2: the SA supports OpaPathRecords. */
#define CAP2_OPA_PATHS (UINT32_C(1) << 26)

bool opa_has_paths(struct cli *cli)
{
	const unsigned int given_ms = cli->open.deadline_ms;
	const struct ibsa_query query = {
		.record = &ibsa_opa_class_port_info_record,
		.method = IBSA_METHOD_GET,
		.deadline_ms = given_ms && given_ms < CPI_MS ? given_ms
							     : CPI_MS,
	};
	struct ibsa_opa_class_port_info info;

	return ibsa_query_one(cli->client, &query, NULL, &info, sizeof(info)) ==
		       0 &&
	       info.capability_mask2 & CAP2_OPA_PATHS;
}

struct ibsa_gid opa_gid_of_lid(const struct ibsa_gid *own, uint32_t lid)
{
	return fields_guid_gid(own, OPA_OUI << OUI_SHIFT | lid);
}

uint32_t opa_lid_of_gid(const struct ibsa_gid *gid)
{
	const uint64_t id = fields_gid_guid(gid);

	return id >> OUI_SHIFT == OPA_OUI ? (uint32_t)id : 0;
}
