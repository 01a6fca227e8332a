/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Simulates ib_umad's ioctls with the kernel's own header: open() and ioctl()
 * are replaced by the linker's --wrap. The numbers and layouts of umad/header.h
 * are compared with that header.
 */
#include <errno.h>
#include <fcntl.h>
#include <rdma/ib_user_mad.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "umad/header.h"
#include "test/umad/methods.h"

#define SAME_OFFSET(ours, theirs, member)                       \
	_Static_assert(offsetof(struct ours, member) ==         \
			       offsetof(struct theirs, member), \
		       #member)

_Static_assert(UMAD_REGISTER_AGENT == IB_USER_MAD_REGISTER_AGENT, "ioctl 1");
_Static_assert(UMAD_UNREGISTER_AGENT == IB_USER_MAD_UNREGISTER_AGENT,
	       "ioctl 2");
_Static_assert(UMAD_ENABLE_PKEY == IB_USER_MAD_ENABLE_PKEY, "ioctl 3");
_Static_assert(UMAD_REGISTER_AGENT2 == IB_USER_MAD_REGISTER_AGENT2, "ioctl 4");
_Static_assert(UMAD_ABI_VERSION == IB_USER_MAD_ABI_VERSION, "ABI");

SAME_OFFSET(umad_agent_request, ib_user_mad_reg_req, method_mask);
SAME_OFFSET(umad_agent_request, ib_user_mad_reg_req, qpn);
SAME_OFFSET(umad_agent_request, ib_user_mad_reg_req, mgmt_class);
SAME_OFFSET(umad_agent_request, ib_user_mad_reg_req, mgmt_class_version);
SAME_OFFSET(umad_agent_request, ib_user_mad_reg_req, oui);
SAME_OFFSET(umad_agent_request, ib_user_mad_reg_req, rmpp_version);

SAME_OFFSET(umad_agent_request2, ib_user_mad_reg_req2, qpn);
SAME_OFFSET(umad_agent_request2, ib_user_mad_reg_req2, mgmt_class);
SAME_OFFSET(umad_agent_request2, ib_user_mad_reg_req2, mgmt_class_version);
SAME_OFFSET(umad_agent_request2, ib_user_mad_reg_req2, flags);
SAME_OFFSET(umad_agent_request2, ib_user_mad_reg_req2, method_mask);
SAME_OFFSET(umad_agent_request2, ib_user_mad_reg_req2, oui);
SAME_OFFSET(umad_agent_request2, ib_user_mad_reg_req2, rmpp_version);

_Static_assert(sizeof(struct umad_header) == sizeof(struct ib_user_mad_hdr),
	       "header");
SAME_OFFSET(umad_header, ib_user_mad_hdr, status);
SAME_OFFSET(umad_header, ib_user_mad_hdr, timeout_ms);
SAME_OFFSET(umad_header, ib_user_mad_hdr, retries);
SAME_OFFSET(umad_header, ib_user_mad_hdr, length);
SAME_OFFSET(umad_header, ib_user_mad_hdr, qpn);
SAME_OFFSET(umad_header, ib_user_mad_hdr, qkey);
SAME_OFFSET(umad_header, ib_user_mad_hdr, lid);
SAME_OFFSET(umad_header, ib_user_mad_hdr, sl);
SAME_OFFSET(umad_header, ib_user_mad_hdr, path_bits);
SAME_OFFSET(umad_header, ib_user_mad_hdr, grh_present);
SAME_OFFSET(umad_header, ib_user_mad_hdr, gid_index);
SAME_OFFSET(umad_header, ib_user_mad_hdr, hop_limit);
SAME_OFFSET(umad_header, ib_user_mad_hdr, traffic_class);
SAME_OFFSET(umad_header, ib_user_mad_hdr, gid);
SAME_OFFSET(umad_header, ib_user_mad_hdr, flow_label);
SAME_OFFSET(umad_header, ib_user_mad_hdr, pkey_index);

struct methods_kernel methods_kernel;

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_ioctl(int fd, unsigned long command, ...);

int __wrap_open(const char *path, int flags, ...)
{
	if (!strcmp(path, "/dev/infiniband/umad0"))
		path = "/dev/null";
	return __real_open(path, flags, 0);
}

/*
 * The methods of a mask of @size-byte words: method m is bit m % (8 * size) of
 * word m / (8 * size). Where that bit is in memory depends on the byte order.
 * The mask is read byte by byte, so that the types of the library do not
 * matter.
 */
static void methods_read(struct registered *out, const void *mask,
			 unsigned int size)
{
	const uint8_t *bytes = mask;

	for (unsigned int method = 0; method < METHODS; method++) {
		const unsigned int word = method / 8 / size;
		unsigned int byte = method / 8 % size;

		if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
			byte = size - 1 - byte;
		out->has_method[method] =
			bytes[word * size + byte] >> method % 8 & 1;
	}
}

static struct registered *registered_new(void)
{
	assert_in_range(methods_kernel.count, 0, REGISTERED_MAX - 1);
	return &methods_kernel.registered[methods_kernel.count++];
}

static int agent_register(struct ib_user_mad_reg_req *request)
{
	struct registered *registered = registered_new();

	methods_read(registered, request->method_mask,
		     sizeof(request->method_mask[0]));
	registered->mgmt_class = request->mgmt_class;
	registered->is_older = true;
	request->id = methods_kernel.count;
	return 0;
}

static int agent_register2(struct ib_user_mad_reg_req2 *request)
{
	struct registered *registered;

	if (methods_kernel.lacks_register2) {
		errno = ENOTTY;
		return -1;
	}
	registered = registered_new();
	methods_read(registered, request->method_mask,
		     sizeof(request->method_mask[0]));
	registered->mgmt_class = request->mgmt_class;
	request->id = methods_kernel.count;
	return 0;
}

int __wrap_ioctl(int fd, unsigned long command, ...)
{
	void *argument;
	va_list args;

	(void)fd;
	va_start(args, command);
	argument = va_arg(args, void *);
	va_end(args);
	switch (command) {
	case IB_USER_MAD_ENABLE_PKEY:
		return 0;
	case IB_USER_MAD_REGISTER_AGENT:
		return agent_register(argument);
	case IB_USER_MAD_REGISTER_AGENT2:
		return agent_register2(argument);
	default:
		errno = ENOTTY;
		return -1;
	}
}
