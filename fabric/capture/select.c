/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Answers requests for a part of a table that a recording has as a whole. */
#include <string.h>

#include "fabric/capture/select.h"
#include "fabric/sa/sa.h"
#include "wire/request.h"

/*
 * Component bits of the request for a table with one path from a port to each
 * other port. A request for a path to one GID is answered from this table.
 */
#define PATH_TABLE                                       \
	(IBSA_PATH_CM(sgid) | IBSA_PATH_CM(reversible) | \
	 IBSA_PATH_CM(numb_path))

/*
 * Return: the component bits by which no record of the table is selected,
 * because the request for the table had them, too.
 */
static uint64_t table_mask(const struct ibsa_record *record)
{
	if (record == &ibsa_path_record)
		return PATH_TABLE;
	return record == &ibsa_port_info_record ? IBSA_PORT_INFO_CM(options)
						: 0;
}

/* Return: the record of a request, if its fields may be compared; or NULL. */
static const struct ibsa_record *request_record(const uint8_t *request)
{
	const uint64_t mask = IBSA_GET(sa_header, component_mask, request);
	const struct ibsa_record *record;
	unsigned int i = 0;

	while ((record = ibsa_record_at(i++)))
		if (record->attribute ==
			    IBSA_GET(sa_header, attribute_id, request) &&
		    record->class_version ==
			    IBSA_GET(sa_header, class_version, request))
			break;
	if (!record || record->size > IBSA_SA_DATA_BYTES ||
	    IBSA_GET(sa_header, attribute_modifier, request))
		return NULL;
	if (record == &ibsa_path_record &&
	    mask != (PATH_TABLE | IBSA_PATH_CM(dgid)))
		return NULL;
	/* The SA compares the values of a group by selectors. */
	if (record == &ibsa_mcmember_record &&
	    mask & (IBSA_MCMEMBER_CM(mtu_selector) |
		    IBSA_MCMEMBER_CM(rate_selector) |
		    IBSA_MCMEMBER_CM(packet_life_time_selector)))
		return NULL;
	return record;
}

/*
 * Return: the recorded answer to GetTable with the fields of @request that @mask
 * selects, or NULL.
 */
static const struct exchange *whole_find(struct recording *recording,
					 const uint8_t *request, uint64_t mask)
{
	uint8_t whole[IBSA_MAD_BYTES];
	const struct exchange *table;

	memcpy(whole, request, sizeof(whole));
	whole[MAD_METHOD] = IBSA_METHOD_GET_TABLE;
	ibsa_put_be64(whole + MAD_COMPONENT_MASK, mask);
	table = ibsa__recording_query(recording, whole);
	if (!table || !table->is_whole ||
	    (IBSA_GET(sa_header, status, table->answer) &&
	     IBSA_GET(sa_header, status, table->answer) !=
		     IBSA_STATUS_NO_RECORDS))
		return NULL;
	return table;
}

/* Return: the number of bytes between the records of an answer. */
static size_t stride_of(const struct exchange *table)
{
	return 8 * IBSA_GET(sa_header, attribute_offset, table->answer);
}

/* Whether a port of a table of PortInfoRecords runs at an extended speed. */
static bool has_extended_speed(const struct exchange *table)
{
	const size_t stride = stride_of(table);
	const size_t size = ibsa_port_info_record.size;

	for (size_t at = IBSA_SA_HEADER_BYTES;
	     stride >= size && at + size <= table->len; at += stride) {
		struct ibsa_port_info port;

		ibsa_port_info_record.decode(table->answer + at, &port);
		if (port.link_speed_ext_active)
			return true;
	}
	return false;
}

/*
 * Return: the recorded table with the records of a request, or NULL.
 * @out_is_plain: it is of PortInfoRecords without the options of the request.
 * Options change only what records tell about extended speeds.
 */
static const struct exchange *table_find(struct recording *recording,
					 const struct ibsa_record *record,
					 const uint8_t *request,
					 bool *out_is_plain)
{
	const uint64_t mask = IBSA_GET(sa_header, component_mask, request) &
			      table_mask(record);
	const struct exchange *table = whole_find(recording, request, mask);

	*out_is_plain = !table && mask && record == &ibsa_port_info_record;
	if (*out_is_plain)
		table = whole_find(recording, request, 0);
	return table && *out_is_plain && has_extended_speed(table) ? NULL
								   : table;
}

/* The records of a table that a request selects. */
struct selection {
	const struct ibsa_record *record;
	bool is_plain; /* the options of the request are not in the records */
	struct sa_match match;
	union sa_record want;
	struct sa_reply *reply;
	size_t stride;
	size_t count;
};

/* Return: false: memory is short. */
static bool selection_add(struct selection *selection, const uint8_t *wire)
{
	struct sa_reply *reply = selection->reply;
	union sa_record have;

	selection->record->decode(wire, &have);
	if (!ibsa__sa_agree(&selection->match, &have, &selection->want))
		return true;
	if (!ibsa__sa_reply_room(reply, reply->len + selection->stride))
		return false;
	memset(reply->bytes + reply->len, 0, selection->stride);
	memcpy(reply->bytes + reply->len, wire, selection->record->size);
	if (selection->is_plain) {
		uint64_t over = 0;

		have.port_info.options = selection->want.port_info.options;
		selection->record->encode(&have, reply->bytes + reply->len,
					  &over);
	}
	reply->len += selection->stride;
	selection->count++;
	return true;
}

static bool table_select(struct selection *selection,
			 const struct exchange *table)
{
	const size_t size = selection->record->size;
	size_t at = IBSA_SA_HEADER_BYTES;

	while (selection->stride >= size && table->len - at >= size) {
		if (!selection_add(selection, table->answer + at))
			return false;
		if (table->len - at < selection->stride)
			return true;
		at += selection->stride;
	}
	return true;
}

/* Make the answer to a Get of the records that were selected. */
static void single_put(struct selection *selection)
{
	struct sa_reply *reply = selection->reply;

	memset(reply->bytes + reply->len, 0,
	       reply->len < IBSA_MAD_BYTES ? IBSA_MAD_BYTES - reply->len : 0);
	reply->len = IBSA_MAD_BYTES;
	if (selection->count == 1)
		return;
	memset(reply->bytes + IBSA_SA_HEADER_BYTES, 0, IBSA_SA_DATA_BYTES);
	ibsa_put_be16(reply->bytes + MAD_STATUS,
		      selection->count ? IBSA_STATUS_TOO_MANY_RECORDS
				       : IBSA_STATUS_NO_RECORDS);
}

/* Copy the header of the table's answer, for @request. */
static void header_put(const uint8_t *request, const uint8_t *answer,
		       uint8_t *out)
{
	memcpy(out, answer, IBSA_SA_HEADER_BYTES);
	out[MAD_METHOD] = ibsa__response_method(request[MAD_METHOD]);
	memset(out + MAD_RMPP_VERSION, 0, MAD_RMPP_END - MAD_RMPP_VERSION);
	memcpy(out + MAD_COMPONENT_MASK, request + MAD_COMPONENT_MASK, 8);
}

/* Write the RMPP header of a table, as the receiving kernel passes it on. */
static void table_rmpp_put(struct sa_reply *reply)
{
	uint8_t *out = reply->bytes;

	out[MAD_RMPP_VERSION] = 1;
	out[MAD_RMPP_TYPE] = IBSA_RMPP_TYPE_DATA;
	out[MAD_RMPP_FLAGS] = IBSA_RMPP_ACTIVE | IBSA_RMPP_FIRST |
			      (reply->len <= IBSA_MAD_BYTES ? IBSA_RMPP_LAST
							    : 0);
	ibsa_put_be32(out + MAD_RMPP_SEGMENT, 1);
	ibsa_put_be32(out + MAD_RMPP_LENGTH,
		      (uint32_t)(reply->len - MAD_RMPP_END));
}

bool ibsa__recording_select(struct recording *recording, const uint8_t *request,
			    struct sa_reply *reply)
{
	const uint8_t method = request[MAD_METHOD];
	struct selection selection = { .reply = reply };
	const struct exchange *table;
	uint64_t compared;

	if (method != IBSA_METHOD_GET && method != IBSA_METHOD_GET_TABLE)
		return false;
	selection.record = request_record(request);
	table = selection.record ? table_find(recording, selection.record,
					      request, &selection.is_plain)
				 : NULL;
	if (!table || !ibsa__sa_reply_room(reply, IBSA_MAD_BYTES))
		return false;
	header_put(request, table->answer, reply->bytes);
	reply->len = IBSA_SA_HEADER_BYTES;
	selection.stride = stride_of(table);
	compared = IBSA_GET(sa_header, component_mask, request) &
		   ~table_mask(selection.record);
	ibsa__sa_select(selection.record, compared, &selection.match);
	selection.record->decode(request + IBSA_SA_HEADER_BYTES,
				 &selection.want);
	if (!table_select(&selection, table))
		return false;
	/*
	 * If no path of the table has the requested GID, the port may have
	 * another GID, too.
	 */
	if (selection.record == &ibsa_path_record && selection.count != 1)
		return false;
	if (method == IBSA_METHOD_GET)
		single_put(&selection);
	else
		table_rmpp_put(reply);
	return true;
}
