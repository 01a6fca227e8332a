/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Loads libpcap when it is needed. The soname of libpcap is libpcap.so.0.8 in
 * Debian, and libpcap.so.1 in other distributions.
 */
#include "base/library_load.h"
#include "session/pcap_load.h"

int libpcap_load(struct libpcap *pcap)
{
	static const struct library_function functions[] = {
#define ROW(name) { #name, offsetof(struct libpcap, name) },
		PCAP_FUNCTIONS(ROW)
#undef ROW
	};

	pcap->library =
		library_load("libpcap.so.0.8", "libpcap.so.1", functions,
			     sizeof(functions) / sizeof(functions[0]), pcap);
	return pcap->library ? 0 : -1;
}
