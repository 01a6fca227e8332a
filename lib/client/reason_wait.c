/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The blocking call ibsa_reason_wait(), and the texts of the reasons why there
 * is no path.
 */
#include <errno.h>

#include "client/client.h"
#include "client/reach.h"
#include "client/reason.h"
#include "engine/engine.h"
#include "engine/known_query.h"

const char *ibsa_reason_text(enum ibsa_reason_code code)
{
#define REASON_TEXT(name, text) [IBSA_REASON_##name] = text,
	static const char *const texts[] = { [IBSA_REASON_NONE] = "",
					     IBSA_REASONS(REASON_TEXT) };
#undef REASON_TEXT

	if (code < 0 || (size_t)code >= sizeof(texts) / sizeof(texts[0]))
		return "";
	return texts[code];
}

struct reason_waiter {
	struct ibsa__reason_search search;
	bool is_replied;
};

static void reason_note_reply(const struct ibsa_reply *reply, void *arg)
{
	struct reason_waiter *waiter = arg;

	waiter->is_replied = true;
	ibsa__reason_take(&waiter->search, reply);
}

void ibsa__reason_wait(struct ibsa_client *client,
		       const struct ibsa_query *query, struct ibsa_reason *out)
{
	const struct ibsa__reaches *reaches = ibsa__client_reaches(client);
	struct ibsa_query next;
	struct reason_waiter waiter;

	ibsa__reason_start(&waiter.search, reaches->engine, reaches->transport,
			   query);
	while (ibsa__reason_next(&waiter.search, &next)) {
		struct ibsa_reply unsent = { .record = next.record };

		waiter.is_replied = false;
		unsent.err = ibsa_query_wait(client, &next, reason_note_reply,
					     &waiter);
		if (!waiter.is_replied)
			ibsa__reason_take(&waiter.search, &unsent);
	}
	*out = waiter.search.reason;
}

int ibsa_reason_wait_sized(struct ibsa_client *client,
			   const struct ibsa_query *query, size_t query_size,
			   struct ibsa_reason *out, size_t out_size)
{
	const uint64_t from = IBSA_PATH_CM(sgid) | IBSA_PATH_CM(slid);
	const uint64_t to = IBSA_PATH_CM(dgid) | IBSA_PATH_CM(dlid);
	struct ibsa_reason reason;
	struct known_query known;
	int err = ibsa__query_read(&known, query, query_size);

	if (err)
		return err;
	query = &known.query;
	if (query->record != &ibsa_path_record || !query->match ||
	    !(query->mask & from) || !(query->mask & to))
		return -EINVAL;
	err = ibsa__engine_wait_check(ibsa__client_engine(client));
	if (err)
		return err;
	ibsa__reason_wait(client, query, &reason);
	ibsa__sized_write(out, out_size, &reason, sizeof(reason));
	return 0;
}
