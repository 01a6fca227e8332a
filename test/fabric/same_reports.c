/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes the same changes in ibsim's fabric and in the embedded one, and
 * compares the Reports of OpenSM and of the embedded SA.
 *
 * Run by same_reports.sh on "host-r3 mlx5_0"; arguments: topology file, ibsim's
 * console. ibsim delivers Reports only to a client whose port has the IsSM bit,
 * so this program also answers as an inactive SM.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ibsa/records.h>
#include <ibsa/types.h>
#include <ibsa/fabric.h>

#include "base/clock.h"
#include "umad/header.h"
#include "wire/mad.h"

#define PREFIX UINT64_C(0xfec0000000001234)
#define OWN_GUID UINT64_C(0x0008f10403980031)
#define SM_KEY UINT64_C(1)

enum {
	CLASS_SMI = 0x01,
	CLASS_SMI_DIRECTED = 0x81,
	SETTLE_MS = 1000, /* time for OpenSM to query the SM that has come up */
	ANSWER_MS = 15000,
	MORE_MS = 400, /* later Reports belong to the next step */
	NOTICE_BYTES = 80,
	NOTICES_MAX = 16,
};

struct packet {
	struct umad_header header;
	uint8_t mad[IBSA_MAD_BYTES];
};

/* The Reports of one SA since the last comparison; all were answered. */
struct notices {
	uint32_t *next_id; /* lower half of the next transaction ID; 0: any */
	size_t count;
	int status; /* -1: no answer, or none is expected */
	uint8_t all[NOTICES_MAX][NOTICE_BYTES];
};

static int umad = -1;
static int issm = -1;
static uint32_t sa_agent;
static struct ibsa_fabric *fabric;
static struct ibsa_transport *embedded;
static uint32_t our_id = 0x02dab001;
static uint32_t their_id = 0x02dab001;
static const struct ibsa_address sa = { .lid = 1, .qpn = IBSA_QPN_GSI };

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "%s\n", what);
	exit(1);
}

static uint32_t agent(uint8_t class, uint8_t version, uint32_t methods)
{
	struct umad_agent_request request = {
		.method_mask = { methods },
		.qpn = class == IBSA_CLASS_SA ? IBSA_QPN_GSI : 0,
		.mgmt_class = class,
		.mgmt_class_version = version,
	};

	if (ioctl(umad, UMAD_REGISTER_AGENT, &request) < 0)
		die("no agent");
	return request.id;
}

static void open_umad(void)
{
	umad = open("/dev/infiniband/umad0", O_RDWR);
	if (umad < 0 || ioctl(umad, UMAD_ENABLE_PKEY, NULL) < 0)
		die("no umad0");
	(void)agent(CLASS_SMI_DIRECTED, 1, 0);
	(void)agent(CLASS_SMI, 1, 0);
	sa_agent = agent(IBSA_CLASS_SA, IBSA_CLASS_VERSION,
			 1 << IBSA_METHOD_REPORT);
	/*
	 * Set the IsSM bit only now: ibsim's client crashes if it receives MADs
	 * of a class without an agent.
	 */
	issm = open("/dev/infiniband/issm0", O_RDWR);
	if (issm < 0)
		die("no issm0");
}

static void write_packet(const struct packet *packet)
{
	if (write(umad, packet, sizeof(*packet)) != sizeof(*packet))
		die("cannot write");
}

static void send_real(const uint8_t *mad)
{
	struct packet packet = { .header = { .id = sa_agent } };

	if (umad_header_address_put(&packet.header, &sa))
		die("no address");
	if (!(mad[MAD_METHOD] & 0x80))
		packet.header.timeout_ms = ANSWER_MS;
	memcpy(packet.mad, mad, sizeof(packet.mad));
	write_packet(&packet);
}

/* Answer a Get of SMInfo as an inactive SM. IBA vol 1, 14.2.5.13. */
static void answer_sm(struct packet *packet)
{
	enum { DIRECTION = 0x80, DATA = 64 };
	uint8_t *mad = packet->mad;

	mad[MAD_METHOD] = IBSA_METHOD_GET_RESP;
	if (mad[MAD_CLASS] == CLASS_SMI_DIRECTED)
		mad[MAD_STATUS] |= DIRECTION;
	memset(mad + DATA, 0, 64);
	ibsa_put_be64(mad + DATA, OWN_GUID);
	ibsa_put_be64(mad + DATA + 8, SM_KEY);
	packet->header.timeout_ms = 0;
	write_packet(packet);
}

static void respond(uint8_t *mad, void (*send)(const uint8_t *mad))
{
	mad[MAD_METHOD] = IBSA_METHOD_REPORT_RESP;
	send(mad);
}

/*
 * Store a notice, and check that none was missed. OpenSM leaves undefined bytes
 * in the count and in unused details.
 */
static void notice_store(const uint8_t *mad, struct notices *out)
{
	const uint8_t *wire = mad + IBSA_SA_HEADER_BYTES;
	const uint64_t trap = IBSA_GET(notice, trap_number, wire);
	const uint32_t id = ibsa_be32(mad + MAD_TID_LOW);
	uint8_t *to = out->all[out->count];

	if (out->count == NOTICES_MAX)
		die("too many Reports");
	/* A retry, since the answer came late. */
	if (*out->next_id && *out->next_id == id + 1)
		return;
	if (*out->next_id && *out->next_id != id) {
		fprintf(stderr, "0x%08x, not 0x%08x: ", id, *out->next_id);
		die("a transaction id that does not follow");
	}
	*out->next_id = id + 1;
	memcpy(to, wire, 8);
	if (trap >= 64 && trap <= 67)
		memcpy(to + 16, wire + 16, 16);
	else
		memcpy(to + 10, wire + 10, 2);
	memcpy(to + 64, wire + 64, 16);
	out->count++;
}

/* Receive and process a MAD. Return: whether one came in time. */
static bool take_real(struct notices *out, int timeout_ms)
{
	struct pollfd fd = { .fd = umad, .events = POLLIN };
	struct packet packet;

	if (poll(&fd, 1, timeout_ms) != 1 ||
	    read(umad, &packet, sizeof(packet)) < UMAD_HEADER_BYTES)
		return false;
	if (packet.mad[MAD_CLASS] != IBSA_CLASS_SA) {
		answer_sm(&packet);
	} else if (packet.mad[MAD_METHOD] == IBSA_METHOD_REPORT) {
		notice_store(packet.mad, out);
		respond(packet.mad, send_real);
	} else if (packet.header.status) {
		die("OpenSM does not answer");
	} else {
		out->status = ibsa_be16(packet.mad + MAD_STATUS);
	}
	return true;
}

/*
 * Receive until @count Reports have come, the answer has come if @is_asked, and
 * no more Reports come.
 */
static void collect_real(struct notices *out, size_t count, bool is_asked)
{
	const uint64_t end_ns = clock_now_ns() + ANSWER_MS * NS_PER_MS;

	while (clock_now_ns() < end_ns) {
		const bool is_all = out->count >= count &&
				    (!is_asked || out->status >= 0);

		if (!take_real(out, is_all ? MORE_MS : 50) && is_all)
			break;
	}
}

static void send_embedded(const uint8_t *mad)
{
	/* A response has no reply. */
	const unsigned int timeout_ms = mad[MAD_METHOD] & 0x80 ? 0 : 1000;

	if (embedded->ops->send(embedded, &sa, mad, IBSA_MAD_BYTES, timeout_ms))
		die("cannot send");
}

static void collect_embedded(struct notices *out)
{
	struct ibsa_message message;
	uint8_t mad[IBSA_MAD_BYTES];

	while (embedded->ops->recv(embedded, &message) == 1) {
		/* A request has ended without a reply. */
		if (message.err)
			continue;
		memcpy(mad, message.mad, sizeof(mad));
		if (mad[MAD_METHOD] == IBSA_METHOD_REPORT) {
			notice_store(mad, out);
			respond(mad, send_embedded);
		} else {
			out->status = ibsa_be16(mad + MAD_STATUS);
		}
	}
}

static void print_notices(const char *who, const struct notices *notices)
{
	fprintf(stderr, "%s: status %#x\n", who, notices->status);
	for (size_t i = 0; i < notices->count; i++) {
		fprintf(stderr, "\t");
		for (int k = 0; k < NOTICE_BYTES; k++)
			fprintf(stderr, "%02x", notices->all[i][k]);
		fprintf(stderr, "\n");
	}
}

static int by_bytes(const void *a, const void *b)
{
	return memcmp(a, b, NOTICE_BYTES);
}

/* Return: whether they differ. */
static int compare(const char *what, bool is_asked, bool is_ordered)
{
	struct notices ours = { .next_id = &our_id, .status = -1 };
	struct notices theirs = { .next_id = &their_id, .status = -1 };

	collect_embedded(&ours);
	collect_real(&theirs, ours.count, is_asked);
	printf("%s: %zu Reports\n", what, theirs.count);
	if (!is_ordered) {
		qsort(ours.all, ours.count, NOTICE_BYTES, by_bytes);
		qsort(theirs.all, theirs.count, NOTICE_BYTES, by_bytes);
	}
	if (ours.count == theirs.count && ours.status == theirs.status &&
	    !memcmp(ours.all, theirs.all, sizeof(ours.all)))
		return 0;
	print_notices("OpenSM", &theirs);
	print_notices("embedded", &ours);
	return 1;
}

/* Send the same request to both. */
static int exchange(const char *what, uint8_t method,
		    const struct ibsa_record *record, const void *value,
		    uint64_t mask)
{
	static uint32_t tid = 0x2c000000;
	const struct ibsa_sa_header header = {
		.base_version = 1,
		.mgmt_class = IBSA_CLASS_SA,
		.class_version = IBSA_CLASS_VERSION,
		.method = method,
		.transaction_id = ++tid,
		.attribute_id = record->attribute,
		.component_mask = mask,
	};
	uint8_t mad[IBSA_MAD_BYTES] = { 0 };

	if (ibsa_record_encode(&ibsa_sa_header_record, &header, sizeof(header),
			       mad, 56) ||
	    ibsa_record_encode(record, value, record->host_size,
			       mad + IBSA_SA_HEADER_BYTES, 200))
		die("a request that does not fit");
	send_embedded(mad);
	send_real(mad);
	return compare(what, true, true);
}

static int subscribe(struct ibsa_inform_info info, bool is_begun)
{
	info.subscribe = is_begun;
	info.qpn = !is_begun;
	return exchange(is_begun ? "subscribe" : "unsubscribe", IBSA_METHOD_SET,
			&ibsa_inform_info_record, &info, 0);
}

static int change_group(uint8_t method, uint8_t number, uint8_t join_state)
{
	struct ibsa_mcmember member = {
		.mgid = { { 0xff, 0x12, 0x40, 0x1b, 0xff,
			    0xff, [15] = number } },
		.qkey = 0xb1b,
		.pkey = 0xffff,
		.join_state = join_state,
	};
	uint64_t mask = IBSA_MCMEMBER_CM(mgid) | IBSA_MCMEMBER_CM(port_gid) |
			IBSA_MCMEMBER_CM(join_state);

	ibsa_put_be64(member.port_gid.raw, PREFIX);
	ibsa_put_be64(member.port_gid.raw + 8, OWN_GUID);
	if (method == IBSA_METHOD_SET)
		mask |= IBSA_MCMEMBER_CM(qkey) | IBSA_MCMEMBER_CM(tclass) |
			IBSA_MCMEMBER_CM(pkey) | IBSA_MCMEMBER_CM(flow_label) |
			IBSA_MCMEMBER_CM(sl);
	return exchange(method == IBSA_METHOD_SET ? "join" : "leave", method,
			&ibsa_mcmember_record, &member, mask);
}

/* Change a cable, by ibsim's and our names of one end. */
static void set_link(int console, const char *id, unsigned int port, bool is_up)
{
	const struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_LINK,
		.link_up = is_up,
	};
	char line[128];
	const int len = snprintf(line, sizeof(line), "%s \"%s\"[%u]\n",
				 is_up ? "Relink" : "Unlink", id, port);

	if (write(console, line, (size_t)len) != len)
		die("no console");
	if (ibsa_fabric_port_set(fabric, id, port, &change))
		die("no such link");
}

static int flap(int console, const char *id, unsigned int port)
{
	int differ;

	set_link(console, id, port, false);
	differ = compare("link down", false, true);
	set_link(console, id, port, true);
	return differ + compare("link up", false, true);
}

/*
 * One of two links between switches. When it goes down, OpenSM's Reports may
 * use this link and be lost; when it comes up, either switch may send its trap
 * first.
 */
static int flap_switches(int console)
{
	static const char rack1[] = "S-0008f10400411a02";
	struct notices unheard = { .next_id = &our_id };
	struct notices none = { .next_id = &their_id };

	set_link(console, rack1, 23, false);
	collect_embedded(&unheard);
	collect_real(&none, 0, false);
	their_id = 0;
	set_link(console, rack1, 23, true);
	return compare("link between switches up", false, false);
}

static void start(const char *topology)
{
	const struct ibsa_fabric_options options = { .gid_prefix = PREFIX };
	struct notices none = { .next_id = &their_id };
	struct ibsa_error error;
	uint64_t end_ns;

	open_umad();
	if (ibsa_fabric_load(topology, &options, &error, &fabric))
		die(error.text);
	if (ibsa_fabric_attach(fabric, "host-r3 mlx5_0", 0, &embedded) ||
	    embedded->ops->listen(embedded, true))
		die("cannot attach");
	end_ns = clock_now_ns() + SETTLE_MS * NS_PER_MS;
	while (clock_now_ns() < end_ns)
		(void)take_real(&none, 50);
}

static int run(int console)
{
	const struct ibsa_inform_info everything = {
		.lid_range_begin = 0xffff,
		.is_generic = 1,
		.type = 0xffff,
		.trap_number = 0xffff,
		.resp_time_value = 19,
		.producer_type = 0xffffff,
	};
	struct ibsa_inform_info some = everything;
	int differ = subscribe(everything, true);

	differ += change_group(IBSA_METHOD_SET, 7, 1);
	differ += change_group(IBSA_METHOD_SET, 7, 4);
	differ += change_group(IBSA_METHOD_SET, 7, 8);
	differ += change_group(IBSA_METHOD_DELETE, 7, 4);
	differ += change_group(IBSA_METHOD_DELETE, 7, 9);
	differ += change_group(IBSA_METHOD_SET, 8, 8);
	differ += flap(console, "H-0008f10403980020", 1);
	differ += flap_switches(console);
	/*
	 * Subscribe to traps that the SM issues, by the SM's LID: first to all,
	 * then only to trap 65.
	 */
	some.lid_range_begin = 1;
	some.lid_range_end = 1;
	differ += subscribe(some, true);
	differ += flap(console, "H-0008f10403980040", 2);
	differ += change_group(IBSA_METHOD_DELETE, 8, 8);
	differ += subscribe(everything, false);
	some.trap_number = 65;
	differ += subscribe(some, true);
	differ += flap(console, "H-0008f10403980020", 1);
	return differ;
}

int main(int argc, char **argv)
{
	int console;
	int differ;

	if (argc != 3)
		die("usage: sim-same-reports TOPOLOGY CONSOLE");
	console = open(argv[2], O_WRONLY);
	if (console < 0)
		die("no console");
	start(argv[1]);
	differ = run(console);
	embedded->ops->close(embedded);
	ibsa_fabric_put(fabric);
	close(issm);
	close(umad);
	close(console);
	printf("%d differ\n", differ);
	return differ ? EXIT_FAILURE : EXIT_SUCCESS;
}
