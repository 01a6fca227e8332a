/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The embedded fabric: a simulated subnet with its own SA inside the
 * process, from a topology file. No hardware, no daemon, no root.
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
