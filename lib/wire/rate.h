/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Link widths, lane speeds and rates. A rate is stored as its rank, its place
 * in the ascending order of rates, since the codes of SA records are not in
 * that order.
 */
#ifndef WIRE_RATE_H
#define WIRE_RATE_H

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

/*
 * A width and a speed: the current one of a link, the maximum of a port, or
 * one in a topology file.
 */
struct link_rate {
	uint8_t width; /* enum link_width */
	uint8_t speed; /* enum link_speed */
};

enum { RATE_RANK_MAX = 24, RATE_CODE_MAX = 25 };

/* The valid names of rates in a topology file, for error messages. */
#define RATE_CHOICES                                                      \
	"a width of 1x, 2x, 4x, 8x or 12x and a speed of SDR, DDR, QDR, " \
	"FDR10, FDR, EDR, HDR, NDR or XDR, but not 12xXDR"

/* Return: the width with @lanes lanes; WIDTH_UNKNOWN if there is none. */
enum link_width ibsa__width_of_lanes(uint64_t lanes);

/*
 * ibsa__lanes_of_width() returns the number of lanes of a width, 0 if it is
 * unknown; ibsa__speed_name() returns the name of a speed, "" if it is
 * unknown.
 */
unsigned int ibsa__lanes_of_width(unsigned int width);
const char *ibsa__speed_name(unsigned int speed);

/*
 * Convert a number from an ibsim topology file, in which each bit is a speed.
 * Return: the fastest speed whose bit is set. Speed bits are 1 SDR, 2 DDR, 4
 * QDR, and 0 is QDR; the extended speed bits are 1 FDR, 2 EDR, 4 HDR, 8 NDR,
 * 32 XDR. SPEED_UNKNOWN if another bit is set, or the extended bits are 0.
 */
enum link_speed ibsa__speed_of_bits(uint64_t bits);
enum link_speed ibsa__speed_of_ext_bits(uint64_t bits);

/*
 * Parse the name of a rate, such as "4xEDR". Return: false if no rate has this
 * name.
 */
bool ibsa__rate_parse(const char *text, size_t len, struct link_rate *out);

/*
 * Return: the rank of the rate of a link with this width and speed, 1 to
 * RATE_RANK_MAX; 0 if the rate has no code.
 */
uint8_t ibsa__rate_rank(enum link_width width, enum link_speed speed);

/* Return: the rank of the rate with this code; 0 if the code does not exist. */
uint8_t ibsa__rate_rank_of_code(unsigned int code);

/* Return: the rate code with this rank. */
uint8_t ibsa__rate_code(unsigned int rank);

/*
 * Return: a link's rate as the kernel writes it to sysfs; "" if its width or
 * speed is unknown.
 */
const char *ibsa__rate_text(enum link_width width, enum link_speed speed);

/*
 * The members of a PortInfo that contain widths and speeds. IBA vol 1,
 * 14.2.5.6.
 */
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
 * Return: the PortInfo bits of a port whose greatest supported width and speed
 * are @most, and whose link runs at @now. From HDR on, a wider port supports 2X,
 * too, because its cable may lead to one half of a split port.
 */
struct link_bits ibsa__link_bits(struct link_rate most, struct link_rate now);

/*
 * Return: the active width and speed of PortInfo bits; each is unknown unless
 * exactly one bit of it is set, which must be defined. FDR10 has no bit and is
 * returned as QDR.
 */
struct link_rate ibsa__rate_of_bits(const struct link_bits *bits);

/*
 * Return: the supported widths or speeds of PortInfo bits, as a mask with a
 * bit for each enum link_width or enum link_speed.
 */
uint8_t ibsa__widths_of_bits(uint8_t bits);
uint16_t ibsa__speeds_of_bits(const struct link_bits *bits);

/*
 * Return: the greatest width or speed in a mask with a bit for each enum
 * link_width or enum link_speed; unknown if the mask is 0.
 */
enum link_width ibsa__width_most(unsigned int widths);
enum link_speed ibsa__speed_most(unsigned int speeds);

#endif
