/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parses the text of a target or of an SA address. */
#ifndef COMMAND_TARGET_H
#define COMMAND_TARGET_H

#include <ibsa/transport.h>

enum target_kind {
	TARGET_SELF, /* the client's port */
	TARGET_GID,
	TARGET_GUID,
	TARGET_LID,
	TARGET_NAME,
};

enum { TARGET_NAME_BYTES = 64 }; /* length of a node description */

/* A target of a command; @kind says which of the other members is valid. */
struct target {
	enum target_kind kind;
	struct ibsa_gid gid;
	uint64_t guid;
	uint32_t lid;
	const char *name; /* its text is a part of the parsed text */
};

/*
 * Parse "self", a GID, a LID in decimal or in up to 4 hexadecimal digits after
 * 0x, a port GUID after 0x, or else a node's name. The prefixes "gid:",
 * "guid:", "lid:" and "name:" select one of them.
 *
 * Return: 0; -EINVAL, and @error explains it.
 */
int target_parse(const char *text, struct target *out,
		 struct ibsa_error *error);

/*
 * Parse a target as target_parse() does, for Omni-Path, where LIDs have 32
 * bits, so up to 8 hexadecimal digits.
 */
int target_parse_opa(const char *text, struct target *out,
		     struct ibsa_error *error);

/*
 * Parse the text as target_parse() does; if that fails, as target_parse_opa()
 * does. If both fail, @error is that of target_parse(), with both ranges of
 * LIDs if they matter.
 */
int target_parse_any(const char *text, struct target *out,
		     struct ibsa_error *error);

/* The possible forms of a target, as lines for --help. */
/* clang-format off */
#define TARGET_TEXT \
	"  self                the port that asks\n" \
	"  fe80::2:c903:10:11  a GID (gid:...)\n" \
	"  0x0002c90300100011  a port GUID (guid:...)\n" \
	"  17, 0x11            a LID (lid:...)\n" \
	"  node1               a node's name or its first word (name:...)\n"
/* clang-format on */

/*
 * Parse an SA address: a LID, a GID, or "lid=...,qpn=...,gid=...".
 *
 * Return: 0; -EINVAL, and @error explains it.
 */
int sa_parse(const char *text, struct ibsa_address *out,
	     struct ibsa_error *error);

#endif
