/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Encodes and decodes a MAD as a packet on an InfiniBand link.
 *
 * Source: IBA vol 1, 7.7 (LRH), 8.3 (GRH), 9.2 (BTH), 9.3.3 (DETH), 7.8 (ICRC,
 * VCRC).
 */
#include <string.h>

#include <ibsa/types.h>

#include "common/frame.h"

enum {
	LRH_BYTES = 8,
	GRH_BYTES = 40,
	BTH_BYTES = 12,
	DETH_BYTES = 8,
	ICRC_BYTES = 4,
	VCRC_BYTES = 2,
	LNH_BTH = 2, /* next header after the LRH */
	LNH_GRH = 3,
	NEXT_BTH = 0x1b, /* next header after the GRH */
	OPCODE_UD_SEND = 0x64,
	VL_MANAGEMENT = 15, /* of SMPs; other MADs use lane 0 */
	QKEY_BITS_MASKED = 0xff,
};

#define QKEY_GSI UINT32_C(0x80010000)

/* Add a byte to the CRC 32 of Ethernet, least significant bit first. */
static uint32_t crc32_add(uint32_t crc, uint8_t byte)
{
	crc ^= byte;
	for (int i = 0; i < 8; i++)
		crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xedb88320) : 0);
	return crc;
}

/*
 * Add a byte to the CRC with the polynomial x^16 + x^12 + x^3 + x + 1, least
 * significant bit first.
 */
static uint16_t crc16_add(uint16_t crc, uint8_t byte)
{
	crc ^= byte;
	for (int i = 0; i < 8; i++)
		crc = (uint16_t)(crc >> 1 ^ (crc & 1 ? 0xd008 : 0));
	return crc;
}

static void le_put(uint8_t *out, uint32_t value, size_t len)
{
	for (size_t i = 0; i < len; i++)
		out[i] = (uint8_t)(value >> 8 * i);
}

/*
 * Return: the bits of the packet's byte @at that a switch or router may
 * change; the ICRC is computed as if they were ones.
 */
static uint8_t variant_bits(size_t at, bool has_grh)
{
	const size_t bth = LRH_BYTES + (has_grh ? GRH_BYTES : 0);
	const size_t grh = at - LRH_BYTES;

	/* In a packet with a GRH, the ICRC does not include the LRH. */
	if (at == 0)
		return 0xf0;
	if (at == bth + 4)
		return 0xff;
	if (!has_grh || at < LRH_BYTES || at >= bth)
		return 0;
	/*
	 * The variant fields of the GRH: traffic class, flow label and hop
	 * limit.
	 */
	if (grh == 0)
		return 0x0f;
	return (grh >= 1 && grh <= 3) || grh == 7 ? 0xff : 0;
}

uint32_t ibsa__frame_icrc(const uint8_t *bytes, size_t len, bool has_grh)
{
	uint32_t crc = UINT32_MAX;

	for (size_t i = 0; i < len; i++) {
		const bool is_lrh = has_grh && i < LRH_BYTES;

		crc = crc32_add(crc,
				is_lrh ? 0xff
				       : bytes[i] | variant_bits(i, has_grh));
	}
	return ~crc;
}

static uint16_t vcrc_of(const uint8_t *bytes, size_t len)
{
	uint16_t crc = UINT16_MAX;

	for (size_t i = 0; i < len; i++)
		crc = crc16_add(crc, bytes[i]);
	return (uint16_t)~crc;
}

static void be24_put(uint8_t *out, uint32_t value)
{
	out[0] = (uint8_t)(value >> 16);
	ibsa_put_be16(out + 1, (uint16_t)value);
}

static uint32_t be24(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] << 16 | ibsa_be16(bytes + 1);
}

/*
 * Write the LRH. @len: number of bytes from the end of the LRH to the end of
 * the payload.
 */
static void lrh_put(const struct frame *frame, uint8_t *out, size_t len)
{
	const unsigned int lane = frame->dst_qp ? 0 : VL_MANAGEMENT;

	out[0] = (uint8_t)(lane << 4);
	out[1] = (uint8_t)(frame->sl << 4 |
			   (frame->has_grh ? LNH_GRH : LNH_BTH));
	ibsa_put_be16(out + 2, frame->dlid);
	ibsa_put_be16(out + 4, (uint16_t)((LRH_BYTES + len) / 4));
	ibsa_put_be16(out + 6, frame->slid);
}

static void grh_put(const struct frame *frame, uint8_t *out, size_t len)
{
	ibsa_put_be32(out, UINT32_C(6) << 28 |
				   (uint32_t)frame->traffic_class << 20 |
				   (frame->flow_label & 0xfffff));
	ibsa_put_be16(out + 4, (uint16_t)len);
	out[6] = NEXT_BTH;
	out[7] = frame->hop_limit;
	memcpy(out + 8, frame->sgid.raw, 16);
	memcpy(out + 24, frame->dgid.raw, 16);
}

static void bth_put(const struct frame *frame, uint8_t *out)
{
	out[0] = OPCODE_UD_SEND;
	out[1] = 0;
	ibsa_put_be16(out + 2, frame->pkey);
	out[4] = 0;
	be24_put(out + 5, frame->dst_qp);
	out[8] = 0;
	be24_put(out + 9, frame->psn);
	out += BTH_BYTES;
	ibsa_put_be32(out, frame->dst_qp ? QKEY_GSI : 0);
	out[4] = 0;
	be24_put(out + 5, frame->src_qp);
}

size_t ibsa__frame_put(const struct frame *frame, uint8_t out[FRAME_BYTES_MAX])
{
	const size_t rest = BTH_BYTES + DETH_BYTES + IBSA_MAD_BYTES +
			    ICRC_BYTES;
	size_t at = LRH_BYTES;

	lrh_put(frame, out, rest + (frame->has_grh ? GRH_BYTES : 0));
	if (frame->has_grh) {
		grh_put(frame, out + at, rest);
		at += GRH_BYTES;
	}
	bth_put(frame, out + at);
	at += BTH_BYTES + DETH_BYTES;
	memcpy(out + at, frame->mad, IBSA_MAD_BYTES);
	at += IBSA_MAD_BYTES;
	le_put(out + at, ibsa__frame_icrc(out, at, frame->has_grh), ICRC_BYTES);
	at += ICRC_BYTES;
	le_put(out + at, vcrc_of(out, at), VCRC_BYTES);
	return at + VCRC_BYTES;
}

static void grh_get(const uint8_t *bytes, struct frame *out)
{
	const uint32_t first = ibsa_be32(bytes);

	out->has_grh = true;
	out->traffic_class = (uint8_t)(first >> 20);
	out->flow_label = first & 0xfffff;
	out->hop_limit = bytes[7];
	memcpy(out->sgid.raw, bytes + 8, 16);
	memcpy(out->dgid.raw, bytes + 24, 16);
}

static bool bth_get(const uint8_t *bytes, struct frame *out)
{
	out->pkey = ibsa_be16(bytes + 2);
	out->dst_qp = be24(bytes + 5);
	out->psn = be24(bytes + 9);
	out->src_qp = be24(bytes + BTH_BYTES + 5);
	out->mad = bytes + BTH_BYTES + DETH_BYTES;
	return bytes[0] == OPCODE_UD_SEND && out->dst_qp <= IBSA_QPN_GSI;
}

bool ibsa__frame_get(const uint8_t *bytes, size_t len, struct frame *out)
{
	size_t at = LRH_BYTES;
	bool has_grh;

	if (len < LRH_BYTES)
		return false;
	*out = (struct frame){
		.sl = bytes[1] >> 4,
		.dlid = ibsa_be16(bytes + 2),
		.slid = ibsa_be16(bytes + 6),
	};
	has_grh = (bytes[1] & 3) == LNH_GRH;
	if ((!has_grh && (bytes[1] & 3) != LNH_BTH) ||
	    len < at + (has_grh ? GRH_BYTES : 0) + BTH_BYTES + DETH_BYTES +
			    IBSA_MAD_BYTES)
		return false;
	if (has_grh) {
		grh_get(bytes + at, out);
		at += GRH_BYTES;
	}
	return bth_get(bytes + at, out);
}
