/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel registers an agent for exactly the methods that the caller passed,
 * in either byte order and with words of either size: for the library's own
 * agents and for libibumad's calls.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include <infiniband/umad.h>

#include <ibsa/types.h>
#include <ibsa/transport.h>

#include "test/umad/methods.h"
#include "umad/transport.h"
#include "umad_dev/fd.h"

enum { PORT = 900, LONG_BITS = 8 * sizeof(long) };

/* Methods next to each byte and word boundary of a mask. */
static const uint8_t edges[] = { 1,  2,	 6,  7,	 8,  21, 31,
				 32, 33, 63, 64, 95, 96, 127 };

static int methods_setup(void **state)
{
	(void)state;
	memset(&methods_kernel, 0, sizeof(methods_kernel));
	return 0;
}

/* The registration number @at is for @methods only. */
static void check_methods(unsigned int at, const uint8_t *methods, size_t count)
{
	bool want[METHODS] = { false };

	assert_in_range(at, 0, methods_kernel.count - 1);
	for (size_t i = 0; i < count; i++)
		want[methods[i]] = true;
	for (unsigned int method = 0; method < METHODS; method++) {
		if (methods_kernel.registered[at].has_method[method] !=
		    want[method])
			fail_msg("agent %u %s method %u", at,
				 want[method] ? "lacks" : "has", method);
	}
}

/* A transport over a minimal file. */
static void file_shut(struct umad_file *file, bool is_gone)
{
	(void)is_gone;
	close(((struct umad_fd *)file)->fd);
}

static void file_close(struct umad_file *file)
{
	file_shut(file, false);
}

static const struct umad_file_ops file_ops = {
	.register_agent = ibsa__umad_fd_register,
	.shut = file_shut,
	.close = file_close,
};

struct rig {
	struct umad_fd file;
	struct umad_transport umad;
};

static struct ibsa_transport *file_open(struct rig *rig)
{
	const int fd = ibsa__umad_fd_open_named("umad0");

	assert_true(fd >= 0);
	rig->file = (struct umad_fd){ { &file_ops }, fd };
	assert_int_equal(ibsa__umad_transport_init(&rig->umad, &rig->file.base,
						   IBSA_MAD_BYTES),
			 0);
	assert_int_equal(ibsa__umad_up(&rig->umad, -1), 0);
	return &rig->umad.base;
}

static void own_agent_has_no_methods(void **state)
{
	struct rig rig;
	struct ibsa_transport *transport = file_open(&rig);

	(void)state;
	assert_int_equal(methods_kernel.count, 1);
	check_methods(0, NULL, 0);
	transport->ops->close(transport);
}

static void own_report_agent_has_report(void **state)
{
	static const uint8_t methods[] = { IBSA_METHOD_REPORT };
	struct rig rig;
	struct ibsa_transport *transport = file_open(&rig);

	(void)state;
	assert_int_equal(ibsa__umad_listen(transport, true), 0);
	assert_int_equal(methods_kernel.count, 2);
	check_methods(1, methods, sizeof(methods));
	transport->ops->close(transport);
}

static void own_request_agent_has_requests(void **state)
{
	static const uint8_t methods[] = { IBSA_METHOD_GET, IBSA_METHOD_SET,
					   IBSA_METHOD_GET_TABLE,
					   IBSA_METHOD_GET_MULTI,
					   IBSA_METHOD_DELETE };
	struct rig rig;
	struct ibsa_transport *transport = file_open(&rig);

	(void)state;
	assert_int_equal(ibsa__umad_serve(transport), 0);
	assert_int_equal(methods_kernel.count, 2);
	check_methods(1, methods, sizeof(methods));
	transport->ops->close(transport);
}

/* Fill the mask as umad_register(3) documents. */
static void mask_fill(long mask[16 / sizeof(long)])
{
	memset(mask, 0, 16);
	for (size_t i = 0; i < sizeof(edges); i++)
		mask[edges[i] / LONG_BITS] |= (long)(1UL
						     << edges[i] % LONG_BITS);
}

static void register_passes_the_mask_on(void **state)
{
	long mask[16 / sizeof(long)];

	(void)state;
	mask_fill(mask);
	assert_int_equal(umad_register(PORT, IBSA_CLASS_SA, 2, 1, mask), 1);
	assert_int_equal(umad_register(PORT, IBSA_CLASS_SA, 2, 1, NULL), 2);
	check_methods(0, edges, sizeof(edges));
	check_methods(1, NULL, 0);
}

static void register_oui_passes_the_mask_on(void **state)
{
	long mask[16 / sizeof(long)];
	uint8_t oui[3] = { 0x00, 0x14, 0x05 };

	(void)state;
	mask_fill(mask);
	assert_int_equal(umad_register_oui(PORT, 0x30, 1, oui, mask), 1);
	check_methods(0, edges, sizeof(edges));
}

/*
 * Register with umad_register2(), whose mask has words of 64 bits on every
 * machine. If @is_older, the kernel lacks the newer ioctl, and libibumad uses
 * the older one.
 */
static void register2(bool is_older)
{
	struct umad_reg_attr attr = { .mgmt_class = IBSA_CLASS_SA,
				      .mgmt_class_version = 2 };
	uint32_t agent = 0;

	methods_kernel.lacks_register2 = is_older;
	for (size_t i = 0; i < sizeof(edges); i++)
		attr.method_mask[edges[i] / 64] |= UINT64_C(1) << edges[i] % 64;
	assert_int_equal(umad_register2(PORT, &attr, &agent), 0);
	assert_int_equal(agent, 1);
	assert_int_equal(methods_kernel.registered[0].is_older, is_older);
	check_methods(0, edges, sizeof(edges));
}

static void register2_passes_the_mask_on(void **state)
{
	(void)state;
	register2(false);
}

static void register2_on_an_older_kernel_passes_the_mask_on(void **state)
{
	(void)state;
	register2(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(own_agent_has_no_methods, methods_setup),
		cmocka_unit_test_setup(own_report_agent_has_report,
				       methods_setup),
		cmocka_unit_test_setup(own_request_agent_has_requests,
				       methods_setup),
		cmocka_unit_test_setup(register_passes_the_mask_on,
				       methods_setup),
		cmocka_unit_test_setup(register_oui_passes_the_mask_on,
				       methods_setup),
		cmocka_unit_test_setup(register2_passes_the_mask_on,
				       methods_setup),
		cmocka_unit_test_setup(
			register2_on_an_older_kernel_passes_the_mask_on,
			methods_setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
