/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A MAD as a packet on an InfiniBand link, with all headers and checksums. */
#ifndef COMMON_FRAME_H
#define COMMON_FRAME_H

#include <ibsa/types.h>

/* Maximum length of a packet: LRH, GRH, BTH, DETH, MAD, ICRC and VCRC. */
enum { FRAME_BYTES_MAX = 8 + 40 + 12 + 8 + IBSA_MAD_BYTES + 4 + 2 };

/*
 * The headers and the MAD of one packet, in host byte order. The members after
 * has_grh are used only in a packet with a GRH.
 */
struct frame {
	uint16_t slid;
	uint16_t dlid;
	uint32_t src_qp;
	uint32_t dst_qp;
	uint32_t psn; /* 24 bits */
	uint16_t pkey;
	uint8_t sl;
	bool has_grh;
	uint8_t hop_limit;
	uint8_t traffic_class;
	uint32_t flow_label;
	struct ibsa_gid sgid;
	struct ibsa_gid dgid;
	const uint8_t *mad; /* IBSA_MAD_BYTES */
};

/*
 * Return: the ICRC of a packet of @len bytes, computed without the bits that
 * switches and routers may change.
 */
uint32_t ibsa__frame_icrc(const uint8_t *bytes, size_t len, bool has_grh);

/* Return: the number of bytes written. */
size_t ibsa__frame_put(const struct frame *frame, uint8_t out[FRAME_BYTES_MAX]);

/*
 * Decode a packet of @len bytes, which begins with the LRH. The checksums at
 * its end may be missing, and are not checked. Return: false: the packet does
 * not contain a MAD.
 */
bool ibsa__frame_get(const uint8_t *bytes, size_t len, struct frame *out);

#endif
