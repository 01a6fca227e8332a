/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A directory with the files that /sys would contain for the adapters of a host
 * of a fabric. A fabric server returns the names and contents of the files as a
 * text, the answer to its command sysfs.
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
 * Send a command line to the server, as ibsa_server_command() does. @arg: the
 * member of struct tree
 */
typedef int (*tree_command_fn)(void *arg, const char *line, char *out,
			       size_t room, struct ibsa_error *error);

/*
 * @path:    path of the directory
 * @host:    as in IBSA_NODE; "": the host with the name of this machine
 * @command: requests the text from the server
 * @root:    descriptor of the directory
 * @is_ours: tree_open() has created the directory
 * @text:    the text whose files the directory contains; NULL: none
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
 * Create the directory, or open it if it exists, is empty, and is not the tree
 * of another process. The caller has set @path, @host, @command and @arg.
 * Return: the exit status; a failure is printed.
 */
int tree_open(struct tree *tree);

/*
 * Request the text, and change the files that differ from it. A program that
 * reads a file at the same time finds either the old or the new content.
 * Return: the exit status; a failure is printed.
 */
int tree_update(struct tree *tree);

/*
 * Write the files of a text to the directory. @text is changed. Return: 0;
 * -EPROTO the text has a name or a link that is refused; or a negative errno.
 */
int tree_write(struct tree *tree, char *text);

/*
 * Remove the contents of the directory; and the directory itself, if
 * tree_open() has created it.
 */
void tree_close(struct tree *tree);

#endif
