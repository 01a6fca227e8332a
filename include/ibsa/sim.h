/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The embedded fabric: a simulated subnet with an SA inside the process, from a
 * topology file. This header includes all headers of the fabric but
 * <ibsa/fabric_server.h>.
 *
 * The functions are in libibsa-fabric: link with the flags of "pkg-config
 * ibsa-fabric".
 */
#ifndef IBSA_SIM_H
#define IBSA_SIM_H

#include <ibsa/capture.h>
#include <ibsa/fabric.h>
#include <ibsa/fabric_change.h>
#include <ibsa/fabric_fault.h>
#include <ibsa/fabric_topology.h>
#include <ibsa/responder.h>

#endif
