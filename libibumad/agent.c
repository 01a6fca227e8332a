/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The agents of libibumad's registration calls: an agent makes the kernel
 * deliver the MADs of a management class to its umad file.
 *
 * Source: umad_register(3), umad_register_oui(3), umad_register2(3) of
 * rdma-core; IBA vol 1, 16.1 for the classes.
 */
#include <errno.h>
#include <string.h>

#include <infiniband/umad.h>
#include <infiniband/umad_sm.h>

#include <ibsa/types.h>

#include "libibumad/file.h"
#include "libibumad/debug.h"

/*
 * Management classes in this range are vendor classes whose MADs contain the
 * vendor's OUI.
 */
enum { VENDOR_FIRST = 0x30, VENDOR_LAST = 0x4f, OUI_MASK = 0xffffff };

static const uint8_t openib_oui[3] = { 0x00, 0x14, 0x05 };

static bool has_oui(int mgmt_class)
{
	return mgmt_class >= VENDOR_FIRST && mgmt_class <= VENDOR_LAST;
}

static uint8_t qpn_of(int mgmt_class)
{
	return mgmt_class == UMAD_CLASS_SUBN_LID_ROUTED ||
			       mgmt_class == UMAD_CLASS_SUBN_DIRECTED_ROUTE
		       ? 0
		       : IBSA_QPN_GSI;
}

static int file_register(int portid, struct umad_agent_request *request)
{
	struct portid_use use;
	int err;

	ibsa__portid_get(portid, &use);
	err = use.file->ops->register_agent(use.file, request);
	ibsa__portid_put(&use);
	return err;
}

static int file_register2(int portid, struct umad_agent_request2 *request)
{
	struct portid_use use;
	int err;

	ibsa__portid_get(portid, &use);
	err = use.file->ops->register_agent2(use.file, request);
	ibsa__portid_put(&use);
	return err;
}

static int agent_register(int portid, struct umad_agent_request *request,
			  const uint8_t oui[3], const long *method_mask)
{
	int err;

	request->qpn = qpn_of(request->mgmt_class);
	memcpy(request->oui, oui, sizeof(request->oui));
	if (method_mask)
		memcpy(request->method_mask, method_mask,
		       sizeof(request->method_mask));
	err = file_register(portid, request);
	if (!err)
		return (int)request->id;
	ibsa__umad_debug_print(err,
			       "umad_register failed: portid %d class 0x%x "
			       "version %d",
			       portid, request->mgmt_class,
			       request->mgmt_class_version);
	errno = -err;
	return -EPERM;
}

int umad_register(int portid, int mgmt_class, int mgmt_version,
		  uint8_t rmpp_version, long method_mask[16 / sizeof(long)])
{
	struct umad_agent_request request = {
		.mgmt_class = (uint8_t)mgmt_class,
		.mgmt_class_version = (uint8_t)mgmt_version,
		.rmpp_version = rmpp_version,
	};

	return agent_register(portid, &request, openib_oui, method_mask);
}

int umad_register_oui(int portid, int mgmt_class, uint8_t rmpp_version,
		      uint8_t oui[3], long method_mask[16 / sizeof(long)])
{
	struct umad_agent_request request = {
		.mgmt_class = (uint8_t)mgmt_class,
		.mgmt_class_version = 1,
		.rmpp_version = rmpp_version,
	};

	if (!has_oui(mgmt_class))
		return -EINVAL;
	return agent_register(portid, &request, oui, method_mask);
}

/*
 * Register the agent with the ioctl UMAD_REGISTER_AGENT, which has no flags:
 * older kernels, and ibsim, have only this ioctl.
 */
static int agent_register_old(int portid,
			      const struct umad_agent_request2 *wanted,
			      uint32_t *agent_id)
{
	struct umad_agent_request request = {
		.qpn = (uint8_t)wanted->qpn,
		.mgmt_class = wanted->mgmt_class,
		.mgmt_class_version = wanted->mgmt_class_version,
		.oui = { (uint8_t)(wanted->oui >> 16),
			 (uint8_t)(wanted->oui >> 8), (uint8_t)wanted->oui },
		.rmpp_version = wanted->rmpp_version,
	};
	int err;

	ibsa__umad_methods_put(&request, wanted->method_mask);
	err = file_register(portid, &request);
	if (!err)
		*agent_id = request.id;
	return err;
}

static int agent_register_new(int portid, struct umad_reg_attr *attr,
			      uint32_t *agent_id)
{
	struct umad_agent_request2 request = {
		.qpn = qpn_of(attr->mgmt_class),
		.mgmt_class = attr->mgmt_class,
		.mgmt_class_version = attr->mgmt_class_version,
		.flags = attr->flags,
		.method_mask = { attr->method_mask[0], attr->method_mask[1] },
		/*
		 * For a class without an OUI, ignore the member oui, which
		 * programs leave uninitialised.
		 */
		.oui = has_oui(attr->mgmt_class) ? attr->oui : 0,
		.rmpp_version = attr->rmpp_version,
	};
	int err;

	err = file_register2(portid, &request);
	if (err == -ENOTTY && !attr->flags)
		return agent_register_old(portid, &request, agent_id);
	if (err)
		attr->flags = err == -ENOTTY ? 0 : request.flags;
	else
		*agent_id = request.id;
	return err;
}

/*
 * Unlike most functions of libibumad, umad_register2() returns a positive
 * errno.
 */
int umad_register2(int port_fd, struct umad_reg_attr *attr, uint32_t *agent_id)
{
	int err;

	if (!attr || !agent_id)
		return EINVAL;
	if (has_oui(attr->mgmt_class) && (!attr->oui || attr->oui > OUI_MASK))
		return EINVAL;
	err = agent_register_new(port_fd, attr, agent_id);
	if (!err)
		return 0;
	ibsa__umad_debug_print(err,
			       "umad_register2 failed: portid %d class 0x%x "
			       "version %d",
			       port_fd, attr->mgmt_class,
			       attr->mgmt_class_version);
	errno = -err;
	return -err;
}

int umad_unregister(int portid, int agentid)
{
	struct portid_use use;
	int err;

	ibsa__portid_get(portid, &use);
	err = use.file->ops->unregister_agent(use.file, (uint32_t)agentid);
	ibsa__portid_put(&use);
	if (!err)
		return 0;
	errno = -err;
	return -1;
}
