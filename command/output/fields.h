/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes the fields of records as cells of the output. */
#ifndef COMMAND_FIELDS_H
#define COMMAND_FIELDS_H

#include <ibsa/ibsa.h>
#include <ibsa/text.h>

#include "output/out.h"

/* Write all values of a field. */
void fields_field(struct out *out, const struct ibsa_field *field,
		  const void *host);

/* Write the field with this name, which has a single value, as a cell. */
void fields_named(struct out *out, const struct ibsa_record *record,
		  const char *name, const void *host);

/*
 * Write the field with this name, which has a single value, as a cell with
 * another name.
 */
void fields_named_as(struct out *out, const char *as,
		     const struct ibsa_record *record, const char *name,
		     const void *host);

/* A union that has room for the struct of any record. */
union fields_host {
#define FIELDS_MEMBER(record, ...) struct ibsa_##record record;
	IBSA_RECORDS(FIELDS_MEMBER)
#undef FIELDS_MEMBER
};

/* Return: the length of the field name in "field=value" or "field>=value". */
size_t fields_name_len(const char *text);

/* Return: the field that "field=value" or "field" names, or NULL. */
const struct ibsa_field *fields_find(const struct ibsa_record *record,
				     const char *text, unsigned int *index);

/*
 * Component mask bits of a request. @all: every bit. @implied: those bits of
 * @all that are set for a selector because the command line has a value for its
 * field.
 */
struct fields_mask {
	uint64_t all;
	uint64_t implied;
};

/*
 * Parse "field=value" or a comparison into the record @host and its component
 * mask @mask.
 *
 * Return: 0; or a negative errno with the reason in @error. A second value for
 * a field is an error.
 */
int fields_select(const struct ibsa_record *record, const char *text,
		  void *host, struct fields_mask *mask,
		  struct ibsa_error *error);

/*
 * List the fields that the table does not show although they are not zero in
 * at least one record of the reply; a long list is cut. Return: false if there
 * are none.
 */
bool fields_hidden(const struct ibsa_reply *reply, char *out, size_t size);

/* Write the records of a reply as rows. */
void fields_reply(struct out *out, const struct ibsa_reply *reply);

/*
 * Return: the text of a field's value; "?" if the record type has no such
 * field.
 */
const char *fields_text(const struct ibsa_record *record, const char *name,
			const void *host, char out[IBSA_VALUE_TEXT]);

/*
 * Copy up to 64 bytes of text from outside in a form that is safe to print:
 * characters of valid UTF-8 are copied, other bytes become \xNN. Return: @out.
 */
const char *fields_clean(const char *text, char out[IBSA_VALUE_TEXT]);

/*
 * Write a text from outside as a cell; if it is NULL, a cell without a value.
 */
void fields_text_or_none(struct out *out, const char *name, const char *text);

/* Write a GID as a cell; or a GUID, as 0x and 16 digits. */
void fields_gid(struct out *out, const char *name, const struct ibsa_gid *gid);
void fields_guid(struct out *out, const char *name, uint64_t guid);

/* Write a GUID; a cell without a value if it is 0. */
void fields_guid_or_none(struct out *out, const char *name, uint64_t guid);

/*
 * fields_gid_guid() returns the port GUID in a GID; fields_guid_gid() makes a
 * GID from a prefix and a port GUID.
 */
uint64_t fields_gid_guid(const struct ibsa_gid *gid);
struct ibsa_gid fields_guid_gid(const struct ibsa_gid *prefix, uint64_t guid);

#endif
