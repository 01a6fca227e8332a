/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Receives requests to the embedded SA, drops or answers them, and writes the
 * headers of answers. Where the specification leaves a choice, the SA behaves
 * as OpenSM, which drops many invalid requests instead of refusing them.
 *
 * Source: IBA vol 1, 13.6.2 (RMPP), 15.2 (SA); OpenSM 3.3, osm_sa.c and
 * osm_sa_mad_ctrl.c.
 */
#include "base/clock.h"
#include "fabric/sa/sa.h"
#include "wire/request.h"

/* The SM_Key that makes a request trusted: OpenSM's default. */
enum { SM_KEY = 1 };

enum { BASE_VERSION = 1, BASE_VERSION_OPA = 0x80 };

/* Number of bytes of the SA header that each RMPP segment repeats. */
enum { SEGMENT_HEADER_BYTES = 20 };

/*
 * Bytes of records in one RMPP segment of Omni-Path, whose MADs have 2048
 * bytes.
 */
enum { OPA_SA_DATA_BYTES = OPA_MAD_BYTES - IBSA_SA_HEADER_BYTES };

/* How the records of an attribute are stored in an answer. */
enum layout_kind {
	/*
	 * Each record is padded to a multiple of 8 bytes; AttributeOffset is
	 * this size / 8.
	 */
	LAYOUT_RECORDS,
	/* Records are not padded; AttributeOffset is the record's size / 8. */
	LAYOUT_BARE,
	/*
	 * The answer has no record; its AttributeOffset is that of the request.
	 */
	LAYOUT_NO_RECORD,
};

struct attribute {
	/*
	 * Record type of the attribute in requests. The record type in answers
	 * is the member of @record for replies.
	 */
	const struct ibsa_record *record;
	enum layout_kind layout;
	/*
	 * Whether the SA answers Set and Delete of the attribute; if not, it
	 * drops these requests.
	 */
	bool is_settable;
	void (*answer)(struct sa_work *work);
};

/* clang-format off */
static const struct attribute attributes[] = {
	{ &ibsa_path_record, LAYOUT_RECORDS, false, ibsa__sa_path },
	{ &ibsa_class_port_info_record, LAYOUT_NO_RECORD, false,
	  ibsa__sa_class_port_info },
	{ &ibsa_inform_info_record, LAYOUT_BARE, true,
	  ibsa__sa_inform_info },
	{ &ibsa_node_record, LAYOUT_RECORDS, false, ibsa__sa_node },
	{ &ibsa_port_info_record, LAYOUT_RECORDS, false,
	  ibsa__sa_port_info },
	{ &ibsa_sl_to_vl_record, LAYOUT_RECORDS, false,
	  ibsa__sa_sl_to_vl },
	{ &ibsa_switch_info_record, LAYOUT_RECORDS, false,
	  ibsa__sa_switch_info },
	{ &ibsa_lft_record, LAYOUT_RECORDS, false, ibsa__sa_lft },
	{ &ibsa_mft_record, LAYOUT_RECORDS, false, ibsa__sa_mft },
	{ &ibsa_sm_info_record, LAYOUT_RECORDS, false, ibsa__sa_sm_info },
	{ &ibsa_link_record, LAYOUT_RECORDS, false, ibsa__sa_link },
	{ &ibsa_guid_info_record, LAYOUT_RECORDS, true,
	  ibsa__sa_guid_info },
	{ &ibsa_service_record, LAYOUT_RECORDS, true, ibsa__sa_service },
	{ &ibsa_pkey_table_record, LAYOUT_RECORDS, false,
	  ibsa__sa_pkey_table },
	{ &ibsa_vl_arbitration_record, LAYOUT_RECORDS, false,
	  ibsa__sa_vl_arb },
	{ &ibsa_mcmember_record, LAYOUT_RECORDS, true, ibsa__sa_group },
	{ &ibsa_multi_path_record, LAYOUT_RECORDS, false,
	  ibsa__sa_multi_path },
	{ &ibsa_inform_info_rec_record, LAYOUT_RECORDS, false,
	  ibsa__sa_inform_info_record },
};

/* Attributes that have another layout in Omni-Path requests. */
static const struct attribute opa_attributes[] = {
	{ &ibsa_opa_class_port_info_record, LAYOUT_RECORDS, false,
	  ibsa__sa_opa_class_port_info },
	{ &ibsa_opa_path_record, LAYOUT_RECORDS, false, ibsa__sa_opa_path },
};
/* clang-format on */

static const struct attribute *find_attribute(const uint8_t *mad)
{
	const uint16_t id = (uint16_t)IBSA_GET(sa_header, attribute_id, mad);
	const size_t count = sizeof(attributes) / sizeof(attributes[0]);

	for (size_t i = 0; i < count; i++) {
		if (attributes[i].record->attribute == id)
			return &attributes[i];
	}
	return NULL;
}

/*
 * Return: the attribute in its Omni-Path layout; NULL if it has none, or if
 * this SA does not support it.
 */
static const struct attribute *find_opa_attribute(const struct sa *sa,
						  uint16_t id)
{
	const size_t count = sizeof(opa_attributes) / sizeof(opa_attributes[0]);

	for (size_t i = 0; i < count; i++) {
		if (opa_attributes[i].record->attribute == id &&
		    (sa->has_opa_paths || id != ibsa_path_record.attribute))
			return &opa_attributes[i];
	}
	return NULL;
}

bool ibsa__sa_slice_ends(struct sa_work *work)
{
	work->slice.is_paused = clock_now_ns() >= work->slice.until_ns;
	return work->slice.is_paused;
}

bool ibsa__sa_append_grow(struct sa_work *work)
{
	if (ibsa__sa_reply_room(work->reply, work->reply->len + work->stride))
		return true;
	sa_fail(work, IBSA_STATUS_NO_RESOURCES);
	return false;
}

void ibsa__sa_append(struct sa_work *work, const void *host)
{
	sa_append(work, work->record->encode, host);
}

bool ibsa__sa_is_query(struct sa_work *work)
{
	if (work->method == IBSA_METHOD_GET ||
	    work->method == IBSA_METHOD_GET_TABLE)
		return true;
	sa_fail(work, IBSA_STATUS_BAD_METHOD_ATTRIBUTE);
	return false;
}

void ibsa__sa_select(const struct ibsa_record *record, uint64_t mask,
		     struct sa_match *out)
{
	out->count = 0;
	if (!(mask & record->mask))
		return;
	for (unsigned int i = 0; i < record->field_count; i++) {
		const struct ibsa_field *field = &record->fields[i];
		const unsigned int values = ibsa_field_values(field);
		const unsigned int len = (unsigned int)field->host_size *
					 field->count / values;

		for (unsigned int k = 0; k < values; k++) {
			if (!(mask & ibsa_field_cm(field, k)))
				continue;
			out->fields[out->count].offset =
				(uint16_t)(field->host_offset + k * len);
			out->fields[out->count++].len = (uint16_t)len;
		}
	}
}

bool ibsa__sa_agree(const struct sa_match *match, const void *a, const void *b)
{
	for (unsigned int i = 0; i < match->count; i++) {
		const uint16_t offset = match->fields[i].offset;

		if (memcmp((const char *)a + offset, (const char *)b + offset,
			   match->fields[i].len))
			return false;
	}
	return true;
}

/*
 * Write the answer's header: the header of the request with the changes that
 * each answer has.
 */
static void answer_put_header(const struct sa_work *work, uint8_t *out)
{
	memcpy(out, work->mad, IBSA_SA_HEADER_BYTES);
	out[MAD_METHOD] = ibsa__response_method(work->method);
	/*
	 * The answer has the status field of the request unless the SA sets a
	 * status; OpenSM does the same.
	 */
	if (work->status)
		ibsa_put_be16(out + MAD_STATUS, work->status);
	if (work->record)
		ibsa_put_be16(out + MAD_ATTRIBUTE, work->record->attribute);
	memset(out + MAD_SM_KEY, 0, 8);
}

/*
 * Complete an answer that has an error status: it contains the request's
 * record.
 */
static void answer_finish_error(struct sa_work *work)
{
	enum {
		SUBSCRIBE = offsetof(struct ibsa__inform_info_bits, subscribe) /
			    8,
	};
	uint8_t *out = work->reply->bytes;

	answer_put_header(work, out);
	memcpy(out + IBSA_SA_HEADER_BYTES, work->mad + IBSA_SA_HEADER_BYTES,
	       IBSA_SA_DATA_BYTES);
	if (work->method == IBSA_METHOD_GET_TABLE)
		ibsa_put_be16(out + MAD_ATTRIBUTE_OFFSET, 0);
	if (work->ends_subscription)
		out[IBSA_SA_HEADER_BYTES + SUBSCRIBE] = 0;
	work->reply->len = IBSA_MAD_BYTES;
}

/*
 * Write the RMPP header of an answer with a table, in the form in which the
 * receiving kernel passes it to a client after reassembly: the header of the
 * first segment, followed by all records. The payload length includes the SA
 * header of every segment.
 */
static void answer_finish_table(struct sa_work *work)
{
	uint8_t *out = work->reply->bytes;
	const size_t data = work->reply->len - IBSA_SA_HEADER_BYTES;
	const size_t room = work->is_opa ? OPA_SA_DATA_BYTES
					 : IBSA_SA_DATA_BYTES;
	const size_t segments = data ? (data + room - 1) / room : 1;

	out[MAD_RMPP_VERSION] = 1;
	out[MAD_RMPP_TYPE] = IBSA_RMPP_TYPE_DATA;
	out[MAD_RMPP_FLAGS] = IBSA_RMPP_ACTIVE | IBSA_RMPP_FIRST |
			      (segments == 1 ? IBSA_RMPP_LAST : 0);
	out[MAD_RMPP_STATUS] = 0;
	ibsa_put_be32(out + MAD_RMPP_SEGMENT, 1);
	ibsa_put_be32(out + MAD_RMPP_LENGTH,
		      (uint32_t)(data + segments * SEGMENT_HEADER_BYTES));
}

/*
 * Whether the answer is sent by RMPP: an answer to GetTable is, and so is each
 * answer with records to a request that used RMPP.
 */
static bool answer_is_rmpp(const struct sa_work *work)
{
	if (work->method == IBSA_METHOD_GET_TABLE)
		return true;
	return work->offset && work->mad[MAD_RMPP_FLAGS] & IBSA_RMPP_ACTIVE;
}

static void answer_put_offset(const struct sa_work *work, uint8_t *out)
{
	if (work->offset || !work->count)
		ibsa_put_be16(out + MAD_ATTRIBUTE_OFFSET,
			      work->count ? work->offset : 0);
}

static void answer_finish(struct sa_work *work)
{
	const bool is_table = work->method == IBSA_METHOD_GET_TABLE ||
			      work->method == IBSA_METHOD_GET_MULTI;
	struct sa_reply *reply = work->reply;

	if (!work->status && !is_table && work->count != 1)
		sa_fail(work, work->count ? IBSA_STATUS_TOO_MANY_RECORDS
					  : IBSA_STATUS_NO_RECORDS);
	if (work->status) {
		answer_finish_error(work);
		return;
	}
	answer_put_header(work, reply->bytes);
	answer_put_offset(work, reply->bytes);
	if (answer_is_rmpp(work)) {
		answer_finish_table(work);
		return;
	}
	memset(reply->bytes + reply->len, 0, IBSA_MAD_BYTES - reply->len);
	reply->len = IBSA_MAD_BYTES;
}

/*
 * The format of a request, InfiniBand or Omni-Path, as its version fields give
 * it.
 */
enum versions {
	VERSIONS_IB,
	VERSIONS_OPA,
	VERSIONS_BAD,
};

static enum versions versions_of(const uint8_t *mad)
{
	const uint64_t base = IBSA_GET(sa_header, base_version, mad);
	const uint64_t class = IBSA_GET(sa_header, class_version, mad);

	if (base == BASE_VERSION && class == IBSA_CLASS_VERSION)
		return VERSIONS_IB;
	if (base == BASE_VERSION_OPA && class == IBSA_CLASS_VERSION_OPA)
		return VERSIONS_OPA;
	return VERSIONS_BAD;
}

/*
 * Whether the SA answers the request. A request that fails one of these checks
 * is dropped.
 */
static bool request_is_accepted(const struct sa_work *work,
				const struct attribute *attribute)
{
	const uint64_t key = IBSA_GET(sa_header, sm_key, work->mad);

	if (!attribute || (key && key != SM_KEY) ||
	    (work->subnet->is_opa && versions_of(work->mad) == VERSIONS_BAD))
		return false;
	switch (work->method) {
	case IBSA_METHOD_GET:
	case IBSA_METHOD_GET_TABLE:
	case IBSA_METHOD_GET_MULTI:
		return true;
	case IBSA_METHOD_SET:
	case IBSA_METHOD_DELETE:
		return attribute->is_settable;
	default:
		return false;
	}
}

/*
 * With the SM profile "busy": whether this request is beyond the 16th in one
 * millisecond.
 */
static bool request_is_too_much(const struct sa_work *work)
{
	enum { AT_A_TIME = 16 };
	struct sa *sa = work->sa;
	const uint64_t now_ms = work->now_ns / NS_PER_MS;

	if (sa->profile != IBSA_SM_PROFILE_BUSY)
		return false;
	if (sa->busy_ms != now_ms)
		sa->busy_in = 0;
	sa->busy_ms = now_ms;
	return ++sa->busy_in > AT_A_TIME;
}

static void answer_set_layout(struct sa_work *work,
			      const struct attribute *attribute)
{
	work->record = attribute->record->reply;
	work->stride = work->record->size;
	if (attribute->layout == LAYOUT_RECORDS)
		work->stride = (work->stride + 7) / 8 * 8;
	if (attribute->layout != LAYOUT_NO_RECORD)
		work->offset = (uint8_t)(work->stride / 8);
}

/*
 * Answer by the versions in the request. The SM of Omni-Path, opa-fm, drops
 * requests with unknown versions; if an attribute exists only in the other
 * layout, opa-fm refuses the class version. OpenSM refuses all versions except
 * its own.
 */
static void attribute_answer(struct sa_work *work,
			     const struct attribute *attribute,
			     union sa_record *want)
{
	const struct sa *sa = work->sa;
	const enum versions versions = versions_of(work->mad);

	if (versions == VERSIONS_OPA && sa->subnet->is_opa) {
		work->is_opa = true;
		attribute = find_opa_attribute(sa,
					       attribute->record->attribute);
	} else if (versions != VERSIONS_IB) {
		attribute = NULL;
	}
	if (!attribute) {
		sa_fail(work, IBSA_STATUS_BAD_VERSION);
		return;
	}
	if (work->method == IBSA_METHOD_SET ||
	    work->method == IBSA_METHOD_DELETE)
		work->subnet->changes++;
	answer_set_layout(work, attribute);
	attribute->record->decode(work->mad + IBSA_SA_HEADER_BYTES, want);
	attribute->answer(work);
}

bool ibsa__sa_answer(struct sa *sa, const struct sa_request *request,
		     struct sa_reply *reply, struct sa_slice *slice)
{
	static const struct sa_slice whole = { .until_ns = UINT64_MAX };
	const bool is_continued = slice && slice->is_paused;
	const uint8_t *mad = request->mad;
	const struct attribute *attribute = find_attribute(mad);
	union sa_record want;
	struct sa_work work = {
		.sa = sa,
		.subnet = sa->subnet,
		.from = &sa->subnet->ends[request->end],
		.to = request->to,
		.now_ns = request->now_ns,
		.mad = mad,
		.want = &want,
		.mask = IBSA_GET(sa_header, component_mask, mad),
		.method = (uint8_t)IBSA_GET(sa_header, method, mad),
		.is_trusted = IBSA_GET(sa_header, sm_key, mad) != 0,
		.reply = reply,
		.slice = slice ? *slice : whole,
		.count = slice ? slice->count : 0,
	};

	if (IBSA_GET(sa_header, mgmt_class, mad) != IBSA_CLASS_SA ||
	    !request_is_accepted(&work, attribute))
		return false;
	if (!is_continued)
		reply->len = IBSA_SA_HEADER_BYTES;
	work.slice.is_paused = false;
	work.slice.steps = 0;
	if (work.slice.is_refused ||
	    (!is_continued && request_is_too_much(&work)))
		sa_fail(&work, IBSA_STATUS_BUSY);
	else
		attribute_answer(&work, attribute, &want);
	if (work.is_silent)
		return false;
	if (!work.slice.is_paused)
		answer_finish(&work);
	work.slice.count = work.count;
	if (slice)
		*slice = work.slice;
	return true;
}
