/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The meanings of codes in the fields of records: those of ibsa_code_name(),
 * and of fields that text output shows as numbers.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <ibsa/text.h>

#include "output/codes.h"

/* Source: IBA vol 1, 14.2.5.6 (PortInfo) and 15.2.5.16 (selectors). */
static const char *const widths[] = {
	[1] = "1x", [2] = "4x", [4] = "8x", [8] = "12x", [16] = "2x",
};
static const char *const speeds[] = { [1] = "SDR", [2] = "DDR", [4] = "QDR" };
static const char *const ext_speeds[] = {
	[1] = "FDR",
	[2] = "EDR",
	[4] = "HDR",
	[8] = "NDR",
};
static const char *const ext_speeds2[] = { [1] = "XDR" };
static const char *const lanes[] = {
	NULL, "VL0", "VL0-VL1", "VL0-VL3", "VL0-VL7", "VL0-VL14",
};
static const char *const selectors[] = {
	"greater than",
	"less than",
	"exactly",
	"largest",
};
static const char *const time_selectors[] = {
	"greater than",
	"less than",
	"exactly",
	"smallest",
};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
#define CODES(field, list)                 \
	{                                  \
#field, list, COUNT(list), \
	}
#define TIMES(field)             \
	{                        \
#field, NULL, 0, \
	}

/*
 * The fields that are codes. A code without a list is the exponent of a time;
 * see time_text().
 */
static const struct codes {
	const char *field;
	const char *const *list;
	size_t count;
} all_codes[] = {
	CODES(link_width_active, widths),
	CODES(link_speed_active, speeds),
	CODES(link_speed_ext_active, ext_speeds),
	CODES(link_speed_ext_active2, ext_speeds2),
	CODES(mtu_selector, selectors),
	CODES(operational_vls, lanes),
	CODES(packet_life_time_selector, time_selectors),
	CODES(rate_selector, selectors),
	CODES(vl_cap, lanes),
	TIMES(life_time_value),
	TIMES(packet_life_time),
	TIMES(resp_time_value),
	TIMES(subnet_timeout),
};

static const struct codes *codes_find(const struct ibsa_field *field)
{
	if (field->nbits > 8 || field->count > 1 ||
	    (field->show != IBSA_SHOW_dec && field->show != IBSA_SHOW_hex))
		return NULL;
	for (size_t i = 0; i < COUNT(all_codes); i++)
		if (all_codes[i].field[0] == field->name[0] &&
		    strcmp(all_codes[i].field, field->name) == 0)
			return &all_codes[i];
	return NULL;
}

bool codes_has_text(const struct ibsa_field *field)
{
	return ibsa_show_is_code(field->show) || codes_find(field);
}

/* The time is 4.096 us times a power of two. Source: IBA vol 1, 15.2.5.16. */
static const char *time_text(uint64_t code, char out[CODE_TEXT])
{
	const double us = 4.096 * (double)(UINT64_C(1) << code);

	if (us < 1e3)
		snprintf(out, CODE_TEXT, "%.3gus", us);
	else if (us < 1e6)
		snprintf(out, CODE_TEXT, "%.3gms", us / 1e3);
	else if (us < 1e9)
		snprintf(out, CODE_TEXT, "%.3gs", us / 1e6);
	else
		snprintf(out, CODE_TEXT, "%.0fs", us / 1e6);
	return out;
}

const char *codes_text(const struct ibsa_field *field, uint64_t code,
		       char out[CODE_TEXT])
{
	const struct codes *codes = codes_find(field);

	if (!codes)
		return ibsa_code_name(field->show, code);
	if (!codes->list)
		return time_text(code, out);
	return code < codes->count ? codes->list[code] : NULL;
}

const char *codes_quantity_suffix(const struct ibsa_field *field)
{
	return field->show == IBSA_SHOW_mtu    ? "_bytes"
	       : field->show == IBSA_SHOW_rate ? "_gbps"
					       : NULL;
}

const char *codes_gbps(uint64_t mbps, char out[CODE_TEXT])
{
	if (!mbps)
		return NULL;
	if (mbps % 1000)
		snprintf(out, CODE_TEXT, "%" PRIu64 ".%" PRIu64, mbps / 1000,
			 mbps % 1000 / 100);
	else
		snprintf(out, CODE_TEXT, "%" PRIu64, mbps / 1000);
	return out;
}

/*
 * Return: @out, with the number at the beginning of the name of a rate, such as
 * "400Gb/s". ibsa_rate_mbps() would return another number, the signalling rate.
 */
static const char *rate_number(uint64_t code, char out[CODE_TEXT])
{
	const char *name = ibsa_code_name(IBSA_SHOW_rate, code);
	const size_t len = name ? strspn(name, "0123456789.") : 0;

	if (!len || len >= CODE_TEXT)
		return NULL;
	snprintf(out, CODE_TEXT, "%.*s", (int)len, name);
	return out;
}

const char *codes_quantity(const struct ibsa_field *field, uint64_t code,
			   char out[CODE_TEXT])
{
	const unsigned int bytes = ibsa_mtu_bytes((uint8_t)code);

	if (field->show == IBSA_SHOW_rate)
		return rate_number(code, out);
	if (!bytes)
		return NULL;
	snprintf(out, CODE_TEXT, "%u", bytes);
	return out;
}

bool codes_is_pkey(const struct ibsa_field *field)
{
	static const char end[] = "pkey";
	const size_t len = strlen(field->name);

	return field->show == IBSA_SHOW_hex && len >= strlen(end) &&
	       strcmp(field->name + len - strlen(end), end) == 0;
}

const char *codes_name(enum ibsa_show show, uint64_t code, char out[CODE_TEXT])
{
	const char *name = ibsa_code_name(show, code);

	snprintf(out, CODE_TEXT, "%" PRIu64, code);
	return name ? name : out;
}
