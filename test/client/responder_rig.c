/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A responder between a fabric and a simulated device file. */
#include "responder_rig.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

const char responder_topology[] = "Switch 8 \"switch1\"\n"
				  "[1] \"node1\"[1]\n"
				  "[2] \"node2\"[1]\n"
				  "[3] \"node3\"[1]\n"
				  "Ca 1 \"node1\"\n"
				  "Ca 1 \"node2\"\n"
				  "Ca 1 \"node3\"\n"
				  "Ca 1 \"lonely\"\n";

struct responder_kernel responder_kernel = { .device = -1, .end = -1 };

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
	responder_kernel.device = ends[0];
	responder_kernel.end = ends[1];
	return responder_kernel.device;
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
	return responder_kernel.sa_errno ? fails(responder_kernel.sa_errno) : 0;
}

int __wrap_ioctl(int fd, unsigned long command, ...)
{
	void *argument;
	va_list args;

	va_start(args, command);
	argument = va_arg(args, void *);
	va_end(args);
	if (fd != responder_kernel.device)
		return __real_ioctl(fd, command, argument);
	return command == UMAD_REGISTER_AGENT ? agent_register(argument) : 0;
}

ssize_t __wrap_read(int fd, void *to, size_t size)
{
	if (fd == responder_kernel.device && responder_kernel.read_errno)
		return fails(responder_kernel.read_errno);
	return __real_read(fd, to, size);
}

ssize_t __wrap_write(int fd, const void *from, size_t size)
{
	if (fd == responder_kernel.device && responder_kernel.write_errno)
		return fails(responder_kernel.write_errno);
	return __real_write(fd, from, size);
}

const struct ibsa_responder_options responder_at_node2 = { .device = "mlx5_0",
							   .node = "node2" };

int responder_setup(void **state)
{
	static struct responder_rig rig;

	responder_kernel.sa_errno = 0;
	responder_kernel.read_errno = 0;
	responder_kernel.write_errno = 0;
	responder_kernel.device = -1;
	responder_kernel.end = -1;
	rig = (struct responder_rig){ .fabric = NULL };
	tree_make(&rig.tree);
	tree_add_device(&rig.tree, "mlx5_0");
	tree_add_umad(&rig.tree, 0, "mlx5_0", 1);
	*state = &rig;
	return ibsa_fabric_parse(responder_topology, strlen(responder_topology),
				 NULL, NULL, &rig.fabric);
}

int responder_teardown(void **state)
{
	struct responder_rig *rig = *state;

	ibsa_responder_close(rig->responder);
	ibsa_fabric_put(rig->fabric);
	tree_remove(&rig->tree);
	if (responder_kernel.end >= 0)
		close(responder_kernel.end);
	return 0;
}

const struct ibsa__request responder_get_info = {
	.record = &ibsa_class_port_info_record,
	.method = IBSA_METHOD_GET,
	.transaction_id = 0x1122334455667788,
};

void responder_open(struct responder_rig *rig)
{
	struct ibsa_error error;

	if (ibsa_responder_open(rig->fabric, &responder_at_node2, &error,
				&rig->responder))
		fail_msg("%s", error.text);
}

void responder_arrive_bytes(const void *bytes, size_t len)
{
	assert_int_equal(__real_write(responder_kernel.end, bytes, len), len);
}

void responder_arrive(const struct responder_arrival *arrival, size_t mad_len)
{
	responder_arrive_bytes(arrival, UMAD_HEADER_BYTES + mad_len);
}

struct responder_arrival responder_arrival(uint16_t lid, uint32_t qpn)
{
	struct responder_arrival arrival = { .header = { .id = SA_AGENT } };

	ibsa_put_be16((uint8_t *)&arrival.header.lid, lid);
	ibsa_put_be32((uint8_t *)&arrival.header.qpn, qpn);
	return arrival;
}

void responder_encode(struct responder_arrival *arrival,
		      const struct ibsa__request *request)
{
	assert_int_equal(ibsa__request_encode(request, arrival->mad), 0);
}

void responder_pass(struct responder_rig *rig)
{
	assert_int_equal(ibsa_responder_dispatch(rig->responder), 0);
}

void responder_receive(struct responder_rig *rig, uint16_t lid, uint32_t qpn,
		       const struct ibsa__request *request)
{
	struct responder_arrival arrival = responder_arrival(lid, qpn);

	responder_encode(&arrival, request);
	responder_arrive(&arrival, sizeof(arrival.mad));
	responder_pass(rig);
}

bool responder_sent(struct responder_rig *rig)
{
	const ssize_t len = __real_read(responder_kernel.end, rig->packet,
					sizeof(rig->packet));

	rig->len = len > 0 ? (size_t)len : 0;
	return len > 0;
}

struct umad_header responder_header(const struct responder_rig *rig)
{
	struct umad_header header;

	memcpy(&header, rig->packet, sizeof(header));
	assert_int_equal(header.length, rig->len);
	return header;
}

const uint8_t *responder_mad(const struct responder_rig *rig)
{
	return rig->packet + UMAD_HEADER_BYTES;
}

void responder_assert_sent_to(struct responder_rig *rig, uint16_t lid,
			      uint32_t qpn, uint8_t method)
{
	struct umad_header header;

	assert_true(responder_sent(rig));
	header = responder_header(rig);
	assert_int_equal(ibsa_be16((const uint8_t *)&header.lid), lid);
	assert_int_equal(ibsa_be32((const uint8_t *)&header.qpn), qpn);
	assert_int_equal(IBSA_GET(sa_header, method, responder_mad(rig)),
			 method);
}

struct ibsa_responder_info responder_info(const struct responder_rig *rig)
{
	struct ibsa_responder_info info;

	ibsa_responder_info_get(rig->responder, &info);
	return info;
}

bool responder_is_readable(const struct responder_rig *rig)
{
	struct pollfd one = { .fd = ibsa_responder_fd(rig->responder),
			      .events = POLLIN };

	return poll(&one, 1, 0) == 1;
}
