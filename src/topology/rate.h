/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Link widths, lane speeds and rates. A rate is stored as its rank in order of
 * speed, since the codes of SA records are not in that order.
 */
#ifndef TOPOLOGY_RATE_H
#define TOPOLOGY_RATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum link_width {
	WIDTH_UNKNOWN,
	WIDTH_1X,
	WIDTH_2X,
	WIDTH_4X,
	WIDTH_8X,
	WIDTH_12X,
	WIDTHS,
};

enum link_speed {
	SPEED_UNKNOWN,
	SPEED_SDR,
	SPEED_DDR,
	SPEED_QDR,
	SPEED_FDR10,
	SPEED_FDR,
	SPEED_EDR,
	SPEED_HDR,
	SPEED_NDR,
	SPEED_XDR,
	SPEEDS,
};

/* A width and a speed: of a link, of a port's maximum, or in a file. */
struct link_rate {
	uint8_t width; /* enum link_width */
	uint8_t speed; /* enum link_speed */
};

enum { RATE_RANK_MAX = 24, RATE_CODE_MAX = 25 };

/* The valid rates in a topology file, for error messages. */
#define RATE_CHOICES                                                      \
	"a width of 1x, 2x, 4x, 8x or 12x and a speed of SDR, DDR, QDR, " \
	"FDR10, FDR, EDR, HDR, NDR or XDR, but not 12xXDR"

/* The width with that number of lanes; WIDTH_UNKNOWN if there is none. */
enum link_width ibsa__width_of_lanes(uint64_t lanes);

/* The speed with that name, such as "QDR"; SPEED_UNKNOWN if there is none. */
enum link_speed ibsa__speed_by_name(const char *name, size_t len);

/* Number of lanes of a width, 0 if unknown; name of a speed, "" if unknown. */
unsigned int ibsa__lanes_of_width(unsigned int width);
const char *ibsa__speed_name(unsigned int speed);

/*
 * The fastest speed of ibsim's speed bits: 1 SDR, 2 DDR, 4 QDR; 0 is QDR; and
 * of the extended speed bits: 1 FDR, 2 EDR, 4 HDR, 8 NDR, 32 XDR. SPEED_UNKNOWN
 * if another bit is set, or no extended one.
 */
enum link_speed ibsa__speed_of_bits(uint64_t bits);
enum link_speed ibsa__speed_of_ext_bits(uint64_t bits);

/* Parse a rate such as "4xEDR". Return: false: there is no such rate. */
bool ibsa__rate_parse(const char *text, size_t len, struct link_rate *out);

/* The rank of a link's rate, 1 to RATE_RANK_MAX; 0 if the rate has no code. */
uint8_t ibsa__rate_rank(enum link_width width, enum link_speed speed);

/* The rank of a rate code; 0 if the code does not exist. */
uint8_t ibsa__rate_rank_of_code(unsigned int code);

/* The rate code of a rank. */
uint8_t ibsa__rate_code(unsigned int rank);

/*
 * A link's rate as the kernel writes it to sysfs; "" if width or speed is
 * unknown.
 */
const char *ibsa__rate_text(enum link_width width, enum link_speed speed);

/* The widths and speeds of a PortInfo. IBA vol 1, 14.2.5.6. */
struct link_bits {
	uint8_t width_supported;
	uint8_t width_active;
	uint8_t speed_supported;
	uint8_t speed_active;
	uint8_t speed_ext_supported;
	uint8_t speed_ext_active;
	uint8_t speed_ext_supported2;
	uint8_t speed_ext_active2;
};

/*
 * The PortInfo bits of a port that supports all rates up to @most and runs at
 * @now.
 */
struct link_bits ibsa__link_bits(struct link_rate most, struct link_rate now);

/*
 * The active width and speed of PortInfo bits; unknown if no bit or an
 * undefined bit is set. FDR10 has no bit and is returned as QDR.
 */
struct link_rate ibsa__rate_of_bits(const struct link_bits *bits);

/*
 * The supported widths or speeds of PortInfo bits, as a set: a bit for each
 * enum link_width or enum link_speed.
 */
uint8_t ibsa__widths_of_bits(uint8_t bits);
uint16_t ibsa__speeds_of_bits(const struct link_bits *bits);

/* The greatest width or speed in such a set, or unknown. */
enum link_width ibsa__width_most(unsigned int widths);
enum link_speed ibsa__speed_most(unsigned int speeds);

#endif
