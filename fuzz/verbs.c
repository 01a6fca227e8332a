/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Queries a device of a fabric server, by libibverbs' names, whose files have
 * arbitrary contents. The input contains these, separated by NULs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "device/files.h"
#include "preload/device.h"

#undef ibv_query_port

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends of the paths of the files, in the order of the input. */
static const char *const names[] = {
	"/port_info", "/node_info",	    "/fw_ver",	"/device/device",
	"/node_type", "/node_guid",	    "/pkeys/0", "/gids/0",
	"/0/ibdev",   "/gid_attrs/types/0",
};
enum { NAMES = sizeof(names) / sizeof(names[0]) };

struct arbitrary_files {
	struct device_files base;
	const char *contents[NAMES];
};

static int arbitrary_read(struct device_files *base, const char *path,
			  struct ibsa__file_text *out)
{
	const struct arbitrary_files *files =
		(const struct arbitrary_files *)base;
	const size_t len = strlen(path);

	for (size_t i = 0; i < NAMES; i++) {
		const size_t tail = strlen(names[i]);

		if (len < tail || strcmp(path + len - tail, names[i]) != 0)
			continue;
		strncpy(out->bytes, files->contents[i], IBSA__FILE_BYTES);
		out->bytes[IBSA__FILE_BYTES] = '\0';
		return 0;
	}
	return -ENOENT;
}

static int arbitrary_list(struct device_files *base, const char *path,
			  struct ibsa__names *out)
{
	(void)base;
	(void)path;
	return out ? ibsa__names_add(out, "1") : 0;
}

static void arbitrary_free(struct device_files *base)
{
	(void)base;
}

static const struct device_files_ops arbitrary_ops = {
	.read = arbitrary_read,
	.list = arbitrary_list,
	.free = arbitrary_free,
};

/* A result that is not an error has filled the struct. */
static void query(struct own_device *own)
{
	struct verbs_context extended = {
		.context = { .device = &own->device, .cmd_fd = -1 },
	};
	struct ibv_context *context = &extended.context;
	struct ibv_device_attr_ex device;
	struct ibv_port_attr port;
	__be16 pkey;

	if (!ibsa__own_query_port(context, 1, &port, sizeof(port)) &&
	    port.link_layer != IBV_LINK_LAYER_INFINIBAND)
		abort();
	if (!ibsa__own_query_device(context, NULL, &device, sizeof(device)) &&
	    !memchr(device.orig_attr.fw_ver, 0,
		    sizeof(device.orig_attr.fw_ver)))
		abort();
	(void)ibv_query_pkey(context, 1, 0, &pkey);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct ibsa__environment environment = { .fabric = "" };
	struct arbitrary_files files = { .contents = { NULL } };
	char *text = malloc(size + 1);
	struct own_device *own;
	char *at = text;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	for (size_t i = 0; i < NAMES; i++) {
		files.contents[i] = at;
		at += strlen(at);
		at += at < text + size;
	}
	ibsa__files_init(&files.base, &arbitrary_ops);
	if (!ibsa__own_device_new(&files.base, &environment, files.contents[8],
				  0, &own)) {
		query(own);
		ibsa__own_device_put(own);
	}
	ibsa__files_put(&files.base);
	free(text);
	return 0;
}
