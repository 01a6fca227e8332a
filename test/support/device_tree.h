/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A sysfs tree for one test, in a temporary directory. */
#ifndef TEST_DEVICE_TREE_H
#define TEST_DEVICE_TREE_H

struct tree {
	char path[64];
};

/* Make the directory and set $SYSFS_PATH to it. */
void tree_make(struct tree *tree);

/* @path is relative to the root; missing directories are made. */
void tree_write(const struct tree *tree, const char *path, const char *text);

void tree_remove_file(const struct tree *tree, const char *path);

/* A device with one port in state Active, with LID 7 and SM LID 1. */
void tree_add_device(const struct tree *tree, const char *name);
void tree_add_port(const struct tree *tree, const char *name,
		   unsigned int port);
void tree_add_umad(const struct tree *tree, unsigned int number,
		   const char *device, unsigned int port);

/* Change one file of a port. */
void tree_set_port(const struct tree *tree, const char *name, unsigned int port,
		   const char *file, const char *text);

void tree_remove(struct tree *tree);

/* Set up a test, whose state is a tree without a device. */
int tree_setup(void **state);
int tree_teardown(void **state);

#endif
