/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Blocking queries for a single record. */
#include <errno.h>

#include <ibsa/ibsa.h>

#include "base/error.h"
#include "client/client.h"
#include "client/reach.h"
#include "engine/known_query.h"
#include "wire/gid.h"

/* The reply to ibsa_query_one(), while the call waits for it. */
struct one {
	void *out;
	size_t size; /* of @out */
	struct ibsa_error error;
	int err;
	bool ended;
};

static int one_decode(const struct ibsa_reply *reply, struct one *one)
{
	if (reply->err)
		return reply->err;
	if (reply->status == IBSA_STATUS_TOO_MANY_RECORDS ||
	    (!reply->status && reply->count > 1))
		return ibsa__fail(&one->error, -ENOTUNIQ,
				  "more than one record matches; select by "
				  "more fields");
	switch (ibsa_reply_outcome(reply)) {
	case IBSA_OUTCOME_OK:
		return ibsa_reply_decode(reply, 0, one->out, one->size);
	case IBSA_OUTCOME_NONE:
		return -ENOENT;
	default:
		return -EREMOTEIO;
	}
}

static void one_note_reply(const struct ibsa_reply *reply, void *arg)
{
	struct one *one = arg;

	ibsa_reply_explain(reply, &one->error);
	one->err = one_decode(reply, one);
	one->ended = true;
}

int ibsa_query_one_sized(struct ibsa_client *client,
			 const struct ibsa_query *query, size_t query_size,
			 struct ibsa_error *error, void *out, size_t size)
{
	struct one one = { .out = out, .size = size };
	struct known_query known;
	int err = ibsa__query_read(&known, query, query_size);

	query = &known.query;
	if (!err)
		err = ibsa_query_wait(client, query, one_note_reply, &one);
	if (!one.ended || (err && err != -EREMOTEIO && err != one.err))
		return ibsa__query_fail(client, query, error, err);
	if (one.err && error)
		*error = one.error;
	return one.err;
}

static const uint64_t path_ends = IBSA_PATH_CM(sgid) | IBSA_PATH_CM(dgid);

static int path_check(const struct ibsa_path_options *options,
		      const struct ibsa_gid *to, struct ibsa_error *error)
{
	if (!to || gid_is_zero(to))
		return ibsa__fail(
			error, -EINVAL,
			"the GID of the destination is missing or zero");
	if (options->mask & path_ends)
		return ibsa__fail(error, -EINVAL,
				  "the mask must not have sgid and dgid: give "
				  "the source in the option from, and the "
				  "destination in the argument to");
	return 0;
}

/* Return: the PathRecord to match; the caller sets its sgid. */
static struct ibsa_path path_match(const struct ibsa_path_options *options,
				   const struct ibsa_gid *to)
{
	struct ibsa_path path = { .numb_path = 0 };

	if (options->match)
		path = *options->match;
	if (!(options->mask & IBSA_PATH_CM(reversible)))
		path.reversible = 1;
	if (!(options->mask & IBSA_PATH_CM(numb_path)))
		path.numb_path = 1;
	path.dgid = *to;
	return path;
}

static int path_query(struct ibsa_client *client,
		      const struct ibsa_path_options *options,
		      const struct ibsa_gid *to, struct ibsa_error *error,
		      struct ibsa_path *out)
{
	struct ibsa_path path = path_match(options, to);
	const struct ibsa_query query = {
		.record = &ibsa_path_record,
		.match = &path,
		.mask = options->mask | path_ends | IBSA_PATH_CM(reversible) |
			IBSA_PATH_CM(numb_path),
		.deadline_ms = options->timeout_ms,
	};
	int err = ibsa__source_gid_find(ibsa__client_engine(client),
					&options->from, &path.sgid);

	if (err == -EAGAIN)
		return ibsa__fail(error, err,
				  "this port has no GID; wait until a subnet "
				  "manager has configured the port");
	return err ? ibsa__query_fail(client, &query, error, err)
		   : ibsa_query_one(client, &query, error, out, sizeof(*out));
}

int ibsa_path_wait_sized(struct ibsa_client *client,
			 const struct ibsa_path_options *options,
			 size_t options_size, const struct ibsa_gid *to,
			 struct ibsa_error *error, struct ibsa_path *out,
			 size_t out_size)
{
	struct ibsa_path_options known;
	struct ibsa_path match, path;
	int err = ibsa__options_read(&known, sizeof(known), options,
				     options_size, error);

	/* @match and @out are structs of the same program. */
	if (!err && known.match) {
		err = ibsa__options_read(&match, sizeof(match), known.match,
					 out_size, error);
		known.match = &match;
	}
	if (!err)
		err = path_check(&known, to, error);
	if (!err)
		err = path_query(client, &known, to, error, &path);
	if (!err)
		ibsa__sized_write(out, out_size, &path, sizeof(path));
	if (err == -ENOENT)
		return ibsa__fail(error, err, "the SA has no such path");
	return err;
}
