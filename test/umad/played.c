/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A umad device that the test simulates. */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include <ibsa/types.h>

#include "base/clock.h"
#include "umad/header.h"
#include "test/umad/played.h"
#include "test/support/device_now.h"
#include "umad_dev/umad.h"

struct played played = { .device = -1, .end = -1 };

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __real_ioctl(int fd, unsigned long command, ...);
int __wrap_ioctl(int fd, unsigned long command, ...);
ssize_t __real_read(int fd, void *to, size_t size);
ssize_t __wrap_read(int fd, void *to, size_t size);
ssize_t __real_write(int fd, const void *from, size_t size);
ssize_t __wrap_write(int fd, const void *from, size_t size);
int __real_close(int fd);
int __wrap_close(int fd);
int __real_clock_gettime(clockid_t clock, struct timespec *out);
int __wrap_clock_gettime(clockid_t clock, struct timespec *out);

static int device_open(void)
{
	int ends[2];

	if (played.open_errno) {
		errno = played.open_errno;
		return -1;
	}
	if (played.end >= 0)
		close(played.end);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0,
				    ends),
			 0);
	played.device = ends[0];
	played.end = ends[1];
	played.opens++;
	played.read_errno = 0;
	played.write_errno = 0;
	played.agents = 0;
	played.report_agent = 0;
	played.large_bytes = 0;
	return played.device;
}

int __wrap_open(const char *path, int flags, ...)
{
	unsigned int number;

	if (sscanf(path, "/dev/infiniband/umad%u", &number) == 1) {
		played.number = number;
		return device_open();
	}
	return __real_open(path, flags, 0);
}

static int report_agent_register(struct umad_agent_request *request)
{
	if (played.report_errno) {
		errno = played.report_errno;
		return -1;
	}
	assert_int_equal(request->method_mask[0], 1 << IBSA_METHOD_REPORT);
	assert_int_equal(request->mgmt_class_version, 2);
	assert_int_equal(played.report_agent, 0);
	played.report_agent = PLAYED_REPORT_AGENT;
	request->id = PLAYED_REPORT_AGENT;
	return 0;
}

static int agent_unregister(const uint32_t *agent)
{
	assert_int_equal(*agent, PLAYED_REPORT_AGENT);
	assert_int_equal(played.report_agent, PLAYED_REPORT_AGENT);
	played.report_agent = 0;
	return 0;
}

static int agent_register(struct umad_agent_request *request)
{
	if (played.refuses_opa && request->mgmt_class_version == 0x80) {
		errno = EINVAL;
		return -1;
	}
	assert_true(played.agents < PLAYED_AGENTS_MAX);
	assert_int_equal(request->qpn, 1);
	assert_int_equal(request->mgmt_class, 3);
	assert_int_equal(request->rmpp_version, 1);
	for (size_t i = 1; i < UMAD_METHODS_WORDS; i++)
		assert_int_equal(request->method_mask[i], 0);
	if (request->method_mask[0])
		return report_agent_register(request);
	played.class_versions[played.agents] = request->mgmt_class_version;
	request->id = PLAYED_AGENT + played.agents++;
	return 0;
}

int __wrap_ioctl(int fd, unsigned long command, ...)
{
	va_list args;
	void *argument;

	va_start(args, command);
	argument = va_arg(args, void *);
	va_end(args);
	if (fd != played.device)
		return __real_ioctl(fd, command, argument);
	if (command == UMAD_ENABLE_PKEY)
		return 0;
	if (command == UMAD_UNREGISTER_AGENT)
		return agent_unregister(argument);
	assert_int_equal(command, UMAD_REGISTER_AGENT);
	return agent_register(argument);
}

/*
 * As the kernel does: return the header and the first segment, and keep the
 * rest.
 */
static ssize_t large_read(void *to, size_t size)
{
	const struct umad_header header = { .length = played.large_bytes };
	const uint8_t mad[IBSA_MAD_BYTES] = { 1, 3, 2, 0x92 };

	memset(to, 0, size);
	if (size >= played.large_bytes) {
		size = played.large_bytes;
		played.large_bytes = 0;
	} else {
		errno = ENOSPC;
	}
	memcpy(to, &header, sizeof(header));
	memcpy((uint8_t *)to + sizeof(header), mad, sizeof(mad));
	return played.large_bytes ? -1 : (ssize_t)size;
}

ssize_t __wrap_read(int fd, void *to, size_t size)
{
	played.reads += fd == played.device;
	if (fd == played.device && played.read_errno) {
		errno = played.read_errno;
		return -1;
	}
	if (fd == played.device && played.large_bytes)
		return large_read(to, size);
	return __real_read(fd, to, size);
}

ssize_t __wrap_write(int fd, const void *from, size_t size)
{
	if (fd == played.device && played.write_errno) {
		errno = played.write_errno;
		return -1;
	}
	return __real_write(fd, from, size);
}

/* The number of the descriptor may belong to another file from now on. */
int __wrap_close(int fd)
{
	if (fd == played.device)
		played.device = -1;
	return __real_close(fd);
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *out)
{
	int err = __real_clock_gettime(clock, out);
	uint64_t ns = (uint64_t)out->tv_nsec + played.later_ns;

	out->tv_sec += (time_t)(ns / NS_PER_S);
	out->tv_nsec = (long)(ns % NS_PER_S);
	return err;
}

struct ibsa_transport *played_open(struct tree *tree, const char *driver)
{
	struct ibsa_transport *transport = NULL;

	tree_make(tree);
	tree_add_device(tree, "hfi1_0");
	tree_write(tree, "class/infiniband/hfi1_0/device/uevent", driver);
	tree_add_umad(tree, 0, "hfi1_0", 1);
	assert_int_equal(now_umad_open(NULL, 0, PLAYED_REPLY_BYTES, NULL,
				       &transport),
			 0);
	return transport;
}

void played_close(struct ibsa_transport *transport, struct tree *tree)
{
	transport->ops->close(transport);
	tree_remove(tree);
	close(played.end);
	played = (struct played){ .device = -1, .end = -1 };
}

int played_send(struct ibsa_transport *transport, uint8_t class_version,
		uint8_t method)
{
	const struct ibsa_address sa = { .lid = 1, .qpn = 1 };
	const uint8_t mad[IBSA_MAD_BYTES] = { 1, 3, class_version, method };

	return transport->ops->send(transport, &sa, mad, sizeof(mad), 1000);
}

uint32_t played_sent(void)
{
	uint8_t packet[512];
	uint32_t agent;

	assert_int_equal(__real_read(played.end, packet, sizeof(packet)),
			 UMAD_HEADER_BYTES + IBSA_MAD_BYTES);
	memcpy(&agent, packet, sizeof(agent));
	return agent;
}

int played_receive(struct ibsa_transport *transport, struct ibsa_message *out)
{
	return transport->ops->recv(transport, out);
}

bool played_readable(struct ibsa_transport *transport)
{
	struct pollfd one = {
		.fd = transport->ops->fd(transport),
		.events = POLLIN,
	};

	return poll(&one, 1, 0) == 1;
}

void played_assert_usable(struct ibsa_transport *transport)
{
	const uint8_t packet[UMAD_HEADER_BYTES + IBSA_MAD_BYTES] = { 0 };
	struct ibsa_message message;

	assert_int_equal(played_send(transport, 2, IBSA_METHOD_GET), 0);
	assert_int_equal(played_sent(), PLAYED_AGENT);
	assert_false(played_readable(transport));
	assert_int_equal(write(played.end, packet, sizeof(packet)),
			 sizeof(packet));
	assert_true(played_readable(transport));
	assert_int_equal(played_receive(transport, &message), 1);
	assert_int_equal(message.len, IBSA_MAD_BYTES);
	assert_int_equal(played_receive(transport, &message), 0);
}
