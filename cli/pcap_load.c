/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Loads libpcap when it is needed. */
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "pcap_load.h"

/* Load libpcap by Debian's soname, or else by libpcap's own. */
static void *open_library(void)
{
	void *library = dlopen("libpcap.so.0.8", RTLD_NOW | RTLD_LOCAL);

	return library ? library
		       : dlopen("libpcap.so.1", RTLD_NOW | RTLD_LOCAL);
}

int libpcap_load(struct libpcap *pcap)
{
	static const struct {
		const char *name;
		size_t at;
	} functions[] = {
#define ROW(name) { #name, offsetof(struct libpcap, name) },
		PCAP_FUNCTIONS(ROW)
#undef ROW
	};

	pcap->library = open_library();
	if (!pcap->library)
		return -1;
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *function = dlsym(pcap->library, functions[i].name);

		if (!function)
			return -1;
		memcpy((char *)pcap + functions[i].at, &function,
		       sizeof(function));
	}
	return 0;
}
