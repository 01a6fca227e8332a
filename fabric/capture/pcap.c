/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the InfiniBand packets of a pcap file: of link type 247, which begin
 * with the LRH, or in ERF records of type 21 (link type 197).
 *
 * Source: draft-ietf-opsawg-pcap; www.tcpdump.org/linktypes.html; Endace, ERF
 * Types Reference Guide.
 */
#include <ibsa/types.h>

#include "fabric/capture/pcap.h"

enum {
	FILE_HEADER = 24,
	LINK_AT = 20,
	RECORD_HEADER = 16,
	CAPTURED_AT = 8,
	LINK_ERF = 197,
	LINK_INFINIBAND = 247,
	/* the other bits of the link type describe checksums */
	LINK_MASK = 0xffff,
	ERF_HEADER = 16,
	ERF_TYPE_AT = 8,
	ERF_INFINIBAND = 21,
	ERF_MORE = 0x80, /* another header of ERF_EXTENSION bytes follows */
	ERF_EXTENSION = 8,
};

#define MAGIC_US UINT32_C(0xa1b2c3d4)
#define MAGIC_NS UINT32_C(0xa1b23c4d)
#define MAGIC_NG UINT32_C(0x0a0d0d0a)

static uint32_t bytes_swapped(uint32_t value)
{
	return value >> 24 | (value >> 8 & 0xff00) | (value << 8 & 0xff0000) |
	       value << 24;
}

static uint32_t number_at(const struct pcap *pcap, size_t at)
{
	const uint32_t value = ibsa_be32(pcap->bytes + at);

	return pcap->is_swapped ? bytes_swapped(value) : value;
}

static bool is_magic(uint32_t value)
{
	return value == MAGIC_US || value == MAGIC_NS;
}

enum pcap_kind ibsa__pcap_start(const uint8_t *bytes, size_t len,
				struct pcap *out)
{
	struct pcap pcap = { .bytes = bytes, .len = len, .at = FILE_HEADER };
	uint32_t magic;

	if (len < 4)
		return PCAP_NONE;
	magic = ibsa_be32(bytes);
	if (magic == MAGIC_NG)
		return PCAP_NG;
	pcap.is_swapped = is_magic(bytes_swapped(magic));
	if (!pcap.is_swapped && !is_magic(magic))
		return PCAP_NONE;
	if (len < FILE_HEADER)
		return PCAP_OTHER;
	pcap.link = number_at(&pcap, LINK_AT) & LINK_MASK;
	if (pcap.link != LINK_ERF && pcap.link != LINK_INFINIBAND)
		return PCAP_OTHER;
	*out = pcap;
	return PCAP_OK;
}

/*
 * Return: the offset of the packet in an ERF record; 0: the record does not
 * contain an InfiniBand packet.
 */
static size_t erf_start(const uint8_t *record, size_t len)
{
	size_t at = ERF_HEADER;
	bool more;

	if (len < ERF_HEADER ||
	    (record[ERF_TYPE_AT] & ~ERF_MORE) != ERF_INFINIBAND)
		return 0;
	more = record[ERF_TYPE_AT] & ERF_MORE;
	while (more) {
		if (len - at < ERF_EXTENSION)
			return 0;
		more = record[at] & ERF_MORE;
		at += ERF_EXTENSION;
	}
	return at;
}

bool ibsa__pcap_next(struct pcap *pcap, const uint8_t **out, size_t *out_len)
{
	while (pcap->len - pcap->at >= RECORD_HEADER) {
		const uint8_t *record = pcap->bytes + pcap->at + RECORD_HEADER;
		const size_t left = pcap->len - pcap->at - RECORD_HEADER;
		const size_t len = number_at(pcap, pcap->at + CAPTURED_AT);
		size_t start = 0;

		if (len > left)
			return false;
		pcap->at += RECORD_HEADER + len;
		if (pcap->link == LINK_ERF) {
			start = erf_start(record, len);
			if (!start)
				continue;
		}
		*out = record + start;
		*out_len = len - start;
		return true;
	}
	return false;
}
