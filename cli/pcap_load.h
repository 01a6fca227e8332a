/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What of libpcap this command calls, found when it is needed: the library
 * brings a dozen others, which a question to the SA need not wait for.
 */
#ifndef CLI_PCAP_LOAD_H
#define CLI_PCAP_LOAD_H

#include <pcap/pcap.h>

/* clang-format off */
#define PCAP_FUNCTIONS(F)                                               \
	F(pcap_close) F(pcap_dump) F(pcap_dump_close) F(pcap_dump_file) \
	F(pcap_dump_flush) F(pcap_dump_open) F(pcap_geterr)             \
	F(pcap_open_dead_with_tstamp_precision)
/* clang-format on */

/* Its functions under their own names; of no use without @library. */
struct libpcap {
	void *library;
#define PCAP_POINTER(name) __typeof__(name) *name;
	PCAP_FUNCTIONS(PCAP_POINTER)
#undef PCAP_POINTER
};

/* 0, or -1: dlerror() says why not. */
int libpcap_load(struct libpcap *pcap);

#endif
