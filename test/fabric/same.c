/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sends the same random requests to OpenSM and to the embedded SA, for the same
 * fabric, and compares the answers.
 *
 * Run by same.sh on "host-r3 mlx5_0"; arguments: topology file, number of
 * requests, seed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibsa/records.h>
#include <ibsa/types.h>
#include <ibsa/fabric.h>

#include "base/random.h"
#include "test/support/device_now.h"
#include "test/support/port_links.h"
#include "umad_dev/umad.h"
#include "wire/mad.h"

#define PREFIX UINT64_C(0xfec0000000001234)

enum {
	WAIT_MS = 4000,
	ANSWER_BYTES = 1 << 20,
	PORT_INFO = 0x0012,
	PATH = 0x0035,
	MCMEMBER = 0x0038,
};

static struct random dice = { 1 };
/* The last requests of a run let the SA assign GUIDs. */
static bool is_late;
static struct ibsa_transport *opensm;
static struct ibsa_transport *embedded;

static unsigned int roll(unsigned int odds)
{
	return (unsigned int)random_below(&dice, odds);
}

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "%s\n", what);
	exit(1);
}

static void put_header(uint8_t *mad, uint8_t method, uint16_t attribute,
		       uint64_t mask)
{
	static uint32_t tid = 0x2c000000;
	const struct ibsa_sa_header header = {
		.base_version = 1,
		.mgmt_class = IBSA_CLASS_SA,
		.class_version = IBSA_CLASS_VERSION,
		.method = method,
		.transaction_id = ++tid,
		.attribute_id = attribute,
		.component_mask = mask,
	};

	if (ibsa_record_encode(&ibsa_sa_header_record, &header, sizeof(header),
			       mad, 56))
		die("a header that does not fit");
}

/*
 * Send a request and copy the answer. Return: the answer's length; 0: there
 * was none.
 */
static size_t exchange(struct ibsa_transport *transport, const uint8_t *mad,
		       uint8_t *out)
{
	const struct ibsa_address to = { .lid = 1, .qpn = IBSA_QPN_GSI };
	const uint64_t end = transport->ops->now_ns(transport) +
			     UINT64_C(1000000) * WAIT_MS;
	struct ibsa_message message;

	if (transport->ops->send(transport, &to, mad, IBSA_MAD_BYTES, WAIT_MS))
		die("cannot send");
	while (transport->ops->now_ns(transport) < end) {
		if (transport->ops->recv(transport, &message) != 1) {
			transport->ops->wait(transport, WAIT_MS);
			continue;
		}
		if (message.err)
			return 0;
		if (message.len < 56 ||
		    memcmp(message.mad + MAD_TID_LOW, mad + MAD_TID_LOW, 4))
			continue;
		memcpy(out, message.mad, message.len);
		return message.len;
	}
	return 0;
}

/* OpenSM on a little-endian machine swaps a group's flow label in a path. */
static void level_paths(uint8_t *mad, size_t len)
{
	for (size_t at = 56; at + 64 <= len; at += 64) {
		if (mad[at + 8] == 0xff)
			memset(mad + at + 44, 0, 3);
	}
}

/*
 * On a little-endian machine, OpenSM has ProxyJoin in the wrong bit of its
 * byte.
 */
static void level_members(uint8_t *mad, size_t len)
{
	for (size_t at = 56; at + 56 <= len; at += 56) {
		if (mad[at + 49] == 0x01)
			mad[at + 49] = 0x80;
	}
}

static void level_ports(uint8_t *mad, size_t len)
{
	for (size_t at = 56; at + 72 <= len; at += 72)
		port_links_clear(mad + at);
}

/*
 * Clear what may differ: the upper half of the transaction ID and the RMPP
 * header, which belong to the transport; and where OpenSM deviates from the
 * specification.
 */
static void level(uint8_t *mad, size_t len)
{
	memset(mad + MAD_TID, 0, 4);
	memset(mad + MAD_RMPP_VERSION, 0, 12);
	if (ibsa_be16(mad + MAD_STATUS))
		return;
	if (ibsa_be16(mad + MAD_ATTRIBUTE) == PATH)
		level_paths(mad, len);
	if (ibsa_be16(mad + MAD_ATTRIBUTE) == MCMEMBER)
		level_members(mad, len);
	if (ibsa_be16(mad + MAD_ATTRIBUTE) == PORT_INFO)
		level_ports(mad, len);
}

static void print_hex(const char *name, const uint8_t *bytes, size_t len)
{
	fprintf(stderr, "%s (%zu):", name, len);
	for (size_t i = 0; i < len && i < 1024; i++)
		fprintf(stderr, "%s%02x", i % 32 ? "" : "\n\t", bytes[i]);
	fprintf(stderr, "\n");
}

/* Return: whether the answers differ. */
static int compare(const uint8_t *mad)
{
	static uint8_t theirs[ANSWER_BYTES];
	static uint8_t ours[ANSWER_BYTES];
	const size_t their_len = exchange(opensm, mad, theirs);
	const size_t our_len = exchange(embedded, mad, ours);

	level(theirs, their_len);
	level(ours, our_len);
	if (their_len == our_len && !memcmp(theirs, ours, our_len))
		return 0;
	print_hex("request", mad, IBSA_MAD_BYTES);
	print_hex("OpenSM", theirs, their_len);
	print_hex("embedded", ours, our_len);
	return 1;
}

/*
 * Return: a random alias GUID; all have the same order by the first byte and
 * by the last.
 */
static uint64_t an_alias(void)
{
	return UINT64_C(0x8f10403980a51) + roll(6);
}

/* Return: the GUID of an end port; sometimes an alias or an unused GUID. */
static uint64_t a_guid(void)
{
	static const uint64_t guids[] = {
		UINT64_C(0x8f10400411a02), UINT64_C(0x8f10400522b02),
		UINT64_C(0x8f10403980011), UINT64_C(0x8f10403980021),
		UINT64_C(0x8f10403980031), UINT64_C(0x8f10403980042),
		UINT64_C(0xdeadbeef),
	};

	return roll(5) ? guids[roll(7)] : an_alias();
}

/*
 * Return: the MGID of a group; some of these groups cannot be created. There
 * are few, so that MGIDs repeat.
 */
static struct ibsa_gid an_mgid(void)
{
	static const struct ibsa_gid gids[] = {
		{ { 0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, [12] = 0xff, 0xff, 0xff,
		    0xff } },
		{ { 0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, [12] = 0xe0, 0, 0,
		    1 } },
		{ { 0xff, 0x12, 0x60, 0x1b, 0xff, 0xff, [11] = 1, 0xff, 0x98, 0,
		    0x31 } },
		{ { 0xff, 0x15, 0x40, 0x1b, 0xff, 0xff, [15] = 1 } },
		{ { 0xff, 0x15, 0x40, 0x1b, 0xff, 0xff, [12] = 0xff, 0xff, 0xff,
		    0xff } },
		{ { 0xff, 0x12, 0x40, 0x1b, 0x80, 0x01, [15] = 1 } },
		{ { 0xff, 0x12, 0x12, 0x34, [15] = 1 } },
		{ { 0xff, 0x0e, 0x12, 0x34, [15] = 2 } },
		{ { 0xff, 0x05, 0xa0, 0x1b, [15] = 3 } },
		{ { 0xff, 0x12, 0xa0, 0x1b, [15] = 3 } },
		{ { 0xff, 0x32, 0x12, 0x34, [15] = 4 } },
		{ { 0xfe, 0x12, 0x12, 0x34, [15] = 5 } },
		{ { 0xff, 0x12, 0xa0, 0x1b, 0xfe, 0xc0, [10] = 1 } },
	};
	const unsigned int count = sizeof(gids) / sizeof(gids[0]);

	if (!roll(40))
		return (struct ibsa_gid){ { 0 } };
	return roll(2) ? gids[roll(count)] : gids[roll(8)];
}

static struct ibsa_gid a_gid(void)
{
	static const uint64_t prefixes[] = { PREFIX,
					     PREFIX,
					     PREFIX,
					     PREFIX,
					     UINT64_C(0xfe80000000000000),
					     UINT64_C(0x2000000000000000) };
	struct ibsa_gid gid;

	ibsa_put_be64(gid.raw, prefixes[roll(6)]);
	ibsa_put_be64(gid.raw + 8, a_guid());
	return gid;
}

static uint8_t a_method(void)
{
	return roll(2) ? IBSA_METHOD_GET : IBSA_METHOD_GET_TABLE;
}

/* Return: random bits of @mask, each with a probability of 1 / @odds. */
static uint64_t some_of(uint64_t mask, unsigned int odds)
{
	uint64_t some = 0;

	for (unsigned int bit = 0; bit < 64; bit++) {
		if (mask >> bit & 1 && !roll(odds))
			some |= UINT64_C(1) << bit;
	}
	return some;
}

/*
 * Avoid two deviations of OpenSM. If a Get has one LID and nothing else about
 * the ends, and that port has aliases, OpenSM finds too many paths. And it
 * sorts assigned GUIDs as numbers in the reverse byte order.
 */
static uint64_t add_ends(uint8_t method, uint64_t mask)
{
	const uint64_t gids = IBSA_PATH_CM(sgid) | IBSA_PATH_CM(dgid);
	const uint64_t lids = IBSA_PATH_CM(slid) | IBSA_PATH_CM(dlid);

	if (is_late)
		return mask | gids;
	if (method == IBSA_METHOD_GET && !(mask & gids) && mask & lids)
		return mask | lids;
	return mask;
}

static uint64_t path_mask(uint8_t method)
{
	const uint64_t ends = IBSA_PATH_CM(sgid) | IBSA_PATH_CM(dgid) |
			      IBSA_PATH_CM(slid) | IBSA_PATH_CM(dlid);
	uint64_t mask = some_of(ends, 2) |
			some_of(ibsa_path_record.mask & ~ends, 6);

	/*
	 * A selector without its value is a valid request, but should be rare.
	 */
	if (mask & IBSA_PATH_CM(mtu))
		mask |= IBSA_PATH_CM(mtu_selector);
	if (mask & IBSA_PATH_CM(rate))
		mask |= IBSA_PATH_CM(rate_selector);
	if (mask & IBSA_PATH_CM(packet_life_time))
		mask |= IBSA_PATH_CM(packet_life_time_selector);
	return add_ends(method, mask);
}

static int path_request(void)
{
	const uint8_t method = a_method();
	const uint64_t mask = path_mask(method);
	const struct ibsa_path path = {
		.service_id = roll(3),
		.dgid = roll(6) ? a_gid() : an_mgid(),
		.sgid = a_gid(),
		.dlid = (uint16_t)roll(8),
		.slid = (uint16_t)roll(8),
		.raw_traffic = !roll(8),
		.flow_label = roll(2),
		.hop_limit = (uint8_t)roll(2),
		.tclass = (uint8_t)roll(3),
		.reversible = (uint8_t)roll(2),
		.numb_path = (uint8_t)roll(4),
		.pkey = roll(2) ? 0xffff : 0x7fff,
		.qos_class = (uint16_t)roll(2),
		.sl = (uint8_t)roll(3),
		.mtu_selector = (uint8_t)roll(4),
		.mtu = (uint8_t)roll(7),
		.rate_selector = (uint8_t)roll(4),
		.rate = (uint8_t)roll(19),
		.packet_life_time_selector = (uint8_t)roll(4),
		.packet_life_time = (uint8_t)(16 + roll(4)),
		.preference = (uint8_t)roll(2),
	};
	uint8_t mad[IBSA_MAD_BYTES] = { 0 };

	put_header(mad, method, PATH, mask);
	if (ibsa_record_encode(&ibsa_path_record, &path, sizeof(path),
			       mad + IBSA_SA_HEADER_BYTES, 200))
		die("a path that does not fit");
	return compare(mad);
}

/* Make a request that selects by some fields of an existing record. */
static int record_request(const struct ibsa_record *record, uint64_t mask)
{
	static uint8_t all[ANSWER_BYTES];
	uint8_t mad[IBSA_MAD_BYTES] = { 0 };
	size_t stride;
	size_t len;

	put_header(mad, IBSA_METHOD_GET_TABLE, record->attribute, 0);
	len = exchange(embedded, mad, all);
	stride = 8 * IBSA_GET(sa_header, attribute_offset, all);
	put_header(mad, a_method(), record->attribute, some_of(mask, 10));
	memcpy(mad + IBSA_SA_HEADER_BYTES,
	       all + 56 + stride * roll((unsigned int)((len - 56) / stride)),
	       record->size);
	if (roll(2))
		mad[MAD_MODIFIER] = 0x80;
	return compare(mad);
}

/*
 * Return a join state. It never makes one port both a full member and a
 * send-only full member: if one of these two memberships ends, OpenSM counts
 * wrongly, and keeps an empty group.
 */
static uint8_t a_join_state(uint64_t guid)
{
	static const uint8_t full[] = { 1, 8 };
	const uint8_t states = (uint8_t)roll(16);

	return roll(2) ? full[guid & 1] : states & ~full[!(guid & 1)];
}

static uint64_t group_mask(uint8_t method)
{
	const uint64_t members = IBSA_MCMEMBER_CM(mgid) |
				 IBSA_MCMEMBER_CM(port_gid) |
				 IBSA_MCMEMBER_CM(join_state);
	const uint64_t groups = IBSA_MCMEMBER_CM(qkey) |
				IBSA_MCMEMBER_CM(tclass) |
				IBSA_MCMEMBER_CM(pkey) |
				IBSA_MCMEMBER_CM(flow_label) |
				IBSA_MCMEMBER_CM(sl);
	/* ProxyJoin: see level_members(). */
	const uint64_t others = ibsa_mcmember_record.mask & ~members & ~groups &
				~IBSA_MCMEMBER_CM(proxy_join);
	const bool is_change = method == IBSA_METHOD_SET ||
			       method == IBSA_METHOD_DELETE;
	uint64_t mask = some_of(others, 6);

	mask |= roll(20) && is_change ? members : some_of(members, 2);
	mask |= roll(8) && method == IBSA_METHOD_SET ? groups
						     : some_of(groups, 8);
	return mask;
}

static int group_request(void)
{
	static const uint16_t pkeys[] = { 0x7fff, 0, 0x8001, 0x8000 };
	static const uint8_t methods[] = { IBSA_METHOD_SET, IBSA_METHOD_SET,
					   IBSA_METHOD_DELETE, IBSA_METHOD_GET,
					   IBSA_METHOD_GET_TABLE };
	const uint8_t method = methods[roll(5)];
	struct ibsa_mcmember group = {
		.mgid = an_mgid(),
		.port_gid = a_gid(),
		.qkey = roll(8) ? 0x0b1b : 1,
		.mlid = roll(4) ? 0 : (uint16_t)(0xbffe + roll(12)),
		.mtu_selector = (uint8_t)roll(4),
		.mtu = (uint8_t)roll(7),
		.tclass = !roll(12),
		.pkey = roll(8) ? 0xffff : pkeys[roll(4)],
		.rate_selector = (uint8_t)roll(4),
		.rate = (uint8_t)(2 + roll(21)),
		.packet_life_time_selector = (uint8_t)roll(4),
		.packet_life_time = (uint8_t)(16 + roll(4)),
		.sl = !roll(12),
		.flow_label = roll(12) ? 0 : 0x1234,
		.hop_limit = !roll(4),
		.scope = roll(4) ? 2 : 5,
	};
	uint8_t mad[IBSA_MAD_BYTES] = { 0 };

	if (roll(3))
		ibsa_put_be64(group.port_gid.raw + 8,
			      UINT64_C(0x8f10403980031));
	group.join_state = a_join_state(ibsa_be64(group.port_gid.raw + 8));
	put_header(mad, method, MCMEMBER, group_mask(method));
	if (ibsa_record_encode(&ibsa_mcmember_record, &group, sizeof(group),
			       mad + IBSA_SA_HEADER_BYTES, 200))
		die("a group that does not fit");
	ibsa_put_be64(mad + MAD_SM_KEY, !roll(3));
	return compare(mad);
}

/*
 * Return an alias GUID, sometimes a GUID that is in use, and near the end of
 * the test also 0, for which the SA chooses a GUID.
 */
static uint64_t a_guid_to_set(void)
{
	if (is_late && !roll(2))
		return 0;
	return roll(6) ? an_alias() : UINT64_C(0x8f10403980021);
}

static int guid_request(void)
{
	static const uint8_t methods[] = { IBSA_METHOD_SET, IBSA_METHOD_DELETE,
					   IBSA_METHOD_GET,
					   IBSA_METHOD_GET_TABLE };
	const uint64_t position = IBSA_GUID_INFO_CM(lid) |
				  IBSA_GUID_INFO_CM(block_num);
	const uint8_t method = methods[roll(4)];
	const bool is_change = method == IBSA_METHOD_SET ||
			       method == IBSA_METHOD_DELETE;
	struct ibsa_guid_info info = {
		.lid = (uint16_t)roll(9),
		.block_num = (uint8_t)(roll(12) ? roll(5) : 255),
	};
	uint64_t mask = roll(10) ? position : some_of(position, 2);
	uint8_t mad[IBSA_MAD_BYTES] = { 0 };

	mask |= some_of(ibsa_guid_info_record.mask & ~position,
			is_change ? 4 : 20);
	/*
	 * The SA refuses a request that selects the first GUID of a block: such
	 * requests should be rare.
	 */
	if (roll(4))
		mask &= ~IBSA_GUID_INFO_CM(guid);
	for (int i = 0; is_change && i < 8; i++)
		info.guid[i] = a_guid_to_set();
	if (!is_change)
		info.guid[0] = roll(2) ? 0 : UINT64_C(0x8f10403980031);
	put_header(mad, method, 0x0030, mask);
	if (ibsa_record_encode(&ibsa_guid_info_record, &info, sizeof(info),
			       mad + IBSA_SA_HEADER_BYTES, 200))
		die("GUIDs that do not fit");
	return compare(mad);
}

static int service_request(void)
{
	static const uint8_t methods[] = { IBSA_METHOD_SET, IBSA_METHOD_DELETE,
					   IBSA_METHOD_GET,
					   IBSA_METHOD_GET_TABLE };
	struct ibsa_service service = {
		.service_id = roll(3),
		.service_gid = a_gid(),
		.service_pkey = roll(2) ? 0xffff : 0,
		.service_lease = 1000,
		.service_key = { (uint8_t)roll(2) },
		.service_name = "disk",
		.service_data8 = { (uint8_t)roll(2) },
		.service_data16 = { (uint16_t)roll(2) },
		.service_data32 = { roll(2) },
		.service_data64 = { roll(2), roll(2) },
	};
	const uint8_t method = methods[roll(4)];
	uint8_t mad[IBSA_MAD_BYTES] = { 0 };

	service.service_name[4] = roll(2) ? '1' : 0;
	put_header(mad, method, 0x0031,
		   some_of(ibsa_service_record.mask,
			   method == IBSA_METHOD_SET ? 2 : 8));
	if (ibsa_record_encode(&ibsa_service_record, &service, sizeof(service),
			       mad + IBSA_SA_HEADER_BYTES, 200))
		die("a service that does not fit");
	ibsa_put_be64(mad + MAD_SM_KEY, !roll(4));
	return compare(mad);
}

/*
 * Make a request for InformInfoRecords with some fields selected. Of these,
 * only the subscriber's GID and the number select subscriptions.
 */
static int inform_record_request(void)
{
	const struct ibsa_inform_info_rec want = {
		.subscriber_gid = a_gid(),
		.subscriber_enum = (uint16_t)!roll(4),
		.lid_range_begin = (uint16_t)roll(9),
		.trap_number = (uint16_t)(64 + roll(2)),
	};
	uint8_t mad[IBSA_MAD_BYTES] = { 0 };

	put_header(mad, roll(3) ? IBSA_METHOD_GET_TABLE : IBSA_METHOD_GET,
		   0x00f3, some_of(ibsa_inform_info_rec_record.mask, 6));
	if (ibsa_record_encode(&ibsa_inform_info_rec_record, &want,
			       sizeof(want), mad + IBSA_SA_HEADER_BYTES, 200))
		die("a record that does not fit");
	ibsa_put_be64(mad + MAD_SM_KEY, !roll(3));
	return compare(mad);
}

static int inform_request(void)
{
	const struct ibsa_inform_info info = {
		.gid = roll(2) ? (struct ibsa_gid){ { 0 } } : a_gid(),
		.lid_range_begin = roll(2) ? 0xffff : (uint16_t)roll(9),
		.lid_range_end = (uint16_t)(roll(2) ? roll(9) : roll(65536)),
		.is_generic = (uint8_t)roll(3),
		.subscribe = (uint8_t)(roll(9) / 4),
		.type = (uint16_t)(roll(4) ? 3 : 0xffff),
		.trap_number = (uint16_t)(roll(4) ? 64 + roll(2) : 257),
		.qpn = roll(2),
		.resp_time_value = (uint8_t)(19 + !roll(8)),
		.producer_type = roll(4) ? 4 : 0xffffff,
	};
	uint8_t mad[IBSA_MAD_BYTES] = { 0 };

	if (!roll(3))
		return inform_record_request();
	put_header(mad, IBSA_METHOD_SET, 0x0003,
		   some_of(ibsa_inform_info_record.mask, 2));
	if (ibsa_record_encode(&ibsa_inform_info_record, &info, sizeof(info),
			       mad + IBSA_SA_HEADER_BYTES, 200))
		die("a subscription that does not fit");
	ibsa_put_be64(mad + MAD_SM_KEY, !roll(4));
	return compare(mad);
}

static int any_request(void)
{
	/* OpenSM searches the port by EndportLID before the LID in PortInfo. */
	const uint64_t port_mask = ibsa_port_info_record.mask &
				   ~(IBSA_PORT_INFO_CM(lid) |
				     port_links_mask());

	switch (roll(16)) {
	case 0:
		return record_request(&ibsa_node_record, ibsa_node_record.mask);
	case 1:
		return record_request(&ibsa_port_info_record, port_mask);
	case 2:
		return group_request();
	case 3:
	case 4:
		return service_request();
	case 5:
		return inform_request();
	case 6:
	case 7:
	case 8:
	case 9:
		return group_request();
	case 10:
	case 11:
		return guid_request();
	default:
		return path_request();
	}
}

static void start(const char *topology)
{
	const struct ibsa_fabric_options options = { .virtual_clock = true,
						     .gid_prefix = PREFIX };
	struct ibsa_fabric *fabric;
	struct ibsa_error error;

	if (ibsa_fabric_load(topology, &options, &error, &fabric) ||
	    now_umad_open(NULL, 0, ANSWER_BYTES, &error, &opensm))
		die(error.text);
	if (ibsa_fabric_attach(fabric, "host-r3 mlx5_0", 0, &embedded))
		die("cannot attach");
	ibsa_fabric_put(fabric);
}

int main(int argc, char **argv)
{
	int count = argc > 2 ? atoi(argv[2]) : 0;
	int differ = 0;

	if (argc < 4)
		die("usage: sim-same TOPOLOGY COUNT SEED");
	dice.state = strtoull(argv[3], NULL, 0);
	start(argv[1]);
	for (int i = 0; i < count && differ < 20; i++) {
		is_late = i >= count / 8 * 7;
		differ += any_request();
	}
	embedded->ops->close(embedded);
	opensm->ops->close(opensm);
	printf("seed %s: %d questions, %d answers differ\n", argv[3], count,
	       differ);
	return differ ? EXIT_FAILURE : EXIT_SUCCESS;
}
