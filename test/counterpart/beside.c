/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * usage: beside ibsim DEVICE
 *        beside pair DEVICE PEER GID
 *
 * libibsa and libibmad, which loads libibumad, in one process: both send requests
 * in turn, and each receives its own answers.
 * On ibsim, the fabric answers; on a pair of devices, a thread at the other
 * device.
 */
#include <dlfcn.h>
#include <endian.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <infiniband/mad.h>
#include <infiniband/umad.h>
#include <infiniband/umad_types.h>

#include <ibsa/ibsa.h>

enum { ROUNDS = 3, VENDOR = 0x0a, MAD_BYTES = 256, WAIT_MS = 2000 };

#define QKEY 0x80010000u

/*
 * The thread that answers requests, which libibmad receives.
 */
struct server {
	pthread_t thread;
	atomic_bool done;
	struct ibmad_port *port;
};

struct asker {
	struct ibsa_client *client;
	struct ibmad_port *port;
	bool is_pair;
	ibmad_gid_t gid;
};

static void check(const char *what, bool is_right)
{
	printf("%s: %s\n", what, is_right ? "yes" : "NO");
	if (!is_right)
		exit(EXIT_FAILURE);
}

/* Whether a function is in that library. */
static bool is_of(const void *function, const char *library)
{
	Dl_info info;

	return dladdr(function, &info) && strstr(info.dli_fname, library);
}

/*
 * Two names are in both libraries. The program gets libibsa's, which is linked
 * first; they work for libibumad's calls, too.
 */
static void libraries_check(void)
{
	__typeof__(umad_send) *call = umad_send;
	__typeof__(umad_size) *size = umad_size;

	/*
	 * POSIX allows a function's address to be taken only through such a
	 * cast.
	 */
	check("umad_send() is libibumad's",
	      is_of(*(void **)&call, "libibumad.so"));
	check("umad_size() is libibsa's", is_of(*(void **)&size, "libibsa.so"));
}

static void answer(int portid, struct ib_user_mad *umad)
{
	struct umad_hdr *mad = umad_get_mad(umad);

	mad->method = UMAD_METHOD_GET_RESP;
	umad_get_mad_addr(umad)->qkey = htobe32(QKEY);
	check("answered",
	      !umad_send(portid, (int)umad->agent_id, umad, MAD_BYTES, 0, 0));
}

/* Answer each request by sending it back. */
static void *serve(void *arg)
{
	struct ib_user_mad *umad = umad_alloc(1, umad_size() + MAD_BYTES);
	struct server *server = arg;

	while (!atomic_load(&server->done)) {
		if (mad_receive_via(umad, 20, server->port))
			answer(mad_rpc_portid(server->port), umad);
	}
	umad_free(umad);
	return NULL;
}

static void server_start(struct server *server, char *device)
{
	long get[16 / sizeof(long)] = { 1 << UMAD_METHOD_GET };
	int classes[] = { IB_PERFORMANCE_CLASS };

	server->port = mad_rpc_open_port(device, 1, classes, 1);
	check("port of the server", server->port != NULL);
	check("agent of vendors",
	      mad_register_server_via(VENDOR, 0, get, 0, server->port) >= 0);
	check("agent of the SA", mad_register_server_via(IB_SA_CLASS, 1, get, 0,
							 server->port) >= 0);
	check("thread", !pthread_create(&server->thread, NULL, serve, server));
}

static void server_stop(struct server *server)
{
	atomic_store(&server->done, true);
	pthread_join(server->thread, NULL);
	mad_rpc_close_port(server->port);
}

static void exchange_sa(const struct asker *asker)
{
	struct ibsa_query query = {
		.record = &ibsa_class_port_info_record,
		.method = IBSA_METHOD_GET,
		.deadline_ms = WAIT_MS,
	};
	int err = ibsa_query_wait(asker->client, &query, NULL, NULL);

	if (err)
		printf("%s\n", strerror(-err));
	check("the SA has answered libibsa", !err);
}

static bool vendor_answers(const struct asker *asker)
{
	uint8_t data[IB_VENDOR_RANGE1_DATA_SIZE] = { 1, 2, 3 };
	/* RoCE needs no LID, but libibmad does. */
	ib_portid_t to = { .lid = 1, .grh_present = 1 };
	ib_vendor_call_t call = {
		.method = IB_MAD_METHOD_GET,
		.mgmt_class = VENDOR,
		.attrid = 0x77,
		.timeout = WAIT_MS,
	};

	memcpy(to.gid, asker->gid, sizeof(to.gid));
	return ib_vendor_call_via(data, &to, &call, asker->port) &&
	       data[0] == 1 && data[2] == 3;
}

static bool smi_answers(const struct asker *asker)
{
	ib_portid_t self = { .lid = 0 };
	uint8_t info[IB_SMP_DATA_SIZE] = { 0 };

	return smp_query_via(info, &self, IB_ATTR_NODE_INFO, 0, WAIT_MS,
			     asker->port) &&
	       mad_get_field(info, 0, IB_NODE_TYPE_F) == IB_NODE_CA;
}

static void exchange_both(const struct asker *asker)
{
	exchange_sa(asker);
	check("libibmad has its answer",
	      asker->is_pair ? vendor_answers(asker) : smi_answers(asker));
}

static void asker_open(struct asker *asker, char *device)
{
	int vendor[] = { VENDOR };
	int smi[] = { IB_SMI_CLASS, IB_SMI_DIRECT_CLASS };
	struct ibsa_address sa = {
		.qpn = IBSA_QPN_GSI,
		.has_grh = true,
		.hop_limit = 64,
	};
	struct ibsa_options options = {
		.device = device,
		.port = 1,
		.access.sa = asker->is_pair ? &sa : NULL,
	};
	struct ibsa_error error = { .text = "" };
	int err;

	memcpy(sa.gid.raw, asker->gid, sizeof(asker->gid));
	err = ibsa_open(&options, &error, &asker->client);
	if (err)
		printf("%s\n", error.text);
	check("port of libibsa", !err);
	asker->port = asker->is_pair ? mad_rpc_open_port(device, 1, vendor, 1)
				     : mad_rpc_open_port(device, 1, smi, 2);
	check("port of libibmad", asker->port != NULL);
}

int main(int argc, char **argv)
{
	struct server server = { .done = false };
	struct asker asker = { .is_pair = argc == 5 };

	if (argc < 3)
		return 2;
	libraries_check();
	if (asker.is_pair) {
		if (inet_pton(AF_INET6, argv[4], asker.gid) != 1)
			return 2;
		server_start(&server, argv[3]);
	}
	asker_open(&asker, argv[2]);
	for (int i = 0; i < ROUNDS; i++)
		exchange_both(&asker);
	mad_rpc_close_port(asker.port);
	exchange_sa(&asker);
	check("closed", !ibsa_close(asker.client));
	if (asker.is_pair)
		server_stop(&server);
	return 0;
}
