/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * usage: umad-io DEVICE [smp | gmp PEER GID]
 *
 * Prints what libibumad's calls return on a port, one call a line. Compare the
 * output with rdma-core's libibumad and with ibsa's. "smp" also sends to the
 * port's own SMA; "gmp" sends to the agent of another device, and receives the
 * answer.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <infiniband/umad.h>
#include <infiniband/umad_sa.h>
#include <infiniband/umad_sm.h>
#include <infiniband/umad_str.h>
#include <infiniband/umad_types.h>

enum {
	MAD_BYTES = 256,
	HEADER_BYTES = 64,
	NO_FD = 900,
	HIGH_FD = 1500,
	QKEY = (int)0x80010000,
	VENDOR = 0x0a,	   /* a class of the first vendor range */
	VENDOR_OUI = 0x33, /* and two of the second */
	VENDOR_LONG = 0x35,
	LONG_BYTES = 1000,
	HOP_LIMIT = 64,
	WAIT_MS = 30000, /* for what comes */
};

/* A header and a MAD. */
union buffer {
	struct ib_user_mad packet;
	uint8_t bytes[HEADER_BYTES + MAD_BYTES];
};

union long_buffer {
	struct ib_user_mad packet;
	uint8_t bytes[HEADER_BYTES + LONG_BYTES];
};

static uint8_t vendor_oui[3] = { 0x00, 0x14, 0x06 };

static uint8_t *mad_of(union buffer *buffer)
{
	return umad_get_mad(buffer);
}

/*
 * Print the result of a call: errno is printed only if the call failed,
 * because libibumad changes it only then.
 */
static void print_result(const char *what, long result)
{
	if (result < 0)
		printf("%s: %ld, %s\n", what, result, strerror(errno));
	else
		printf("%s: %ld\n", what, result);
}

/* Print the result of a call in which libibumad does not set errno. */
static void print_result_only(const char *what, long result)
{
	printf("%s: %ld\n", what, result);
}

static void show(const char *what, const union buffer *buffer)
{
	printf("%s:", what);
	for (size_t i = 0; i < HEADER_BYTES; i++)
		printf(" %02x", buffer->bytes[i]);
	printf("\n");
}

static void addresses(void)
{
	ib_mad_addr_t from = {
		.gid_index = 3,
		.hop_limit = 5,
		.traffic_class = 7,
		.flow_label = 0x12345,
		.pkey_index = 9,
	};
	union buffer to;

	memset(&to, 0xee, sizeof(to));
	memset(from.gid, 0xab, sizeof(from.gid));
	printf("size %zu, MAD at %td, address at %td\n", umad_size(),
	       mad_of(&to) - to.bytes,
	       (uint8_t *)umad_get_mad_addr(&to) - to.bytes);
	printf("status 0x%x\n", (unsigned int)umad_status(&to));
	print_result("set_addr", umad_set_addr(&to, 0x10007, 1, 0x1f2, QKEY));
	show("set_addr", &to);
	print_result("set_addr_net",
		     umad_set_addr_net(&to, htobe16(7), htobe32(2), 3,
				       htobe32(4)));
	show("set_addr_net", &to);
	print_result("set_grh", umad_set_grh(&to, &from));
	show("set_grh", &to);
	print_result("set_grh NULL", umad_set_grh(&to, NULL));
	show("set_grh NULL", &to);
	print_result("set_pkey", umad_set_pkey(&to, 0x12345));
	print_result("get_pkey", umad_get_pkey(&to));
	show("set_pkey", &to);
}

static void levels(void)
{
	union buffer zero = { .packet.agent_id = 1 };

	print_result("debug -1", umad_debug(-1));
	print_result("debug 0", umad_debug(0));
	/* To standard error, with the process's number. */
	umad_dump(&zero);
	umad_addr_dump(umad_get_mad_addr(&zero));
}

/* A hash of several texts, FNV-1a. */
static void mix(uint64_t *sum, const char *text)
{
	do {
		*sum = (*sum ^ (uint8_t)*text) * 0x100000001b3;
	} while (*text++);
}

/*
 * Print the texts for all values of one-byte fields, and of all attributes if
 * the class has names for its own.
 */
static void texts(void)
{
	uint64_t methods = 0, attributes = 0, statuses = 0;

	for (int class = 0; class < 256; class ++) {
		bool is_known = class < 9 || class == 0x81;

		printf("class 0x%02x: %s\n", class,
		       umad_class_str((uint8_t) class));
		for (int method = 0; method < 256; method++)
			mix(&methods,
			    umad_method_str((uint8_t) class, (uint8_t)method));
		for (int id = 0; id < (is_known ? 0x10000 : 0x100); id++)
			mix(&attributes,
			    umad_attribute_str((uint8_t) class,
					       htobe16((uint16_t)id)));
	}
	for (int status = 0; status < 0x10000; status++) {
		mix(&statuses,
		    umad_common_mad_status_str(htobe16((uint16_t)status)));
		mix(&statuses,
		    umad_sa_mad_status_str(htobe16((uint16_t)status)));
	}
	printf("methods 0x%" PRIx64 " attributes 0x%" PRIx64
	       " statuses 0x%" PRIx64 "\n",
	       methods, attributes, statuses);
}

static void receive(const char *what, int portid, int length, int timeout_ms)
{
	struct timespec start;
	struct timespec end;
	union buffer in;
	int room = length;
	int result;
	double passed;

	memset(&in, 0, sizeof(in));
	clock_gettime(CLOCK_MONOTONIC, &start);
	result = umad_recv(portid, &in, &room, timeout_ms);
	print_result(what, result);
	clock_gettime(CLOCK_MONOTONIC, &end);
	passed = (double)(end.tv_sec - start.tv_sec) * 1e3 +
		 (double)(end.tv_nsec - start.tv_nsec) / 1e6;
	if (result == -ETIMEDOUT)
		printf("  %s\n", passed < timeout_ms ? "early" : "in time");
}

/* Make calls on a port that does not exist. */
static void strangers(int portid)
{
	struct umad_reg_attr attr = { .mgmt_class = VENDOR,
				      .mgmt_class_version = 1 };
	uint32_t agent = 77;
	union buffer out = { .packet.agent_id = 0 };

	printf("portid %s\n", portid < 0	? "below 0"
			      : portid == NO_FD ? "of no file"
						: "of a file");
	print_result("get_fd", portid == umad_get_fd(portid));
	print_result_only("poll", umad_poll(portid, 0));
	receive("recv", portid, MAD_BYTES, 0);
	print_result("send", umad_send(portid, 0, &out, MAD_BYTES, 0, 0));
	print_result("register", umad_register(portid, VENDOR, 1, 0, NULL));
	printf("register2: %d, agent %u\n",
	       umad_register2(portid, &attr, &agent), agent);
	print_result("unregister", umad_unregister(portid, 0));
	if (portid == NO_FD)
		print_result("close", umad_close_port(portid));
}

static void opens(const char *device)
{
	print_result_only("open no_such_ca 0", umad_open_port("no_such_ca", 0));
	print_result_only("open no_such_ca 1", umad_open_port("no_such_ca", 1));
	print_result_only("open port 77", umad_open_port(device, 77));
	print_result("open any port 77", umad_open_port(NULL, 77) < 0);
}

static int two_register(int portid, uint8_t mgmt_class, uint32_t oui)
{
	struct umad_reg_attr attr = {
		.mgmt_class = mgmt_class,
		.mgmt_class_version = 1,
		.oui = oui,
	};
	uint32_t agent = 77;
	int result = umad_register2(portid, &attr, &agent);

	printf("register2 class 0x%x oui 0x%x: %d, agent %u flags %u\n",
	       mgmt_class, oui, result, agent, attr.flags);
	return result ? -1 : (int)agent;
}

static void agents(int portid)
{
	long get[16 / sizeof(long)] = { 1 << UMAD_METHOD_GET };
	uint32_t agent = 0;
	struct umad_reg_attr attr = { .mgmt_class = VENDOR };
	int first;

	print_result("register client",
		     umad_register(portid, UMAD_CLASS_SUBN_ADM,
				   UMAD_SA_CLASS_VERSION, 1, NULL));
	first = umad_register(portid, VENDOR, 1, 0, get);
	print_result("register server", first);
	print_result("register no class",
		     umad_register(portid, 0, 0, 0, NULL) < 0);
	print_result("register oui",
		     umad_register_oui(portid, VENDOR_OUI, 1, vendor_oui, get));
	print_result("register oui of another class",
		     umad_register_oui(portid, VENDOR, 1, vendor_oui, get) ==
			     -EINVAL);
	two_register(portid, VENDOR + 1, 0);
	two_register(portid, VENDOR_OUI + 1, 0x001407);
	two_register(portid, VENDOR_OUI + 1, 0);
	two_register(portid, VENDOR_OUI + 1, 0x1000000);
	printf("register2 NULL: %d %d\n", umad_register2(portid, NULL, &agent),
	       umad_register2(portid, &attr, NULL));
	print_result("unregister", umad_unregister(portid, first));
}

/* Make calls that a real device file refuses and ibsim accepts. */
static void refusals(int portid)
{
	long get[16 / sizeof(long)] = { 1 << UMAD_METHOD_GET };
	union buffer out = { .packet.agent_id = 0 };

	print_result("register", umad_register(portid, VENDOR, 1, 0, get) < 0);
	print_result("register again",
		     umad_register(portid, VENDOR, 1, 0, get));
	two_register(portid, 0x7f, 0);
	print_result("unregister 31", umad_unregister(portid, 31));
	print_result("unregister -1", umad_unregister(portid, -1));
	print_result("send agent 31",
		     umad_send(portid, 31, &out, MAD_BYTES, 0, 0));
	print_result("send length 0", umad_send(portid, 0, &out, 0, 0, 0));
}

static void waits(int portid)
{
	union buffer in = { .packet.agent_id = 0 };
	int room = MAD_BYTES;

	print_result_only("poll 0", umad_poll(portid, 0));
	print_result_only("poll 20", umad_poll(portid, 20));
	receive("recv 0", portid, MAD_BYTES, 0);
	receive("recv 20", portid, MAD_BYTES, 20);
	print_result("recv NULL", umad_recv(portid, NULL, &room, 0));
	print_result("recv NULL length", umad_recv(portid, &in, NULL, 0));
}

/* Make calls with a descriptor that is too large for an fd_set. */
static void high_portid(int portid)
{
	struct rlimit limit;
	int high;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		exit(2);
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit))
		exit(2);
	high = fcntl(portid, F_DUPFD_CLOEXEC, HIGH_FD);
	print_result("portid above 1023", high < HIGH_FD);
	waits(high);
	print_result("close above 1023", umad_close_port(high));
}

/* Print the fields of a header and MAD that do not depend on the machine. */
static void got(const char *what, union buffer *in, int agent, int result,
		int length)
{
	const struct umad_hdr *mad = (const void *)mad_of(in);

	print_result(what, result < 0 ? result : result == agent);
	if (result < 0)
		return;
	printf("  status %d length %d lid %u qpn %u sl %u pkey %d grh %u\n",
	       umad_status(in), length, be16toh(in->packet.addr.lid),
	       be32toh(in->packet.addr.qpn), in->packet.addr.sl,
	       umad_get_pkey(in), in->packet.addr.grh_present);
	printf("  class %s method %s attribute %s status %s tid 0x%08x\n",
	       umad_class_str(mad->mgmt_class),
	       umad_method_str(mad->mgmt_class, mad->method),
	       umad_attribute_str(mad->mgmt_class, mad->attr_id),
	       umad_common_mad_status_str(mad->status),
	       (unsigned int)be64toh(mad->tid));
}

static void await(const char *what, int portid, int agent, union buffer *in,
		  int timeout_ms)
{
	int length = MAD_BYTES;
	int result;

	memset(in, 0, sizeof(*in));
	result = umad_recv(portid, in, &length, timeout_ms);
	got(what, in, agent, result, length);
}

/* Get NodeInfo from the port's own SMA, by a directed route of no hops. */
static void smp(int portid)
{
	union buffer out = { .packet.agent_id = 0 };
	struct umad_smp *mad = (void *)mad_of(&out);
	union buffer in;
	int agent;

	agent = umad_register(portid, UMAD_CLASS_SUBN_DIRECTED_ROUTE, 1, 0,
			      NULL);
	print_result("register SMI", agent < 0);
	*mad = (struct umad_smp){
		.base_version = UMAD_BASE_VERSION,
		.mgmt_class = UMAD_CLASS_SUBN_DIRECTED_ROUTE,
		.class_version = 1,
		.method = UMAD_METHOD_GET,
		.tid = htobe64(0x1234),
		.attr_id = htobe16(UMAD_SM_ATTR_NODE_INFO),
		.dr_slid = 0xffff,
		.dr_dlid = 0xffff,
	};
	umad_set_addr(&out, 0xffff, 0, 0, 0);
	umad_set_pkey(&out, 0);
	print_result("send SMP",
		     umad_send(portid, agent, &out, MAD_BYTES, WAIT_MS, 3));
	await("answer", portid, agent, &in, WAIT_MS);
	print_result("unregister SMI", umad_unregister(portid, agent));
}

/*
 * Two ports with an agent each; requests are sent to the GID of the second
 * port.
 */
struct ends {
	int client;
	int client_agent;
	int server;
	int server_agent;
	ib_mad_addr_t to;
};

static void gmp_exchange(const struct ends *ends, unsigned int tid,
			 uint8_t class, int timeout_ms)
{
	union buffer out = { .packet.agent_id = 0 };
	struct umad_hdr *mad = (void *)mad_of(&out);
	ib_mad_addr_t to = ends->to;

	*mad = (struct umad_hdr){
		.base_version = UMAD_BASE_VERSION,
		.mgmt_class = class,
		.class_version = 1,
		.method = UMAD_METHOD_GET,
		.tid = htobe64(tid),
		.attr_id = htobe16(UMAD_ATTR_CLASS_PORT_INFO),
	};
	if (class == VENDOR_LONG)
		memcpy(((struct umad_vendor_packet *)(void *)mad)->oui,
		       vendor_oui, sizeof(vendor_oui));
	umad_set_addr(&out, 0, 1, 0, QKEY);
	umad_set_grh(&out, &to);
	print_result("send", umad_send(ends->client, ends->client_agent, &out,
				       MAD_BYTES, timeout_ms, 0));
}

static void gmp_answer(const struct ends *ends, union buffer *in)
{
	struct umad_hdr *mad = (void *)mad_of(in);

	mad->method = UMAD_METHOD_GET_RESP;
	umad_get_mad_addr(in)->qkey = htobe32((uint32_t)QKEY);
	print_result("send back", umad_send(ends->server, ends->server_agent,
					    in, MAD_BYTES, 0, 0));
}

/*
 * The umad file belongs to the parent: a packet that the child reads does not
 * reach the parent.
 */
static void gmp_in_child(const struct ends *ends)
{
	union buffer in;
	pid_t child;

	gmp_exchange(ends, 0x31, VENDOR, WAIT_MS);
	fflush(stdout);
	child = fork();
	if (!child) {
		await("child's request", ends->server, ends->server_agent, &in,
		      WAIT_MS);
		gmp_answer(ends, &in);
		exit(0);
	}
	waitpid(child, NULL, 0);
	await("answer of child", ends->client, ends->client_agent, &in,
	      WAIT_MS);
}

/* An answer of many segments, which the kernel sends and reassembles. */
static void gmp_long_answer(const struct ends *ends, const union buffer *in)
{
	union long_buffer out = { .packet = in->packet };
	struct umad_vendor_packet *mad = umad_get_mad(&out);

	memcpy(mad, in->bytes + HEADER_BYTES, sizeof(*mad));
	mad->mad_hdr.method = UMAD_METHOD_GET_RESP;
	mad->rmpp_hdr.rmpp_version = UMAD_RMPP_VERSION;
	mad->rmpp_hdr.rmpp_type = 1;
	mad->rmpp_hdr.rmpp_rtime_flags = UMAD_RMPP_FLAG_ACTIVE;
	for (size_t i = offsetof(struct umad_vendor_packet, data);
	     i < LONG_BYTES; i++)
		out.bytes[HEADER_BYTES + i] = (uint8_t)i;
	umad_get_mad_addr(&out)->qkey = htobe32((uint32_t)QKEY);
	print_result("send long", umad_send(ends->server, ends->server_agent,
					    &out, LONG_BYTES, 0, 0));
}

static void gmp_long(struct ends *ends)
{
	long get[16 / sizeof(long)] = { 1 << UMAD_METHOD_GET };
	union long_buffer long_in;
	int length = MAD_BYTES;
	union buffer in;
	int result;
	int sum = 0;

	ends->client_agent = umad_register_oui(ends->client, VENDOR_LONG, 1,
					       vendor_oui, NULL);
	ends->server_agent = umad_register_oui(ends->server, VENDOR_LONG, 1,
					       vendor_oui, get);
	gmp_exchange(ends, 0x51, VENDOR_LONG, WAIT_MS);
	await("request", ends->server, ends->server_agent, &in, WAIT_MS);
	gmp_long_answer(ends, &in);
	result = umad_recv(ends->client, &long_in, &length, WAIT_MS);
	print_result("recv into too little", result);
	printf("  needs %d\n", length);
	result = umad_recv(ends->client, &long_in, &length, 0);
	/* Sum the bytes after the TransactionID, which the kernel changes. */
	for (int i = 16; i < length; i++)
		sum += long_in.bytes[HEADER_BYTES + i] * (i % 7);
	print_result("recv", result == ends->client_agent);
	printf("  length %d, sum %d\n", length, sum);
}

static void gmp(int portid, const char *peer, const char *gid)
{
	long get[16 / sizeof(long)] = { 1 << UMAD_METHOD_GET };
	struct ends ends = { .client = portid, .to.hop_limit = HOP_LIMIT };
	union buffer in;

	ends.client_agent = umad_register(portid, VENDOR, 1, 0, NULL);
	ends.server = umad_open_port(peer, 1);
	print_result("open peer", ends.server < 0);
	ends.server_agent = umad_register(ends.server, VENDOR, 1, 0, get);
	if (inet_pton(AF_INET6, gid, ends.to.gid) != 1)
		exit(2);

	gmp_exchange(&ends, 0x11, VENDOR, WAIT_MS);
	await("request", ends.server, ends.server_agent, &in, WAIT_MS);
	gmp_answer(&ends, &in);
	await("answer", portid, ends.client_agent, &in, WAIT_MS);

	gmp_exchange(&ends, 0x21, VENDOR, WAIT_MS);
	gmp_exchange(&ends, 0x21, VENDOR, WAIT_MS);
	print_result("poll", umad_poll(ends.server, WAIT_MS));
	receive("recv into 10 bytes", ends.server, 10, WAIT_MS);
	await("request", ends.server, ends.server_agent, &in, -1);
	gmp_answer(&ends, &in);
	await("answer", portid, ends.client_agent, &in, -1);

	/* The other device gives no answer: the kernel returns the request. */
	gmp_exchange(&ends, 0x41, VENDOR, 50);
	await("request", ends.server, ends.server_agent, &in, WAIT_MS);
	await("no answer", portid, ends.client_agent, &in, WAIT_MS);
	gmp_in_child(&ends);
	gmp_long(&ends);
	print_result("close peer", umad_close_port(ends.server));
}

int main(int argc, char **argv)
{
	int pair[2];
	int portid;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc < 2 || umad_init())
		return 2;
	portid = umad_open_port(argv[1], 1);
	print_result("open", portid < 0);
	if (portid < 0)
		return 1;
	addresses();
	levels();
	texts();
	strangers(-1);
	strangers(NO_FD);
	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, pair))
		return 2;
	strangers(pair[0]);
	opens(argv[1]);
	agents(portid);
	waits(portid);
	if (argc > 2 && !strcmp(argv[2], "smp"))
		smp(portid);
	if (argc > 4 && !strcmp(argv[2], "gmp")) {
		refusals(portid);
		high_portid(portid);
		gmp(portid, argv[3], argv[4]);
	}
	print_result("close", umad_close_port(portid));
	print_result("done", umad_done());
	return 0;
}
