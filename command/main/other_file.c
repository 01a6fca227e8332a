/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Checks that an output file is not the same file as one that is being used. */
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "main/other_file.h"

/* A file of the command line; @path NULL: none. */
struct named_file {
	const char *path;
	const char *use; /* in messages */
};

/*
 * Whether two paths of files that do not exist name the same file in the same
 * directory.
 */
static bool is_same_name(const char *one, const char *other)
{
	const char *const paths[] = { one, other };
	const char *names[2];
	struct stat folders[2];

	for (int i = 0; i < 2; i++) {
		const char *slash = strrchr(paths[i], '/');
		char folder[4096] = ".";

		if (slash && (size_t)(slash - paths[i]) + 2 > sizeof(folder))
			return false;
		if (slash)
			snprintf(folder, sizeof(folder), "%.*s",
				 (int)(slash - paths[i]) + 1, paths[i]);
		names[i] = slash ? slash + 1 : paths[i];
		if (stat(folder, &folders[i]) != 0)
			return strcmp(one, other) == 0;
	}
	return strcmp(names[0], names[1]) == 0 &&
	       folders[0].st_dev == folders[1].st_dev &&
	       folders[0].st_ino == folders[1].st_ino;
}

/*
 * Whether two paths name the same regular file. Writing to another file, such
 * as /dev/null or a terminal, destroys nothing.
 */
static bool is_same_file(const char *one, const char *other)
{
	struct stat a;
	struct stat b;
	const bool has_one = stat(one, &a) == 0;
	const bool has_other = stat(other, &b) == 0;

	if (!has_one && !has_other)
		return is_same_name(one, other);
	return has_one && has_other && S_ISREG(a.st_mode) &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Return: the topology file or the capture that the command reads, or NULL. */
static const char *file_read_of(const struct cli *cli)
{
	if (strcmp(cli->args[0], "fabric") == 0)
		return cli->arg_count > 2 ? cli->args[2] : NULL;
	if ((strcmp(cli->args[0], "topology") == 0 ||
	     strcmp(cli->args[0], "page") == 0) &&
	    cli->arg_count > 1)
		return cli->args[1];
	return fabric_file(cli);
}

int other_files_check(const struct cli *cli)
{
	/* The files that are written are last, in the order of @options. */
	const struct named_file files[] = {
		{ file_read_of(cli), "the file that is read" },
		{ cli->check.expect, "the file that --expect reads" },
		{ cli->check.peers, "the file that --peers reads" },
		{ cli->fabric.partitions, "the file that --partitions reads" },
		{ cli->sa.key_file, "the file that --sm-key reads" },
		{ cli->topology.name_map,
		  "the file that --node-name-map reads" },
		{ cli->picture.dot, "the file that --dot writes" },
		{ cli->picture.svg, "the file that --svg writes" },
		{ cli->record.path, "the file that --record writes" },
		{ cli->output.file, "the file that --output writes" },
	};
	static const char *const options[] = { "--dot", "--svg", "--record",
					       "--output" };
	const size_t count = sizeof(files) / sizeof(files[0]);
	const size_t first = count - sizeof(options) / sizeof(options[0]);

	for (size_t i = first; i < count; i++) {
		const char *path = files[i].path;

		for (size_t k = 0; path && strcmp(path, "-") && k < i; k++) {
			if (!files[k].path ||
			    !is_same_file(path, files[k].path))
				continue;
			complain("%s: '%s' is %s; name another file",
				 options[i - first], path, files[k].use);
			return CLI_USAGE;
		}
	}
	return CLI_DONE;
}
