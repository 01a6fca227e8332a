/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* InfiniBand packets of a pcap file that is in memory. */
#ifndef SIM_CAPTURE_PCAP_H
#define SIM_CAPTURE_PCAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pcap {
	const uint8_t *bytes;
	size_t len;
	size_t at; /* of the next record */
	uint32_t link;
	bool is_swapped; /* the other byte order than big-endian */
};

enum pcap_kind {
	PCAP_NONE, /* another kind of file */
	PCAP_OK,
	PCAP_NG,    /* the newer format, which is not read */
	PCAP_OTHER, /* of another kind of link */
};

/* What begins with @len bytes, and a reader of it if it is PCAP_OK. */
enum pcap_kind ibsa__pcap_start(const uint8_t *bytes, size_t len,
				struct pcap *out);

/*
 * The next packet, from its LRH on; others are passed over. False: there is no
 * other, or it is not there as a whole.
 */
bool ibsa__pcap_next(struct pcap *pcap, const uint8_t **out, size_t *out_len);

#endif
