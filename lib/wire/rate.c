/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tables of widths, lane speeds and rates. */
#include <string.h>

#include "wire/rate.h"

/* clang-format off */
static const uint8_t lanes_of_width[WIDTHS] = { 0, 1, 2, 4, 8, 12 };

static const struct {
	char name[sizeof("FDR10")];
	uint8_t speed; /* enum link_speed */
} speed_names[] = {
/* With the second NUL, a name that is too long does not compile. */
#define ROW(name) { #name "\0", SPEED_##name }
	ROW(SDR), ROW(DDR), ROW(QDR), ROW(FDR10), ROW(FDR),
	ROW(EDR), ROW(HDR), ROW(NDR), ROW(XDR),
#undef ROW
};

/*
 * Rate codes by width and speed. IBA vol 1, 15.2.5.16 (Rate); 25 is
 * IB_RATE_1600_GBPS of Linux. 12x XDR has no code.
 */
static const uint8_t code_of_link[WIDTHS][SPEEDS] = {
	/*           -  SDR DDR QDR FDR10 FDR EDR HDR NDR XDR */
	[WIDTH_1X]  = { 0, 2, 5, 3,  3,  11, 15, 20, 16, 17 },
	[WIDTH_2X]  = { 0, 5, 3, 6,  6,  19, 20, 16, 17, 21 },
	[WIDTH_4X]  = { 0, 3, 6, 7,  7,  12, 16, 17, 21, 23 },
	[WIDTH_8X]  = { 0, 6, 7, 9,  9,  13, 17, 21, 23, 25 },
	[WIDTH_12X] = { 0, 4, 8, 10, 10, 14, 18, 22, 24, 0 },
};

static const uint8_t code_of_rank[RATE_RANK_MAX + 1] = {
	0, 2, 5, 3, 11, 6, 4, 15, 19, 7, 8, 20, 12, 9, 10, 16, 13, 14, 17,
	18, 21, 22, 23, 24, 25,
};

static const uint8_t rank_of_code[RATE_CODE_MAX + 1] = {
	0, 0, 1, 3, 6, 2, 5, 9, 10, 13, 14, 4, 12, 16, 17, 7, 15, 18, 19, 8,
	11, 20, 21, 22, 23, 24,
};

/* Linux drivers/infiniband/core/sysfs.c, rate_show(). */
#define TEXTS(x, sdr, ddr, qdr, fdr, edr, hdr, ndr, xdr)                    \
	{ "", sdr " Gb/sec (" x " SDR)", ddr " Gb/sec (" x " DDR)",         \
	  qdr " Gb/sec (" x " QDR)", qdr " Gb/sec (" x " FDR10)",           \
	  fdr " Gb/sec (" x " FDR)", edr " Gb/sec (" x " EDR)",             \
	  hdr " Gb/sec (" x " HDR)", ndr " Gb/sec (" x " NDR)",             \
	  xdr " Gb/sec (" x " XDR)" }
static const char *const text_of_link[WIDTHS][SPEEDS] = {
	[WIDTH_UNKNOWN] = { "", "", "", "", "", "", "", "", "", "" },
	[WIDTH_1X]  = TEXTS("1X", "2.5", "5", "10", "14", "25", "50", "100",
			    "200"),
	[WIDTH_2X]  = TEXTS("2X", "5", "10", "20", "28", "50", "100", "200",
			    "400"),
	[WIDTH_4X]  = TEXTS("4X", "10", "20", "40", "56", "100", "200", "400",
			    "800"),
	[WIDTH_8X]  = TEXTS("8X", "20", "40", "80", "112", "200", "400", "800",
			    "1600"),
	[WIDTH_12X] = TEXTS("12X", "30", "60", "120", "168", "300", "600",
			    "1200", "2400"),
};
#undef TEXTS

/*
 * PortInfo bits for each width: LinkWidthSupported of a port whose greatest
 * width is this width, and LinkWidthActive for this width.
 */
static const uint8_t width_supported[WIDTHS] = {
	0, 0x01, 0x11, 0x03, 0x07, 0x0b,
};
static const uint8_t width_active[WIDTHS]  = { 0, 0x01, 0x10, 0x02, 0x04, 0x08 };

/*
 * PortInfo bits for each speed, supported and active, in three columns: the
 * speeds SDR to QDR; the extended speeds FDR to NDR; the extended speeds 2,
 * from XDR on.
 */
static const uint8_t speed_bits[SPEEDS][6] = {
	[SPEED_SDR]   = { 0x1, 0x1, 0x0, 0x0, 0x0, 0x0 },
	[SPEED_DDR]   = { 0x3, 0x2, 0x0, 0x0, 0x0, 0x0 },
	[SPEED_QDR]   = { 0x7, 0x4, 0x0, 0x0, 0x0, 0x0 },
	[SPEED_FDR10] = { 0x7, 0x4, 0x0, 0x0, 0x0, 0x0 },
	[SPEED_FDR]   = { 0x7, 0x4, 0x1, 0x1, 0x0, 0x0 },
	[SPEED_EDR]   = { 0x7, 0x4, 0x3, 0x2, 0x0, 0x0 },
	[SPEED_HDR]   = { 0x7, 0x4, 0x7, 0x4, 0x0, 0x0 },
	[SPEED_NDR]   = { 0x7, 0x4, 0xf, 0x8, 0x0, 0x0 },
	[SPEED_XDR]   = { 0x7, 0x4, 0xf, 0x0, 0x1, 0x1 },
};
/* clang-format on */

enum link_width ibsa__width_of_lanes(uint64_t lanes)
{
	for (enum link_width width = WIDTH_1X; width < WIDTHS; width++) {
		if (lanes_of_width[width] == lanes)
			return width;
	}
	return WIDTH_UNKNOWN;
}

/*
 * Return: the speed with this name, such as "QDR"; SPEED_UNKNOWN if there is
 * none.
 */
static enum link_speed speed_by_name(const char *name, size_t len)
{
	const size_t count = sizeof(speed_names) / sizeof(speed_names[0]);

	for (size_t i = 0; i < count; i++) {
		if (strlen(speed_names[i].name) == len &&
		    !memcmp(speed_names[i].name, name, len))
			return speed_names[i].speed;
	}
	return SPEED_UNKNOWN;
}

unsigned int ibsa__lanes_of_width(unsigned int width)
{
	return lanes_of_width[width];
}

const char *ibsa__speed_name(unsigned int speed)
{
	const size_t count = sizeof(speed_names) / sizeof(speed_names[0]);

	for (size_t i = 0; i < count; i++) {
		if (speed_names[i].speed == speed)
			return speed_names[i].name;
	}
	return "";
}

enum link_speed ibsa__speed_of_bits(uint64_t bits)
{
	if (bits & ~UINT64_C(7))
		return SPEED_UNKNOWN;
	if (!bits || bits & 4)
		return SPEED_QDR;
	return bits & 2 ? SPEED_DDR : SPEED_SDR;
}

enum link_speed ibsa__speed_of_ext_bits(uint64_t bits)
{
	if (bits & ~UINT64_C(0x2f))
		return SPEED_UNKNOWN;
	if (bits & 32)
		return SPEED_XDR;
	if (bits & 8)
		return SPEED_NDR;
	if (bits & 4)
		return SPEED_HDR;
	if (bits & 2)
		return SPEED_EDR;
	return bits & 1 ? SPEED_FDR : SPEED_UNKNOWN;
}

bool ibsa__rate_parse(const char *text, size_t len, struct link_rate *out)
{
	const char *const x = memchr(text, 'x', len);
	uint64_t lanes = 0;
	struct link_rate rate;

	for (const char *at = text; x && at < x; at++) {
		if (*at < '0' || *at > '9' || at - text > 1)
			return false;
		lanes = 10 * lanes + (uint64_t)(*at - '0');
	}
	if (!x)
		return false;
	rate.width = ibsa__width_of_lanes(lanes);
	rate.speed = speed_by_name(x + 1, (size_t)(text + len - x - 1));
	if (!ibsa__rate_rank(rate.width, rate.speed))
		return false;
	*out = rate;
	return true;
}

uint8_t ibsa__rate_rank(enum link_width width, enum link_speed speed)
{
	return rank_of_code[code_of_link[width][speed]];
}

uint8_t ibsa__rate_rank_of_code(unsigned int code)
{
	return code <= RATE_CODE_MAX ? rank_of_code[code] : 0;
}

uint8_t ibsa__rate_code(unsigned int rank)
{
	return code_of_rank[rank];
}

const char *ibsa__rate_text(enum link_width width, enum link_speed speed)
{
	return text_of_link[width][speed];
}

struct link_bits ibsa__link_bits(struct link_rate most, struct link_rate now)
{
	const uint8_t *can = speed_bits[most.speed];
	const uint8_t *runs = speed_bits[now.speed];
	const bool has_2x = most.speed >= SPEED_HDR && most.width > WIDTH_2X;

	return (struct link_bits){
		.width_supported = width_supported[most.width] |
				   (has_2x ? width_active[WIDTH_2X] : 0),
		.width_active = width_active[now.width],
		.speed_supported = can[0],
		.speed_active = runs[1],
		.speed_ext_supported = can[2],
		.speed_ext_active = runs[3],
		.speed_ext_supported2 = can[4],
		.speed_ext_active2 = runs[5],
	};
}

/*
 * Return: the first speed that has these bits in a column of the table; FDR10
 * has the bits of QDR.
 */
static enum link_speed speed_of_column(unsigned int column, uint8_t active)
{
	for (enum link_speed speed = SPEED_SDR; speed < SPEEDS; speed++) {
		if (speed_bits[speed][column] == active)
			return speed;
	}
	return SPEED_UNKNOWN;
}

static enum link_speed active_speed(const struct link_bits *bits)
{
	if (bits->speed_ext_active2)
		return speed_of_column(5, bits->speed_ext_active2);
	if (bits->speed_ext_active)
		return speed_of_column(3, bits->speed_ext_active);
	return speed_of_column(1, bits->speed_active);
}

struct link_rate ibsa__rate_of_bits(const struct link_bits *bits)
{
	struct link_rate rate = { .speed = (uint8_t)active_speed(bits) };

	for (enum link_width width = WIDTH_1X; width < WIDTHS; width++) {
		if (bits->width_active == width_active[width])
			rate.width = (uint8_t)width;
	}
	return rate;
}

uint8_t ibsa__widths_of_bits(uint8_t bits)
{
	unsigned int widths = 0;

	for (enum link_width width = WIDTH_1X; width < WIDTHS; width++) {
		if (bits & width_active[width])
			widths |= 1u << width;
	}
	return (uint8_t)widths;
}

uint16_t ibsa__speeds_of_bits(const struct link_bits *bits)
{
	unsigned int speeds = 0;

	for (enum link_speed speed = SPEED_SDR; speed < SPEEDS; speed++) {
		const uint8_t *of = speed_bits[speed];
		const bool is_old = !of[3] && !of[5];

		if (speed != SPEED_FDR10 &&
		    ((is_old && bits->speed_supported & of[1]) ||
		     bits->speed_ext_supported & of[3] ||
		     bits->speed_ext_supported2 & of[5]))
			speeds |= 1u << speed;
	}
	return (uint16_t)speeds;
}

enum link_width ibsa__width_most(unsigned int widths)
{
	enum link_width width = WIDTHS - 1;

	while (width != WIDTH_UNKNOWN && !(widths >> width & 1))
		width--;
	return width;
}

enum link_speed ibsa__speed_most(unsigned int speeds)
{
	enum link_speed speed = SPEEDS - 1;

	while (speed != SPEED_UNKNOWN && !(speeds >> speed & 1))
		speed--;
	return speed;
}
