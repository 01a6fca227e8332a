/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Validation and parsing of the SA's replies. */
#include <errno.h>

#include "engine/reply.h"
#include "wire/mad.h"
#include "wire/host.h"

enum { IBSIM_BYTES = 224 };

/*
 * Whether a table of records is incomplete. The kernel reassembles a reply and
 * leaves the RMPP header of the first segment in it. The table is incomplete
 * if this first segment is not the last segment, but only one MAD was
 * received; or if it is the last, and its length is larger than the bytes
 * received.
 */
static bool table_is_cut(const uint8_t *mad, size_t len)
{
	const uint32_t rmpp_length = ibsa_be32(mad + MAD_RMPP_LENGTH);

	if (!(mad[MAD_RMPP_FLAGS] & IBSA_RMPP_LAST))
		return len <= IBSA_MAD_BYTES;
	return len < IBSA_MAD_BYTES && rmpp_length <= IBSA_MAD_BYTES &&
	       len < MAD_RMPP_END + rmpp_length;
}

/*
 * Return: how many of the received bytes of a table are valid. ibsim does not
 * reassemble RMPP replies: it passes on the SA's header without an RMPP type,
 * and only 224 bytes of a MAD are valid, whatever the length.
 */
static size_t table_usable_len(const uint8_t *mad, size_t len, bool *cut)
{
	*cut = false;
	if (!(mad[MAD_RMPP_FLAGS] & IBSA_RMPP_ACTIVE))
		return len;
	if (mad[MAD_RMPP_TYPE] == IBSA_RMPP_TYPE_DATA) {
		*cut = table_is_cut(mad, len);
		return len;
	}
	*cut = len > IBSIM_BYTES && len <= IBSA_MAD_BYTES;
	return *cut ? IBSIM_BYTES : len;
}

void ibsa__table_parse(const struct ibsa_record *record, const uint8_t *mad,
		       size_t len, struct ibsa_reply *out)
{
	size_t stride = (size_t)ibsa_be16(mad + MAD_ATTRIBUTE_OFFSET) * 8;
	bool cut;

	if (!stride)
		return;
	if (stride < record->size) {
		out->err = -EPROTO;
		return;
	}
	out->stride = stride;
	len = table_usable_len(mad, len, &cut);
	out->count = (len - IBSA_SA_HEADER_BYTES) / stride;
	if (cut)
		out->err = -ENODATA;
}

const uint8_t *ibsa__reply_redirect(const struct ibsa_record *record,
				    const uint8_t *mad, size_t len)
{
	if (!(ibsa_be16(mad + MAD_STATUS) & IBSA_STATUS_REDIRECT) ||
	    len < IBSA_SA_HEADER_BYTES + (size_t)redirect_record(record)->size)
		return NULL;
	return mad + IBSA_SA_HEADER_BYTES;
}

int ibsa_reply_decode(const struct ibsa_reply *reply, size_t index, void *out,
		      size_t size)
{
	if (index >= reply->count)
		return -ENOENT;
	record_host_decode(reply->record, ibsa_reply_at(reply, index), out,
			   size);
	return 0;
}
