/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Texts for the ends of queries, above all redirections. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "test/support/puppet.h"
#include "wire/mad.h"

/* Offsets in a ClassPortInfo of InfiniBand and of Omni-Path. */
enum { GID_AT = IBSA_SA_HEADER_BYTES + 8, LID_AT = IBSA_SA_HEADER_BYTES + 28 };

static const uint8_t gid[16] = { 0xfe, 0x80, [8] = 0x12, [15] = 0x34 };

static struct puppet puppet;

static void reply_explain(const struct ibsa_reply *reply, void *arg)
{
	ibsa_reply_explain(reply, arg);
}

/*
 * Return: the text for a reply with status REDIRECT, whose ClassPortInfo has
 * @len bytes and these bytes as LID.
 */
static struct ibsa_error redirected(const struct ibsa_record *record,
				    const uint8_t *lid, size_t lid_bytes,
				    size_t len)
{
	const struct ibsa_query query = { .record = record };
	struct ibsa_error error = { .text = "" };
	struct ibsa__engine *engine;
	struct puppet_mad reply;

	puppet_init(&puppet);
	engine = puppet_engine(&puppet, &puppet_options);
	assert_int_equal(ibsa__engine_query(engine, &query, reply_explain,
					    &error, NULL),
			 0);
	reply = puppet_answer(puppet_sent(&puppet, 0));
	ibsa_put_be16(reply.mad + MAD_STATUS, IBSA_STATUS_REDIRECT);
	memcpy(reply.mad + GID_AT, gid, sizeof(gid));
	memcpy(reply.mad + LID_AT, lid, lid_bytes);
	reply.len = len;
	puppet_deliver(&puppet, &reply);
	puppet_advance(&puppet, engine, 0);
	ibsa__engine_free(engine);
	return error;
}

#define ASSERT_TEXT(error, part) assert_non_null(strstr((error).text, part))

static void redirection_names_the_lid(void **state)
{
	const uint8_t lid[] = { 0x12, 0x34 };
	const struct ibsa_error error = redirected(&ibsa_path_record, lid,
						   sizeof(lid), 256);

	(void)state;
	ASSERT_TEXT(error, "redirected");
	ASSERT_TEXT(error, "LID 4660");
}

static void redirection_names_the_gid(void **state)
{
	const uint8_t none[] = { 0, 0 };
	const uint8_t permissive[] = { 0xff, 0xff };
	struct ibsa_error error = redirected(&ibsa_path_record, none,
					     sizeof(none), 256);

	(void)state;
	ASSERT_TEXT(error, "redirected");
	ASSERT_TEXT(error, "GID fe80::1200:0:0:34");
	error = redirected(&ibsa_path_record, permissive, sizeof(permissive),
			   256);
	ASSERT_TEXT(error, "GID fe80::1200:0:0:34");
}

/* LIDs in Omni-Path's ClassPortInfo have 32 bits. */
static void redirection_of_omni_path(void **state)
{
	const uint8_t lid[] = { 0, 1, 0, 2 };
	const struct ibsa_error error = redirected(&ibsa_opa_path_record, lid,
						   sizeof(lid), 256);

	(void)state;
	ASSERT_TEXT(error, "redirected");
	ASSERT_TEXT(error, "LID 65538");
}

/* A ClassPortInfo that is cut off is not read. */
static void short_redirection_names_nothing(void **state)
{
	const uint8_t lid[] = { 0x12, 0x34 };
	const struct ibsa_error error =
		redirected(&ibsa_path_record, lid, sizeof(lid),
			   IBSA_SA_HEADER_BYTES + 72 - 1);

	(void)state;
	ASSERT_TEXT(error, "redirected");
	ASSERT_TEXT(error, "too short to contain the new address");
	assert_null(strstr(error.text, "LID"));
}

static struct ibsa_error explained(const struct ibsa_reply *reply)
{
	struct ibsa_error error = { .text = "" };

	ibsa_reply_explain(reply, &error);
	return error;
}

static void every_end_is_explained(void **state)
{
	const struct ibsa_reply unsent = { .err = -ETIMEDOUT };
	const struct ibsa_reply silent = { .err = -ETIMEDOUT, .tries = 3 };
	const struct ibsa_reply no_sm = { .err = -EAGAIN, .tries = 2 };
	const struct ibsa_reply down = { .err = -ENETDOWN, .tries = 2 };
	const struct ibsa_reply no_sa = {
		.status = IBSA_STATUS_BAD_METHOD_ATTRIBUTE,
	};
	const struct ibsa_reply cancelled = { .err = -ECANCELED };
	const struct ibsa_reply malformed = { .err = -EPROTO };
	const struct ibsa_reply large = { .err = -EMSGSIZE };
	const struct ibsa_reply no_memory = { .err = -ENOMEM };
	const struct ibsa_reply cut = { .err = -ENODATA, .count = 5 };
	const struct ibsa_reply gone = { .err = -ENODEV };
	const struct ibsa_reply busy = { .status = IBSA_STATUS_BUSY };
	const struct ibsa_reply none = { .status = IBSA_STATUS_NO_RECORDS };
	const struct ibsa_reply denied = { .status = IBSA_STATUS_REQ_DENIED };
	const struct ibsa_reply found = { .count = 7 };

	(void)state;
	ASSERT_TEXT(explained(&unsent), "was not sent");
	ASSERT_TEXT(explained(&silent), "did not answer");
	ASSERT_TEXT(explained(&silent), "requests sent: 3");
	ASSERT_TEXT(explained(&no_sm), "no subnet manager had configured");
	ASSERT_TEXT(explained(&down), "this port was down");
	ASSERT_TEXT(explained(&no_sa), "a node on which no SA runs");
	ASSERT_TEXT(explained(&cancelled), "cancelled");
	ASSERT_TEXT(explained(&malformed), "malformed");
	ASSERT_TEXT(explained(&large), "larger");
	ASSERT_TEXT(explained(&no_memory), "for the SA's reply");
	ASSERT_TEXT(explained(&cut), "records: 5");
	ASSERT_TEXT(explained(&gone), "No such device");
	ASSERT_TEXT(explained(&busy), "busy");
	ASSERT_TEXT(explained(&none), "no such record");
	ASSERT_TEXT(explained(&denied), "denied (status 0x0700)");
	ASSERT_TEXT(explained(&found), "records: 7");
}

/* Each reason for not following a redirection has a text. */
static void reason_is_that_of_the_last_redirection(void **state)
{
	static const uint8_t info[72] = { [28] = 0x12, [29] = 0x34 };
	struct ibsa_reply reply = {
		.record = &ibsa_path_record,
		.status = IBSA_STATUS_REDIRECT,
		.redirect = info,
		.redirects = 1,
	};

	(void)state;
	ASSERT_TEXT(explained(&reply), "this port cannot send to");
	reply.redirects = 3;
	ASSERT_TEXT(explained(&reply), "too often");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(redirection_names_the_lid),
		cmocka_unit_test(redirection_names_the_gid),
		cmocka_unit_test(redirection_of_omni_path),
		cmocka_unit_test(short_redirection_names_nothing),
		cmocka_unit_test(every_end_is_explained),
		cmocka_unit_test(reason_is_that_of_the_last_redirection),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
