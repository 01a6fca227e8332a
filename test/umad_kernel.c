/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel transport over a device file that the test plays: its calls of
 * open(), ioctl() and read() end here, by the linker's --wrap.
 */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include <ibsa/sa.h>

#include "packet/header.h"
#include "test/device_tree.h"
#include "umad/umad.h"

enum { REPLY_BYTES = 4096, AGENTS_MAX = 4, REPORT_AGENT = 20 };

/* What the kernel has been told, and what it is to do. */
static struct {
	int device; /* the transport's end, and ours */
	int end;
	unsigned int opens;
	int open_errno;
	uint8_t class_versions[AGENTS_MAX];
	uint32_t agents;
	bool refuses_opa;
	int report_errno;      /* to who wants Reports */
	uint32_t report_agent; /* 0: nobody takes them */
	uint32_t large_bytes;  /* of the reply at the head of the queue */
} kernel = { .device = -1, .end = -1 };

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __real_ioctl(int fd, unsigned long command, ...);
int __wrap_ioctl(int fd, unsigned long command, ...);
ssize_t __real_read(int fd, void *to, size_t size);
ssize_t __wrap_read(int fd, void *to, size_t size);

static int device_open(void)
{
	int ends[2];

	if (kernel.open_errno) {
		errno = kernel.open_errno;
		return -1;
	}
	if (kernel.end >= 0)
		close(kernel.end);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0,
				    ends),
			 0);
	kernel.device = ends[0];
	kernel.end = ends[1];
	kernel.opens++;
	kernel.agents = 0;
	kernel.report_agent = 0;
	kernel.large_bytes = 0;
	return kernel.device;
}

int __wrap_open(const char *path, int flags, ...)
{
	if (!strcmp(path, "/dev/infiniband/umad0"))
		return device_open();
	return __real_open(path, flags, 0);
}

static int report_agent_register(struct umad_agent_request *request)
{
	if (kernel.report_errno) {
		errno = kernel.report_errno;
		return -1;
	}
	assert_int_equal(request->method_mask[0], 1 << IBSA_METHOD_REPORT);
	assert_int_equal(request->mgmt_class_version, 2);
	assert_int_equal(kernel.report_agent, 0);
	kernel.report_agent = REPORT_AGENT;
	request->id = REPORT_AGENT;
	return 0;
}

static int agent_unregister(const uint32_t *agent)
{
	assert_int_equal(*agent, REPORT_AGENT);
	assert_int_equal(kernel.report_agent, REPORT_AGENT);
	kernel.report_agent = 0;
	return 0;
}

static int agent_register(struct umad_agent_request *request)
{
	if (kernel.refuses_opa && request->mgmt_class_version == 0x80) {
		errno = EINVAL;
		return -1;
	}
	assert_true(kernel.agents < AGENTS_MAX);
	assert_int_equal(request->qpn, 1);
	assert_int_equal(request->mgmt_class, 3);
	assert_int_equal(request->rmpp_version, 1);
	for (size_t i = 1; i < 4; i++)
		assert_int_equal(request->method_mask[i], 0);
	if (request->method_mask[0])
		return report_agent_register(request);
	kernel.class_versions[kernel.agents] = request->mgmt_class_version;
	request->id = 10 + kernel.agents++;
	return 0;
}

int __wrap_ioctl(int fd, unsigned long command, ...)
{
	va_list args;
	void *argument;

	va_start(args, command);
	argument = va_arg(args, void *);
	va_end(args);
	if (fd != kernel.device)
		return __real_ioctl(fd, command, argument);
	if (command == UMAD_ENABLE_PKEY)
		return 0;
	if (command == UMAD_UNREGISTER_AGENT)
		return agent_unregister(argument);
	assert_int_equal(command, UMAD_REGISTER_AGENT);
	return agent_register(argument);
}

/* As the kernel does: the header, the first segment, and the rest stays. */
static ssize_t large_read(void *to, size_t size)
{
	const struct umad_header header = { .length = kernel.large_bytes };
	const uint8_t mad[IBSA_MAD_BYTES] = { 1, 3, 2, 0x92 };

	memset(to, 0, size);
	if (size >= kernel.large_bytes) {
		size = kernel.large_bytes;
		kernel.large_bytes = 0;
	} else {
		errno = ENOSPC;
	}
	memcpy(to, &header, sizeof(header));
	memcpy((uint8_t *)to + sizeof(header), mad, sizeof(mad));
	return kernel.large_bytes ? -1 : (ssize_t)size;
}

ssize_t __wrap_read(int fd, void *to, size_t size)
{
	if (fd == kernel.device && kernel.large_bytes)
		return large_read(to, size);
	return __real_read(fd, to, size);
}

/* A transport on a device whose driver is @driver's. */
static struct ibsa_transport *transport_open(const char *driver)
{
	struct ibsa_transport *transport = NULL;
	struct tree tree;

	tree_make(&tree);
	tree_add_device(&tree, "hfi1_0");
	tree_write(&tree, "class/infiniband/hfi1_0/device/uevent", driver);
	tree_add_umad(&tree, 0, "hfi1_0", 1);
	assert_int_equal(
		ibsa__umad_open(NULL, 0, REPLY_BYTES, NULL, &transport), 0);
	tree_remove(&tree);
	return transport;
}

static void transport_close(struct ibsa_transport *transport)
{
	transport->ops->close(transport);
	close(kernel.end);
	memset(&kernel, 0, sizeof(kernel));
	kernel.device = -1;
	kernel.end = -1;
}

static const struct ibsa_address sa = { .lid = 1, .qpn = 1 };

static int send_version(struct ibsa_transport *transport, uint8_t class_version)
{
	const uint8_t mad[IBSA_MAD_BYTES] = { 1, 3, class_version, 1 };

	return transport->ops->send(transport, &sa, mad, sizeof(mad), 1000);
}

/* The agent that the next packet which was sent names. */
static uint32_t agent_sent(void)
{
	uint8_t packet[512];
	uint32_t agent;

	assert_int_equal(__real_read(kernel.end, packet, sizeof(packet)),
			 UMAD_HEADER_BYTES + IBSA_MAD_BYTES);
	memcpy(&agent, packet, sizeof(agent));
	return agent;
}

static void omni_path_mads_have_an_agent_of_their_own(void **state)
{
	struct ibsa_transport *transport = transport_open("DRIVER=hfi1\n");

	(void)state;
	assert_int_equal(kernel.agents, 2);
	assert_int_equal(kernel.class_versions[0], 2);
	assert_int_equal(kernel.class_versions[1], 0x80);
	assert_int_equal(send_version(transport, 2), 0);
	assert_int_equal(agent_sent(), 10);
	assert_int_equal(send_version(transport, 0x80), 0);
	assert_int_equal(agent_sent(), 11);
	transport_close(transport);
}

static void omni_path_mads_are_refused_on_infiniband(void **state)
{
	struct ibsa_transport *transport = transport_open("DRIVER=mlx5_core\n");

	(void)state;
	assert_int_equal(kernel.agents, 1);
	assert_int_equal(send_version(transport, 0x80), -EOPNOTSUPP);
	assert_int_equal(send_version(transport, 2), 0);
	assert_int_equal(agent_sent(), 10);
	transport_close(transport);
}

static void kernel_without_omni_path_mads_takes_the_others(void **state)
{
	struct ibsa_transport *transport;

	(void)state;
	kernel.refuses_opa = true;
	transport = transport_open("DRIVER=hfi1\n");
	assert_int_equal(send_version(transport, 0x80), -EOPNOTSUPP);
	assert_int_equal(send_version(transport, 2), 0);
	assert_int_equal(agent_sent(), 10);
	transport_close(transport);
}

static int receive(struct ibsa_transport *transport, struct ibsa_message *out)
{
	return transport->ops->recv(transport, out);
}

static void large_reply_is_taken_up_to_the_limit(void **state)
{
	struct ibsa_transport *transport = transport_open("");
	struct ibsa_message message;

	(void)state;
	kernel.large_bytes = UMAD_HEADER_BYTES + REPLY_BYTES;
	assert_int_equal(receive(transport, &message), 1);
	assert_int_equal(message.err, 0);
	assert_int_equal(message.len, REPLY_BYTES);
	assert_int_equal(receive(transport, &message), 0);
	assert_int_equal(kernel.opens, 1);
	transport_close(transport);
}

static void assert_too_large(struct ibsa_transport *transport)
{
	struct ibsa_message message;

	kernel.large_bytes = UMAD_HEADER_BYTES + REPLY_BYTES + 1;
	assert_int_equal(receive(transport, &message), 1);
	assert_int_equal(message.err, -EMSGSIZE);
	assert_int_equal(message.len, IBSA_MAD_BYTES);
}

static bool is_readable(struct ibsa_transport *transport)
{
	struct pollfd one = {
		.fd = transport->ops->fd(transport),
		.events = POLLIN,
	};

	return poll(&one, 1, 0) == 1;
}

static void assert_usable(struct ibsa_transport *transport)
{
	const uint8_t packet[UMAD_HEADER_BYTES + IBSA_MAD_BYTES] = { 0 };
	struct ibsa_message message;

	assert_int_equal(send_version(transport, 2), 0);
	assert_int_equal(agent_sent(), 10);
	assert_false(is_readable(transport));
	assert_int_equal(write(kernel.end, packet, sizeof(packet)),
			 sizeof(packet));
	assert_true(is_readable(transport));
	assert_int_equal(receive(transport, &message), 1);
	assert_int_equal(message.len, IBSA_MAD_BYTES);
	assert_int_equal(receive(transport, &message), 0);
}

static void
too_large_a_reply_is_told_once_and_the_file_opened_anew(void **state)
{
	struct ibsa_transport *transport = transport_open("DRIVER=hfi1\n");

	(void)state;
	assert_too_large(transport);
	assert_int_equal(kernel.opens, 2);
	assert_int_equal(kernel.agents, 2);
	assert_usable(transport);
	transport_close(transport);
}

/* Neither is the device gone, nor does its fd keep a loop busy meanwhile. */
static void shortage_passes_and_the_file_is_opened_then(void **state)
{
	static const int shortages[] = { EMFILE, ENFILE, ENOMEM };
	struct ibsa_transport *transport = transport_open("");
	struct ibsa_message message;

	(void)state;
	for (size_t i = 0; i < sizeof(shortages) / sizeof(shortages[0]); i++) {
		kernel.open_errno = shortages[i];
		assert_too_large(transport);
		assert_int_equal(send_version(transport, 2), -EAGAIN);
		assert_int_equal(receive(transport, &message), 0);
		assert_false(is_readable(transport));
		/* Without limit: it ends to try again. */
		assert_int_equal(transport->ops->wait(transport, -1), 0);
		kernel.open_errno = 0;
		assert_int_equal(receive(transport, &message), 0);
		assert_int_equal(kernel.opens, 2 + i);
		assert_usable(transport);
	}
	transport_close(transport);
}

static void sending_opens_the_file_anew_too(void **state)
{
	struct ibsa_transport *transport = transport_open("");

	(void)state;
	kernel.open_errno = EMFILE;
	assert_too_large(transport);
	kernel.open_errno = 0;
	assert_usable(transport);
	transport_close(transport);
}

static void file_that_cannot_be_opened_again_says_why(void **state)
{
	static const struct {
		int open_errno;
		int err;
	} cases[] = {
		{ ENOENT, -ENODEV },
		{ ENXIO, -ENODEV },
		{ EACCES, -EACCES },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ibsa_transport *transport = transport_open("");
		struct ibsa_message message;

		kernel.open_errno = cases[i].open_errno;
		assert_too_large(transport);
		kernel.open_errno = 0;
		assert_int_equal(receive(transport, &message), cases[i].err);
		assert_int_equal(send_version(transport, 2), cases[i].err);
		assert_int_equal(transport->ops->wait(transport, 0), 0);
		transport_close(transport);
	}
}

static int send_method(struct ibsa_transport *transport, uint8_t method)
{
	const uint8_t mad[IBSA_MAD_BYTES] = { 1, 3, 2, method };

	return transport->ops->send(transport, &sa, mad, sizeof(mad), 0);
}

/* Only as long as somebody listens; the answers leave by the same agent. */
static void reports_have_an_agent_of_their_own(void **state)
{
	struct ibsa_transport *transport = transport_open("");

	(void)state;
	assert_int_equal(kernel.report_agent, 0);
	assert_int_equal(transport->ops->listen(transport, false), 0);
	assert_int_equal(transport->ops->listen(transport, true), 0);
	assert_int_equal(transport->ops->listen(transport, true), 0);
	assert_int_equal(kernel.report_agent, REPORT_AGENT);
	assert_int_equal(send_method(transport, IBSA_METHOD_REPORT_RESP), 0);
	assert_int_equal(agent_sent(), REPORT_AGENT);
	assert_int_equal(send_method(transport, IBSA_METHOD_GET), 0);
	assert_int_equal(agent_sent(), 10);
	assert_int_equal(transport->ops->listen(transport, false), 0);
	assert_int_equal(kernel.report_agent, 0);
	assert_int_equal(send_method(transport, IBSA_METHOD_REPORT_RESP), 0);
	assert_int_equal(agent_sent(), 10);
	transport_close(transport);
}

/* Two programs at one port cannot both have them. */
static void second_listener_is_refused(void **state)
{
	struct ibsa_transport *transport = transport_open("");

	(void)state;
	kernel.report_errno = EINVAL;
	assert_int_equal(transport->ops->listen(transport, true), -EBUSY);
	kernel.report_errno = EPERM;
	assert_int_equal(transport->ops->listen(transport, true), -EBUSY);
	kernel.report_errno = ENOMEM;
	assert_int_equal(transport->ops->listen(transport, true), -ENOMEM);
	kernel.report_errno = 0;
	assert_int_equal(transport->ops->listen(transport, true), 0);
	transport_close(transport);
}

/* A file that was opened anew takes them too, unless another was quicker;
 * then the next call says so. */
static void reports_survive_a_new_file(void **state)
{
	struct ibsa_transport *transport = transport_open("");

	(void)state;
	assert_int_equal(transport->ops->listen(transport, true), 0);
	assert_too_large(transport);
	assert_int_equal(kernel.opens, 2);
	assert_int_equal(kernel.report_agent, REPORT_AGENT);
	assert_usable(transport);

	kernel.report_errno = EINVAL;
	assert_too_large(transport);
	assert_int_equal(kernel.opens, 3);
	assert_int_equal(transport->ops->listen(transport, true), -EBUSY);
	assert_usable(transport);
	kernel.report_errno = 0;
	assert_int_equal(transport->ops->listen(transport, true), 0);
	assert_int_equal(kernel.report_agent, REPORT_AGENT);

	kernel.open_errno = ENODEV;
	assert_too_large(transport);
	assert_int_equal(transport->ops->listen(transport, true), -ENODEV);
	assert_int_equal(transport->ops->listen(transport, false), 0);
	transport_close(transport);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reports_have_an_agent_of_their_own),
		cmocka_unit_test(second_listener_is_refused),
		cmocka_unit_test(reports_survive_a_new_file),
		cmocka_unit_test(omni_path_mads_have_an_agent_of_their_own),
		cmocka_unit_test(omni_path_mads_are_refused_on_infiniband),
		cmocka_unit_test(
			kernel_without_omni_path_mads_takes_the_others),
		cmocka_unit_test(large_reply_is_taken_up_to_the_limit),
		cmocka_unit_test(
			too_large_a_reply_is_told_once_and_the_file_opened_anew),
		cmocka_unit_test(shortage_passes_and_the_file_is_opened_then),
		cmocka_unit_test(sending_opens_the_file_anew_too),
		cmocka_unit_test(file_that_cannot_be_opened_again_says_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
