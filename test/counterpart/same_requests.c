/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sends the same requests to OpenSM and to the embedded SA, for the same
 * fabric, and compares the answers.
 *
 * Run by same_requests.sh at a host of ibsim; arguments: topology file,
 * partitions, prefix, node of the SM, own node, seed, and which requests:
 * "all", "brief" or "methods". Lines "difference NAME COUNT" print how often a
 * known difference occurred; an unknown difference fails.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibsa/fabric.h>

#include "test/counterpart/same.h"
#include "test/support/device_now.h"
#include "umad_dev/umad.h"
#include "wire/mad.h"

enum {
	WAIT_MS = 60000, /* for an answer that must come */
	SOON_MS = 60,	 /* time until the test probes whether OpenSM has
			  * answered all requests */
	PROBES = 3,	 /* for its threads, which overtake each other */
	REQUESTS_MAX = 1 << 16,
	/*
	 * number of differences that are printed in full; for further ones,
	 * only the request is printed
	 */
	SHOWN_MAX = 40,
	TID_FIRST = 0x2d000000,
	DIFFERENCES_MAX = 32,
};

static struct ibsa_transport *opensm;
static struct ibsa_transport *embedded;
static struct answer theirs;
static struct answer ours;
static struct answer levelled[2];
static struct same_ends ends;
static uint32_t sm_lid;
static unsigned int asked;
static unsigned int unlike;
static unsigned int silences;
static unsigned int explained[DIFFERENCES_MAX];
static bool is_quiet[REQUESTS_MAX]; /* no answer came */

void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(EXIT_FAILURE);
}

const struct same_ends *same_ends(void)
{
	return &ends;
}

static uint64_t now_ms(struct ibsa_transport *transport)
{
	return transport->ops->now_ns(transport) / 1000000;
}

/*
 * Check that an answer of OpenSM that came too late was not treated as
 * missing.
 */
static void check_late(const struct ibsa_message *message)
{
	uint32_t id;

	if (message->err || message->len < IBSA_SA_HEADER_BYTES ||
	    !(message->mad[MAD_METHOD] & 0x80))
		return;
	id = ibsa_be32(message->mad + MAD_TID_LOW) - TID_FIRST;
	if (id < asked && is_quiet[id]) {
		fprintf(stderr, "question %u was answered late\n", id);
		unlike++;
	}
}

static bool is_answer(const struct ibsa_message *message, const uint8_t *mad)
{
	return !message->err && message->len >= IBSA_SA_HEADER_BYTES &&
	       message->mad[MAD_METHOD] & 0x80 &&
	       !memcmp(message->mad + MAD_TID_LOW, mad + MAD_TID_LOW, 4);
}

/*
 * Whether the answer to @mad came before the end of the wait, and before the
 * answer to @other, unless that is NULL.
 */
static bool take(struct ibsa_transport *transport, const uint8_t *mad,
		 const uint8_t *other, unsigned int wait_ms, struct answer *out)
{
	const uint64_t end = now_ms(transport) + wait_ms;
	struct ibsa_message message;

	out->len = 0;
	while (now_ms(transport) <= end) {
		if (transport->ops->recv(transport, &message) != 1) {
			if (!wait_ms)
				return false;
			transport->ops->wait(transport, 1);
		} else if (is_answer(&message, mad)) {
			out->len = message.len;
			memcpy(out->bytes, message.mad, message.len);
			return true;
		} else if (other && is_answer(&message, other)) {
			return false;
		} else {
			check_late(&message);
		}
	}
	if (other)
		die("OpenSM does not answer any more");
	return false;
}

static void send(struct ibsa_transport *transport, const uint8_t *mad)
{
	struct ibsa_address to = { .lid = sm_lid, .qpn = IBSA_QPN_GSI };
	struct ibsa_port_state state;

	/* Index of the default P_Key. */
	if (embedded->ops->port(embedded, &state, sizeof(state)))
		die("no state of the port");
	to.pkey_index = transport == embedded ? state.pkey_index : 0;
	if (transport->ops->send(transport, &to, mad, IBSA_MAD_BYTES, WAIT_MS))
		die("cannot send");
}

void same_exchange_embedded(const struct request *request, struct answer *out)
{
	send(embedded, request->mad);
	take(embedded, request->mad, NULL, 0, out);
}

/*
 * OpenSM's answer to @mad, or none. There is none if OpenSM has answered PROBES
 * later requests first: the time without an answer does not prove it, since it
 * depends on the load of the machine.
 */
static void take_theirs(const uint8_t *mad)
{
	static uint32_t probes;
	struct request probe;

	if (take(opensm, mad, NULL, SOON_MS, &theirs))
		return;
	request_start(&probe, IBSA_METHOD_GET,
		      ibsa_class_port_info_record.attribute, 0);
	for (int i = 0; i < PROBES; i++) {
		ibsa_put_be32(probe.mad + MAD_TID_LOW,
			      TID_FIRST + REQUESTS_MAX + probes++);
		send(opensm, probe.mad);
		if (take(opensm, mad, probe.mad, WAIT_MS, &theirs))
			return;
	}
}

/*
 * Clear what belongs to the transport: half of the transaction ID, and the RMPP
 * header.
 */
static void strip(struct answer *answer)
{
	enum {
		RMPP_BYTES = 12,
	};

	if (!answer->len)
		return;
	memset(answer->bytes + MAD_TID, 0, 4);
	memset(answer->bytes + MAD_RMPP_VERSION, 0, RMPP_BYTES);
}

static size_t sorted_stride;

static int by_bytes(const void *a, const void *b)
{
	return memcmp(a, b, sorted_stride);
}

/* Sort the records of a table, because their order does not matter. */
static void sort(struct answer *answer)
{
	const size_t count = answer_count(answer);

	sorted_stride = answer->len ? answer_stride(answer) : 0;
	if (count > 1 && answer->bytes[MAD_METHOD] != (0x80 | IBSA_METHOD_GET))
		qsort(answer_at(answer, 0), count, sorted_stride, by_bytes);
}

static bool is_same(const struct answer *a, const struct answer *b)
{
	return a->len == b->len && !memcmp(a->bytes, b->bytes, a->len);
}

static void copy(struct answer *to, const struct answer *from)
{
	to->len = from->len;
	memcpy(to->bytes, from->bytes, from->len);
}

/* Whether all differences are known; counts them. */
static bool explain(const struct request *request)
{
	bool was_used[DIFFERENCES_MAX] = { false };
	bool is_level = false;

	copy(&levelled[0], &theirs);
	copy(&levelled[1], &ours);
	for (size_t i = 0; i < same_difference_count && !is_level; i++) {
		was_used[i] = same_differences[i].level(request, &levelled[0],
							&levelled[1]);
		if (!was_used[i])
			continue;
		sort(&levelled[0]);
		sort(&levelled[1]);
		is_level = is_same(&levelled[0], &levelled[1]);
	}
	for (size_t i = 0; is_level && i < same_difference_count; i++)
		explained[i] += was_used[i];
	return is_level;
}

static void print_hex(const char *name, const uint8_t *bytes, size_t len)
{
	fprintf(stderr, "%s (%zu):", name, len);
	for (size_t i = 0; i < len && i < 600; i++)
		fprintf(stderr, "%s%02x", i % 32 ? "" : "\n\t", bytes[i]);
	fprintf(stderr, "\n");
}

static void complain(const struct request *request)
{
	size_t shorter = theirs.len < ours.len ? theirs.len : ours.len, at = 0;

	while (at < shorter && theirs.bytes[at] == ours.bytes[at])
		at++;
	fprintf(stderr, "not the same: %s, from byte %zu\n", request->what, at);
	if (++unlike > SHOWN_MAX)
		return;
	print_hex("request", request->mad, 56 + 80);
	print_hex("OpenSM", theirs.bytes, theirs.len);
	print_hex("embedded", ours.bytes, ours.len);
}

struct answer *same_exchange(const struct request *request)
{
	uint8_t mad[IBSA_MAD_BYTES];

	if (asked == REQUESTS_MAX)
		die("too many questions");
	memcpy(mad, request->mad, sizeof(mad));
	ibsa_put_be32(mad + MAD_TID_LOW, TID_FIRST + asked);
	send(opensm, mad);
	if (mad_attribute(mad) == ATTR_MCMEMBER)
		(void)same_turn_proxy(mad + IBSA_SA_HEADER_BYTES);
	send(embedded, mad);
	take(embedded, mad, NULL, 0, &ours);
	take_theirs(mad);
	is_quiet[asked++] = !theirs.len;
	silences += !theirs.len;
	strip(&theirs);
	strip(&ours);
	sort(&theirs);
	sort(&ours);
	if (!is_same(&theirs, &ours) && !explain(request))
		complain(request);
	return &theirs;
}

static void start(const char *topology, const char *partitions, const char *sm,
		  const char *own)
{
	const struct ibsa_fabric_options options = {
		.virtual_clock = true,
		.gid_prefix = ends.prefix,
		.sa_node = sm,
		.partitions = partitions,
	};
	struct ibsa_fabric *fabric;
	struct ibsa_error error;

	if (ibsa_fabric_load(topology, &options, &error, &fabric) ||
	    now_umad_open(NULL, 0, ANSWER_BYTES, &error, &opensm))
		die("%s", error.text);
	if (ibsa_fabric_attach(fabric, own, 0, &embedded))
		die("cannot attach at %s", own);
	ibsa_fabric_put(fabric);
}

/* Read the end ports, which other requests are made from. */
static void learn_ends(void)
{
	struct ibsa_port_state state;
	struct ibsa_node node;
	struct request request;
	struct answer *answer;

	if (opensm->ops->port(opensm, &state, sizeof(state)))
		die("no state of the port");
	sm_lid = state.sm_lid;
	request_start(&request, IBSA_METHOD_GET_TABLE,
		      ibsa_node_record.attribute, 0);
	request_name(&request, "all nodes");
	answer = same_exchange(&request);
	for (size_t i = 0; i < answer_count(answer); i++) {
		ibsa_node_record.decode(answer_at(answer, i), &node);
		if (ends.count == SAME_ENDS_MAX)
			die("more than %d ends", SAME_ENDS_MAX);
		ends.all[ends.count++] = (struct same_end){ node.port_guid,
							    node.lid,
							    node.node_type };
		if (node.lid == state.lid)
			ends.own = ends.all[ends.count - 1];
	}
	if (!ends.own.lid)
		die("the own port is not among %zu", ends.count);
}

static void learn_routes(void)
{
	static struct answer links;
	struct request request;

	request_start(&request, IBSA_METHOD_GET_TABLE, ATTR_LINK, 0);
	request_name(&request, "all links");
	copy(&links, same_exchange(&request));
	request_start(&request, IBSA_METHOD_GET_TABLE, ATTR_LFT, 0);
	send(embedded, request.mad);
	take(embedded, request.mad, NULL, 0, &ours);
	send(opensm, request.mad);
	take_theirs(request.mad);
	same_routes_learn(&links, &theirs, &ours);
}

/*
 * Wait until OpenSM has set the multicast tables: it does so after it has
 * answered the joins.
 */
static void learn_trees(void)
{
	const uint64_t end = now_ms(opensm) + WAIT_MS;
	struct request request;

	do {
		request_start(&request, IBSA_METHOD_GET_TABLE, ATTR_MFT, 0);
		ibsa_put_be32(request.mad + MAD_TID_LOW, TID_FIRST - 1 - asked);
		same_exchange_embedded(&request, &ours);
		asked++;
		send(opensm, request.mad);
		take_theirs(request.mad);
		if (same_trees_learn(&theirs, &ours))
			return;
	} while (now_ms(opensm) < end);
	die("the groups' trees do not reach the same ports");
}

/* Receive answers that were taken for missing. */
static void wait_for_late(void)
{
	static const uint8_t none[IBSA_MAD_BYTES];

	take_theirs(none);
}

static void list_differences(void)
{
	for (size_t i = 0; i < same_difference_count; i++)
		printf("%s\t%s\n", same_differences[i].name,
		       same_differences[i].reason);
}

static void summary(void)
{
	for (size_t i = 0; i < same_difference_count; i++) {
		if (explained[i])
			printf("difference %s %u\n", same_differences[i].name,
			       explained[i]);
	}
	printf("%u questions, %u without an answer, %u not the same\n", asked,
	       silences, unlike);
}

static void make(const char *what, struct random *dice)
{
	const bool is_brief = !strcmp(what, "brief");

	if (!strcmp(what, "methods")) {
		same_make_methods();
		same_make_multi_methods();
		return;
	}
	same_make_state();
	learn_trees();
	same_make(dice, is_brief);
	same_make_paths(dice, is_brief);
	same_make_multipaths(is_brief);
	same_make_state_end();
}

int main(int argc, char **argv)
{
	struct random dice;

	if (argc == 2 && !strcmp(argv[1], "--differences")) {
		list_differences();
		return EXIT_SUCCESS;
	}
	if (argc != 8)
		die("usage: same-questions TOPOLOGY PARTITIONS PREFIX SM NODE "
		    "SEED WHAT");
	ends.prefix = strtoull(argv[3], NULL, 0);
	dice.state = strtoull(argv[6], NULL, 0);
	start(argv[1], argv[2], argv[4], argv[5]);
	learn_ends();
	learn_routes();
	make(argv[7], &dice);
	wait_for_late();
	embedded->ops->close(embedded);
	opensm->ops->close(opensm);
	summary();
	return unlike ? EXIT_FAILURE : EXIT_SUCCESS;
}
