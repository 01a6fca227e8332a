/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* GID tables as a list, and the interface of each entry. The linker's --wrap
 * replaces the network interfaces by the test's. */
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netpacket/packet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include <ibsa/device.h>

#include "device/device.h"
#include "test/support/device_now.h"
#include "test/support/device_tree.h"

#define GID_ZERO "0000:0000:0000:0000:0000:0000:0000:0000\n"
#define GID_V4 "0000:0000:0000:0000:0000:ffff:c000:0201\n"
#define GID_V6 "fd77:0000:0000:0000:0000:0000:0000:0001\n"
/* GID of the hardware address 52:54:00:00:00:a1. */
#define GID_MAC "fe80:0000:0000:0000:5054:00ff:fe00:00a1\n"
#define GID_IWARP "5254:0000:00a1:0000:0000:0000:0000:0000\n"

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_getifaddrs(struct ifaddrs **out);
void __wrap_freeifaddrs(struct ifaddrs *all);

/* Results of getifaddrs(), and how often it was called. */
static struct {
	struct sockaddr_ll link;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_in far;
	struct ifaddrs all[3];
	int calls;
	int fails;
} net;

static unsigned int opened;

int __wrap_open(const char *path, int flags, ...)
{
	opened++;
	return __real_open(path, flags);
}

int __wrap_getifaddrs(struct ifaddrs **out)
{
	net.calls++;
	if (net.fails) {
		errno = net.fails;
		return -1;
	}
	*out = net.all;
	return 0;
}

void __wrap_freeifaddrs(struct ifaddrs *all)
{
	assert_ptr_equal(all, net.all);
	net.calls--;
}

/* Give the interface "lo", which every machine has, addresses of the test. */
static void net_reset(void)
{
	static const uint8_t hardware[] = { 0x52, 0x54, 0, 0, 0, 0xa1 };
	static const uint8_t in6[] = { 0xfd, 0x77, [15] = 1 };
	struct sockaddr *addresses[] = { (struct sockaddr *)&net.link,
					 (struct sockaddr *)&net.in,
					 (struct sockaddr *)&net.in6 };

	memset(&net, 0, sizeof(net));
	net.link.sll_family = AF_PACKET;
	net.link.sll_halen = sizeof(hardware);
	memcpy(net.link.sll_addr, hardware, sizeof(hardware));
	net.in.sin_family = AF_INET;
	net.in.sin_addr.s_addr = htonl(0xc0000201);
	net.in6.sin6_family = AF_INET6;
	memcpy(&net.in6.sin6_addr, in6, sizeof(in6));
	net.far = net.in;
	for (int i = 0; i < 3; i++) {
		net.all[i].ifa_name = (char *)"lo";
		net.all[i].ifa_addr = addresses[i];
		net.all[i].ifa_next = i < 2 ? &net.all[i + 1] : NULL;
	}
}

static void entry_write(const struct tree *tree, const char *gid)
{
	tree_set_port(tree, "mlx5_0", 1, "gids/0", gid);
	tree_set_port(tree, "mlx5_0", 1, "gid_attrs/types/0", "RoCE v2\n");
	tree_set_port(tree, "mlx5_0", 1, "gid_attrs/ndevs/0", "lo\n");
}

static uint32_t ifindex_of(const struct tree *tree, const char *gid)
{
	struct ibsa_gid_entry entry;

	entry_write(tree, gid);
	assert_int_equal(now_gid_read("mlx5_0", 1, 0, &entry), 0);
	return entry.ifindex;
}

static void interface_with_the_gid_s_address_is_it(void **state)
{
	static const char *const its[] = { GID_V4, GID_V6, GID_MAC, GID_IWARP };
	const uint32_t lo = if_nametoindex("lo");
	struct tree tree;

	(void)state;
	net_reset();
	tree_make(&tree);
	tree_add_device(&tree, "mlx5_0");
	for (size_t i = 0; i < sizeof(its) / sizeof(its[0]); i++)
		assert_int_equal(ifindex_of(&tree, its[i]), lo);
	/*
	 * For a point-to-point link, the kernel makes the GID from the far
	 * end's address.
	 */
	net.in.sin_addr.s_addr = htonl(0xc0000209);
	net.all[1].ifa_dstaddr = (struct sockaddr *)&net.far;
	assert_int_equal(ifindex_of(&tree, GID_V4), lo);
	assert_int_equal(net.calls, 0);
	tree_remove(&tree);
}

/*
 * The interface of the GID is in another namespace; the test's namespace has an
 * interface of that name with other addresses.
 */
static void interface_of_the_same_name_is_not_the_same(void **state)
{
	static const char *const others[] = {
		"0000:0000:0000:0000:0000:ffff:c000:0202\n",
		"fd77:0000:0000:0000:0000:0000:0000:0002\n",
		"fe80:0000:0000:0000:5054:00ff:fe00:00a2\n",
		"fe80:0000:0000:0000:5754:00ff:fe00:00a1\n",
		"5254:0000:00a2:0000:0000:0000:0000:0000\n",
	};
	struct tree tree;

	(void)state;
	net_reset();
	tree_make(&tree);
	tree_add_device(&tree, "mlx5_0");
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_int_equal(ifindex_of(&tree, others[i]), 0);
	assert_int_equal(net.calls, 0);
	tree_remove(&tree);
}

static void interface_without_hardware_address_is_known_by_name(void **state)
{
	const uint32_t lo = if_nametoindex("lo");
	struct tree tree;

	(void)state;
	net_reset();
	tree_make(&tree);
	tree_add_device(&tree, "mlx5_0");
	net.in.sin_addr.s_addr = 0;
	memset(net.link.sll_addr, 0, sizeof(net.link.sll_addr));
	assert_int_equal(ifindex_of(&tree, GID_V4), lo);
	net_reset();
	net.in.sin_addr.s_addr = 0;
	net.link.sll_halen = 20; /* IPoIB */
	assert_int_equal(ifindex_of(&tree, GID_V4), lo);
	net.all[0].ifa_addr = NULL;
	assert_int_equal(ifindex_of(&tree, GID_V4), lo);
	net.fails = EMFILE;
	assert_int_equal(ifindex_of(&tree, GID_V4), lo);
	tree_remove(&tree);
}

static void interfaces_are_asked_for_once_a_table(void **state)
{
	struct ibsa_gid_list *list;
	struct tree tree;

	(void)state;
	net_reset();
	tree_make(&tree);
	tree_add_device(&tree, "mlx5_0");
	entry_write(&tree, GID_V4);
	tree_set_port(&tree, "mlx5_0", 1, "gids/1", GID_V6);
	tree_set_port(&tree, "mlx5_0", 1, "gid_attrs/types/1", "RoCE v2\n");
	tree_set_port(&tree, "mlx5_0", 1, "gid_attrs/ndevs/1", "lo\n");
	net.fails = EMFILE; /* frees are not counted against calls */
	assert_int_equal(ibsa_gids_read(NULL, 0, &list), 0);
	assert_int_equal(list->count, 2);
	assert_int_equal(net.calls, 1);
	ibsa_gids_free(list);
	tree_remove(&tree);
}

/*
 * For 16 entries of both RoCE versions, each file is opened once: GID, type
 * and interface; and the port's link layer.
 */
static void each_file_is_opened_once_a_table(void **state)
{
	struct ibsa_gid_list *list;
	struct tree tree;
	char file[64];

	(void)state;
	net_reset();
	tree_make(&tree);
	tree_add_device(&tree, "mlx5_0");
	tree_set_port(&tree, "mlx5_0", 1, "link_layer", "Ethernet\n");
	for (int i = 0; i < 16; i++) {
		snprintf(file, sizeof(file), "gids/%d", i);
		tree_set_port(&tree, "mlx5_0", 1, file, GID_V6);
		snprintf(file, sizeof(file), "gid_attrs/types/%d", i);
		tree_set_port(&tree, "mlx5_0", 1, file,
			      i % 2 ? "RoCE v2\n" : "IB/RoCE v1\n");
		snprintf(file, sizeof(file), "gid_attrs/ndevs/%d", i);
		tree_set_port(&tree, "mlx5_0", 1, file, "lo\n");
	}
	opened = 0;
	assert_int_equal(ibsa_gids_read("mlx5_0", 0, &list), 0);
	assert_int_equal(list->count, 16);
	assert_int_equal(opened, 3 * 16 + 1 + 1 /* the port's state */);
	ibsa_gids_free(list);
	tree_remove(&tree);
}

static void row_is(const struct ibsa_gid_row *row, const char *device,
		   unsigned int port, uint32_t index, int err)
{
	assert_string_equal(row->device, device);
	assert_int_equal(row->port, port);
	assert_int_equal(row->entry.index, index);
	assert_int_equal(row->err, err);
}

/*
 * Two devices; the second has two ports, one of them down, and empty entries.
 */
static void tree_with_tables(struct tree *tree)
{
	net_reset();
	tree_make(tree);
	tree_add_device(tree, "mlx5_10");
	tree_add_device(tree, "mlx5_9");
	tree_add_port(tree, "mlx5_10", 2);
	tree_set_port(tree, "mlx5_10", 2, "state", "1: DOWN\n");
	tree_set_port(tree, "mlx5_10", 1, "gids/1", GID_ZERO);
	tree_set_port(tree, "mlx5_10", 1, "gids/10", GID_V6);
	tree_set_port(tree, "mlx5_10", 1, "gids/2", "nonsense\n");
	tree_write(tree, "class/infiniband/abi_version", "1\n");
}

static void list_has_all_tables_in_order(void **state)
{
	struct ibsa_gid_list *list;
	struct tree tree;

	(void)state;
	tree_with_tables(&tree);
	assert_int_equal(ibsa_gids_read(NULL, 0, &list), 0);
	assert_int_equal(list->count, 5);
	row_is(&list->rows[0], "mlx5_9", 1, 0, 0);
	row_is(&list->rows[1], "mlx5_10", 1, 0, 0);
	row_is(&list->rows[2], "mlx5_10", 1, 2, -EPROTO);
	row_is(&list->rows[3], "mlx5_10", 1, 10, 0);
	row_is(&list->rows[4], "mlx5_10", 2, 0, 0);
	assert_int_equal(list->rows[3].port_state, 4);
	assert_int_equal(list->rows[4].port_state, 1);
	ibsa_gids_free(list);
	tree_remove(&tree);
}

static size_t count_of(const char *device, unsigned int port)
{
	struct ibsa_gid_list *list;
	size_t count;

	assert_int_equal(ibsa_gids_read(device, port, &list), 0);
	count = list->count;
	ibsa_gids_free(list);
	return count;
}

static void list_may_be_of_a_device_or_port(void **state)
{
	struct tree tree;

	(void)state;
	tree_with_tables(&tree);
	assert_int_equal(count_of("mlx5_10", 0), 4);
	assert_int_equal(count_of("mlx5_10", 1), 3);
	assert_int_equal(count_of("mlx5_10", 2), 1);
	assert_int_equal(count_of("mlx5_9", 1), 1);
	assert_int_equal(count_of(NULL, 2), 1);
	tree_remove(&tree);
}

/* A path to a device is not a device's name. */
static void paths_are_not_names(void **state)
{
	static const char *const paths[] = {
		"", ".", "..", "mlx5_9/", "mlx5_10/../mlx5_9",
	};
	struct ibsa_gid_list *list;
	struct tree tree;

	(void)state;
	tree_with_tables(&tree);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		assert_int_equal(ibsa_gids_read(paths[i], 1, &list), -ENODEV);
	tree_remove(&tree);
}

static void missing_device_or_port_has_no_list(void **state)
{
	struct ibsa_gid_list *list = NULL;
	struct tree tree;

	(void)state;
	tree_with_tables(&tree);
	assert_int_equal(ibsa_gids_read("mlx5_0", 0, &list), -ENODEV);
	assert_int_equal(ibsa_gids_read("mlx5_0", 1, &list), -ENODEV);
	assert_int_equal(ibsa_gids_read("mlx5_9", 2, &list), -ENXIO);
	assert_null(list);
	tree_remove(&tree);
	tree_make(&tree);
	assert_int_equal(ibsa_gids_read(NULL, 0, &list), -ENOSYS);
	assert_int_equal(ibsa_gids_read("mlx5_9", 0, &list), -ENOSYS);
	tree_write(&tree, "class/infiniband/", "");
	assert_int_equal(count_of(NULL, 0), 0);
	ibsa_gids_free(NULL);
	tree_remove(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(interface_with_the_gid_s_address_is_it),
		cmocka_unit_test(interface_of_the_same_name_is_not_the_same),
		cmocka_unit_test(
			interface_without_hardware_address_is_known_by_name),
		cmocka_unit_test(interfaces_are_asked_for_once_a_table),
		cmocka_unit_test(each_file_is_opened_once_a_table),
		cmocka_unit_test(list_has_all_tables_in_order),
		cmocka_unit_test(list_may_be_of_a_device_or_port),
		cmocka_unit_test(paths_are_not_names),
		cmocka_unit_test(missing_device_or_port_has_no_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
