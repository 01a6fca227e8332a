/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Helpers for tests of SMPs, which act as an SM at a umad file of a. */
#ifndef FABRIC_SMA_RIG_H
#define FABRIC_SMA_RIG_H

#include "file_rig.h"

#include "fabric/node/sma.h"

#define MS UINT64_C(1000000)

enum {
	GET = 1,
	SET = 2,
	TRAP = 5,
	TRAP_REPRESS = 7,
	GET_TABLE = 0x12, /* no method of SMPs */
	GET_RESP = 0x81,
	NOTICE = 0x0002,
	NODE_DESCRIPTION = 0x0010,
	NODE_INFO = 0x0011,
	SWITCH_INFO = 0x0012,
	GUID_INFO = 0x0014,
	PORT_INFO = 0x0015,
	PKEY_TABLE = 0x0016,
	SL_TO_VL = 0x0017,
	VL_ARBITRATION = 0x0018,
	LINEAR_TABLE = 0x0019,
	MULTICAST_TABLE = 0x001b,
	SM_INFO = 0x0020,
	MLNX_PORT_INFO = 0xff90,
	CLASS_VENDOR = 0x09,
	INVALID = 0x1c,
	BAD_METHOD = 0x08,
	UNSUPPORTED = 0x0c,
	LID_A = 1,
	LID_S = 2,
	LID_B = 3,
};

/*
 * Paths of SMPs that start at a: to itself, to the switch, and to b, which is
 * two hops away.
 */
extern const uint8_t no_path[1];
extern const uint8_t path_s[1];
extern const uint8_t path_b[2];

struct rig {
	struct ibsa_fabric *fabric;
	struct port_file *a;
	struct port_file *b;
	uint32_t sm;  /* agent of a */
	uint32_t lid; /* agent of class 0x01 */
};

/* Set up a test, whose state is its rig: with the embedded SM, or without. */
int sma_start(void **state);
int sma_start_bare(void **state);
int sma_stop(void **state);

#define TEST(name) cmocka_unit_test_setup_teardown(name, sma_start, sma_stop)
#define BARE(name) \
	cmocka_unit_test_setup_teardown(name, sma_start_bare, sma_stop)

/* Return: the status of an answer, without the direction bit. */
uint16_t sma_status(const uint8_t *mad);

/* Send an SMP from a. Return: the response, from the MAD header on. */
const uint8_t *sma_exchange(const struct rig *rig, uint8_t method,
			    uint16_t attribute, uint32_t modifier,
			    const uint8_t *path, uint8_t hops,
			    const uint8_t *data);

/* Get an attribute by SMP, which must succeed. Return: its data. */
const uint8_t *sma_get(const struct rig *rig, uint16_t attribute,
		       uint32_t modifier, const uint8_t *path, uint8_t hops);

struct ibsa_port_info sma_port_info(const struct rig *rig, uint32_t number,
				    const uint8_t *path, uint8_t hops);

/* Return: the status. */
uint16_t sma_set_port(const struct rig *rig, uint32_t number,
		      const uint8_t *path, uint8_t hops,
		      const struct ibsa_port_info *info);
uint16_t sma_set_state(const struct rig *rig, uint32_t number,
		       const uint8_t *path, uint8_t hops, uint8_t state);

/*
 * Configure a fabric without an SM. Call the first three functions in this
 * order: LIDs; routes between a and b; the states ARMED, then ACTIVE.
 * sma_bring_up() does all of this.
 */
void sma_give_lid(const struct rig *rig, const uint8_t *path, uint8_t hops,
		  uint16_t lid);
void sma_set_route(const struct rig *rig);
void sma_set_states(const struct rig *rig, uint8_t state);
void sma_bring_up(const struct rig *rig);

#endif
