/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * As much of an SA as a subscriber sees, made of libibumad alone: it takes
 * every subscription, and reports what it is told to.
 *
 * usage: reporter DEVICE
 *
 * Reads lines "TRAP GID-AS-32-DIGITS"; writes a line for each thing that has
 * happened: "ready", "subscribed PRODUCER-TYPE", "unsubscribed PRODUCER-TYPE",
 * "answered TRAP", "unanswered TRAP". It ends with its input.
 */
#include <endian.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <infiniband/umad.h>
#include <infiniband/umad_sa.h>
#include <infiniband/umad_types.h>

enum {
	/* Of an InformInfo, IBA vol 1, 13.4.8.3. */
	SUBSCRIBE_AT = 23,
	PRODUCER_AT = 35,
	/* Of a Notice, 13.4.8.2. */
	TRAP_AT = 4,
	GID_AT = 16,
	OF_SM_GENERIC = 0x83,
	SM = 4,
	ANSWER_MS = 1000,
	GID_DIGITS = 32,
};

#define QKEY 0x80010000u /* of every QP 1 */

/* Who it is, and the last who has subscribed. */
struct reporter {
	int port;
	int agent;
	uint32_t transaction_id;
	ib_mad_addr_t subscriber;
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

static void transmit(struct reporter *reporter, const ib_mad_addr_t *to,
		     int timeout_ms)
{
	ib_mad_addr_t *address = umad_get_mad_addr(reporter->out);

	*address = *to;
	address->qkey = htobe32(QKEY);
	if (umad_send(reporter->port, reporter->agent, reporter->out,
		      sizeof(struct umad_sa_packet), timeout_ms, 0)) {
		perror("reporter: send");
		exit(1);
	}
}

/* The request again, with what it has come to. */
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

/* A table of subscriptions is not to be had of every SA, nor of this one. */
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
		     1L << UMAD_SA_METHOD_GET_TABLE;
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
	while (poll(fds, 2, -1) > 0) {
		if (fds[1].revents)
			receive(&reporter);
		if (fds[0].revents && !obey(&reporter))
			break;
	}
	umad_close_port(reporter.port);
	return 0;
}
