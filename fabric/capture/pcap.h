/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* InfiniBand packets of a pcap file in memory. */
#ifndef FABRIC_CAPTURE_PCAP_H
#define FABRIC_CAPTURE_PCAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pcap {
	const uint8_t *bytes;
	size_t len;
	size_t at; /* offset of the next record */
	uint32_t link;
	bool is_swapped; /* not in big-endian byte order */
};

enum pcap_kind {
	PCAP_NONE, /* not a pcap file */
	PCAP_OK,
	PCAP_NG,    /* pcapng, which is not supported */
	PCAP_OTHER, /* not a capture of InfiniBand */
};

/*
 * Detect the format of a file in memory with @len bytes. If the result is
 * PCAP_OK, @out is initialised for reading the packets of the file.
 */
enum pcap_kind ibsa__pcap_start(const uint8_t *bytes, size_t len,
				struct pcap *out);

/*
 * Get the next InfiniBand packet of a pcap file, from its LRH on; other
 * packets are skipped. Return: false: the file has no more packets, or the
 * last one is incomplete.
 */
bool ibsa__pcap_next(struct pcap *pcap, const uint8_t **out, size_t *out_len);

#endif
