/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What ibsad permits, as lists that do not come from its own table. */
#ifndef TEST_IBSAD_PERMITTED_H
#define TEST_IBSAD_PERMITTED_H

#include <stdint.h>

/* Class, method and attribute, as one number: 0xCCMMAAAA. */
static const uint32_t permitted[] = {
	0x03010001, 0x03010011, 0x03120011, 0x03010012, 0x03120012, 0x03010013,
	0x03120013, 0x03010014, 0x03120014, 0x03010015, 0x03120015, 0x03010016,
	0x03120016, 0x03010017, 0x03120017, 0x03010018, 0x03120018, 0x03010020,
	0x03120020, 0x03010030, 0x03120030, 0x03010031, 0x03120031, 0x03010033,
	0x03120033, 0x03010035, 0x03120035, 0x03010036, 0x03120036, 0x03010038,
	0x03120038, 0x03130039, 0x0314003a, 0x030100f3, 0x031200f3,
};
static const uint32_t counters[] = {
	0x04010001, 0x04010012, 0x04010015, 0x04010016, 0x0401001d,
};

/* Sets, Deletes and answers to Reports, which owners may send. */
static const uint32_t owners[] = { 0x03020003, 0x03020031, 0x03150031,
				   0x03860002 };

/* The same of memberships, only with an option. */
static const uint32_t members[] = { 0x03020038, 0x03150038 };

/* The same of alias GUIDs, only with another option. */
static const uint32_t aliases[] = { 0x03020030, 0x03150030 };

#endif
