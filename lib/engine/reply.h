/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Validation and parsing of the SA's replies. */
#ifndef ENGINE_REPLY_H
#define ENGINE_REPLY_H

#include <errno.h>

#include <ibsa/ibsa.h>

#include "wire/mad.h"

/* Parse a table of records. */
void ibsa__table_parse(const struct ibsa_record *record, const uint8_t *mad,
		       size_t len, struct ibsa_reply *out);

/*
 * Return: the ClassPortInfo in a reply that redirects a request; NULL if the
 * reply has no ClassPortInfo or only a part of it.
 */
const uint8_t *ibsa__reply_redirect(const struct ibsa_record *record,
				    const uint8_t *mad, size_t len);

/*
 * Parse a reply MAD of @len bytes, at least IBSA_SA_HEADER_BYTES, and set err,
 * status, records, stride, count and redirect of @out, of which the caller has
 * set all but redirects and record to 0. @record is the type of the records
 * that the reply must contain.
 *
 * The stride is the reply's attribute offset in bytes. If the status is not 0,
 * it is the size of the record in the MAD, which does not count, or 0 if the
 * record is incomplete. If a table is
 * incomplete, err is -ENODATA, and count is the number of complete records. If
 * the only record of a reply that is not a table is incomplete, or the stride
 * of a table is shorter than a record, err is -EPROTO.
 *
 * Source: IBA vol 1, 15.2.1, 13.6.2.
 */
static inline void reply_parse(const struct ibsa_record *record,
			       const uint8_t *mad, size_t len,
			       struct ibsa_reply *out)
{
	const uint8_t method = mad[MAD_METHOD];

	out->status = ibsa_be16(mad + MAD_STATUS);
	out->records = mad + IBSA_SA_HEADER_BYTES;
	if (out->status) {
		out->redirect = ibsa__reply_redirect(record, mad, len);
		if (len >= IBSA_SA_HEADER_BYTES + (size_t)record->size)
			out->stride = record->size;
	} else if (method == IBSA_METHOD_GET_TABLE_RESP ||
		   method == IBSA_METHOD_GET_MULTI_RESP) {
		ibsa__table_parse(record, mad, len, out);
	} else if (len < IBSA_SA_HEADER_BYTES + (size_t)record->size) {
		out->err = -EPROTO;
	} else {
		out->stride = record->size;
		out->count = 1;
	}
}

/*
 * Whether the sender of a reply with @status may be a node without an SA: the
 * kernel of such a node returns this status. An SA may send the same status
 * for a request that it does not support. Source: IBA vol 1, 13.4.7; Linux
 * drivers/infiniband/core/mad.c, generate_unmatched_resp().
 */
static inline bool may_be_no_sa(uint16_t status)
{
	return status == IBSA_STATUS_BAD_VERSION ||
	       status == IBSA_STATUS_BAD_METHOD ||
	       status == IBSA_STATUS_BAD_METHOD_ATTRIBUTE;
}

/* Target of a redirection. */
struct ibsa__redirect {
	/*
	 * Address of a redirection's target, without GRH and P_Key index. The
	 * LID is 0 if the ClassPortInfo has only a GID.
	 */
	struct ibsa_address to;
	uint32_t qkey;
	uint16_t pkey;
	bool is_opa;
};

/* Limit of redirections that one request follows. */
enum { IBSA__REDIRECTS_MAX = 3 };

/*
 * Return: the record type of the ClassPortInfo by which the SA redirects a
 * query for @record (IB or OPA form).
 */
static inline const struct ibsa_record *
redirect_record(const struct ibsa_record *record)
{
	return record->class_version == IBSA_CLASS_VERSION_OPA
		       ? &ibsa_opa_class_port_info_record
		       : &ibsa_class_port_info_record;
}

/*
 * Decode the ClassPortInfo of @reply into @out. reply->redirect must not be
 * NULL.
 */
void ibsa__redirect_read(const struct ibsa_reply *reply,
			 struct ibsa__redirect *out);

#endif
