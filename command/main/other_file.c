/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Checks that an output file is not the same file as one that is being used. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "main/other_file.h"
#include "options/options.h"

/* A file that the command line names. */
struct named_file {
	const char *path;
	const char *option; /* that names it; NULL: an argument does */
	bool is_written;
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
	const int number = cli->command->file;

	return number && cli->arg_count > number ? cli->args[number]
						 : fabric_file(cli);
}

/*
 * Set @out to the file that an option names. Return: false: it names none, or
 * standard output.
 */
static bool file_of(const struct option_entry *entry, enum option_file use,
		    struct named_file *out)
{
	const char *path = entry->value;

	if (!path || entry->row->file != use)
		return false;
	if (use == OPTION_READS_AT && *path++ != '@')
		return false;
	*out = (struct named_file){
		.path = path,
		.option = entry->row->name,
		.is_written = use > OPTION_READS_AT,
	};
	return !out->is_written || strcmp(path, "-") != 0;
}

/* Return: the number of files in @out, those that are written last. */
static size_t files_list(const struct cli *cli, struct named_file *out)
{
	const char *read = file_read_of(cli);
	size_t count = 0;

	if (read)
		out[count++] = (struct named_file){ .path = read };
	for (int use = OPTION_READS; use <= OPTION_REPLACES; use++)
		for (size_t i = 0; i < cli->options->count; i++)
			count += file_of(&cli->options->all[i],
					 (enum option_file)use, &out[count]);
	return count;
}

static int same_file_explain(const struct named_file *file,
			     const struct named_file *other)
{
	if (other->option)
		complain("--%s: '%s' is the file that --%s %s; name another "
			 "file",
			 file->option, file->path, other->option,
			 other->is_written ? "writes" : "reads");
	else
		complain("--%s: '%s' is the file that is read; name another "
			 "file",
			 file->option, file->path);
	return CLI_USAGE;
}

static int files_check(const struct named_file *files, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; files[i].is_written && k < i; k++)
			if (is_same_file(files[i].path, files[k].path))
				return same_file_explain(&files[i], &files[k]);
	return CLI_DONE;
}

int other_files_check(const struct cli *cli)
{
	struct named_file *files = calloc(cli->options->count + 1,
					  sizeof(*files));
	int status;

	if (!files)
		return no_memory();
	status = files_check(files, files_list(cli, files));
	free(files);
	return status;
}
