/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tells in a sentence why the client does not send a query. */
#include <errno.h>
#include <stdio.h>

#include "base/sized.h"
#include "client/client.h"
#include "client/reason.h"
#include "engine/engine.h"

/* A number or text in a record that does not fit its field. */
struct misfit {
	const struct ibsa_field *field;
	unsigned int index;
	uint64_t value; /* of a number */
};

/* Whether the text, an array with a byte more than @field, has no NUL. */
static bool text_is_open(const struct ibsa_field *field, const void *host)
{
	const char *text = (const char *)host + field->host_offset;

	return field->show == IBSA_SHOW_text && text[field->count];
}

static bool field_misfits(const struct ibsa_field *field, const void *host,
			  struct misfit *out)
{
	*out = (struct misfit){ .field = field };
	if (text_is_open(field, host))
		return true;
	for (; out->index < ibsa_field_values(field); out->index++) {
		out->value = ibsa_field_get(field, out->index, host);
		if (field->nbits < 64 && out->value >> field->nbits)
			return true;
	}
	return false;
}

static int range_explain(const struct ibsa_query *query,
			 struct ibsa_error *error)
{
	const struct ibsa_record *record = query->record;
	struct misfit misfit = { .field = NULL };
	char index[16];
	unsigned int i = 0;

	while (i < record->field_count && query->match &&
	       !field_misfits(&record->fields[i], query->match, &misfit))
		i++;
	if (i == record->field_count || !query->match)
		return ibsa__fail(error, -ERANGE,
				  "the LID of the SA has more than 16 bits; "
				  "give the SA's address with a GRH");
	if (misfit.field->show == IBSA_SHOW_text)
		return ibsa__fail(error, -ERANGE,
				  "the field %s of the %s does not end with a "
				  "NUL",
				  misfit.field->name, record->name);
	snprintf(index, sizeof(index), "[%u]", misfit.index);
	return ibsa__fail(error, -ERANGE,
			  "the field %s%s of the %s is %llu, but has only %u "
			  "bits",
			  misfit.field->name,
			  misfit.field->count > 1 ? index : "", record->name,
			  (unsigned long long)misfit.value,
			  misfit.field->nbits);
}

static int invalid_explain(const struct ibsa_query *query,
			   struct ibsa_error *error)
{
	const uint64_t undefined = query->record
					   ? query->mask & ~query->record->mask
					   : 0;

	if (!query->record)
		return ibsa__fail(error, -EINVAL, "the query has no record");
	if (undefined)
		return ibsa__fail(error, -EINVAL,
				  "the component mask has bit %d, which the %s "
				  "does not define",
				  __builtin_ctzll(undefined),
				  query->record->name);
	if (query->match && query->match_size &&
	    query->match_size < query->record->host_size)
		return ibsa__fail(error, -EINVAL,
				  "the component mask selects by a field that "
				  "is not within match_size, %zu bytes",
				  query->match_size);
	if (query->jitter_percent > 100)
		return ibsa__fail(error, -EINVAL,
				  "the jitter is %d percent; the limit is 100",
				  query->jitter_percent);
	if (!ibsa__is_query_method(query->method))
		return ibsa__fail(error, -EINVAL,
				  "the method is 0x%02x; use Get, GetTable, "
				  "GetMulti, Set or Delete",
				  query->method);
	return ibsa__fail(error, -EINVAL,
			  "the port cannot send to the SA's address; check the "
			  "LID, P_Key and GRH of this address");
}

int ibsa__query_fail(struct ibsa_client *client, const struct ibsa_query *query,
		     struct ibsa_error *error, int err)
{
	switch (err) {
	case -E2BIG:
		return ibsa__too_new_fail(error);
	case -ENETDOWN:
		return ibsa__fail(error, err, "%s; check its cable",
				  ibsa_reason_text(IBSA_REASON_THIS_PORT_DOWN));
	case -EAGAIN:
		return ibsa__fail(error, err,
				  "no subnet manager has configured the port; "
				  "start one on the fabric");
	case -EINVAL:
		return ibsa__engine_is_ours(ibsa__client_engine(client))
			       ? invalid_explain(query, error)
			       : ibsa__client_inherited_fail(error);
	case -ERANGE:
		return range_explain(query, error);
	case -EOPNOTSUPP:
		return ibsa__fail(error, err,
				  "the %s is a record of Omni-Path, and the "
				  "port is not an Omni-Path port",
				  query->record->name);
	case -EBUSY:
		return ibsa__fail(error, err,
				  "a callback of the client cannot wait for a "
				  "reply; use ibsa_query_start()");
	default:
		return ibsa__fail(error, err, "cannot query the SA: %s",
				  ibsa__errno_text(-err).bytes);
	}
}
