/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's header in front of a MAD, compared with the kernel's definition.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <arpa/inet.h>
#include <cmocka.h>
#include <rdma/rdma_user_ioctl.h>

#include "umad/header.h"

static const struct ibsa_address address = {
	.lid = 0x1234,
	.qpn = 0xabcdef,
	.pkey_index = 0x0102,
	.sl = 5,
	.path_bits = 3,
	.has_grh = true,
	.gid_index = 7,
	.hop_limit = 64,
	.traffic_class = 0x21,
	.flow_label = 0xfedcb,
	.gid.raw = { 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8 },
};

static void address_is_written_as_the_kernel_reads_it(void **state)
{
	struct umad_header header = { 0 };
	struct ib_user_mad_hdr kernel;

	(void)state;
	assert_int_equal(umad_header_address_put(&header, &address), 0);
	assert_int_equal(sizeof(kernel), sizeof(header));
	memcpy(&kernel, &header, sizeof(kernel));
	assert_int_equal(ntohs(kernel.lid), 0x1234);
	assert_int_equal(ntohl(kernel.qpn), 0xabcdef);
	assert_int_equal(ntohl(kernel.qkey), 0x80010000);
	assert_int_equal(kernel.pkey_index, 0x0102);
	assert_int_equal(kernel.sl, 5);
	assert_int_equal(kernel.path_bits, 3);
	assert_int_equal(kernel.grh_present, 1);
	assert_int_equal(kernel.gid_index, 7);
	assert_int_equal(kernel.hop_limit, 64);
	assert_int_equal(kernel.traffic_class, 0x21);
	assert_int_equal(ntohl(kernel.flow_label), 0xfedcb);
	assert_memory_equal(kernel.gid, address.gid.raw, 16);
}

static void address_reads_back_as_it_was_written(void **state)
{
	struct umad_header header = { 0 };
	struct ibsa_address seen;

	(void)state;
	assert_int_equal(umad_header_address_put(&header, &address), 0);
	umad_header_address_get(&header, &seen);
	assert_int_equal(seen.lid, address.lid);
	assert_int_equal(seen.qpn, address.qpn);
	assert_int_equal(seen.pkey_index, address.pkey_index);
	assert_int_equal(seen.sl, address.sl);
	assert_int_equal(seen.path_bits, address.path_bits);
	assert_true(seen.has_grh);
	assert_int_equal(seen.gid_index, address.gid_index);
	assert_int_equal(seen.hop_limit, address.hop_limit);
	assert_int_equal(seen.traffic_class, address.traffic_class);
	assert_int_equal(seen.flow_label, address.flow_label);
	assert_memory_equal(seen.gid.raw, address.gid.raw, 16);
}

static void grh_fields_without_grh_are_left_out(void **state)
{
	struct umad_header header = { 0 };
	struct ibsa_address local = address;
	struct ibsa_address seen;

	(void)state;
	local.has_grh = false;
	assert_int_equal(umad_header_address_put(&header, &local), 0);
	assert_int_equal(header.grh_present, 0);
	assert_int_equal(header.hop_limit, 0);
	header.gid[0] = 0xfe;
	umad_header_address_get(&header, &seen);
	assert_int_equal(seen.gid.raw[0], 0);
}

/* Omni-Path has LIDs of 32 bits; umad carries 16. */
static void long_lid_needs_a_grh(void **state)
{
	struct umad_header header = { 0 };
	struct ibsa_address far = address;

	(void)state;
	far.lid = 0x10001;
	assert_int_equal(umad_header_address_put(&header, &far), 0);
	assert_int_equal(header.lid, 0);
	far.has_grh = false;
	assert_int_equal(umad_header_address_put(&header, &far), -ERANGE);
}

static void status_is_an_errno(void **state)
{
	(void)state;
	assert_int_equal(umad_header_status(&(struct umad_header){ 0 }), 0);
	assert_int_equal(umad_header_status(
				 &(struct umad_header){ .status = ETIMEDOUT }),
			 -ETIMEDOUT);
	assert_int_equal(umad_header_status(
				 &(struct umad_header){ .status = UINT32_MAX }),
			 -EIO);
}

static void kernel_calls_have_their_numbers(void **state)
{
	(void)state;
	assert_int_equal(UMAD_REGISTER_AGENT, IB_USER_MAD_REGISTER_AGENT);
	assert_int_equal(UMAD_ENABLE_PKEY, IB_USER_MAD_ENABLE_PKEY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(address_is_written_as_the_kernel_reads_it),
		cmocka_unit_test(address_reads_back_as_it_was_written),
		cmocka_unit_test(grh_fields_without_grh_are_left_out),
		cmocka_unit_test(long_lid_needs_a_grh),
		cmocka_unit_test(status_is_an_errno),
		cmocka_unit_test(kernel_calls_have_their_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
