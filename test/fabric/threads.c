/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A fabric that one thread changes while others have clients on it. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "../interface/everything.h"
#include "support.h"
#include "wire/mad.h"

enum { CLIENTS = 3, ROUNDS = 400 };

static const char text[] = "Switch 4 \"s\"\n"
			   "[1] \"a\"[1]\n"
			   "[2] \"b\"[1]\n"
			   "[3] \"c\"[1]\n"
			   "Ca 1 \"a\"\nCa 1 \"b\"\nCa 1 \"c\"\n";

static void check(bool so)
{
	if (!so)
		abort();
}

static struct ibsa_transport *attach(struct ibsa_fabric *fabric,
				     const char *node)
{
	struct ibsa_transport *transport = NULL;

	check(!ibsa_fabric_attach(fabric, node, 0, &transport));
	return transport;
}

/* Answer a Report. */
static void respond(struct ibsa_transport *transport,
		    const struct ibsa_message *report)
{
	struct ibsa_address sa = report->from;
	uint8_t mad[IBSA_MAD_BYTES];

	memcpy(mad, report->mad, sizeof(mad));
	mad[MAD_METHOD] = IBSA_METHOD_REPORT_RESP;
	check(!transport->ops->send(transport, &sa, mad, sizeof(mad), 0));
}

/*
 * Send @mad to the SM that the port's state names, and receive the MADs that
 * have arrived, if any.
 */
static void exchange(struct ibsa_transport *transport, uint8_t *mad,
		     uint32_t id)
{
	struct ibsa_port_state port;
	struct ibsa_message answer;
	struct ibsa_address sa = { .qpn = 1 };
	uint16_t pkey;
	int err;

	check(!transport->ops->port(transport, &port, sizeof(port)));
	/* The table may have become shorter meanwhile. */
	err = transport->ops->pkey(transport, port.pkey_index, &pkey);
	check(!err || err == -EINVAL);
	sa.lid = port.sm_lid;
	sa.pkey_index = port.pkey_index;
	/* A request with an id that still waits for its answer is refused. */
	ibsa_put_be32(mad + MAD_TID + 4, id);
	check(!transport->ops->send(transport, &sa, mad, 256, 10));
	while (transport->ops->recv(transport, &answer) == 1) {
		/*
		 * On a slow machine, the timeout of a request may pass: it is
		 * returned.
		 */
		if (answer.err) {
			check(answer.err == -ETIMEDOUT);
			continue;
		}
		check(answer.len >= IBSA_SA_HEADER_BYTES);
		if (answer.mad[MAD_METHOD] == IBSA_METHOD_REPORT)
			respond(transport, &answer);
	}
}

/* Subscribe to all events, so that some of the changes cause Reports. */
static void subscribe(struct bench *bench)
{
	uint8_t *room = bench_request(bench, IBSA_METHOD_SET, 0x0003, 0);

	check(!ibsa_record_encode(&ibsa_inform_info_record, &everything,
				  sizeof(everything), room, 200));
}

static void *run_client(void *arg)
{
	struct bench paths = { .fabric = arg };
	struct bench events = { .fabric = arg };
	struct ibsa_transport *transport;
	int err;

	bench_request(&paths, IBSA_METHOD_GET_TABLE, 0x0035, 0);
	subscribe(&events);
	for (int i = 0; i < ROUNDS / 20; i++) {
		transport = attach(arg, i % 2 ? "b" : "c");
		err = transport->ops->listen(transport, true);
		check(!err || err == -EBUSY);
		for (uint32_t k = 0; k < 20; k++)
			exchange(transport,
				 k % 4 ? paths.request : events.request, k);
		transport->ops->close(transport);
	}
	return NULL;
}

static void set(struct ibsa_fabric *fabric, struct ibsa_fabric_port_change want)
{
	check(!ibsa_fabric_port_set(fabric, "b", 1, &want));
}

static void change_all(struct ibsa_fabric *fabric, uint32_t round)
{
	static const uint16_t pkeys[] = { 0x8001, 0xffff };
	struct ibsa_fabric_port port;
	struct ibsa_fabric_info info;

	set(fabric, (struct ibsa_fabric_port_change){
			    .mask = IBSA_CHANGE_LINK | IBSA_CHANGE_REREGISTER,
			    .link_up = round % 2 });
	set(fabric, (struct ibsa_fabric_port_change){
			    .mask = IBSA_CHANGE_LID | IBSA_CHANGE_LMC,
			    .lid = 16 + 16 * (round % 100),
			    .lmc = round % 4 });
	set(fabric,
	    (struct ibsa_fabric_port_change){ .mask = IBSA_CHANGE_PKEYS,
					      .pkeys = pkeys + round % 2,
					      .pkey_count = 1 + !(round % 2) });
	check(!ibsa_fabric_sa_move(fabric, round % 3 ? "a" : "c"));
	ibsa_fabric_sa_set(fabric, round % 8);
	ibsa_fabric_info_get(fabric, &info);
	check(!ibsa_fabric_port_at(fabric, 1, &port));
}

static void fabric_changes_under_its_clients(void **state)
{
	static const struct ibsa_fabric_options options = { .seed = 1 };
	pthread_t threads[CLIENTS];
	struct ibsa_fabric *fabric;

	(void)state;
	check(!ibsa_fabric_parse(text, sizeof(text) - 1, &options, NULL,
				 &fabric));
	for (int i = 0; i < CLIENTS; i++)
		check(!pthread_create(&threads[i], NULL, run_client, fabric));
	for (uint32_t round = 0; round < ROUNDS; round++)
		change_all(fabric, round);
	for (int i = 0; i < CLIENTS; i++)
		check(!pthread_join(threads[i], NULL));
	ibsa_fabric_put(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fabric_changes_under_its_clients),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
