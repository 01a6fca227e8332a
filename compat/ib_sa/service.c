/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Queries for service records. The kernel's struct has the layout and byte
 * order of the wire, so its bytes are encoded and decoded directly.
 */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "ib_sa/query.h"

_Static_assert(sizeof(struct ib_sa_service_rec) == 176, "as on the wire");
_Static_assert(sizeof(struct sa_service_rec) == 176, "as on the wire");

typedef void (*service_fn)(int status, struct ib_sa_service_rec *resp,
			   void *context);
typedef void (*services_fn)(int status, struct sa_service_rec *resp,
			    unsigned int num_services, void *context);

/*
 * Call the program's callback for a service query. If the SA returned an error
 * status, the callback gets the record that the SA sent with it, as in the
 * kernel; after any other error, NULL.
 */
static void service_call(struct sa_query *query, int status,
			 const struct ibsa_reply *reply)
{
	service_fn callback = (service_fn)query->callback;
	struct ib_sa_service_rec rec = { 0 };
	const uint8_t *wire = ibsa__sa_answer_record(reply);

	if (wire)
		memcpy(&rec, wire, sizeof(rec));
	callback(status, status && status != -EINVAL ? NULL : &rec,
		 query->context);
}

int ib_sa_service_rec_query(struct ib_sa_client *client,
			    struct ib_device *device, uint8_t port_num,
			    uint8_t method, struct ib_sa_service_rec *rec,
			    ib_sa_comp_mask comp_mask, unsigned long timeout_ms,
			    unsigned int gfp_mask, service_fn callback,
			    void *context, struct ib_sa_query **sa_query)
{
	struct ibsa_service match;
	const struct sa_request request = {
		.record = &ibsa_service_record,
		.match = &match,
		.comp_mask = comp_mask,
		.timeout_ms = timeout_ms,
		.method = method,
		.tell = service_call,
		.callback = (void (*)(void))callback,
		.context = context,
	};

	(void)gfp_mask;
	ibsa_service_record.decode((const uint8_t *)rec, &match);
	return ibsa__sa_query_submit(client, device, port_num, &request,
				     sa_query);
}

/*
 * Copy the service records of a reply into a packed array; in the reply,
 * padding may separate them.
 */
static struct sa_service_rec *records_copy(const struct ibsa_reply *reply)
{
	struct sa_service_rec *recs = ibsa__calloc(reply->count, sizeof(*recs));

	for (size_t i = 0; recs && i < reply->count; i++)
		memcpy(&recs[i], ibsa_reply_at(reply, i), sizeof(*recs));
	return recs;
}

static void services_call(struct sa_query *query, int status,
			  const struct ibsa_reply *reply)
{
	services_fn callback = (services_fn)query->callback;
	struct sa_service_rec *recs = NULL;
	unsigned int count = 0;

	if (!status && !reply->count)
		status = -ENODATA;
	if (!status) {
		recs = records_copy(reply);
		status = recs ? 0 : -ENOMEM;
	}
	if (recs)
		count = (unsigned int)reply->count;
	callback(status, recs, count, query->context);
	ibsa__free(recs);
}

int ib_sa_service_rec_get(struct ib_sa_client *client, struct ib_device *device,
			  uint8_t port_num, struct sa_service_rec *rec,
			  ib_sa_comp_mask comp_mask, unsigned long timeout_ms,
			  unsigned int gfp_mask, services_fn callback,
			  void *context, struct ib_sa_query **sa_query)
{
	struct ibsa_service match;
	const struct sa_request request = {
		.record = &ibsa_service_record,
		.match = &match,
		.comp_mask = comp_mask,
		.timeout_ms = timeout_ms,
		.method = IBSA_METHOD_GET_TABLE,
		.is_table = true,
		.tell = services_call,
		.callback = (void (*)(void))callback,
		.context = context,
	};

	(void)gfp_mask;
	ibsa_service_record.decode((const uint8_t *)rec, &match);
	return ibsa__sa_query_submit(client, device, port_num, &request,
				     sa_query);
}
