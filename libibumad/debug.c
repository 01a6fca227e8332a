/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The functions of libibumad that print, as their manual pages require. No
 * other file of the library prints.
 *
 * Source: umad_debug(3), umad_dump(3), umad_addr_dump(3) of rdma-core.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/umad.h>

#include "base/error.h"
#include "base/registry.h"
#include "libibumad/debug.h"

enum { DEBUG_FAILURES = 1, DEBUG_PACKETS = 2 };

int umad_debug(int level)
{
	return ibsa__registry_debug(level);
}

void ibsa__umad_debug_print(int result, const char *format, ...)
{
	char text[256];
	va_list args;

	if (umad_debug(-1) < DEBUG_FAILURES)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (result < 0)
		fprintf(stderr, "ibwarn: [%d] %s: %s\n", getpid(), text,
			ibsa__errno_text(-result).bytes);
	else
		fprintf(stderr, "ibwarn: [%d] %s: %d\n", getpid(), text,
			result);
}

void ibsa__umad_debug_packet(void *umad)
{
	if (umad_debug(-1) >= DEBUG_PACKETS)
		umad_dump(umad);
}

void umad_addr_dump(ib_mad_addr_t *addr)
{
	char gid[2 * sizeof(addr->gid) + 1];

	for (size_t i = 0; i < sizeof(addr->gid); i++)
		snprintf(gid + 2 * i, 3, "%02x", addr->gid[i]);
	fprintf(stderr,
		"ibwarn: [%d] umad_addr_dump: "
		"qpn %u qkey 0x%x lid %u sl %u\n"
		"grh_present %u gid_index %u hop_limit %u traffic_class %u "
		"flow_label 0x%x pkey_index 0x%x\n"
		"Gid 0x%s\n",
		getpid(), be32toh(addr->qpn), be32toh(addr->qkey),
		be16toh(addr->lid), addr->sl, addr->grh_present,
		addr->gid_index, addr->hop_limit, addr->traffic_class,
		be32toh(addr->flow_label), addr->pkey_index, gid);
}

void umad_dump(void *umad)
{
	struct ib_user_mad *packet = umad;

	fprintf(stderr,
		"ibwarn: [%d] umad_dump: agent id %d status %x timeout %d\n",
		getpid(), (int)packet->agent_id, packet->status,
		(int)packet->timeout_ms);
	umad_addr_dump(&packet->addr);
}
