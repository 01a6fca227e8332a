/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * B20: the time from the arrival of a Report at the client until the callback
 * receives the event. For comparison, the same without libibsa: read the
 * Report, answer it, examine its trap number and GID. Both use a transport in
 * memory, whose own time is small.
 *
 * usage: bench-report [-r ROUNDS]
 *
 * Prints "CASE PERCENTILE MICROSECONDS". The first round is not printed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ibsa/event.h>

#include "bench.h"
#include "wire/mad.h"
#include "wire/request.h"

enum {
	COUNT = 20 * 1000,
	GIDS = 1000,
	SM_LID = 1,
	TRAP_AT = IBSA_SA_HEADER_BYTES + 4,
	GID_AT = IBSA_SA_HEADER_BYTES + 16,
};

/*
 * MADs that the simulated SA has sent, and the number of its Reports that were
 * answered.
 */
struct wire {
	struct ibsa_transport transport;
	uint8_t mad[IBSA_MAD_BYTES];
	bool has_report;
	uint8_t report[IBSA_MAD_BYTES];
	uint64_t reports;
	uint64_t answers;
};

struct taken {
	struct ibsa_client *client;
	bool is_subscribed;
	uint64_t told;
	uint64_t at_ns;
};

static struct wire wire;
static struct taken taken;
static uint64_t latencies[COUNT];

static uint64_t wire_now_ns(struct ibsa_transport *transport)
{
	(void)transport;
	return bench_now_ns();
}

/*
 * Handle a MAD to the simulated SA: it accepts every subscription, and refuses
 * to list them.
 */
static int wire_send(struct ibsa_transport *transport,
		     const struct ibsa_address *to, const uint8_t *mad,
		     size_t len, unsigned int timeout_ms)
{
	(void)transport;
	(void)to;
	(void)timeout_ms;
	if (mad[MAD_METHOD] == IBSA_METHOD_REPORT_RESP) {
		wire.answers++;
		return 0;
	}
	memcpy(wire.mad, mad, len);
	if (mad[MAD_METHOD] == IBSA_METHOD_SET) {
		wire.mad[MAD_METHOD] = IBSA_METHOD_GET_RESP;
	} else {
		wire.mad[MAD_METHOD] |= IBSA_METHOD_GET_RESP & 0x80;
		ibsa_put_be16(wire.mad + MAD_STATUS, IBSA_STATUS_BAD_METHOD);
	}
	wire.has_report = true;
	return 0;
}

static int wire_recv(struct ibsa_transport *transport, struct ibsa_message *out)
{
	(void)transport;
	if (!wire.has_report)
		return 0;
	wire.has_report = false;
	*out = (struct ibsa_message){
		.from = { .lid = SM_LID, .qpn = IBSA_QPN_GSI },
		.mad = wire.mad,
		.len = sizeof(wire.mad),
	};
	return 1;
}

static int wire_wait(struct ibsa_transport *transport, int timeout_ms)
{
	(void)transport;
	(void)timeout_ms;
	return 0;
}

static int wire_port(struct ibsa_transport *transport,
		     struct ibsa_port_state *out, size_t size)
{
	(void)transport;
	(void)size;
	*out = (struct ibsa_port_state){
		.lid = SM_LID + 1,
		.sm_lid = SM_LID,
		.port_state = IBSA_PORT_ACTIVE,
	};
	return 0;
}

static int wire_listen(struct ibsa_transport *transport, bool on)
{
	(void)transport;
	(void)on;
	return 0;
}

static void wire_close(struct ibsa_transport *transport)
{
	(void)transport;
}

static const struct ibsa_transport_ops wire_ops = {
	.size = sizeof(struct ibsa_transport_ops),
	.now_ns = wire_now_ns,
	.send = wire_send,
	.recv = wire_recv,
	.wait = wire_wait,
	.port = wire_port,
	.listen = wire_listen,
	.close = wire_close,
};

static void report_prepare(void)
{
	const struct ibsa_notice notice = { .is_generic = 1,
					    .type = 3,
					    .producer_type = 4 };
	const struct ibsa__request request = {
		.record = &ibsa_notice_record,
		.match = &notice,
		.method = IBSA_METHOD_REPORT,
	};

	if (ibsa__request_encode(&request, wire.report))
		abort();
}

/*
 * Let a Report arrive. Reports alternate between GIDs that join and leave, so
 * that no event is a repetition.
 */
static void report_arrive(void)
{
	const uint64_t number = wire.reports++;

	memcpy(wire.mad, wire.report, sizeof(wire.mad));
	ibsa_put_be64(wire.mad + MAD_TID, number);
	ibsa_put_be16(wire.mad + TRAP_AT, number / GIDS % 2 ? 64 : 65);
	ibsa_put_be64(wire.mad + GID_AT, UINT64_C(0xfe80000000000000));
	ibsa_put_be64(wire.mad + GID_AT + 8, number % GIDS);
	wire.has_report = true;
}

static void happened(const struct ibsa_event *event, void *arg)
{
	(void)arg;
	if (event->kind == IBSA_EVENT_SUBSCRIBED)
		taken.is_subscribed = true;
	if (!event->notice)
		return;
	taken.at_ns = bench_now_ns();
	taken.told++;
	BENCH_USE(&event->gid);
	/* Check that the Report is answered before its callback runs. */
	if (wire.answers != wire.reports)
		abort();
}

static void client_open(void)
{
	const struct ibsa_options options = { .transport = &wire.transport };
	struct ibsa_event_watch *watch;

	if (ibsa_open(&options, NULL, &taken.client) ||
	    ibsa_event_watch_start(taken.client, NULL, happened, NULL, NULL,
				   &watch))
		abort();
	while (!taken.is_subscribed)
		if (ibsa_wait(taken.client, 0))
			abort();
}

static uint64_t by_library(void)
{
	const uint64_t told = taken.told;
	uint64_t start;

	report_arrive();
	start = bench_now_ns();
	if (ibsa_dispatch(taken.client) || taken.told != told + 1)
		abort();
	return taken.at_ns - start;
}

static uint64_t by_hand(void)
{
	uint8_t answer[IBSA_MAD_BYTES];
	struct ibsa_message message;
	uint8_t gid[16];
	uint64_t start;
	uint16_t trap;

	report_arrive();
	start = bench_now_ns();
	if (wire_recv(&wire.transport, &message) != 1)
		abort();
	memcpy(answer, message.mad, sizeof(answer));
	answer[MAD_METHOD] = IBSA_METHOD_REPORT_RESP;
	wire_send(&wire.transport, &message.from, answer, sizeof(answer), 0);
	trap = ibsa_be16(message.mad + TRAP_AT);
	memcpy(gid, message.mad + GID_AT, sizeof(gid));
	BENCH_USE(&trap);
	BENCH_USE(gid);
	return bench_now_ns() - start;
}

static int compare(const void *a, const void *b)
{
	const uint64_t *one = a;
	const uint64_t *other = b;

	return (*one > *other) - (*one < *other);
}

static void measure(const char *name, uint64_t (*take)(void), bool show)
{
	for (int i = 0; i < COUNT; i++)
		latencies[i] = take();
	if (!show)
		return;
	qsort(latencies, COUNT, sizeof(latencies[0]), compare);
	printf("%s p50 %.3f\n%s p99 %.3f\n", name,
	       (double)latencies[COUNT / 2] / 1000, name,
	       (double)latencies[COUNT / 100 * 99] / 1000);
}

int main(int argc, char **argv)
{
	int rounds = 1;
	int option;

	while ((option = getopt(argc, argv, "r:")) == 'r')
		rounds = atoi(optarg);
	if (option != -1 || optind < argc || rounds < 1)
		return 2;
	bench_pin();
	wire.transport.ops = &wire_ops;
	report_prepare();
	client_open();
	for (int i = 0; i <= rounds; i++) {
		measure("report-ibsa", by_library, i > 0);
		measure("report-hand", by_hand, i > 0);
	}
	return 0;
}
