/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A small SA over libibumad, without a fabric behind it: it accepts every
 * subscription, sends Reports on command, stores one ServiceRecord, and answers
 * other requests for ServiceRecords as their ServiceID tells.
 *
 * usage: reporter DEVICE
 *
 * Reads lines "TRAP GID-AS-32-DIGITS", "count" and "forget", and ends at end of
 * file. Writes a line for each event: "ready", "subscribed PRODUCER-TYPE",
 * "unsubscribed PRODUCER-TYPE", "answered TRAP" (a ReportResp arrived),
 * "unanswered TRAP" (none arrived within a second), "kept 1" (by a Set),
 * "kept 0" (by a Delete, or forgotten), and for "count", "asked NUMBER": the
 * number of requests for ServiceRecords so far.
 *
 * The first byte of the ServiceID in a request for ServiceRecords is a letter
 * that tells how the request is answered. NUMBER is in the last four bytes of
 * the ServiceID, and the record in a reply is that of the request, if nothing
 * else is said:
 *
 *   A  at once
 *   D  twice
 *   T  with NUMBER records, whose leases are 0, 1 and so on
 *   L  after NUMBER milliseconds
 *   S  never
 *   K  as by an SA with one ServiceRecord: Set stores the record, Delete
 *      deletes it, and Get and GetTable return the stored record
 */
#include <endian.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <infiniband/umad.h>
#include <infiniband/umad_sa.h>
#include <infiniband/umad_types.h>

enum {
	/* In an InformInfo, IBA vol 1, 13.4.8.3. */
	SUBSCRIBE_AT = 23,
	PRODUCER_AT = 35,
	/* In a Notice, 13.4.8.2. */
	TRAP_AT = 4,
	GID_AT = 16,
	OF_SM_GENERIC = 0x83,
	SM = 4,
	ANSWER_MS = 1000,
	GID_DIGITS = 32,
	/* In a ServiceRecord, 15.2.5.14. */
	SERVICE_BYTES = 176,
	COUNT_AT = 4,
	LEASE_AT = 28,
	/* In an RMPP header, 13.6.2. */
	RMPP_DATA = 1,
	RMPP_ACTIVE = 1,
	SA_HEADER_BYTES = offsetof(struct umad_sa_packet, data),
	LATE_MAX = 64,
	/* The kernel drops a second reply while the first is being sent. */
	TWICE_MS = 50,
};

#define QKEY 0x80010000u /* of every QP 1 */

/* A request that "reporter" will answer later. */
struct late {
	uint64_t due_ms;
	uint8_t *in;
};

/*
 * The state of "reporter": its port, the last subscriber, and the delayed
 * replies.
 */
struct reporter {
	int port;
	int agent;
	uint32_t transaction_id;
	ib_mad_addr_t subscriber;
	uint8_t service[SERVICE_BYTES]; /* the stored one */
	bool is_registered;
	unsigned int asked;
	struct late late[LATE_MAX];
	unsigned int late_count;
	uint8_t *in;
	uint8_t *out;
};

static struct umad_sa_packet *packet_of(void *umad)
{
	return umad_get_mad(umad);
}

static unsigned int trap_of(const struct umad_sa_packet *packet)
{
	return (unsigned int)packet->data[TRAP_AT] << 8 |
	       packet->data[TRAP_AT + 1];
}

static void tell(const char *what, unsigned int number)
{
	printf("%s %u\n", what, number);
	fflush(stdout);
}

static void transmit_all(struct reporter *reporter, uint8_t *umad, int len,
			 const ib_mad_addr_t *to, int timeout_ms)
{
	ib_mad_addr_t *address = umad_get_mad_addr(umad);

	*address = *to;
	address->qkey = htobe32(QKEY);
	if (umad_send(reporter->port, reporter->agent, umad, len, timeout_ms,
		      0)) {
		perror("reporter: send");
		exit(1);
	}
}

static void transmit(struct reporter *reporter, const ib_mad_addr_t *to,
		     int timeout_ms)
{
	transmit_all(reporter, reporter->out, sizeof(struct umad_sa_packet), to,
		     timeout_ms);
}

/* Send the request back with a status. */
static void answer(struct reporter *reporter, uint16_t status)
{
	struct umad_sa_packet *packet = packet_of(reporter->out);

	memcpy(reporter->out, reporter->in,
	       umad_size() + sizeof(struct umad_sa_packet));
	packet->mad_hdr.status = htobe16(status);
	packet->mad_hdr.method = packet->mad_hdr.method == UMAD_METHOD_SET
					 ? UMAD_METHOD_GET_RESP
					 : packet->mad_hdr.method |
						   UMAD_METHOD_RESP_MASK;
	transmit(reporter, umad_get_mad_addr(reporter->in), 0);
}

static void subscribe(struct reporter *reporter)
{
	const struct umad_sa_packet *packet = packet_of(reporter->in);
	const bool on = packet->data[SUBSCRIBE_AT];

	reporter->subscriber = *umad_get_mad_addr(reporter->in);
	answer(reporter, UMAD_SA_STATUS_SUCCESS);
	tell(on ? "subscribed" : "unsubscribed", packet->data[PRODUCER_AT]);
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void put_be32(uint8_t *out, uint32_t value)
{
	value = htobe32(value);
	memcpy(out, &value, sizeof(value));
}

static uint32_t count_of(const struct umad_sa_packet *packet)
{
	uint32_t count;

	memcpy(&count, packet->data + COUNT_AT, sizeof(count));
	return be32toh(count);
}

/* The kernel segments it. */
static void answer_table(struct reporter *reporter, uint32_t count)
{
	const size_t len = SA_HEADER_BYTES + (size_t)count * SERVICE_BYTES;
	uint8_t *umad = umad_alloc(1, umad_size() + len + SERVICE_BYTES);
	struct umad_sa_packet *packet = packet_of(umad);

	memcpy(umad, reporter->in, umad_size() + SA_HEADER_BYTES);
	packet->mad_hdr.method |= UMAD_METHOD_RESP_MASK;
	packet->rmpp_hdr.rmpp_version = UMAD_RMPP_VERSION;
	packet->rmpp_hdr.rmpp_type = RMPP_DATA;
	packet->rmpp_hdr.rmpp_rtime_flags = RMPP_ACTIVE;
	packet->attr_offset = htobe16(SERVICE_BYTES / 8);
	for (uint32_t i = 0; i < count; i++) {
		uint8_t *record = packet->data + (size_t)i * SERVICE_BYTES;

		memcpy(record, packet_of(reporter->in)->data, SERVICE_BYTES);
		put_be32(record + LEASE_AT, i);
	}
	transmit_all(reporter, umad, (int)len, umad_get_mad_addr(reporter->in),
		     0);
	umad_free(umad);
}

static void answer_later(struct reporter *reporter, uint32_t ms)
{
	struct late *late = &reporter->late[reporter->late_count];
	const size_t size = umad_size() + sizeof(struct umad_sa_packet);

	if (reporter->late_count == LATE_MAX)
		return;
	reporter->late_count++;
	late->due_ms = now_ms() + ms;
	late->in = umad_alloc(1, size);
	memcpy(late->in, reporter->in, size);
}

/* Send the replies that are due. Return: milliseconds until the next, or -1. */
static int answer_late(struct reporter *reporter)
{
	int next_ms = -1;

	for (unsigned int i = 0; i < reporter->late_count;) {
		struct late *late = &reporter->late[i];
		const uint64_t now = now_ms();

		if (late->due_ms > now) {
			const int ms = (int)(late->due_ms - now);

			next_ms = next_ms < 0 || ms < next_ms ? ms : next_ms;
			i++;
			continue;
		}
		memcpy(reporter->in, late->in,
		       umad_size() + sizeof(struct umad_sa_packet));
		umad_free(late->in);
		*late = reporter->late[--reporter->late_count];
		answer(reporter, UMAD_SA_STATUS_SUCCESS);
	}
	return next_ms;
}

static void answer_registered(struct reporter *reporter)
{
	struct umad_sa_packet *packet = packet_of(reporter->in);

	switch (packet->mad_hdr.method) {
	case UMAD_METHOD_SET:
		memcpy(reporter->service, packet->data, SERVICE_BYTES);
		reporter->is_registered = true;
		break;
	case UMAD_SA_METHOD_DELETE:
		reporter->is_registered = false;
		break;
	default:
		memcpy(packet->data, reporter->service, SERVICE_BYTES);
		answer(reporter, reporter->is_registered
					 ? UMAD_SA_STATUS_SUCCESS
					 : UMAD_SA_STATUS_NO_RECORDS << 8);
		return;
	}
	answer(reporter, UMAD_SA_STATUS_SUCCESS);
	tell("kept", reporter->is_registered);
}

static void serve(struct reporter *reporter)
{
	const struct umad_sa_packet *packet = packet_of(reporter->in);

	reporter->asked++;
	switch (packet->data[0]) {
	case 'K':
		answer_registered(reporter);
		break;
	case 'T':
		answer_table(reporter, count_of(packet));
		break;
	case 'L':
		answer_later(reporter, count_of(packet));
		break;
	case 'S':
		break;
	case 'D':
		answer_later(reporter, TWICE_MS);
		answer(reporter, UMAD_SA_STATUS_SUCCESS);
		break;
	default:
		answer(reporter, UMAD_SA_STATUS_SUCCESS);
	}
}

/* Some SAs have no table of subscriptions; this one has none either. */
static void take(struct reporter *reporter)
{
	const struct umad_sa_packet *packet = packet_of(reporter->in);
	const struct umad_hdr *header = &packet->mad_hdr;

	if (umad_status(reporter->in))
		tell("unanswered", trap_of(packet));
	else if (header->method == UMAD_METHOD_REPORT_RESP)
		tell("answered", trap_of(packet));
	else if (header->method == UMAD_METHOD_SET &&
		 be16toh(header->attr_id) == UMAD_ATTR_INFORM_INFO)
		subscribe(reporter);
	else if (be16toh(header->attr_id) == UMAD_SA_ATTR_SERVICE_REC)
		serve(reporter);
	else
		answer(reporter, UMAD_STATUS_ATTR_NOT_SUPPORTED);
}

static void receive(struct reporter *reporter)
{
	int len = sizeof(struct umad_sa_packet);

	memset(reporter->in, 0, umad_size());
	if (umad_recv(reporter->port, reporter->in, &len, 0) >= 0)
		take(reporter);
}

static void report(struct reporter *reporter, unsigned int trap,
		   const char *digits)
{
	struct umad_sa_packet *packet = packet_of(reporter->out);

	memset(reporter->out, 0, umad_size() + sizeof(*packet));
	packet->mad_hdr = (struct umad_hdr){
		.base_version = UMAD_BASE_VERSION,
		.mgmt_class = UMAD_CLASS_SUBN_ADM,
		.class_version = UMAD_SA_CLASS_VERSION,
		.method = UMAD_METHOD_REPORT,
		.tid = htobe64(++reporter->transaction_id),
		.attr_id = htobe16(UMAD_ATTR_NOTICE),
	};
	packet->data[0] = OF_SM_GENERIC;
	packet->data[3] = SM;
	packet->data[TRAP_AT] = (uint8_t)(trap >> 8);
	packet->data[TRAP_AT + 1] = (uint8_t)trap;
	for (int i = 0; i < GID_DIGITS / 2; i++)
		sscanf(digits + 2 * i, "%2hhx", &packet->data[GID_AT + i]);
	transmit(reporter, &reporter->subscriber, ANSWER_MS);
}

static bool obey(struct reporter *reporter)
{
	char digits[GID_DIGITS + 1];
	unsigned int trap;
	char line[80];

	if (!fgets(line, sizeof(line), stdin))
		return false;
	if (!strcmp(line, "count\n")) {
		tell("asked", reporter->asked);
		return true;
	}
	if (!strcmp(line, "forget\n")) {
		reporter->is_registered = false;
		tell("kept", 0);
		return true;
	}
	if (sscanf(line, "%u %32s", &trap, digits) != 2 ||
	    strlen(digits) != GID_DIGITS) {
		fprintf(stderr, "reporter: not understood: %s", line);
		exit(2);
	}
	report(reporter, trap, digits);
	return true;
}

static int reporter_open(struct reporter *reporter, const char *device)
{
	long methods[16 / sizeof(long)] = { 0 };

	methods[0] = 1L << UMAD_METHOD_GET | 1L << UMAD_METHOD_SET |
		     1L << UMAD_SA_METHOD_GET_TABLE |
		     1L << UMAD_SA_METHOD_DELETE;
	reporter->in = umad_alloc(1,
				  umad_size() + sizeof(struct umad_sa_packet));
	reporter->out = umad_alloc(1,
				   umad_size() + sizeof(struct umad_sa_packet));
	reporter->port = umad_open_port(device, 1);
	if (!reporter->in || !reporter->out || reporter->port < 0)
		return -1;
	reporter->agent = umad_register(reporter->port, UMAD_CLASS_SUBN_ADM,
					UMAD_SA_CLASS_VERSION,
					UMAD_RMPP_VERSION, methods);
	return reporter->agent;
}

int main(int argc, char **argv)
{
	struct reporter reporter = { 0 };
	struct pollfd fds[2] = { { .fd = 0, .events = POLLIN },
				 { .events = POLLIN } };

	if (argc != 2 || reporter_open(&reporter, argv[1]) < 0) {
		fprintf(stderr, "reporter: cannot be an SA\n");
		return 1;
	}
	setvbuf(stdin, NULL, _IONBF, 0);
	puts("ready");
	fflush(stdout);
	fds[1].fd = umad_get_fd(reporter.port);
	while (poll(fds, 2, answer_late(&reporter)) >= 0) {
		if (fds[1].revents)
			receive(&reporter);
		if (fds[0].revents && !obey(&reporter))
			break;
	}
	umad_close_port(reporter.port);
	return 0;
}
