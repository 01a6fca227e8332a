/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A reply of the SA, taken apart and trusted in nothing. */
#ifndef ENGINE_REPLY_H
#define ENGINE_REPLY_H

#include <ibsa/ibsa.h>

/*
 * Fill err, status, records, stride and count of @out from a MAD of @len
 * bytes, at least IBSA_SA_HEADER_BYTES, whose header has been decoded into
 * @header. @record is what was asked for.
 *
 * The stride is the reply's attribute offset. A table whose sender meant
 * more than arrived is -ENODATA, with the whole records that are there.
 * Source: IBA vol 1, 15.2.1, 13.6.2.
 */
void ibsa__reply_parse(const struct ibsa_record *record,
		       const struct ibsa_sa_header *header, const uint8_t *mad,
		       size_t len, struct ibsa_reply *out);

/* Where an SA redirects to. @lid is 0 if there is only a GID. */
struct ibsa__redirect {
	struct ibsa_gid gid;
	uint32_t lid;
	uint32_t qpn;
	uint32_t qkey;
	uint32_t flow_label;
	uint16_t pkey;
	uint8_t sl;
	uint8_t traffic_class;
	bool is_opa;
};

/* Redirections that a request follows. */
enum { IBSA__REDIRECTS_MAX = 3 };

/* The ClassPortInfo of a @reply that has one. */
void ibsa__redirect_read(const struct ibsa_reply *reply,
			 struct ibsa__redirect *out);

#endif
