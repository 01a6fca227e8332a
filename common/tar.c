/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads and writes archives in the ustar format. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <tar.h>

#include "common/tar.h"

/* The header of a member. Numbers are octal digits, which a NUL ends. */
struct header {
	char name[TAR_NAME_MAX];
	char mode[8];
	char uid[8];
	char gid[8];
	char size[12];
	char mtime[12];
	char chksum[8];
	char typeflag;
	char linkname[100];
	char magic[TMAGLEN];
	char version[TVERSLEN];
	char uname[32];
	char gname[32];
	char devmajor[8];
	char devminor[8];
	char prefix[155];
	char pad[12];
};

_Static_assert(sizeof(struct header) == TAR_BLOCK_BYTES, "ustar header");

/* Return: the sum of the header's bytes, with blanks in the place of the sum. */
static unsigned int header_sum(const struct header *header)
{
	const unsigned char *bytes = (const unsigned char *)header;
	unsigned int sum = 0;

	for (size_t i = 0; i < sizeof(*header); i++)
		sum += bytes[i];
	for (size_t i = 0; i < sizeof(header->chksum); i++)
		sum += ' ' - (unsigned char)header->chksum[i];
	return sum;
}

bool ibsa__tar_put(const char *name, uint64_t len, uint64_t mtime_s,
		   uint8_t out[TAR_BLOCK_BYTES])
{
	struct header header = { .typeflag = REGTYPE };

	if (strlen(name) > sizeof(header.name) || len >> 33 || mtime_s >> 33)
		return false;
	memcpy(header.name, name, strlen(name));
	memcpy(header.mode, "0000644", sizeof(header.mode));
	memcpy(header.uid, "0000000", sizeof(header.uid));
	memcpy(header.gid, "0000000", sizeof(header.gid));
	snprintf(header.size, sizeof(header.size), "%011" PRIo64, len);
	snprintf(header.mtime, sizeof(header.mtime), "%011" PRIo64, mtime_s);
	memcpy(header.magic, TMAGIC, TMAGLEN);
	memcpy(header.version, TVERSION, TVERSLEN);
	snprintf(header.chksum, sizeof(header.chksum), "%06o",
		 header_sum(&header));
	header.chksum[7] = ' ';
	memcpy(out, &header, sizeof(header));
	return true;
}

/* Return: the octal number of a field; UINT64_MAX: it has other characters. */
static uint64_t octal(const char *digits, size_t count)
{
	uint64_t value = 0;
	size_t i = 0;

	while (i < count && digits[i] == ' ')
		i++;
	for (; i < count && digits[i] >= '0' && digits[i] <= '7'; i++)
		value = value << 3 | (uint64_t)(digits[i] - '0');
	return i == count || digits[i] == '\0' || digits[i] == ' ' ? value
								   : UINT64_MAX;
}

/*
 * Whether the bytes begin with a header; that of GNU tar, too, which has a blank
 * in the place of the NUL.
 */
static bool header_get(const uint8_t *bytes, size_t len, struct header *out)
{
	if (len < sizeof(*out))
		return false;
	memcpy(out, bytes, sizeof(*out));
	return !memcmp(out->magic, TMAGIC, TMAGLEN - 1) &&
	       octal(out->chksum, sizeof(out->chksum)) == header_sum(out);
}

bool ibsa__is_tar(const uint8_t *bytes, size_t len)
{
	struct header header;

	return header_get(bytes, len, &header);
}

static bool is_named(const struct header *header, const char *name)
{
	const size_t skip = strncmp(header->name, "./", 2) == 0 ? 2 : 0;

	return (header->typeflag == REGTYPE || header->typeflag == AREGTYPE) &&
	       !header->prefix[0] &&
	       strncmp(header->name + skip, name,
		       sizeof(header->name) - skip) == 0;
}

const uint8_t *ibsa__tar_find(const uint8_t *bytes, size_t len,
			      const char *name, size_t *out_len)
{
	struct header header;
	size_t at = 0;

	while (header_get(bytes + at, len - at, &header)) {
		const uint64_t size = octal(header.size, sizeof(header.size));
		const size_t left = len - at - sizeof(header);
		size_t blocks;

		if (size > left)
			return NULL;
		if (is_named(&header, name)) {
			*out_len = (size_t)size;
			return bytes + at + sizeof(header);
		}
		blocks = (size_t)(size + TAR_BLOCK_BYTES - 1) /
			 TAR_BLOCK_BYTES * TAR_BLOCK_BYTES;
		if (blocks > left)
			return NULL;
		at += sizeof(header) + blocks;
	}
	return NULL;
}
