/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Queries for GUIDInfo records. The kernel's struct has the layout and byte
 * order of the wire, so its bytes are encoded and decoded directly.
 */
#include <errno.h>
#include <string.h>

#include "ib_sa/query.h"

_Static_assert(sizeof(struct ib_sa_guidinfo_rec) == 72, "as on the wire");

typedef void (*guid_info_fn)(int status, struct ib_sa_guidinfo_rec *resp,
			     void *context);

/*
 * Call the program's callback for a GUIDInfo query. If the SA returned an error
 * status, the callback gets the record that the SA sent with it, as in the
 * kernel; after any other error, NULL.
 */
static void guid_info_call(struct sa_query *query, int status,
			   const struct ibsa_reply *reply)
{
	guid_info_fn callback = (guid_info_fn)query->callback;
	struct ib_sa_guidinfo_rec rec = { 0 };
	const uint8_t *wire = ibsa__sa_answer_record(reply);

	if (wire)
		memcpy(&rec, wire, sizeof(rec));
	callback(status, status && status != -EINVAL ? NULL : &rec,
		 query->context);
}

int ib_sa_guid_info_rec_query(struct ib_sa_client *client,
			      struct ib_device *device, uint8_t port_num,
			      struct ib_sa_guidinfo_rec *rec,
			      ib_sa_comp_mask comp_mask, uint8_t method,
			      unsigned long timeout_ms, unsigned int gfp_mask,
			      guid_info_fn callback, void *context,
			      struct ib_sa_query **sa_query)
{
	struct ibsa_guid_info match;
	const struct sa_request request = {
		.record = &ibsa_guid_info_record,
		.match = &match,
		.comp_mask = comp_mask,
		.timeout_ms = timeout_ms,
		.method = method,
		.tell = guid_info_call,
		.callback = (void (*)(void))callback,
		.context = context,
	};

	(void)gfp_mask;
	ibsa_guid_info_record.decode((const uint8_t *)rec, &match);
	return ibsa__sa_query_submit(client, device, port_num, &request,
				     sa_query);
}
