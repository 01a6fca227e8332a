/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Validation and parsing of the SA's replies. */
#ifndef ENGINE_REPLY_H
#define ENGINE_REPLY_H

#include <ibsa/ibsa.h>

/*
 * Parse a MAD of @len bytes, at least IBSA_SA_HEADER_BYTES, into err, status,
 * records, stride, count and redirect of @out. @header is its decoded header;
 * @record is the record that the reply must contain.
 *
 * The stride is the reply's attribute offset. If a table is cut off, err is
 * -ENODATA, and count has the complete records. If the reply is shorter than a
 * record or its stride is smaller, err is -EPROTO.
 *
 * Source: IBA vol 1, 15.2.1, 13.6.2.
 */
void ibsa__reply_parse(const struct ibsa_record *record,
		       const struct ibsa_sa_header *header, const uint8_t *mad,
		       size_t len, struct ibsa_reply *out);

/* Target of a redirection. */
struct ibsa__redirect {
	/* Without GRH and P_Key index. The LID is 0 if there is a GID only. */
	struct ibsa_address to;
	uint32_t qkey;
	uint16_t pkey;
	bool is_opa;
};

/* Limit of redirections that one request follows. */
enum { IBSA__REDIRECTS_MAX = 3 };

/* The record of the ClassPortInfo in a redirection of a query for @record. */
static inline const struct ibsa_record *
redirect_record(const struct ibsa_record *record)
{
	return record->class_version == IBSA_CLASS_VERSION_OPA
		       ? &ibsa_opa_class_port_info_record
		       : &ibsa_class_port_info_record;
}

/* Decode the ClassPortInfo of @reply, whose redirect must not be NULL. */
void ibsa__redirect_read(const struct ibsa_reply *reply,
			 struct ibsa__redirect *out);

#endif
