/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A recording: the SA requests in a capture, and their answers. */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "common/frame.h"
#include "fabric/capture/pcap.h"
#include "fabric/sa/sa.h"
#include "fabric/capture/recording.h"
#include "wire/gid.h"
#include "wire/request.h"

enum {
	RESPONSE = 0x80,
	SEGMENT_ROOM = IBSA_MAD_BYTES - MAD_RMPP_END,
	KEY_BYTES = 26,
	REQUEST_KEY_BYTES = KEY_BYTES + IBSA_SA_DATA_BYTES,
};

/*
 * Return: a hash of the bytes (FNV-1a). The map in which the hash is a key
 * protects itself from planned collisions.
 */
static uint64_t bytes_hash(const uint8_t *bytes, size_t len)
{
	uint64_t value = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < len; i++)
		value = (value ^ bytes[i]) * UINT64_C(0x100000001b3);
	return value ^ value >> 32;
}

static const struct ibsa_record *record_of(uint16_t attribute)
{
	const struct ibsa_record *record;

	for (size_t i = 0; (record = ibsa_record_at(i)); i++) {
		if (record->attribute == attribute &&
		    record->size <= IBSA_SA_DATA_BYTES)
			return record;
	}
	return NULL;
}

/*
 * Clear the fields of a Get or GetTable request for a known record that its
 * component mask does not select, so that they are not compared. All fields of
 * other requests are compared.
 */
static void mask_record(const uint8_t *request, uint8_t *data)
{
	const struct ibsa_record *record =
		record_of((uint16_t)IBSA_GET(sa_header, attribute_id, request));
	const uint8_t method = request[MAD_METHOD];
	union sa_record asked;
	union sa_record selected;
	struct sa_match match;
	uint64_t over;

	if (!record ||
	    (method != IBSA_METHOD_GET && method != IBSA_METHOD_GET_TABLE))
		return;
	memset(&selected, 0, sizeof(selected));
	ibsa__sa_select(record, IBSA_GET(sa_header, component_mask, request),
			&match);
	record->decode(data, &asked);
	for (unsigned int i = 0; i < match.count; i++)
		memcpy((char *)&selected + match.fields[i].offset,
		       (char *)&asked + match.fields[i].offset,
		       match.fields[i].len);
	memset(data, 0, IBSA_SA_DATA_BYTES);
	record->encode(&selected, data, &over);
}

/*
 * Write the parts of a request that are equal in requests for the same answer.
 */
static void request_key_put(const uint8_t *request,
			    uint8_t out[REQUEST_KEY_BYTES])
{
	memcpy(out, request, 4); /* versions, class, method */
	memcpy(out + 4, request + MAD_ATTRIBUTE, 2);	   /* attribute */
	memcpy(out + 6, request + MAD_MODIFIER, 4);	   /* its modifier */
	memcpy(out + 10, request + MAD_SM_KEY, 8);	   /* SM_Key */
	memcpy(out + 18, request + MAD_COMPONENT_MASK, 8); /* component mask */
	memcpy(out + KEY_BYTES, request + IBSA_SA_HEADER_BYTES,
	       IBSA_SA_DATA_BYTES);
	mask_record(request, out + KEY_BYTES);
}

/*
 * Return: the key of a request that has no answer yet: transaction ID and LID
 * of the requester.
 */
static uint64_t id_of(const uint8_t *mad, uint16_t lid)
{
	return IBSA_GET(sa_header, transaction_id, mad) +
	       ((uint64_t)lid << 48 | (uint64_t)lid << 16);
}

static struct exchange *exchange_find_open(const struct recording *recording,
					   const uint8_t *mad, uint16_t lid)
{
	const uint32_t index = map_find(&recording->by_id, id_of(mad, lid));

	return index == MAP_NONE ? NULL : &recording->exchanges[index];
}

/* Whether a request is a retry of an earlier request that has no answer yet. */
static bool request_is_retry(const struct exchange *open, const uint8_t *mad)
{
	return open && !memcmp(open->request, mad, IBSA_MAD_BYTES);
}

static int add_request(struct recording *recording, const struct frame *frame)
{
	struct exchange *exchange;
	int err;

	if (request_is_retry(exchange_find_open(recording, frame->mad,
						frame->slid),
			     frame->mad))
		return 0;
	err = ARRAY_GROW(recording->exchanges, recording->room,
			 recording->count + 1);
	if (!err)
		err = ibsa__map_put(&recording->by_id,
				    id_of(frame->mad, frame->slid),
				    recording->count);
	if (err)
		return err;
	exchange = &recording->exchanges[recording->count++];
	*exchange = (struct exchange){
		.slid = frame->slid,
		.dlid = frame->dlid,
		.next = MAP_NONE,
	};
	memcpy(exchange->request, frame->mad, IBSA_MAD_BYTES);
	return 0;
}

static int answer_append(struct exchange *exchange, const uint8_t *bytes,
			 size_t len)
{
	if (ARRAY_GROW(exchange->answer, exchange->room, exchange->len + len))
		return -ENOMEM;
	memcpy(exchange->answer + exchange->len, bytes, len);
	exchange->len += len;
	return 0;
}

/*
 * Return: the number of data bytes in an RMPP segment. In the last segment,
 * PayloadLength limits the data.
 */
static size_t segment_data(const uint8_t *mad, bool is_last)
{
	const uint32_t len = ibsa_be32(mad + MAD_RMPP_LENGTH);
	const size_t header = IBSA_SA_HEADER_BYTES - MAD_RMPP_END;

	if (!is_last || len > SEGMENT_ROOM || len < header)
		return IBSA_SA_DATA_BYTES;
	return len - header;
}

/*
 * Append an RMPP segment to an answer, if it is the next one. Duplicates, and
 * segments that arrive too early, are ignored, since the sender repeats them.
 */
static int add_segment(struct exchange *exchange, const uint8_t *mad)
{
	const uint32_t number = ibsa_be32(mad + MAD_RMPP_SEGMENT);
	bool is_last = mad[MAD_RMPP_FLAGS] & IBSA_RMPP_LAST;
	int err = 0;

	if (mad[MAD_RMPP_TYPE] != IBSA_RMPP_TYPE_DATA ||
	    number != exchange->segment + 1)
		return 0;
	/*
	 * In a table that has a single segment, PayloadLength may exclude or
	 * include the header.
	 */
	if (number == 1)
		err = answer_append(exchange, mad, IBSA_SA_HEADER_BYTES);
	if (!err)
		err = answer_append(exchange, mad + IBSA_SA_HEADER_BYTES,
				    segment_data(mad, is_last));
	exchange->segment = number;
	exchange->is_whole = is_last;
	return err;
}

static int add_answer(struct recording *recording, const struct frame *frame)
{
	struct exchange *exchange = exchange_find_open(recording, frame->mad,
						       frame->dlid);
	const uint8_t *mad = frame->mad;

	if (!exchange || exchange->is_whole ||
	    ibsa__response_method(exchange->request[MAD_METHOD]) !=
		    mad[MAD_METHOD])
		return 0;
	if (mad[MAD_RMPP_VERSION] == 1 &&
	    mad[MAD_RMPP_FLAGS] & IBSA_RMPP_ACTIVE)
		return add_segment(exchange, mad);
	exchange->is_whole = true;
	exchange->len = 0;
	return answer_append(exchange, mad, IBSA_MAD_BYTES);
}

/* Whether a request with this method has an answer. */
static bool method_has_answer(uint8_t method)
{
	switch (method) {
	case IBSA_METHOD_GET:
	case IBSA_METHOD_SET:
	case IBSA_METHOD_GET_TABLE:
	case IBSA_METHOD_DELETE:
	case IBSA_METHOD_GET_MULTI:
		return true;
	default:
		return false;
	}
}

static int add_frame(struct recording *recording, const struct frame *frame)
{
	const uint8_t *mad = frame->mad;

	if (mad[MAD_CLASS] != IBSA_CLASS_SA)
		return 0;
	/*
	 * RMPP packets of other types than DATA, such as ACK, are not
	 * requests.
	 */
	if (mad[MAD_RMPP_VERSION] == 1 &&
	    mad[MAD_RMPP_FLAGS] & IBSA_RMPP_ACTIVE &&
	    mad[MAD_RMPP_TYPE] != IBSA_RMPP_TYPE_DATA)
		return 0;
	if (mad[MAD_METHOD] & RESPONSE)
		return add_answer(recording, frame);
	return method_has_answer(mad[MAD_METHOD])
		       ? add_request(recording, frame)
		       : 0;
}

/*
 * Set the requester's GID from a path record in an answer, if the path begins
 * or ends at the requester's LID.
 */
static void learn_gid_of(struct ibsa_port_state *port, const uint8_t *wire)
{
	struct ibsa_path path;

	if (ibsa_record_decode(&ibsa_path_record, wire, ibsa_path_record.size,
			       &path, sizeof(path)))
		return;
	if (path.slid == port->lid)
		port->gid = path.sgid;
	else if (path.dlid == port->lid)
		port->gid = path.dgid;
}

/*
 * Set the rate of the requester's link from its PortInfoRecord. The last one is
 * that of the request for extended speeds, if there are several.
 */
static void learn_rate_of(struct recording *recording, const uint8_t *wire)
{
	struct ibsa_port_info info;
	struct link_bits bits;

	if (ibsa_record_decode(&ibsa_port_info_record, wire,
			       ibsa_port_info_record.size, &info,
			       sizeof(info)) ||
	    info.endport_lid != recording->port.lid ||
	    info.lid != recording->port.lid)
		return;
	bits = (struct link_bits){
		.width_active = info.link_width_active,
		.speed_active = info.link_speed_active,
		.speed_ext_active = info.link_speed_ext_active,
		.speed_ext_active2 = info.link_speed_ext_active2,
	};
	recording->rate = ibsa__rate_of_bits(&bits);
}

/* Learn from the records in an answer about the requester's port. */
static void learn_port_of(struct recording *recording,
			  const struct exchange *exchange)
{
	const struct ibsa_record *record;
	size_t at = IBSA_SA_HEADER_BYTES;
	size_t stride;

	if (!exchange->is_whole ||
	    IBSA_GET(sa_header, status, exchange->answer))
		return;
	record = record_of(
		(uint16_t)IBSA_GET(sa_header, attribute_id, exchange->answer));
	if (record != &ibsa_path_record && record != &ibsa_port_info_record)
		return;
	stride = 8 * IBSA_GET(sa_header, attribute_offset, exchange->answer);
	while (exchange->len - at >= record->size) {
		if (record == &ibsa_port_info_record)
			learn_rate_of(recording, exchange->answer + at);
		else if (gid_is_zero(&recording->port.gid))
			learn_gid_of(&recording->port, exchange->answer + at);
		if (stride < record->size || exchange->len - at < stride)
			return;
		at += stride;
	}
}

/*
 * Make the index of requests. Requests with equal keys form a chain; the map
 * contains the first of each chain.
 */
static int requests_index(struct recording *recording)
{
	struct map last = { 0 };
	int err = 0;

	for (uint32_t i = 0; i < recording->count && !err; i++) {
		uint8_t request_key[REQUEST_KEY_BYTES];
		uint64_t key;
		uint32_t before;

		request_key_put(recording->exchanges[i].request, request_key);
		key = bytes_hash(request_key, sizeof(request_key));
		before = map_find(&last, key);
		if (before == MAP_NONE)
			err = ibsa__map_put(&recording->by_request, key, i);
		else
			recording->exchanges[before].next = i;
		if (!err)
			err = ibsa__map_put(&last, key, i);
		learn_port_of(recording, &recording->exchanges[i]);
	}
	ibsa__map_done(&last);
	return err;
}

static void learn_port(struct recording *recording)
{
	const struct exchange *first = &recording->exchanges[0];

	recording->port = (struct ibsa_port_state){
		.lid = first->slid,
		.sm_lid = first->dlid,
		.port_state = IBSA_PORT_ACTIVE,
		.phys_state = 5,
		.link = IBSA_LINK_INFINIBAND,
		.port_num = 1,
	};
}

static int recording_read_frames(struct recording *recording, struct pcap *pcap)
{
	const uint8_t *packet;
	size_t len;
	int err = 0;

	while (!err && ibsa__pcap_next(pcap, &packet, &len)) {
		struct frame frame;

		if (!ibsa__frame_get(packet, len, &frame))
			continue;
		if (frame.has_grh && !recording->count &&
		    !(frame.mad[MAD_METHOD] & RESPONSE))
			recording->port.gid = frame.sgid;
		if (!recording->count)
			recording->pkey = frame.pkey;
		err = add_frame(recording, &frame);
	}
	return err;
}

static int recording_read_packets(struct recording *recording,
				  struct pcap *pcap)
{
	struct ibsa_gid gid;
	int err = recording_read_frames(recording, pcap);

	if (err || !recording->count)
		return err;
	gid = recording->port.gid;
	learn_port(recording);
	recording->port.gid = gid;
	return requests_index(recording);
}

int ibsa__recording_read(const char *name, const uint8_t *bytes, size_t len,
			 struct ibsa_error *error, struct recording *out)
{
	struct recording recording = { .count = 0 };
	struct pcap pcap;
	int err;

	switch (ibsa__pcap_start(bytes, len, &pcap)) {
	case PCAP_OK:
		break;
	case PCAP_NG:
		return ibsa__fail(error, -EINVAL,
				  "%.100s is in the pcapng format; convert it "
				  "to pcap: editcap -F pcap",
				  name);
	case PCAP_OTHER:
		return ibsa__fail(error, -EINVAL,
				  "%.100s is not a capture of InfiniBand "
				  "(link type 247, or 197 with ERF records)",
				  name);
	default:
		return ibsa__fail(error, -EINVAL, "%.100s is not a pcap file",
				  name);
	}
	err = recording_read_packets(&recording, &pcap);
	if (err)
		err = ibsa__fail(error, err, "out of memory");
	else if (!recording.count)
		err = ibsa__fail(error, -EINVAL,
				 "%.100s has no requests to an SA", name);
	if (err)
		ibsa__recording_done(&recording);
	else
		*out = recording;
	return err;
}

const struct exchange *ibsa__recording_query(struct recording *recording,
					     const uint8_t *request)
{
	uint8_t request_key[REQUEST_KEY_BYTES];
	uint8_t asked[REQUEST_KEY_BYTES];
	const struct exchange *exchange;
	uint64_t key;
	uint32_t index;

	request_key_put(request, request_key);
	key = bytes_hash(request_key, sizeof(request_key));
	index = map_find(&recording->by_request, key);
	if (index == MAP_NONE)
		return NULL;
	exchange = &recording->exchanges[index];
	request_key_put(exchange->request, asked);
	if (memcmp(asked, request_key, sizeof(request_key)))
		return NULL;
	/*
	 * Go on to the next answer to the request. If memory is short, this
	 * function has no effect, and the request gets the same answer again.
	 */
	if (exchange->next != MAP_NONE)
		(void)ibsa__map_put(&recording->by_request, key,
				    exchange->next);
	return exchange;
}

void ibsa__recording_done(struct recording *recording)
{
	for (uint32_t i = 0; i < recording->count; i++)
		ibsa__free(recording->exchanges[i].answer);
	ibsa__free(recording->exchanges);
	ibsa__map_done(&recording->by_id);
	ibsa__map_done(&recording->by_request);
	*recording = (struct recording){ .count = 0 };
}
