/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The devices of the host dgx1 as a program of libibverbs finds them, in
 * "ibsa fabric exec --verbs".
 */
#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <infiniband/verbs.h>

#include "test/support/descriptors.h"

enum { DEVICES = 10, AT = 3 };

static struct ibv_device **devices_list(void)
{
	struct ibv_device **list;
	int count = 0;

	list = ibv_get_device_list(&count);
	assert_non_null(list);
	assert_int_equal(count, DEVICES);
	assert_null(list[DEVICES]);
	return list;
}

static struct ibv_context *device_open(void)
{
	struct ibv_device **list = devices_list();
	struct ibv_context *context = ibv_open_device(list[AT]);

	assert_non_null(context);
	assert_ptr_equal(context->device, list[AT]);
	ibv_free_device_list(list);
	return context;
}

/* Whether the context is that of mlx5_3 of dgx1. */
static bool is_ours(struct ibv_context *context)
{
	static const uint8_t guid[8] = { 0xb8, 0x3f, 0xd2, 0x03, 0, 1, 3, 1 };
	struct ibv_port_attr port;
	union ibv_gid gid;

	return !ibv_query_port(context, 1, &port) &&
	       port.state == IBV_PORT_ACTIVE &&
	       !ibv_query_gid(context, 1, 0, &gid) &&
	       !memcmp(gid.raw + 8, guid, sizeof(guid));
}

static void devices_are_in_order(void **state)
{
	struct ibv_device **list = devices_list();
	char name[16];

	(void)state;
	for (int i = 0; i < DEVICES; i++) {
		snprintf(name, sizeof(name), "mlx5_%d", i);
		assert_string_equal(ibv_get_device_name(list[i]), name);
		assert_int_equal(be64toh(ibv_get_device_guid(list[i])),
				 0xb83fd20300010000 + ((uint64_t)i << 8));
		assert_int_equal(ibv_get_device_index(list[i]), i);
		assert_int_equal(list[i]->node_type, IBV_NODE_CA);
		assert_int_equal(list[i]->transport_type, IBV_TRANSPORT_IB);
	}
	ibv_free_device_list(list);
}

/* A program that was compiled with an old header has room for a part. */
static void old_programs_query_ports(void **state)
{
	typedef int (*query_fn)(struct ibv_context *, uint8_t,
				struct _compat_ibv_port_attr *);
	union {
		void *address;
		query_fn call;
	} query = { dlsym(RTLD_DEFAULT, "ibv_query_port") };
	const size_t size = offsetof(struct ibv_port_attr, port_cap_flags2);
	struct ibv_context *context = device_open();
	struct ibv_port_attr whole;
	struct ibv_port_attr part;
	void *first = &part;
	const uint8_t *end = (const uint8_t *)&part + size;

	(void)state;
	assert_non_null(query.address);
	assert_int_equal(ibv_query_port(context, 1, &whole), 0);
	memset(&part, 0xa5, sizeof(part));
	assert_int_equal(query.call(context, 1, first), 0);
	assert_memory_equal(&part, &whole, size);
	for (size_t i = 0; i < sizeof(part) - size; i++)
		assert_int_equal(end[i], 0xa5);
	assert_int_equal(ibv_close_device(context), 0);
}

#define REFUSED(call)                                \
	do {                                         \
		errno = 0;                           \
		assert_null(call);                   \
		assert_int_equal(errno, EOPNOTSUPP); \
	} while (0)

/* Each function that creates an object in a context. */
static void objects_are_refused(void **state)
{
	struct ibv_context *context = device_open();
	struct ibv_cq_init_attr_ex cq = { .cqe = 1 };
	struct ibv_qp_init_attr_ex qp = { .comp_mask = 0 };
	struct ibv_qp_open_attr open_qp = { .comp_mask = 0 };
	struct ibv_srq_init_attr_ex srq = { .comp_mask = 0 };
	struct ibv_wq_init_attr wq = { .max_wr = 1 };
	struct ibv_rwq_ind_table_init_attr table = { .comp_mask = 0 };
	struct ibv_xrcd_init_attr xrcd = { .fd = -1 };
	struct ibv_alloc_dm_attr dm = { .length = 1 };
	struct ibv_td_init_attr td = { .comp_mask = 0 };
	struct ibv_parent_domain_init_attr domain = { .comp_mask = 0 };
	struct ibv_counters_init_attr counters = { .comp_mask = 0 };
	struct ibv_flow_action_esp_attr esp = { .comp_mask = 0 };
	struct ibv_values_ex values = { .comp_mask = 0 };
	struct ibv_ah_attr ah;
	struct ibv_wc wc = { .opcode = IBV_WC_RECV };

	(void)state;
	REFUSED(ibv_alloc_pd(context));
	REFUSED(ibv_create_comp_channel(context));
	REFUSED(ibv_create_cq(context, 1, NULL, NULL, 0));
	REFUSED(ibv_create_cq_ex(context, &cq));
	REFUSED(ibv_create_qp_ex(context, &qp));
	REFUSED(ibv_open_qp(context, &open_qp));
	REFUSED(ibv_create_srq_ex(context, &srq));
	REFUSED(ibv_create_wq(context, &wq));
	REFUSED(ibv_create_rwq_ind_table(context, &table));
	REFUSED(ibv_open_xrcd(context, &xrcd));
	REFUSED(ibv_alloc_dm(context, &dm));
	REFUSED(ibv_alloc_td(context, &td));
	REFUSED(ibv_alloc_parent_domain(context, &domain));
	REFUSED(ibv_create_counters(context, &counters));
	REFUSED(ibv_create_flow_action_esp(context, &esp));
	REFUSED(ibv_import_pd(context, 1));
	REFUSED(ibv_import_dm(context, 1));
	assert_int_equal(ibv_query_rt_values_ex(context, &values), EOPNOTSUPP);
	assert_int_equal(ibv_init_ah_from_wc(context, 1, &wc, NULL, &ah), -1);
	assert_int_equal(errno, EOPNOTSUPP);
	assert_int_equal(ibv_close_device(context), 0);
}

/* A context belongs to the host of the list, whatever the variables are then. */
static void environment_is_read_once(void **state)
{
	struct ibv_device **list = devices_list();
	char *fabric = strdup(getenv("IBSA_FABRIC"));
	struct ibv_context *context;

	(void)state;
	assert_int_equal(setenv("IBSA_NODE", "dgx2", 1), 0);
	context = ibv_open_device(list[AT]);
	assert_non_null(context);
	assert_true(is_ours(context));
	assert_int_equal(unsetenv("IBSA_FABRIC"), 0);
	assert_true(is_ours(context));
	assert_int_equal(ibv_close_device(context), 0);
	context = ibv_open_device(list[AT]);
	assert_non_null(context);
	assert_true(is_ours(context));
	assert_int_equal(ibv_close_device(context), 0);
	ibv_free_device_list(list);
	assert_int_equal(setenv("IBSA_NODE", "dgx1", 1), 0);
	assert_int_equal(setenv("IBSA_FABRIC", fabric, 1), 0);
	free(fabric);
}

static void expect_no_list(int err)
{
	int count = 5;

	assert_null(ibv_get_device_list(&count));
	assert_int_equal(errno, err);
	assert_int_equal(count, 0);
}

static void missing_fabrics_have_errors(void **state)
{
	char *fabric = strdup(getenv("IBSA_FABRIC"));

	(void)state;
	assert_int_equal(setenv("IBSA_NODE", "absent", 1), 0);
	expect_no_list(ENODEV);
	assert_int_equal(setenv("IBSA_NODE", "dgx1", 1), 0);
	assert_int_equal(setenv("IBSA_FABRIC", "unix:/absent", 1), 0);
	expect_no_list(ENODEV);
	assert_int_equal(setenv("IBSA_FABRIC", fabric, 1), 0);
	free(fabric);
	ibv_free_device_list(devices_list());
}

/* Without a fabric server, calls reach libibverbs. */
static void without_a_fabric_it_is_libibverbs(void **state)
{
	char *fabric = strdup(getenv("IBSA_FABRIC"));
	union {
		void *address;
		__typeof__(ibv_get_device_list) *list;
		__typeof__(ibv_free_device_list) *free;
	} stock;
	void *library = dlopen("libibverbs.so.1", RTLD_LAZY | RTLD_NOLOAD);
	struct ibv_device **expected;
	struct ibv_device **list;
	int stock_err;

	(void)state;
	assert_non_null(library);
	stock.address = dlsym(library, "ibv_get_device_list");
	assert_ptr_not_equal(stock.list, ibv_get_device_list);
	assert_int_equal(unsetenv("IBSA_FABRIC"), 0);
	expected = stock.list(NULL);
	stock_err = errno;
	list = ibv_get_device_list(NULL);
	assert_int_equal(!list, !expected);
	if (!list)
		assert_int_equal(errno, stock_err);
	else
		ibv_free_device_list(list);
	stock.address = dlsym(library, "ibv_free_device_list");
	if (expected)
		stock.free(expected);
	dlclose(library);
	assert_int_equal(setenv("IBSA_FABRIC", fabric, 1), 0);
	free(fabric);
}

/* A forked child uses the list of its parent. */
static void child_opens_devices(void **state)
{
	struct ibv_device **list = devices_list();
	struct ibv_context *context = ibv_open_device(list[AT]);
	pid_t child;
	int status;

	(void)state;
	assert_non_null(context);
	child = fork();
	if (!child) {
		struct ibv_context *own = ibv_open_device(list[AT]);

		_exit(!own || !is_ours(own) || ibv_close_device(own));
	}
	assert_true(child > 0);
	assert_true(is_ours(context));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_true(is_ours(context));
	assert_int_equal(ibv_close_device(context), 0);
	ibv_free_device_list(list);
}

static void nothing_is_left(void **state)
{
	const unsigned int before = descriptors_count();

	(void)state;
	for (int i = 0; i < 50; i++) {
		struct ibv_context *context = device_open();

		assert_true(is_ours(context));
		assert_int_equal(ibv_close_device(context), 0);
	}
	assert_int_equal(descriptors_count(), before);
}

/* A provider finds that a device is not one of its own. */
static void providers_are_not_confused(void **state)
{
	struct ibv_device **list = devices_list();
	void *library = dlopen("libmlx5.so.1", RTLD_LAZY);
	union {
		void *address;
		bool (*is_supported)(struct ibv_device *device);
	} provider;

	(void)state;
	assert_non_null(library);
	provider.address = dlsym(library, "mlx5dv_is_supported");
	assert_non_null(provider.address);
	assert_false(provider.is_supported(list[AT]));
	dlclose(library);
	ibv_free_device_list(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(devices_are_in_order),
		cmocka_unit_test(old_programs_query_ports),
		cmocka_unit_test(objects_are_refused),
		cmocka_unit_test(environment_is_read_once),
		cmocka_unit_test(missing_fabrics_have_errors),
		cmocka_unit_test(without_a_fabric_it_is_libibverbs),
		cmocka_unit_test(child_opens_devices),
		cmocka_unit_test(nothing_is_left),
		cmocka_unit_test(providers_are_not_confused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
