/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The files of sysfs that a report has: those of the devices and ports that
 * libibsa and this command read, and versions of drivers.
 *
 * Source: Linux Documentation/ABI/stable/sysfs-class-infiniband.
 */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibsa/text.h>

#include "doctor/device_files.h"

enum { FILE_BYTES_MAX = 4096 };

/* What the text of a file is. */
enum content { CONTENT_PLAIN, CONTENT_GUID, CONTENT_GID, CONTENT_NAME };

/* clang-format off */
static const struct {
	const char *pattern;
	enum content content;
} files[] = {
	{ "module/mlx5_core/version", CONTENT_PLAIN },
	{ "module/mlx5_ib/version", CONTENT_PLAIN },
	{ "class/infiniband_mad/abi_version", CONTENT_PLAIN },
	{ "class/infiniband_mad/umad*/ibdev", CONTENT_PLAIN },
	{ "class/infiniband_mad/umad*/port", CONTENT_PLAIN },
	{ "class/infiniband/*/node_guid", CONTENT_GUID },
	{ "class/infiniband/*/sys_image_guid", CONTENT_GUID },
	{ "class/infiniband/*/node_desc", CONTENT_NAME },
	{ "class/infiniband/*/node_type", CONTENT_PLAIN },
	{ "class/infiniband/*/hca_type", CONTENT_PLAIN },
	{ "class/infiniband/*/hw_rev", CONTENT_PLAIN },
	{ "class/infiniband/*/fw_ver", CONTENT_PLAIN },
	{ "class/infiniband/*/board_id", CONTENT_PLAIN },
	{ "class/infiniband/*/device/class", CONTENT_PLAIN },
	{ "class/infiniband/*/device/vendor", CONTENT_PLAIN },
	{ "class/infiniband/*/device/device", CONTENT_PLAIN },
	{ "class/infiniband/*/ports/*/[a-z]*", CONTENT_PLAIN },
	{ "class/infiniband/*/ports/*/counters/*", CONTENT_PLAIN },
	{ "class/infiniband/*/ports/*/pkeys/[0-9]", CONTENT_PLAIN },
	{ "class/infiniband/*/ports/*/gids/[0-9]", CONTENT_GID },
	{ "class/infiniband/*/ports/*/gid_attrs/types/[0-9]", CONTENT_PLAIN },
};
/* clang-format on */

/* Edit a text of four groups of hexadecimal digits, which is half a GID. */
static void guid_edit(struct private *private, char *text, size_t size)
{
	char gid_text[IBSA_GID_TEXT];
	struct ibsa_gid gid;
	uint64_t guid;

	if (!private->is_anonymous)
		return;
	snprintf(gid_text, sizeof(gid_text), "0:0:0:0:%.19s", text);
	if (ibsa_gid_parse(gid_text, &gid) != 0) {
		*text = '\0';
		return;
	}
	guid = private_guid(private, ibsa_be64(gid.raw + 8));
	snprintf(text, size, "%04x:%04x:%04x:%04x\n",
		 (unsigned int)(guid >> 48),
		 (unsigned int)(guid >> 32 & 0xffff),
		 (unsigned int)(guid >> 16 & 0xffff),
		 (unsigned int)(guid & 0xffff));
}

static void gid_edit(struct private *private, char *text, size_t size)
{
	struct ibsa_gid gid;

	if (!private->is_anonymous)
		return;
	text[strcspn(text, "\n")] = '\0';
	if (ibsa_gid_parse(text, &gid) != 0) {
		*text = '\0';
		return;
	}
	private_gid(private, &gid);
	for (size_t i = 0, at = 0; i < sizeof(gid.raw); i += 2)
		at += (size_t)snprintf(text + at, size - at, "%04x%c",
				       ibsa_be16(gid.raw + i),
				       i + 2 < sizeof(gid.raw) ? ':' : '\n');
}

static void text_edit(struct private *private, enum content content, char *text,
		      size_t size)
{
	switch (content) {
	case CONTENT_GUID:
		guid_edit(private, text, size);
		break;
	case CONTENT_GID:
		gid_edit(private, text, size);
		break;
	case CONTENT_NAME:
		text[strcspn(text, "\n")] = '\0';
		private_name(private, "host", true, text, size - 1);
		strcat(text, "\n");
		break;
	default:
		break;
	}
}

/* Return: whether the file is a regular file that can be read. */
static bool file_text(const char *path, char *out, size_t size)
{
	FILE *file = fopen(path, "re");
	size_t len = file ? fread(out, 1, size - 1, file) : 0;
	const bool is_read = file && !ferror(file);

	out[len] = '\0';
	if (file)
		fclose(file);
	return is_read;
}

void device_files_each(struct private *private,
		       void (*use)(const char *path, const char *text,
				   size_t len, void *arg),
		       void *arg)
{
	const char *set = secure_getenv("SYSFS_PATH");
	const char *root = set && *set ? set : "/sys";
	/* Room for what an edit makes longer. */
	char text[FILE_BYTES_MAX + 64];
	char pattern[4096];

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		glob_t found = { .gl_pathc = 0 };

		snprintf(pattern, sizeof(pattern), "%s/%s", root,
			 files[i].pattern);
		if (glob(pattern, 0, NULL, &found) != 0)
			continue;
		for (size_t k = 0; k < found.gl_pathc; k++) {
			const char *path = found.gl_pathv[k];

			if (!file_text(path, text, FILE_BYTES_MAX))
				continue;
			text_edit(private, files[i].content, text,
				  sizeof(text));
			use(path + strlen(root) + 1, text, strlen(text), arg);
		}
		globfree(&found);
	}
}
