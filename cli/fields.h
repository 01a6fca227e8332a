/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The fields of records as cells of the output. */
#ifndef CLI_FIELDS_H
#define CLI_FIELDS_H

#include <ibsa/ibsa.h>
#include <ibsa/text.h>

#include "out.h"

/* All values of a field. */
void fields_field(struct out *out, const struct ibsa_field *field,
		  const void *host);

/* A field that is one value, by its name. */
void fields_named(struct out *out, const struct ibsa_record *record,
		  const char *name, const void *host);

/* The same under another name of the cell. */
void fields_named_as(struct out *out, const char *as,
		     const struct ibsa_record *record, const char *name,
		     const void *host);

/* Room for any record's struct. */
union fields_host {
#define FIELDS_MEMBER(record, ...) struct ibsa_##record record;
	IBSA_RECORDS(FIELDS_MEMBER)
#undef FIELDS_MEMBER
};

/*
 * "field=value" into @host and @mask. Return: 0; a negative errno, and @error
 * says why, also when the field has a value by now.
 */
int fields_select(const struct ibsa_record *record, const char *text,
		  void *host, uint64_t *mask, struct ibsa_error *error);

/*
 * The names of the fields that a table of the reply leaves out and that are not
 * zero in some row, the first of them if there are many. False: no field is.
 */
bool fields_hidden(const struct ibsa_reply *reply, char *out, size_t size);

/* A row of a reply: @arg is the struct ibsa_reply. */
void fields_row(struct out *out, size_t index, void *arg);

/*
 * Text from outside, up to 64 bytes, so that it is safe to show: UTF-8,
 * other bytes as \xNN.
 */
const char *fields_clean(const char *text, char out[IBSA_VALUE_TEXT]);

/* A GID; a GUID as 0x and 16 digits. */
void fields_gid(struct out *out, const char *name, const struct ibsa_gid *gid);
void fields_guid(struct out *out, const char *name, uint64_t guid);

/* The port GUID that a GID ends with, and the GID that a GUID makes. */
uint64_t fields_gid_guid(const struct ibsa_gid *gid);
struct ibsa_gid fields_guid_gid(const struct ibsa_gid *prefix, uint64_t guid);

#endif
