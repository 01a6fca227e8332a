/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Selectors of a query as text: "FIELD=VALUE" and comparisons. */
#ifndef COMMON_SELECTOR_H
#define COMMON_SELECTOR_H

#include <ibsa/records.h>

/*
 * Parse "FIELD=VALUE" or a comparison for a query.
 * @record: the record type that will be queried
 * @text:   such as "dlid=4", "dgid=fe80::1", "service_data8_3=0x10" or
 *          "rate>=100Gb"
 * @host:   the record's struct; receives the value
 * @mask:   the component mask, host byte order. The bits of the field are set;
 *          if @text sets the selector of the field, the bits of the selector
 *          are also set. All other bits do not change. The GIDs of a
 *          MultiPathRecord have no bits in the mask: for them, only @host
 *          changes
 * @error:  receives, on failure, one sentence for the user; may be NULL
 *
 * If the record has a field with "_selector" after the name of FIELD, such
 * as mtu_selector, FIELD may be followed by ">=", "<=", ">" or "<", which set
 * the field and the selector. The selector is then "greater" or "less": ">="
 * is sent as greater than the next lower value. "=" sets the selector to
 * "exactly", unless @mask has the bits of the selector. After a comparison that
 * excludes no value, such as "mtu>=256", @host and @mask are unchanged.
 *
 * Return: 0; -ENOENT the record has no such field; -EINVAL @text has no '=',
 * '<' or '>', the value is not of the field's kind or is an unknown code, the
 * SA cannot select by the field or compare it, or the selector of a comparison
 * is already in @mask; -ERANGE the value does not fit. After an error @host and
 * @mask are unchanged.
 */
int ibsa__selector_parse(const struct ibsa_record *record, const char *text,
			 void *host, uint64_t *mask,
			 struct ibsa_error *error) IBSA_MUST_USE;

/*
 * Whether a record has a value that a selector asks for.
 * @record: the record type that was queried
 * @text:   a text that ibsa__selector_parse() has parsed
 * @match:  the record's struct with the values of the query, which was the
 *          @host of ibsa__selector_parse()
 * @host:   the record's struct with the values that the SA returned
 *
 * Use ibsa__selector_is_met() to discard records that the SA returned although
 * they do not match. OpenSM orders rates by the data that they carry: because
 * of its encoding, 120 Gb/s carries less data than 100 Gb/s. Therefore the
 * reply to "rate>=120Gb" may contain a record with 100 Gb/s.
 *
 * Return: true: the value is one that @text asks for. Also true, without a
 * comparison, if the field has no selector, or if @text has '=' and the
 * selector in @match is 3 (the best available). false: the value is another, or
 * @text is not valid.
 *
 * Source: OpenSM 3.3.23, ib_path_compare_rates().
 */
bool ibsa__selector_is_met(const struct ibsa_record *record, const char *text,
			   const void *match, const void *host);

#endif
