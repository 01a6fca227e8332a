/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Device files by path, independent of their source. */
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

int ibsa__file_read(struct device_files *files, struct ibsa__file_text *out,
		    const char *format, ...)
{
	struct path path;
	va_list args;
	int err;

	va_start(args, format);
	err = path_make(&path, format, args);
	va_end(args);
	return err ? err : files->ops->read(files, path.text, out);
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

static int names_get(struct device_files *files, const char *format,
		     va_list args, struct ibsa__names *out)
{
	struct ibsa__names names = { 0 };
	struct path path;
	int err = path_make(&path, format, args);

	if (!err)
		err = files->ops->list(files, path.text, &names);
	if (err) {
		ibsa__names_free(&names);
		return err;
	}
	*out = names;
	return 0;
}

static int name_order(const void *a, const void *b)
{
	return ibsa__name_compare(*(char *const *)a, *(char *const *)b);
}

int ibsa__names_read(struct device_files *files, struct ibsa__names *out,
		     const char *format, ...)
{
	va_list args;
	int err;

	va_start(args, format);
	err = names_get(files, format, args, out);
	va_end(args);
	if (!err && out->count)
		qsort(out->at, out->count, sizeof(*out->at), name_order);
	return err;
}

int ibsa__names_read_unsorted(struct device_files *files,
			      struct ibsa__names *out, const char *format, ...)
{
	va_list args;
	int err;

	va_start(args, format);
	err = names_get(files, format, args, out);
	va_end(args);
	return err;
}

void ibsa__names_free(struct ibsa__names *names)
{
	for (size_t i = 0; i < names->count; i++)
		ibsa__free(names->at[i]);
	ibsa__free(names->at);
}
