/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A gate between a fabric and a device file that the test plays: its calls of
 * open(), ioctl(), read() and write() end here, by the linker's --wrap.
 */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include <ibsa/bits.h>
#include <ibsa/records.h>
#include <ibsa/sa.h>
#include <ibsa/sim.h>

#include "packet/header.h"
#include "test/device_tree.h"
#include "test/fail_alloc.h"
#include "wire/request.h"

enum {
	CLIENT_AGENT = 10,
	SA_AGENT = 20,
	NODES = 4, /* with the switch */
	ID_AT = 8,
	PACKET_BYTES = UMAD_HEADER_BYTES + IBSA_MAD_BYTES,
};

static const char topology[] = "Switch 8 \"switch1\"\n"
			       "[1] \"node1\"[1]\n"
			       "[2] \"node2\"[1]\n"
			       "[3] \"node3\"[1]\n"
			       "Ca 1 \"node1\"\n"
			       "Ca 1 \"node2\"\n"
			       "Ca 1 \"node3\"\n"
			       "Ca 1 \"lonely\"\n";

/* What the kernel is to do. */
static struct {
	int device; /* the transport's end, and ours */
	int end;
	int sa_errno; /* to who wants the requests to the SA */
	int read_errno;
	int write_errno;
} kernel = { .device = -1, .end = -1 };

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __real_ioctl(int fd, unsigned long command, ...);
int __wrap_ioctl(int fd, unsigned long command, ...);
ssize_t __real_read(int fd, void *to, size_t size);
ssize_t __wrap_read(int fd, void *to, size_t size);
ssize_t __real_write(int fd, const void *from, size_t size);
ssize_t __wrap_write(int fd, const void *from, size_t size);

static int fails(int with)
{
	errno = with;
	return -1;
}

int __wrap_open(const char *path, int flags, ...)
{
	int ends[2];

	if (strcmp(path, "/dev/infiniband/umad0") != 0)
		return __real_open(path, flags, 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0,
				    ends),
			 0);
	kernel.device = ends[0];
	kernel.end = ends[1];
	return kernel.device;
}

static int agent_register(struct umad_agent_request *request)
{
	const uint32_t methods = 1 << IBSA_METHOD_GET | 1 << IBSA_METHOD_SET |
				 1 << IBSA_METHOD_GET_TABLE |
				 1 << IBSA_METHOD_GET_MULTI |
				 1 << IBSA_METHOD_DELETE;

	assert_int_equal(request->mgmt_class, IBSA_CLASS_SA);
	assert_int_equal(request->mgmt_class_version, IBSA_CLASS_VERSION);
	assert_int_equal(request->rmpp_version, 1);
	request->id = CLIENT_AGENT;
	if (!request->method_mask[0])
		return 0;
	assert_int_equal(request->method_mask[0], methods);
	request->id = SA_AGENT;
	return kernel.sa_errno ? fails(kernel.sa_errno) : 0;
}

int __wrap_ioctl(int fd, unsigned long command, ...)
{
	void *argument;
	va_list args;

	va_start(args, command);
	argument = va_arg(args, void *);
	va_end(args);
	if (fd != kernel.device)
		return __real_ioctl(fd, command, argument);
	return command == UMAD_REGISTER_AGENT ? agent_register(argument) : 0;
}

ssize_t __wrap_read(int fd, void *to, size_t size)
{
	if (fd == kernel.device && kernel.read_errno)
		return fails(kernel.read_errno);
	return __real_read(fd, to, size);
}

ssize_t __wrap_write(int fd, const void *from, size_t size)
{
	if (fd == kernel.device && kernel.write_errno)
		return fails(kernel.write_errno);
	return __real_write(fd, from, size);
}

/* A fabric, and a gate to its node2. */
struct rig {
	struct tree tree;
	struct ibsa_fabric *fabric;
	struct ibsa_gate *gate;
	uint8_t packet[65536]; /* the last one that went out */
	size_t len;
};

static const struct ibsa_gate_options at_node2 = { .device = "mlx5_0",
						   .node = "node2" };

static int setup(void **state)
{
	static struct rig rig;

	kernel.sa_errno = 0;
	kernel.read_errno = 0;
	kernel.write_errno = 0;
	kernel.device = -1;
	kernel.end = -1;
	rig = (struct rig){ .fabric = NULL };
	tree_make(&rig.tree);
	tree_add_device(&rig.tree, "mlx5_0");
	tree_add_umad(&rig.tree, 0, "mlx5_0", 1);
	*state = &rig;
	return ibsa_fabric_parse(topology, strlen(topology), NULL, NULL,
				 &rig.fabric);
}

static int teardown(void **state)
{
	struct rig *rig = *state;

	ibsa_gate_close(rig->gate);
	ibsa_fabric_put(rig->fabric);
	tree_remove(&rig->tree);
	if (kernel.end >= 0)
		close(kernel.end);
	return 0;
}

static void open_gate(struct rig *rig)
{
	struct ibsa_error error;

	if (ibsa_gate_open(rig->fabric, &at_node2, &error, &rig->gate))
		fail_msg("%s", error.text);
}

/* What arrives at the port. */
struct arrival {
	struct umad_header header;
	uint8_t mad[IBSA_MAD_BYTES];
};

static void arrive_bytes(const struct arrival *arrival, size_t mad_len)
{
	const size_t len = UMAD_HEADER_BYTES + mad_len;

	assert_int_equal(__real_write(kernel.end, arrival, len), len);
}

static struct arrival from(uint16_t lid, uint32_t qpn)
{
	struct arrival arrival = { .header = { .id = SA_AGENT } };

	ibsa_put_be16((uint8_t *)&arrival.header.lid, lid);
	ibsa_put_be32((uint8_t *)&arrival.header.qpn, qpn);
	return arrival;
}

static void encode(struct arrival *arrival, const struct ibsa__request *request)
{
	assert_int_equal(ibsa__request_encode(request, arrival->mad), 0);
}

static void pass(struct rig *rig)
{
	assert_int_equal(ibsa_gate_dispatch(rig->gate), 0);
}

/* A request from somebody; it is passed on. */
static void ask(struct rig *rig, uint16_t lid, uint32_t qpn,
		const struct ibsa__request *request)
{
	struct arrival arrival = from(lid, qpn);

	encode(&arrival, request);
	arrive_bytes(&arrival, sizeof(arrival.mad));
	pass(rig);
}

/* What went out next. Return: whether something did. */
static bool sent(struct rig *rig)
{
	const ssize_t len = __real_read(kernel.end, rig->packet,
					sizeof(rig->packet));

	rig->len = len > 0 ? (size_t)len : 0;
	return len > 0;
}

static struct umad_header header_of(const struct rig *rig)
{
	struct umad_header header;

	memcpy(&header, rig->packet, sizeof(header));
	assert_int_equal(header.length, rig->len);
	return header;
}

static const uint8_t *mad_of(const struct rig *rig)
{
	return rig->packet + UMAD_HEADER_BYTES;
}

/* The next thing that went out is for that LID and QP. */
static void assert_sent_to(struct rig *rig, uint16_t lid, uint32_t qpn,
			   uint8_t method)
{
	struct umad_header header;

	assert_true(sent(rig));
	header = header_of(rig);
	assert_int_equal(ibsa_be16((const uint8_t *)&header.lid), lid);
	assert_int_equal(ibsa_be32((const uint8_t *)&header.qpn), qpn);
	assert_int_equal(IBSA_GET(sa_header, method, mad_of(rig)), method);
}

static struct ibsa_gate_info info_of(const struct rig *rig)
{
	struct ibsa_gate_info info;

	ibsa_gate_info_get(rig->gate, &info);
	return info;
}

static bool is_readable(const struct rig *rig)
{
	struct pollfd one = { .fd = ibsa_gate_fd(rig->gate), .events = POLLIN };

	return poll(&one, 1, 0) == 1;
}

static const struct ibsa__request get_info = {
	.record = &ibsa_class_port_info_record,
	.method = IBSA_METHOD_GET,
	.transaction_id = 0x1122334455667788,
};

static void request_is_answered_to_who_has_asked(void **state)
{
	struct rig *rig = *state;
	struct arrival arrival;

	open_gate(rig);
	assert_false(is_readable(rig));
	assert_int_equal(ibsa_gate_timeout_ms(rig->gate), -1);
	arrival = from(9, 77);
	encode(&arrival, &get_info);
	arrive_bytes(&arrival, sizeof(arrival.mad));
	assert_true(is_readable(rig));
	pass(rig);
	assert_false(is_readable(rig));

	assert_sent_to(rig, 9, 77, IBSA_METHOD_GET_RESP);
	assert_int_equal(rig->len, PACKET_BYTES);
	assert_int_equal(header_of(rig).id, SA_AGENT);
	assert_int_equal(header_of(rig).timeout_ms, 0);
	assert_int_equal(header_of(rig).retries, 0);
	assert_int_equal(IBSA_GET(sa_header, status, mad_of(rig)), 0);
	assert_int_equal(IBSA_GET(sa_header, transaction_id, mad_of(rig)),
			 get_info.transaction_id);
	assert_int_equal(info_of(rig).requests, 1);
	assert_int_equal(info_of(rig).answers, 1);
	assert_string_equal(info_of(rig).device, "mlx5_0");
	assert_int_equal(info_of(rig).port, 1);
	assert_int_equal(info_of(rig).lid, 7);
}

/* The way back is that of the request, its GRH turned round. */
static void answer_goes_along_the_grh(void **state)
{
	struct rig *rig = *state;
	struct arrival arrival = from(0, 1);
	struct umad_header header;

	open_gate(rig);
	arrival.header.grh_present = 1;
	arrival.header.gid_index = 2;
	arrival.header.hop_limit = 64;
	arrival.header.gid[0] = 0xfd;
	arrival.header.gid[15] = 5;
	arrival.header.pkey_index = 3;
	arrival.header.sl = 4;
	encode(&arrival, &get_info);
	arrive_bytes(&arrival, sizeof(arrival.mad));
	pass(rig);
	assert_true(sent(rig));
	header = header_of(rig);
	assert_int_equal(header.grh_present, 1);
	assert_int_equal(header.gid_index, 2);
	assert_int_equal(header.hop_limit, 64);
	assert_memory_equal(header.gid, arrival.header.gid, 16);
	assert_int_equal(header.pkey_index, 3);
	assert_int_equal(header.sl, 4);
}

static void those_with_one_transaction_id_are_told_apart(void **state)
{
	struct rig *rig = *state;
	struct ibsa__request table = {
		.record = &ibsa_node_record,
		.method = IBSA_METHOD_GET_TABLE,
		.transaction_id = get_info.transaction_id,
	};

	open_gate(rig);
	ask(rig, 9, 1, &get_info);
	ask(rig, 9, 2, &table);
	ask(rig, 10, 1, &get_info);
	ask(rig, 9, 1, &get_info);
	assert_sent_to(rig, 9, 1, IBSA_METHOD_GET_RESP);
	assert_sent_to(rig, 9, 2, IBSA_METHOD_GET_TABLE_RESP);
	assert_sent_to(rig, 10, 1, IBSA_METHOD_GET_RESP);
	assert_sent_to(rig, 9, 1, IBSA_METHOD_GET_RESP);
	assert_false(sent(rig));
	assert_int_equal(info_of(rig).requesters, 3);
}

/* One write; the kernel cuts it up, and tries again what is lost. */
static void large_answer_is_one_packet_for_the_kernel_to_segment(void **state)
{
	struct rig *rig = *state;
	const struct ibsa__request table = {
		.record = &ibsa_node_record,
		.method = IBSA_METHOD_GET_TABLE,
		.transaction_id = 1,
	};
	enum { BYTES = IBSA_SA_HEADER_BYTES + NODES * 112 };

	open_gate(rig);
	ask(rig, 9, 1, &table);
	assert_sent_to(rig, 9, 1, IBSA_METHOD_GET_TABLE_RESP);
	assert_int_equal(rig->len, UMAD_HEADER_BYTES + BYTES);
	assert_int_equal(header_of(rig).id, SA_AGENT);
	assert_int_equal(header_of(rig).timeout_ms, 0);
	assert_int_equal(header_of(rig).retries, 3);
	assert_int_equal(IBSA_GET(sa_header, rmpp_flags, mad_of(rig)) &
				 IBSA_RMPP_ACTIVE,
			 IBSA_RMPP_ACTIVE);
	assert_false(sent(rig));
}

static void faults_of_the_fabric_befall_who_asks(void **state)
{
	struct rig *rig = *state;
	struct ibsa_fault fault = { .kind = IBSA_FAULT_SILENCE,
				    .percent = 100 };
	struct ibsa_fabric_stats stats;

	open_gate(rig);
	assert_int_equal(ibsa_fabric_fault(rig->fabric, &fault), 0);
	ask(rig, 9, 1, &get_info);
	assert_false(sent(rig));
	fault.percent = 0;
	assert_int_equal(ibsa_fabric_fault(rig->fabric, &fault), 0);
	fault.kind = IBSA_FAULT_BUSY;
	fault.percent = 100;
	assert_int_equal(ibsa_fabric_fault(rig->fabric, &fault), 0);
	ask(rig, 9, 1, &get_info);
	assert_sent_to(rig, 9, 1, IBSA_METHOD_GET_RESP);
	assert_int_equal(IBSA_GET(sa_header, status, mad_of(rig)),
			 IBSA_STATUS_BUSY);
	ibsa_fabric_stats_get(rig->fabric, &stats);
	assert_int_equal(stats.unanswered, 1);
}

static void sa_that_moves_or_rests_is_followed(void **state)
{
	struct rig *rig = *state;

	open_gate(rig);
	assert_int_equal(ibsa_fabric_sa_move(rig->fabric, "node3"), 0);
	ask(rig, 9, 1, &get_info);
	assert_true(sent(rig));
	ibsa_fabric_sa_set(rig->fabric, false);
	ask(rig, 9, 1, &get_info);
	assert_false(sent(rig));
	ibsa_fabric_sa_set(rig->fabric, true);
	ask(rig, 9, 1, &get_info);
	assert_true(sent(rig));
}

/* Two requesters at one node; each ends its own subscription only. */
static void subscribe(struct rig *rig, uint16_t lid, bool on)
{
	const struct ibsa_inform_info info = {
		.lid_range_begin = 0xffff,
		.is_generic = 1,
		.subscribe = on,
		.type = 0xffff,
		.trap_number = 65,
		.qpn = 1,
		.producer_type = 0xffffff,
	};
	const struct ibsa__request request = {
		.record = &ibsa_inform_info_record,
		.match = &info,
		.method = IBSA_METHOD_SET,
		.transaction_id = 5,
	};

	ask(rig, lid, 1, &request);
	assert_sent_to(rig, lid, 1, IBSA_METHOD_GET_RESP);
	assert_int_equal(IBSA_GET(sa_header, status, mad_of(rig)), 0);
}

static void set_node3(struct rig *rig, bool up)
{
	const struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_LINK,
		.link_up = up,
	};

	assert_int_equal(ibsa_fabric_port_set(rig->fabric, "node3", 1, &change),
			 0);
	pass(rig);
}

/* How many Reports the SA still waits for, which it then gives up. */
static uint64_t count_waiting(struct rig *rig)
{
	struct ibsa_fabric_stats before, after;

	ibsa_fabric_stats_get(rig->fabric, &before);
	ibsa_fabric_sa_set(rig->fabric, false);
	ibsa_fabric_sa_set(rig->fabric, true);
	ibsa_fabric_stats_get(rig->fabric, &after);
	return after.reports_unanswered - before.reports_unanswered;
}

/* As the kernel hands it up: its own number in the id's upper half. */
static void answer_report(struct rig *rig, uint16_t lid)
{
	struct arrival arrival = from(lid, 1);

	memcpy(arrival.mad, mad_of(rig), sizeof(arrival.mad));
	arrival.mad[3] = IBSA_METHOD_REPORT_RESP;
	ibsa_put_be32(arrival.mad + ID_AT, 0xabcd);
	arrive_bytes(&arrival, sizeof(arrival.mad));
	pass(rig);
}

static void reports_go_to_who_has_subscribed(void **state)
{
	struct rig *rig = *state;

	open_gate(rig);
	subscribe(rig, 9, true);
	subscribe(rig, 10, true);
	set_node3(rig, false);
	assert_sent_to(rig, 10, 1, IBSA_METHOD_REPORT);
	/* A request: its answer comes to this agent by its id. */
	assert_int_equal(header_of(rig).id, CLIENT_AGENT);
	assert_in_range(header_of(rig).timeout_ms, 100, 199);
	assert_int_equal(rig->len, PACKET_BYTES);
	assert_sent_to(rig, 9, 1, IBSA_METHOD_REPORT);
	assert_false(sent(rig));
	assert_int_equal(info_of(rig).reports, 2);
	answer_report(rig, 9);
	assert_int_equal(count_waiting(rig), 1);
}

static void subscription_is_ended_by_who_has_it(void **state)
{
	struct rig *rig = *state;

	open_gate(rig);
	subscribe(rig, 9, true);
	subscribe(rig, 10, true);
	subscribe(rig, 10, false);
	set_node3(rig, false);
	assert_sent_to(rig, 9, 1, IBSA_METHOD_REPORT);
	assert_false(sent(rig));
	answer_report(rig, 9);
	assert_int_equal(count_waiting(rig), 0);
}

/* The kernel's word on a Report or an answer that came to nothing. */
static void time_outs_are_no_requests(void **state)
{
	struct rig *rig = *state;
	struct arrival arrival = from(9, 1);

	open_gate(rig);
	encode(&arrival, &get_info);
	arrival.header.status = ETIMEDOUT;
	arrive_bytes(&arrival, 24);
	pass(rig);
	assert_false(sent(rig));
	assert_int_equal(info_of(rig).requests, 0);
}

static void what_is_no_request_for_the_fabric_is_counted(void **state)
{
	struct rig *rig = *state;
	struct arrival arrival = from(9, 1);
	uint8_t large[UMAD_HEADER_BYTES + 2 * IBSA_MAD_BYTES] = { 0 };

	open_gate(rig);
	encode(&arrival, &get_info);
	arrive_bytes(&arrival, 24);
	arrival.mad[3] = IBSA_METHOD_REPORT_RESP;
	arrive_bytes(&arrival, 100);
	assert_int_equal(__real_write(kernel.end, large, sizeof(large)),
			 sizeof(large));
	pass(rig);
	assert_false(sent(rig));
	assert_int_equal(info_of(rig).unheard, 3);
}

static void answer_that_the_kernel_refuses_is_counted(void **state)
{
	struct rig *rig = *state;

	open_gate(rig);
	kernel.write_errno = EINVAL;
	ask(rig, 9, 1, &get_info);
	kernel.write_errno = 0;
	assert_false(sent(rig));
	assert_int_equal(info_of(rig).refused, 1);
	assert_int_equal(info_of(rig).answers, 0);
	ask(rig, 9, 1, &get_info);
	assert_true(sent(rig));
}

static void device_that_has_gone_is_told_for_good(void **state)
{
	struct rig *rig = *state;
	struct arrival arrival = from(9, 1);

	open_gate(rig);
	arrive_bytes(&arrival, sizeof(arrival.mad));
	kernel.read_errno = EIO;
	assert_int_equal(ibsa_gate_dispatch(rig->gate), -ENODEV);
	kernel.read_errno = 0;
	assert_int_equal(ibsa_gate_dispatch(rig->gate), -ENODEV);
	assert_false(is_readable(rig));
	assert_int_equal(ibsa_gate_timeout_ms(rig->gate), -1);
}

static void device_that_goes_while_it_is_written_to_is_told(void **state)
{
	struct rig *rig = *state;
	struct arrival arrival = from(9, 1);

	open_gate(rig);
	encode(&arrival, &get_info);
	arrive_bytes(&arrival, sizeof(arrival.mad));
	kernel.write_errno = EPIPE;
	assert_int_equal(ibsa_gate_dispatch(rig->gate), -ENODEV);
	assert_int_equal(info_of(rig).refused, 1);
}

static void refuse(struct rig *rig, const struct ibsa_gate_options *options,
		   int err, const char *words)
{
	struct ibsa_error error = { .text = "" };

	assert_int_equal(
		ibsa_gate_open(rig->fabric, options, &error, &rig->gate), err);
	assert_null(rig->gate);
	if (!strstr(error.text, words))
		fail_msg("\"%s\" does not say \"%s\"", error.text, words);
	assert_int_equal(ibsa_gate_open(rig->fabric, options, NULL, &rig->gate),
			 err);
}

static void port_of_another_sa_is_refused(void **state)
{
	struct rig *rig = *state;

	kernel.sa_errno = EINVAL;
	refuse(rig, &at_node2, -EBUSY, "another program takes the requests");
	kernel.sa_errno = ENOMEM;
	refuse(rig, NULL, -ENOMEM, "port 1 of mlx5_0");
}

static void what_is_not_there_is_refused(void **state)
{
	struct rig *rig = *state;
	struct ibsa_gate_options options = { .device = "none" };

	refuse(rig, &options, -ENODEV, "there is no device \"none\"");
	options = (struct ibsa_gate_options){ .port = 2 };
	refuse(rig, &options, -ENODEV, "no device has a port 2");
	options = (struct ibsa_gate_options){ .node = "none" };
	refuse(rig, &options, -ENODEV, "no adapter none in the fabric");
	options = (struct ibsa_gate_options){ .node = "node2", .node_port = 2 };
	refuse(rig, &options, -ENODEV, "node2 has no port 2 in the fabric");
	options = (struct ibsa_gate_options){ .node = "lonely" };
	refuse(rig, &options, -ENETDOWN, "lonely is not connected");
	tree_set_port(&rig->tree, "mlx5_0", 1, "state", "1: DOWN\n");
	refuse(rig, NULL, -ENETDOWN, "mlx5_0 is down");
}

static void node_with_a_listener_is_refused(void **state)
{
	struct rig *rig = *state;
	struct ibsa_transport *other;

	assert_int_equal(ibsa_fabric_attach(rig->fabric, "node2", 0, &other),
			 0);
	assert_int_equal(other->ops->listen(other, true), 0);
	refuse(rig, &at_node2, -EBUSY, "take another node");
	other->ops->close(other);
	open_gate(rig);
}

static void virtual_clock_is_refused(void **state)
{
	const struct ibsa_fabric_options options = { .virtual_clock = true };
	struct rig *rig = *state;

	ibsa_fabric_put(rig->fabric);
	assert_int_equal(ibsa_fabric_parse(topology, strlen(topology), &options,
					   NULL, &rig->fabric),
			 0);
	refuse(rig, NULL, -EINVAL, "virtual clock");
}

static void memory_that_is_short_is_no_harm(void **state)
{
	struct rig *rig = *state;
	int err = -ENOMEM;

	for (long n = 0; err; n++) {
		fail_alloc_after(n);
		err = ibsa_gate_open(rig->fabric, &at_node2, NULL, &rig->gate);
		fail_alloc_after(-1);
		assert_true(!err || err == -ENOMEM);
		assert_true(n < 200);
	}
	for (long n = 0; n < 4; n++) {
		fail_alloc_after(n);
		ask(rig, 9, 1, &get_info);
		fail_alloc_after(-1);
	}
	assert_int_equal(info_of(rig).requests, 4);
	assert_true(info_of(rig).unheard + info_of(rig).refused > 0);
	while (sent(rig))
		;
	ask(rig, 9, 1, &get_info);
	assert_true(sent(rig));
}

#define IN_A_RIG(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_A_RIG(request_is_answered_to_who_has_asked),
		IN_A_RIG(answer_goes_along_the_grh),
		IN_A_RIG(those_with_one_transaction_id_are_told_apart),
		IN_A_RIG(large_answer_is_one_packet_for_the_kernel_to_segment),
		IN_A_RIG(faults_of_the_fabric_befall_who_asks),
		IN_A_RIG(sa_that_moves_or_rests_is_followed),
		IN_A_RIG(reports_go_to_who_has_subscribed),
		IN_A_RIG(subscription_is_ended_by_who_has_it),
		IN_A_RIG(time_outs_are_no_requests),
		IN_A_RIG(what_is_no_request_for_the_fabric_is_counted),
		IN_A_RIG(answer_that_the_kernel_refuses_is_counted),
		IN_A_RIG(device_that_has_gone_is_told_for_good),
		IN_A_RIG(device_that_goes_while_it_is_written_to_is_told),
		IN_A_RIG(port_of_another_sa_is_refused),
		IN_A_RIG(what_is_not_there_is_refused),
		IN_A_RIG(node_with_a_listener_is_refused),
		IN_A_RIG(virtual_clock_is_refused),
		IN_A_RIG(memory_that_is_short_is_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
