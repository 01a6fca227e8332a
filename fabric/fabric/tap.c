/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sets the function that receives each packet on the links of a fabric:
 * ibsa_fabric_tap().
 */
#include <errno.h>

#include "fabric/fabric/fabric.h"

int ibsa_fabric_tap(struct ibsa_fabric *fabric, ibsa_packet_fn report,
		    void *arg)
{
	int err = 0;

	if (fabric->first.subnet.is_opa)
		return -EOPNOTSUPP;
	pthread_mutex_lock(&fabric->lock);
	if (report && fabric->capture.report) {
		err = -EBUSY;
	} else {
		fabric->capture.report = report;
		fabric->capture.arg = arg;
		for (uint32_t i = 0; i < fabric->part_count; i++)
			fabric_part(fabric, i)->net.tap = (struct mad_tap){
				.seen = report ? ibsa__capture_posted : NULL,
				.arg = &fabric->capture,
			};
	}
	pthread_mutex_unlock(&fabric->lock);
	return err;
}
