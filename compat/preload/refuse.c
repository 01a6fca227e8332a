/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Part of the library for LD_PRELOAD: libibverbs' functions that create an
 * object in a context, or use one with a provider. A fabric transports MADs,
 * but no data, so these functions fail with EOPNOTSUPP for its devices.
 * Functions that need such an object, as ibv_reg_mr() needs a PD, never get one
 * of a fabric.
 */
#include "preload/device.h"
#include "preload/stock.h"

static void *refused(void)
{
	errno = EOPNOTSUPP;
	return NULL;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	return own_device_of(context) ? refused()
				      : STOCK(NULL, ibv_alloc_pd, context);
}

struct ibv_pd *ibv_import_pd(struct ibv_context *context, uint32_t handle)
{
	return own_device_of(context)
		       ? refused()
		       : STOCK(NULL, ibv_import_pd, context, handle);
}

struct ibv_dm *ibv_import_dm(struct ibv_context *context, uint32_t handle)
{
	return own_device_of(context)
		       ? refused()
		       : STOCK(NULL, ibv_import_dm, context, handle);
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	return own_device_of(context)
		       ? refused()
		       : STOCK(NULL, ibv_create_comp_channel, context);
}

int ibv_init_ah_from_wc(struct ibv_context *context, uint8_t port_num,
			struct ibv_wc *wc, struct ibv_grh *grh,
			struct ibv_ah_attr *attr)
{
	if (!own_device_of(context))
		return STOCK(-1, ibv_init_ah_from_wc, context, port_num, wc,
			     grh, attr);
	(void)refused();
	return -1;
}

int ibv_resolve_eth_l2_from_gid(struct ibv_context *context,
				struct ibv_ah_attr *attr,
				uint8_t mac[ETHERNET_LL_SIZE], uint16_t *vid)
{
	if (!own_device_of(context))
		return STOCK(-1, ibv_resolve_eth_l2_from_gid, context, attr,
			     mac, vid);
	(void)refused();
	return -1;
}
