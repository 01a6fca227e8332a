/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What may stand for an end of a path or for the SA; text to values. */
#ifndef CLI_TARGET_H
#define CLI_TARGET_H

#include <ibsa/transport.h>

enum target_kind {
	TARGET_SELF, /* the port that asks */
	TARGET_GID,
	TARGET_GUID,
	TARGET_LID,
	TARGET_NAME,
};

enum { TARGET_NAME_BYTES = 64 }; /* a node description's */

/* One end of a path; the member that @kind says is filled. */
struct target {
	enum target_kind kind;
	struct ibsa_gid gid;
	uint64_t guid;
	uint32_t lid;
	const char *name; /* points into the text that was parsed */
};

/*
 * "self", a GID, a LID in decimal or in up to 4 hexadecimal digits after 0x, a
 * port GUID after 0x, else a node's name; or any of them after "gid:", "guid:",
 * "lid:" or "name:".
 *
 * Return: 0; -EINVAL, and @error says why.
 */
int target_parse(const char *text, struct target *out,
		 struct ibsa_error *error);

/* The same of a port of Omni-Path, where LIDs have 32 bits, or 8 digits. */
int target_parse_opa(const char *text, struct target *out,
		     struct ibsa_error *error);

/* What a target may be: lines for --help. */
/* clang-format off */
#define TARGET_LINES \
	"  self                the port that asks", \
	"  fe80::2:c903:10:11  a GID (gid:...)", \
	"  0x0002c90300100011  a port GUID (guid:...)", \
	"  17, 0x11            a LID (lid:...)", \
	"  node1               a node's name or its first word (name:...)"
/* clang-format on */

/*
 * The SA's address: a LID, a GID, or "lid=...,qpn=...,gid=..." and so on.
 *
 * Return: 0; -EINVAL, and @error says why.
 */
int sa_parse(const char *text, struct ibsa_address *out,
	     struct ibsa_error *error);

#endif
