/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * usage: wrong
 *
 * Calls libibverbs' functions for the first device with wrong arguments, and
 * prints their results. They are the same for a device of the kernel and for one
 * of a fabric, with libibsa-verbs-preload.so.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/verbs.h>

enum { NO_PORT = 9, NO_INDEX = 20000 };

/* Print what a call that returns an errno, or its negative, has returned. */
static void show(const char *call, int result)
{
	const int err = result < 0 ? -result : result;

	printf("%s: %s%s\n", call, result < 0 ? "-" : "",
	       err ? strerrorname_np(err) : "0");
}

/* Print what a call that returns -1 and sets errno has returned. */
static void show_sign(const char *call, int result)
{
	printf("%s: %s\n", call,
	       result < 0 ? strerrorname_np(errno) : "0 or above");
}

static void query_wrong_ports(struct ibv_context *context)
{
	struct ibv_port_attr port;
	union ibv_gid gid;
	__be16 pkey;

	show("query_port of port 0", ibv_query_port(context, 0, &port));
	show("query_port of no port", ibv_query_port(context, NO_PORT, &port));
	show_sign("query_gid of port 0", ibv_query_gid(context, 0, 0, &gid));
	show_sign("query_gid of no port",
		  ibv_query_gid(context, NO_PORT, 0, &gid));
	show_sign("query_pkey of no port",
		  ibv_query_pkey(context, NO_PORT, 0, &pkey));
	show_sign("get_pkey_index of no port",
		  ibv_get_pkey_index(context, NO_PORT, htobe16(0xffff)));
}

static void query_wrong_indices(struct ibv_context *context)
{
	union ibv_gid gid;
	__be16 pkey;

	show_sign("query_gid of index -1", ibv_query_gid(context, 1, -1, &gid));
	show_sign("query_gid of no index",
		  ibv_query_gid(context, 1, NO_INDEX, &gid));
	show_sign("query_pkey of index -1",
		  ibv_query_pkey(context, 1, -1, &pkey));
	show_sign("query_pkey of no index",
		  ibv_query_pkey(context, 1, NO_INDEX, &pkey));
	show_sign("get_pkey_index of no P_Key",
		  ibv_get_pkey_index(context, 1, htobe16(0x8123)));
	show_sign("get_pkey_index of 0xffff",
		  ibv_get_pkey_index(context, 1, htobe16(0xffff)));
}

static void query_wrong_gids(struct ibv_context *context)
{
	struct ibv_gid_entry entry[256];

	show("query_gid_ex of port 0",
	     ibv_query_gid_ex(context, 0, 0, entry, 0));
	show("query_gid_ex of no port",
	     ibv_query_gid_ex(context, NO_PORT, 0, entry, 0));
	show("query_gid_ex of no index",
	     ibv_query_gid_ex(context, 1, NO_INDEX, entry, 0));
	show("query_gid_ex with flags",
	     ibv_query_gid_ex(context, 1, 0, entry, 1));
	show("query_gid_table with flags",
	     (int)ibv_query_gid_table(context, entry, 256, 1));
	show("query_gid_table without room",
	     (int)ibv_query_gid_table(context, entry, 0, 0));
}

static void query_wrong_masks(struct ibv_context *context)
{
	const struct ibv_query_device_ex_input input = { .comp_mask = 1 };
	struct ibv_device_attr_ex attr;

	show("query_device_ex with a mask",
	     ibv_query_device_ex(context, &input, &attr));
	show("query_device_ex", ibv_query_device_ex(context, NULL, &attr));
	printf("ports: %s\n",
	       attr.phys_port_cnt_ex == attr.orig_attr.phys_port_cnt
		       ? "as many as in the short struct"
		       : "more");
}

/* Whether the names and paths of a device agree with each other. */
static int paths_agree(const struct ibv_device *device)
{
	const char *name = strrchr(device->ibdev_path, '/');
	const char *verbs = strrchr(device->dev_path, '/');

	return name && !strcmp(name + 1, device->name) && verbs &&
	       !strcmp(verbs + 1, device->dev_name);
}

int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = list && *list ? ibv_open_device(*list)
						    : NULL;

	if (!context) {
		fprintf(stderr, "wrong: no device: %s\n", strerror(errno));
		return EXIT_FAILURE;
	}
	printf("paths: %s\n", paths_agree(*list) ? "agree" : "differ");
	ibv_free_device_list(list);
	printf("name: %s\n",
	       *ibv_get_device_name(context->device) ? "after the list" : "");
	query_wrong_ports(context);
	query_wrong_indices(context);
	query_wrong_gids(context);
	query_wrong_masks(context);
	printf("close: %d\n", ibv_close_device(context));
	return EXIT_SUCCESS;
}
