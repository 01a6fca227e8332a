/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Any text as a topology: refused with a sentence, or a whole fabric. */
#include <stdlib.h>
#include <string.h>

#include <ibsa/sim.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What was read can be walked over and opened. */
static void use(struct ibsa_fabric *fabric)
{
	struct ibsa_fabric_port port;
	struct ibsa_fabric_info info;
	struct ibsa_transport *transport;

	ibsa_fabric_info_get(fabric, &info);
	for (size_t i = 0; !ibsa_fabric_port_at(fabric, i, &port); i++) {
		if (!port.node[0] || port.state.lid > 0xbfff)
			abort();
	}
	if (info.lids < 1 || info.nodes < info.adapters + info.switches)
		abort();
	if (!ibsa_fabric_attach(fabric, NULL, 0, &transport))
		transport->ops->close(transport);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct ibsa_fabric_options options = { .virtual_clock = true };
	struct ibsa_error error = { "" };
	struct ibsa_fabric *fabric;

	if (ibsa_fabric_parse((const char *)data, size, &options, &error,
			      &fabric)) {
		if (!error.text[0])
			abort();
		return 0;
	}
	use(fabric);
	ibsa_fabric_put(fabric);
	return 0;
}
