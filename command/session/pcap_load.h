/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Loads libpcap and its functions that the command calls. libpcap is loaded
 * only when it is needed, because libpcap loads a dozen other libraries, which
 * queries do not need.
 */
#ifndef COMMAND_PCAP_LOAD_H
#define COMMAND_PCAP_LOAD_H

#include <pcap/pcap.h>

/* clang-format off */
#define PCAP_FUNCTIONS(F)                                               \
	F(pcap_close) F(pcap_dump) F(pcap_dump_close) F(pcap_dump_file) \
	F(pcap_dump_flush) F(pcap_dump_open) F(pcap_geterr)             \
	F(pcap_open_dead_with_tstamp_precision)
/* clang-format on */

/*
 * The functions of libpcap under their own names; valid if @library is not
 * NULL.
 */
struct libpcap {
	void *library;
#define PCAP_POINTER(name) __typeof__(name) *name;
	PCAP_FUNCTIONS(PCAP_POINTER)
#undef PCAP_POINTER
};

/* Load libpcap. Return: 0; or -1, and dlerror() returns the reason. */
int libpcap_load(struct libpcap *pcap);

#endif
