/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzzes the reader of partition files: it loads a file of any bytes, or
 * refuses it with a message; in both cases the first P_Key of a port can be
 * read afterwards.
 */
#include <stdlib.h>
#include <string.h>

#include <ibsa/types.h>
#include <ibsa/fabric.h>

#include "fabric/fabric/fabric.h"
#include "fabric/sa/partition.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char topology[] = "Switch 4 \"s\"\n"
			       "[1] \"a\"[1]\n"
			       "[2] \"b\"[1]\n"
			       "Ca 1 \"a\"\n"
			       "Ca 1 \"b\"\n";

static void check_pkeys(struct ibsa_fabric *fabric)
{
	struct ibsa_transport *transport;
	uint16_t pkey;

	if (ibsa_fabric_attach(fabric, "b", 0, &transport))
		abort();
	if (transport->ops->pkey(transport, 0, &pkey))
		abort();
	transport->ops->close(transport);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct ibsa_fabric_options options = { .virtual_clock = true };
	struct ibsa_error error = { "" };
	struct ibsa_fabric *fabric;
	int err;

	if (ibsa_fabric_parse(topology, sizeof(topology) - 1, &options, NULL,
			      &fabric))
		abort();
	err = ibsa__partitions_parse(&fabric->first.sa, "file",
				     (const char *)data, size, &error);
	if (!err != !error.text[0] || (err && !strstr(error.text, "file:")))
		abort();
	check_pkeys(fabric);
	ibsa_fabric_put(fabric);
	return 0;
}
