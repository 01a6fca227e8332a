/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parses the text of a target or of an SA address. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <ibsa/text.h>

#include "session/opa.h"
#include "names/target.h"

/* hop limit for RoCE, which Linux uses for IP packets */
enum { DEFAULT_HOPS = 64 };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

__attribute__((format(printf, 2, 3))) static int
target_refuse(struct ibsa_error *error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	return -EINVAL;
}

static bool gid_is_zero(const struct ibsa_gid *gid)
{
	static const struct ibsa_gid zero;

	return memcmp(gid, &zero, sizeof(zero)) == 0;
}

static int parse_gid(const char *text, struct target *out,
		     struct ibsa_error *error)
{
	if (ibsa_gid_parse(text, &out->gid) != 0)
		return target_refuse(error, "'%.64s' is not a GID", text);
	if (gid_is_zero(&out->gid))
		return target_refuse(error, "'%.64s' is not a GID of a port",
				     text);
	return 0;
}

static int parse_guid(const char *text, struct target *out,
		      struct ibsa_error *error)
{
	char hex[sizeof("0x") + 16];
	const char *digits = text;
	uint64_t guid;

	if (text[strspn(text, "0123456789abcdefABCDEF")] == '\0' &&
	    strlen(text) <= 16) {
		snprintf(hex, sizeof(hex), "0x%s", text);
		digits = hex;
	}
	if (ibsa_number_parse(digits, 64, &guid) != 0 || guid == 0)
		return target_refuse(error,
				     "'%.64s' is not a GUID; "
				     "name:%.64s would be a node's name",
				     text, text);
	out->guid = guid;
	return 0;
}

static int parse_lid(const char *text, uint32_t last, struct target *out,
		     struct ibsa_error *error)
{
	uint64_t lid;

	if (ibsa_number_parse(text, 32, &lid) != 0 || lid == 0 || lid > last)
		return target_refuse(error, "'%.64s' is not a LID (1 to %u)",
				     text, (unsigned int)last);
	out->lid = (uint32_t)lid;
	return 0;
}

static int parse_name(const char *text, struct target *out,
		      struct ibsa_error *error)
{
	size_t len = strlen(text);

	if (len == 0)
		return target_refuse(error, "a node's name cannot be empty");
	if (len > TARGET_NAME_BYTES)
		return target_refuse(error,
				     "'%.32s...' is longer than the %d bytes "
				     "of a node's name",
				     text, TARGET_NAME_BYTES);
	out->name = text;
	return 0;
}

static const struct target_form {
	const char *prefix;
	enum target_kind kind;
	int (*parse)(const char *text, struct target *out,
		     struct ibsa_error *error);
} forms[] = {
	{ "gid:", TARGET_GID, parse_gid },
	{ "guid:", TARGET_GUID, parse_guid },
	{ "lid:", TARGET_LID, NULL }, /* parsed by parse_lid() */
	{ "name:", TARGET_NAME, parse_name },
};

static const struct target_form *form_of(enum target_kind kind)
{
	for (size_t i = 0; i < COUNT(forms); i++)
		if (forms[i].kind == kind)
			return &forms[i];
	return NULL;
}

/*
 * Whether the text has colons but cannot be parsed as a GID: that is an error,
 * not the name of a node.
 */
static bool is_malformed_gid(const char *text)
{
	const char *colon = strchr(text, ':');

	return colon && strchr(colon + 1, ':') &&
	       text[strspn(text, "0123456789abcdefABCDEF:.")] == '\0';
}

/*
 * Whether the text is a hexadecimal LID: at most as many digits as a LID has,
 * and a value up to @last_lid. Logs of subnet managers write LIDs in this
 * form, such as 0x4.
 */
static bool is_hex_lid(const char *text, uint32_t last_lid)
{
	const bool is_long = last_lid > UINT16_MAX;
	uint64_t lid;

	return strlen(text) <= (is_long ? sizeof("0x") - 1 + 8
					: sizeof("0x") - 1 + 4) &&
	       ibsa_number_parse(text, 32, &lid) == 0 && lid > 0 &&
	       lid <= (is_long ? last_lid : IBSA_LID_UNICAST_MAX);
}

/* Return: the kind of target that a text without a prefix stands for. */
static enum target_kind guess_kind(const char *text, uint32_t last_lid)
{
	struct ibsa_gid gid;

	if (strcmp(text, "self") == 0)
		return TARGET_SELF;
	if (ibsa_gid_parse(text, &gid) == 0 || is_malformed_gid(text))
		return TARGET_GID;
	if (strncmp(text, "0x", 2) == 0 || strncmp(text, "0X", 2) == 0)
		return is_hex_lid(text, last_lid) ? TARGET_LID : TARGET_GUID;
	if (*text && text[strspn(text, "0123456789")] == '\0')
		return TARGET_LID;
	return TARGET_NAME;
}

/* @last_lid: the largest LID */
static int parse_target(const char *text, uint32_t last_lid, struct target *out,
			struct ibsa_error *error)
{
	const struct target_form *form = NULL;
	struct target target = { .kind = TARGET_SELF };
	int err;

	for (size_t i = 0; !form && i < COUNT(forms); i++)
		if (strncmp(text, forms[i].prefix, strlen(forms[i].prefix)) ==
		    0)
			form = &forms[i];
	if (form) {
		text += strlen(form->prefix);
	} else {
		form = form_of(guess_kind(text, last_lid));
	}
	if (form) {
		target.kind = form->kind;
		err = form->parse ? form->parse(text, &target, error)
				  : parse_lid(text, last_lid, &target, error);
		if (err)
			return err;
	}
	*out = target;
	return 0;
}

int target_parse(const char *text, struct target *out, struct ibsa_error *error)
{
	return parse_target(text, IBSA_LID_PERMISSIVE - 1, out, error);
}

int target_parse_opa(const char *text, struct target *out,
		     struct ibsa_error *error)
{
	return parse_target(text, OPA_LID_UNICAST_MAX, out, error);
}

static size_t lid_prefix_len(const char *text)
{
	const char *prefix = form_of(TARGET_LID)->prefix;
	const size_t len = strlen(prefix);

	return strncmp(text, prefix, len) == 0 ? len : 0;
}

int target_parse_any(const char *text, struct target *out,
		     struct ibsa_error *error)
{
	struct ibsa_error wider;

	if (target_parse(text, out, error) == 0 ||
	    target_parse_opa(text, out, &wider) == 0)
		return 0;
	/*
	 * @error was made with the LIDs of InfiniBand, @wider with those of
	 * Omni-Path: if the two texts differ, the text is a LID that is too
	 * large.
	 */
	if (strcmp(error->text, wider.text) != 0)
		return target_refuse(error,
				     "'%.64s' is not a LID (1 to %u; on "
				     "Omni-Path 1 to %u)",
				     text + lid_prefix_len(text),
				     IBSA_LID_PERMISSIVE - 1,
				     OPA_LID_UNICAST_MAX);
	return -EINVAL;
}

/* The numeric parts of an address. */
static const struct sa_part {
	const char *name;
	uint8_t nbits;
	uint8_t host_size;
	uint16_t host_offset;
	bool in_grh;
} sa_parts[] = {
#define PART(member, bits, grh)                                            \
	{                                                                  \
#member, bits, sizeof(((struct ibsa_address *)0)->member), \
			offsetof(struct ibsa_address, member), grh         \
	}
	PART(lid, 16, false),	      PART(qpn, 24, false),
	PART(sl, 5, false),	      PART(pkey_index, 16, false),
	PART(path_bits, 7, false),    PART(lmc, 3, false),
	PART(gid_index, 8, true),     PART(hop_limit, 8, true),
	PART(traffic_class, 8, true), PART(flow_label, 20, true),
#undef PART
};

static void store(struct ibsa_address *address, const struct sa_part *part,
		  uint64_t number)
{
	const uint8_t as_u8 = (uint8_t)number;
	const uint16_t as_u16 = (uint16_t)number;
	const uint32_t as_u32 = (uint32_t)number;
	uint8_t *to = (uint8_t *)address + part->host_offset;

	if (part->host_size == sizeof(as_u8))
		memcpy(to, &as_u8, sizeof(as_u8));
	else if (part->host_size == sizeof(as_u16))
		memcpy(to, &as_u16, sizeof(as_u16));
	else
		memcpy(to, &as_u32, sizeof(as_u32));
}

/*
 * Bits for the parts of an SA address that were given: a bit for each of
 * sa_parts, and these.
 */
enum { SEEN_LID = 1, SEEN_GID = 1 << 16, SEEN_GRH = 1 << 17 };

static int parse_part(const char *name, const char *value,
		      struct ibsa_address *out, unsigned int *seen,
		      struct ibsa_error *error)
{
	unsigned int bit = SEEN_GID;
	uint64_t number;
	size_t i = 0;

	if (strcmp(name, "gid") == 0) {
		if (ibsa_gid_parse(value, &out->gid) != 0)
			return target_refuse(error, "--sa: '%s' is not a GID",
					     value);
	} else {
		while (i < COUNT(sa_parts) && strcmp(name, sa_parts[i].name))
			i++;
		if (i == COUNT(sa_parts))
			return target_refuse(
				error, "--sa: an address has no '%s'", name);
		if (ibsa_number_parse(value, sa_parts[i].nbits, &number) != 0)
			return target_refuse(
				error, "--sa: '%s' is not a %s of %d bits",
				value, name, sa_parts[i].nbits);
		store(out, &sa_parts[i], number);
		bit = 1U << i | (sa_parts[i].in_grh ? SEEN_GRH : 0);
	}
	if (*seen & bit & ~(unsigned int)SEEN_GRH)
		return target_refuse(error, "--sa: %s is given twice", name);
	*seen |= bit;
	return 0;
}

static int parse_list(char *text, struct ibsa_address *out, unsigned int *seen,
		      struct ibsa_error *error)
{
	char *rest = text;
	char *part;

	while ((part = strsep(&rest, ",")) != NULL) {
		char *value = strchr(part, '=');
		int err;

		if (!value)
			return target_refuse(
				error, "--sa: '%s' is not NAME=VALUE", part);
		*value++ = '\0';
		err = parse_part(part, value, out, seen, error);
		if (err)
			return err;
	}
	return 0;
}

/*
 * Check the given parts of an SA address: a LID must be unicast, a GID must
 * not be zero, and parts of a GRH need a GID.
 */
static int check_address(const struct ibsa_address *address, unsigned int seen,
			 struct ibsa_error *error)
{
	if (seen & SEEN_LID &&
	    (address->lid == 0 || address->lid > IBSA_LID_UNICAST_MAX))
		return target_refuse(error,
				     "--sa: %u is not the LID of a port "
				     "(1 to %d)",
				     address->lid, IBSA_LID_UNICAST_MAX);
	if (seen & SEEN_GRH && !(seen & SEEN_GID))
		return target_refuse(error, "--sa: a GRH needs a gid");
	if (seen & SEEN_GID && gid_is_zero(&address->gid))
		return target_refuse(error, "--sa: the GID is zero");
	return 0;
}

int sa_parse(const char *text, struct ibsa_address *out,
	     struct ibsa_error *error)
{
	struct ibsa_address address = { .qpn = IBSA_QPN_GSI,
					.hop_limit = DEFAULT_HOPS };
	unsigned int seen = 0;
	char list[256];
	int err;

	if (strlen(text) >= sizeof(list) - strlen("lid="))
		return target_refuse(error, "--sa: the address is too long");
	snprintf(list, sizeof(list), "%s%s",
		 strchr(text, '=')   ? ""
		 : strchr(text, ':') ? "gid="
				     : "lid=",
		 text);
	err = parse_list(list, &address, &seen, error);
	if (err && !strpbrk(text, "=:"))
		return target_refuse(
			error,
			"--sa: '%s' is not a LID, a GID or a list such "
			"as lid=1,sl=2",
			text);
	if (!err)
		err = check_address(&address, seen, error);
	if (err)
		return err;
	address.has_grh = (seen & SEEN_GID) != 0;
	if (!address.has_grh)
		address.hop_limit = 0;
	*out = address;
	return 0;
}
