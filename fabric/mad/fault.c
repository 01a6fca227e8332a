/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Faults of the fabric. The seed of the fabric decides which MADs a fault
 * affects.
 */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/sized.h"
#include "fabric/mad/net.h"

bool ibsa__fault_strikes(struct mad_net *net, enum ibsa_fault_kind kind)
{
	struct fault_state *state = &net->faults[kind];
	/* 53 bits: the precision of a double. */
	double drawn;

	if (!state->active)
		return false;
	drawn = (double)(random_next(&net->random) >> 11) * 0x1p-53;
	if (drawn * 100 >= state->fault.percent)
		return false;
	net->stats.faults[kind]++;
	if (state->fault.count && !--state->left)
		state->active = false;
	return true;
}

static const char *const names[IBSA_FAULT_KINDS] = {
	[IBSA_FAULT_LOSE] = "lose",
	[IBSA_FAULT_DELAY] = "delay",
	[IBSA_FAULT_DUPLICATE] = "duplicate",
	[IBSA_FAULT_REORDER] = "reorder",
	[IBSA_FAULT_CORRUPT] = "corrupt",
	[IBSA_FAULT_BUSY] = "busy",
	[IBSA_FAULT_SILENCE] = "silence",
	[IBSA_FAULT_REDIRECT] = "redirect",
};

const char *ibsa__fault_name(enum ibsa_fault_kind kind)
{
	return names[kind];
}

static bool kind_parse(const char *text, size_t len, enum ibsa_fault_kind *out)
{
	for (int kind = 0; kind < IBSA_FAULT_KINDS; kind++) {
		if (strlen(names[kind]) == len &&
		    !memcmp(names[kind], text, len)) {
			*out = (enum ibsa_fault_kind)kind;
			return true;
		}
	}
	return false;
}

/*
 * Parse ",NUMBER" if the text continues with a comma. Return: false: no number
 * follows the comma, or the number has more than 32 bits.
 */
static bool number_parse(const char **at, unsigned int *out)
{
	uint64_t value = 0;

	if (**at != ',')
		return true;
	if ((*at)[1] < '0' || (*at)[1] > '9')
		return false;
	for (++*at; **at >= '0' && **at <= '9'; ++*at) {
		value = value * 10 + (uint64_t)(**at - '0');
		if (value > UINT32_MAX)
			return false;
	}
	*out = (unsigned int)value;
	return true;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/*
 * Parse a decimal number of at most 100 with digits on both sides of a point,
 * or without a point. strtod() would expect the point of the program's locale.
 */
static bool percent_parse(const char **at, double *out)
{
	double digits = 0;
	double scale = 1;

	if (!is_digit(**at))
		return false;
	for (; is_digit(**at); ++*at)
		digits = digits * 10 + (**at - '0');
	if (**at == '.' && !is_digit(*++*at))
		return false;
	for (; is_digit(**at); ++*at) {
		digits = digits * 10 + (**at - '0');
		scale *= 10;
	}
	*out = digits / scale;
	return *out <= 100;
}

static bool fault_parse(const char *text, struct ibsa_fault *out)
{
	static const char by_gid[] = "redirect-gid";
	const size_t len = strcspn(text, "=");
	unsigned int *last = &out->delay_ms;

	out->by_gid = len == strlen(by_gid) && !memcmp(text, by_gid, len);
	if (out->by_gid)
		out->kind = IBSA_FAULT_REDIRECT;
	if (text[len] != '=' ||
	    (!out->by_gid && !kind_parse(text, len, &out->kind)))
		return false;
	if (out->kind == IBSA_FAULT_REDIRECT)
		last = &out->hops;
	text += len + 1;
	if (!percent_parse(&text, &out->percent))
		return false;
	if (*text == '%')
		text++;
	return number_parse(&text, &out->count) && number_parse(&text, last) &&
	       !*text;
}

int ibsa_fault_parse_sized(const char *text, struct ibsa_fault *out,
			   size_t size, struct ibsa_error *error)
{
	struct ibsa_fault fault = { .count = 0 };

	if (!text || !fault_parse(text, &fault))
		return ibsa__fail(
			error, -EINVAL,
			"'%.24s' is not a fault: use KIND=PERCENT[,COUNT] "
			"with lose, duplicate, corrupt, busy or silence, "
			"KIND=PERCENT[,COUNT[,DELAY_MS]] with delay or "
			"reorder, or KIND=PERCENT[,COUNT[,HOPS]] with redirect "
			"or redirect-gid; PERCENT is 0 to 100",
			text ? text : "");
	ibsa__sized_write(out, size, &fault, sizeof(fault));
	return 0;
}
