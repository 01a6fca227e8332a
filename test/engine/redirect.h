/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An SA at the puppet transport that redirects: code shared by its tests. */
#ifndef TEST_ENGINE_REDIRECT_H
#define TEST_ENGINE_REDIRECT_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "test/support/puppet.h"
#include "wire/mad.h"

enum { TARGET = 20, QPN = 5, SL = 3 };

static struct puppet puppet;

static inline void deliver(struct ibsa__engine *engine,
			   struct puppet_mad *answer)
{
	puppet_deliver(&puppet, answer);
	puppet_advance(&puppet, engine, 0);
}

static inline struct ibsa_class_port_info target_of(uint16_t lid)
{
	return (struct ibsa_class_port_info){
		.redirect_lid = lid,
		.redirect_sl = SL,
		.redirect_qp = QPN,
		.redirect_qkey = IBSA_QKEY_GSI,
		.redirect_pkey = 0x8001,
	};
}

/* Answer the @n-th request with a redirection. */
static inline void redirect_nth_as(struct ibsa__engine *engine, unsigned int n,
				   const struct ibsa_class_port_info *info)
{
	struct puppet_mad answer = puppet_answer(puppet_sent(&puppet, n));

	ibsa_put_be16(answer.mad + MAD_STATUS, IBSA_STATUS_REDIRECT);
	assert_int_equal(ibsa_record_encode(&ibsa_class_port_info_record, info,
					    sizeof(*info),
					    answer.mad + IBSA_SA_HEADER_BYTES,
					    IBSA_SA_DATA_BYTES),
			 0);
	deliver(engine, &answer);
}

/* Answer the last request with a redirection. */
static inline void redirect_as(struct ibsa__engine *engine,
			       const struct ibsa_class_port_info *info)
{
	redirect_nth_as(engine, puppet.sent_count - 1, info);
}

static inline void redirect_to(struct ibsa__engine *engine, uint16_t lid)
{
	const struct ibsa_class_port_info info = target_of(lid);

	redirect_as(engine, &info);
}

static inline void answer_last(struct ibsa__engine *engine)
{
	struct puppet_mad answer =
		puppet_answer(puppet_sent(&puppet, puppet.sent_count - 1));

	deliver(engine, &answer);
}

static inline uint32_t last_lid(void)
{
	return puppet_sent(&puppet, puppet.sent_count - 1)->address.lid;
}

static inline void node_query(struct ibsa__engine *engine, struct seen *seen)
{
	*seen = (struct seen){ 0 };
	assert_int_equal(puppet_query(engine, 4, seen), 0);
}

#endif
