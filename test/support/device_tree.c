/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A sysfs tree for one test, in a temporary directory. */
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test/support/device_tree.h"

static void must(int good)
{
	if (!good)
		abort();
}

void tree_make(struct tree *tree)
{
	snprintf(tree->path, sizeof(tree->path), "/tmp/ibsa-tree-XXXXXX");
	must(mkdtemp(tree->path) != NULL);
	must(!setenv("SYSFS_PATH", tree->path, 1));
}

static void folders_make(char *path)
{
	for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		must(!mkdir(path, 0700) || errno == EEXIST);
		*slash = '/';
	}
}

void tree_write(const struct tree *tree, const char *path, const char *text)
{
	char full[PATH_MAX];
	FILE *file;

	snprintf(full, sizeof(full), "%s/%s", tree->path, path);
	folders_make(full);
	if (full[strlen(full) - 1] == '/')
		return;
	file = fopen(full, "w");
	must(file && fputs(text, file) >= 0 && !fclose(file));
}

void tree_remove_file(const struct tree *tree, const char *path)
{
	char full[PATH_MAX];

	snprintf(full, sizeof(full), "%s/%s", tree->path, path);
	must(!remove(full));
}

void tree_set_port(const struct tree *tree, const char *name, unsigned int port,
		   const char *file, const char *text)
{
	char path[1024];

	snprintf(path, sizeof(path), "class/infiniband/%s/ports/%u/%s", name,
		 port, file);
	tree_write(tree, path, text);
}

void tree_add_port(const struct tree *tree, const char *name, unsigned int port)
{
	static const char *const files[][2] = {
		{ "lid", "0x7\n" },
		{ "lid_mask_count", "0\n" },
		{ "sm_lid", "0x1\n" },
		{ "sm_sl", "0\n" },
		{ "state", "4: ACTIVE\n" },
		{ "phys_state", "5: LinkUp\n" },
		{ "cap_mask", "0x2651e84a\n" },
		{ "rate", "100 Gb/sec (4X EDR)\n" },
		{ "link_layer", "InfiniBand\n" },
		{ "gids/0", "fe80:0000:0000:0000:0002:c903:0000:0001\n" },
		{ "pkeys/0", "0xffff\n" },
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		tree_set_port(tree, name, port, files[i][0], files[i][1]);
}

void tree_add_device(const struct tree *tree, const char *name)
{
	static const char *const files[][2] = {
		{ "node_type", "1: CA\n" },
		{ "node_guid", "0002:c903:0000:0000\n" },
		{ "sys_image_guid", "0002:c903:0000:0003\n" },
		{ "fw_ver", "20.31.1014\n" },
		{ "hca_type", "MT4123\n" },
	};
	char path[1024];

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "class/infiniband/%s/%s", name,
			 files[i][0]);
		tree_write(tree, path, files[i][1]);
	}
	tree_add_port(tree, name, 1);
}

void tree_add_umad(const struct tree *tree, unsigned int number,
		   const char *device, unsigned int port)
{
	char path[64];
	char text[300];

	tree_write(tree, "class/infiniband_mad/abi_version", "5\n");
	snprintf(path, sizeof(path), "class/infiniband_mad/umad%u/ibdev",
		 number);
	snprintf(text, sizeof(text), "%s\n", device);
	tree_write(tree, path, text);
	snprintf(path, sizeof(path), "class/infiniband_mad/umad%u/port",
		 number);
	snprintf(text, sizeof(text), "%u\n", port);
	tree_write(tree, path, text);
}

static int entry_remove(const char *path, const struct stat *info, int type,
			struct FTW *where)
{
	(void)info;
	(void)type;
	(void)where;
	return remove(path);
}

void tree_remove(struct tree *tree)
{
	must(!nftw(tree->path, entry_remove, 8, FTW_DEPTH | FTW_PHYS));
	unsetenv("SYSFS_PATH");
}

int tree_setup(void **state)
{
	static struct tree tree;

	tree_make(&tree);
	tree_write(&tree, "class/infiniband/", "");
	*state = &tree;
	return 0;
}

int tree_teardown(void **state)
{
	tree_remove(*state);
	return 0;
}
