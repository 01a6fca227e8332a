/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads device files by path, from whatever source they have: /sys, a test
 * tree or a fabric server.
 */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/array.h"
#include "device/files.h"
#include "device/parse.h"

struct path {
	char text[PATH_MAX];
};

void ibsa__files_init(struct device_files *files,
		      const struct device_files_ops *ops)
{
	files->ops = ops;
	atomic_init(&files->holders, 1);
}

struct device_files *ibsa__files_get(struct device_files *files)
{
	atomic_fetch_add(&files->holders, 1);
	return files;
}

void ibsa__files_put(struct device_files *files)
{
	if (files && atomic_fetch_sub(&files->holders, 1) == 1)
		files->ops->free(files);
}

static int path_make(struct path *out, const char *format, va_list args)
{
	const int len = vsnprintf(out->text, sizeof(out->text), format, args);

	return len < 0 || (size_t)len >= sizeof(out->text) ? -ENAMETOOLONG : 0;
}

static int file_read(struct device_files *files, struct ibsa__file_text *out,
		     const char *format, va_list args)
{
	struct path path;
	int err = path_make(&path, format, args);

	return err ? err : files->ops->read(files, path.text, out);
}

int ibsa__file_read(struct device_files *files, struct ibsa__file_text *out,
		    const char *format, ...)
{
	va_list args;
	int err;

	va_start(args, format);
	err = file_read(files, out, format, args);
	va_end(args);
	return err;
}

int ibsa__number_read(struct device_files *files, uint64_t max, uint64_t *out,
		      const char *format, ...)
{
	struct ibsa__file_text text;
	va_list args;
	int err;

	va_start(args, format);
	err = file_read(files, &text, format, args);
	va_end(args);
	return err ? err : ibsa__parse_number(text.bytes, max, out);
}

int ibsa__folder_check(struct device_files *files, const char *format, ...)
{
	struct path path;
	va_list args;
	int err;

	va_start(args, format);
	err = path_make(&path, format, args);
	va_end(args);
	return err ? err : files->ops->list(files, path.text, NULL);
}

int ibsa__names_add(struct ibsa__names *names, const char *name)
{
	const int err = ARRAY_GROW(names->at, names->room, names->count + 1);

	if (err)
		return err;
	names->at[names->count] = ibsa__strdup(name);
	if (!names->at[names->count])
		return -ENOMEM;
	names->count++;
	return 0;
}

static int name_order(const void *a, const void *b)
{
	return ibsa__name_compare(*(char *const *)a, *(char *const *)b);
}

int ibsa__names_read(struct device_files *files, struct ibsa__names *out,
		     const char *format, ...)
{
	struct ibsa__names names = { 0 };
	struct path path;
	va_list args;
	int err;

	va_start(args, format);
	err = path_make(&path, format, args);
	va_end(args);
	if (!err)
		err = files->ops->list(files, path.text, &names);
	if (err) {
		ibsa__names_free(&names);
		return err;
	}
	if (names.count)
		qsort(names.at, names.count, sizeof(*names.at), name_order);
	*out = names;
	return 0;
}

void ibsa__names_free(struct ibsa__names *names)
{
	for (size_t i = 0; i < names->count; i++)
		ibsa__free(names->at[i]);
	ibsa__free(names->at);
}
