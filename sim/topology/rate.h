/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Widths, lane speeds and what they make together. A rate is kept as its
 * rank in order of speed, since the codes of SA records are not in it.
 */
#ifndef SIM_TOPOLOGY_RATE_H
#define SIM_TOPOLOGY_RATE_H

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
	SPEEDS,
};

enum { RATE_RANK_MAX = 23, RATE_CODE_MAX = 24 };

/* The width of so many lanes; WIDTH_UNKNOWN if there is none. */
enum link_width ibsa__width_of_lanes(uint64_t lanes);

/* The speed of that name, "QDR"; SPEED_UNKNOWN if there is none. */
enum link_speed ibsa__speed_by_name(const char *name, size_t len);

/* The other way round; 0, and "", of what is unknown. */
unsigned int ibsa__lanes_of_width(unsigned int width);
const char *ibsa__speed_name(unsigned int speed);

/*
 * The fastest of ibsim's speed bits: 1 SDR, 2 DDR, 4 QDR; 0 is QDR. The
 * extended ones: 1 FDR, 2 EDR, 4 HDR, 8 NDR; 0 is none.
 */
enum link_speed ibsa__speed_of_bits(uint64_t bits);
enum link_speed ibsa__speed_of_ext_bits(uint64_t bits);

/* The rank of a link's rate, 1 to RATE_RANK_MAX. */
uint8_t ibsa__rate_rank(enum link_width width, enum link_speed speed);

/* The rank of a rate code; 0 if no such code exists. */
uint8_t ibsa__rate_rank_of_code(unsigned int code);

/* The rate code of a rank. */
uint8_t ibsa__rate_code(unsigned int rank);

/* A link's rate as the kernel's sysfs has it; "" if either is unknown. */
const char *ibsa__rate_text(enum link_width width, enum link_speed speed);

/* What PortInfo says of a port with such a link. IBA vol 1, 14.2.5.6. */
struct link_bits {
	uint8_t width_enabled;
	uint8_t width_active;
	uint8_t speed_enabled;
	uint8_t speed_active;
	uint8_t speed_ext_supported;
	uint8_t speed_ext_enabled;
	uint8_t speed_ext_active;
};

struct link_bits ibsa__link_bits(enum link_width width, enum link_speed speed);

#endif
