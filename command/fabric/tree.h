/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A directory with the files that /sys has for the adapters of a host. The text
 * of the files comes from a fabric server, by its command sysfs.
 *
 * Nothing outside the directory is changed: names with a slash, "..", and links
 * that point outside are refused, and links are never followed, even if another
 * process puts them there.
 */
#ifndef COMMAND_FABRIC_TREE_H
#define COMMAND_FABRIC_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include <ibsa/types.h>

/*
 * Run a command line at the server, as ibsa_server_command() does. @arg: member
 * of struct tree
 */
typedef int (*tree_command_fn)(void *arg, const char *line, char *out,
			       size_t room, struct ibsa_error *error);

/*
 * @path:    of the directory
 * @host:    as in IBSA_NODE; "": that of this machine
 * @command: asks the server for the text
 * @root:    descriptor of the directory
 * @is_ours: the directory did not exist
 * @text:    the text whose files the directory has; NULL: none
 */
struct tree {
	const char *path;
	const char *host;
	tree_command_fn command;
	void *arg;
	int root;
	bool is_ours;
	char *text;
};

/*
 * Create the directory, or open it if it exists, is empty, and no other process
 * has it as a tree. The other members of @tree are set. Return: the exit status;
 * a failure is printed.
 */
int tree_open(struct tree *tree);

/*
 * Get the text, and change the files that differ from it. A program that reads a
 * file finds the old or the new content. Return: the exit status; a failure is
 * printed.
 */
int tree_update(struct tree *tree);

/*
 * Write the files of a text to the directory. @text is changed. Return: 0;
 * -EPROTO the text has a name or a link that is refused; or a negative errno.
 */
int tree_write(struct tree *tree, char *text);

/* Remove all that the directory has; and itself if tree_open() created it. */
void tree_close(struct tree *tree);

#endif
