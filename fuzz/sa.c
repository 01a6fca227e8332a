/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sends arbitrary bytes as requests to the SA of a small fabric. Each message
 * that the SA sends must be whole: a MAD, or a table of whole records. The
 * input is cut into MADs, so that a request can depend on earlier requests.
 * After each request, the link of a port is set up or down; the SA reports
 * changes to subscribers.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <ibsa/records.h>
#include <ibsa/types.h>
#include <ibsa/fabric.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INFORM_INFO = 0x0003 };

static const char topology[] = "Switch 4 \"s\"\n"
			       "[1] \"a\"[1]\n"
			       "[2] \"b\"[1] # 4xEDR\n"
			       "[3] \"r\"[1]\n"
			       "Ca 1 \"a\"\n"
			       "Ca 2 \"b\"\n"
			       "[1] \"s\"[2] # lid 8 lmc 1\n"
			       "Rt 1 \"r\"\n";

/*
 * Whether the answer came by RMPP and may be longer than a MAD: a table of
 * records, or the answer to a request that came by RMPP.
 */
static bool is_table(const uint8_t *mad)
{
	const uint64_t method = IBSA_GET(sa_header, method, mad);

	return method == IBSA_METHOD_GET_TABLE_RESP ||
	       IBSA_GET(sa_header, rmpp_flags, mad) & 1;
}

static void check(const struct ibsa_message *answer)
{
	const uint8_t *mad = answer->mad;
	const uint64_t method = IBSA_GET(sa_header, method, mad);
	uint64_t stride;

	if (method == IBSA_METHOD_REPORT && answer->len == IBSA_MAD_BYTES)
		return;
	if (answer->len < IBSA_SA_HEADER_BYTES || !(method & 0x80))
		abort();
	if (!is_table(mad) && answer->len != IBSA_MAD_BYTES)
		abort();
	if (answer->len == IBSA_MAD_BYTES ||
	    answer->len == IBSA_SA_HEADER_BYTES)
		return;
	/* For an InformInfo of 36 bytes, OpenSM and the embedded SA state an
	 * AttributeOffset of 4 words. The reply has one InformInfo at most. */
	if (IBSA_GET(sa_header, attribute_id, mad) == INFORM_INFO)
		return;
	stride = 8 * IBSA_GET(sa_header, attribute_offset, mad);
	if (!stride || (answer->len - IBSA_SA_HEADER_BYTES) % stride)
		abort();
}

static void request_send(struct ibsa_transport *transport, const uint8_t *mad,
			 size_t len)
{
	struct ibsa_address sa = { .qpn = IBSA_QPN_GSI };
	struct ibsa_message answer;
	struct ibsa_port_state port;

	if (transport->ops->port(transport, &port, sizeof(port)))
		abort();
	sa.lid = port.sm_lid;
	if (transport->ops->send(transport, &sa, mad, len, 0))
		return;
	while (transport->ops->recv(transport, &answer) == 1)
		check(&answer);
}

/*
 * Set the link and the capability mask of a port, as the input says, and let
 * time pass. Subscribers are notified of changes.
 */
static void disturb(struct ibsa_fabric *fabric, uint8_t how)
{
	const struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_LINK | IBSA_CHANGE_CAPABILITIES,
		.link_up = how & 1,
		.capability_mask = how,
	};

	if (ibsa_fabric_port_set(fabric, "b", 1, &change) ||
	    ibsa_fabric_advance(fabric, how * UINT64_C(1000000)))
		abort();
}

static void requests_send(const struct ibsa_fabric_options *options,
			  const uint8_t *data, size_t size)
{
	struct ibsa_transport *transport;
	struct ibsa_fabric *fabric;

	if (ibsa_fabric_parse(topology, sizeof(topology) - 1, options, NULL,
			      &fabric))
		abort();
	if (ibsa_fabric_attach(fabric, "a", 0, &transport) ||
	    transport->ops->listen(transport, true))
		abort();
	while (size) {
		const size_t len = size < IBSA_MAD_BYTES ? size
							 : IBSA_MAD_BYTES;

		request_send(transport, data, len);
		disturb(fabric, data[0]);
		data += len;
		size -= len;
	}
	transport->ops->close(transport);
	ibsa_fabric_put(fabric);
}

/* Run the input on an InfiniBand fabric and on one with 32-bit LIDs. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct ibsa_fabric_options ib = { .virtual_clock = true };
	const struct ibsa_fabric_options opa = {
		.virtual_clock = true,
		.opa = true,
		.first_lid = 0x12345,
	};

	requests_send(&ib, data, size);
	requests_send(&opa, data, size);
	return 0;
}
