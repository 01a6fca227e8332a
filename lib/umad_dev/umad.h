/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel transport: MADs through /dev/infiniband/umadN. */
#ifndef UMAD_DEV_UMAD_H
#define UMAD_DEV_UMAD_H

#include <ibsa/device.h>
#include <ibsa/transport.h>

struct device_files;
struct ibsa__port_selection;

/* *
 * ibsa__umad_open - a transport over a port of this machine
 * @files:       device files; the transport holds a reference
 * @device:      its name; NULL: the first whose active InfiniBand port opens
 * @port:        0: the first active InfiniBand port, or else the first active
 *               RoCE port
 * @reply_bytes: largest MAD that recv takes, from the MAD header on; one MAD
 *               is always taken
 * @error:       set on failure to what was wrong and what to do; may be NULL
 * @out:         the transport; its close operation frees it
 *
 * The transport registers for responses to its own requests, and for Reports
 * while it listens. Only one program can listen at a port: if another program
 * listens, listen returns -EBUSY. The kernel does not tell which program that
 * is.
 *
 * Errors of send, besides those of every transport: -EMSGSIZE more than one
 * MAD; -ERANGE a LID of more than 16 bits without GRH; -EALREADY a MAD with this
 * transaction id is in flight, or the port cannot send to the address;
 * -EOPNOTSUPP a MAD of OPA's class version on a port that is not Omni-Path, or a
 * kernel that rejects it; -EAGAIN the device file is closed and could not be
 * reopened yet, because descriptors or memory are short.
 *
 * After a reply larger than @reply_bytes, recv returns -EMSGSIZE once and
 * reopens the device file, which loses the requests in flight. If descriptors
 * or memory are short, recv, send and listen try again. Each attempt finds the
 * device's current file: if this is not the file that was closed, the device
 * was removed and came back.
 *
 * When the device is removed, recv returns -ENODEV once, and changed reports a
 * change. From then on, port and send return -ENODEV. send, recv, port and
 * listen search for the device, at most every 100 ms: for the same node GUID,
 * else for the same name, and for the same port number. Once its file can be
 * opened, the transport works again and listens if it did before; port then
 * reports that clients must register again. While the file exists but cannot be
 * opened, the error from opening it takes the place of -ENODEV. A device that
 * is only renamed stays open.
 *
 * Return: 0; -ENODEV no such device, or the port has no device file; -ENXIO
 * the device has no such port; -ENOSYS the RDMA or umad modules are not
 * loaded; -EACCES not permitted; -ENETDOWN the port is not active; -EOPNOTSUPP
 * the kernel is too old; -ENOMEM; or the system's error.
 *
 * Source: Linux Documentation/infiniband/user_mad.rst. */
int ibsa__umad_open(struct device_files *files, const char *device,
		    unsigned int port, size_t reply_bytes,
		    struct ibsa_error *error,
		    struct ibsa_transport **out) IBSA_MUST_USE;

/**
 * ibsa__umad_events - receive port events, and learn whether a GRH is needed
 * @transport: of ibsa__umad_open()
 * @cmd_fd:    of a verbs context of the same device, which the program has
 *             opened; used in this call only
 *
 * From then on, the transport's fd is readable for events, too, its changed
 * operation reads them, and client re-register events are counted. The port's
 * state says whether it needs a GRH. The program still receives all events on
 * its own context. When it closes the context, the transport's events end
 * without a notice.
 *
 * Return: 0; -EOPNOTSUPP the device is ibsim's; -EBUSY already called;
 * -ENODATA the kernel does not report the number of the device's driver;
 * -ELIBACC libnl-3, which reads this number, is not installed; or the kernel's
 * error. After an error, the transport works as before.
 */
int ibsa__umad_events(struct ibsa_transport *transport,
		      int cmd_fd) IBSA_MUST_USE;

/* Return: the port of a transport of ibsa__umad_open(), as of the last opening. */
const struct ibsa__port_selection *
ibsa__umad_selection(struct ibsa_transport *transport);

/*
 * Do what ibsa_umad_version() does, for the kernel or fabric server that
 * @files belong to.
 */
int ibsa__umad_version(struct device_files *files, struct ibsa_error *error,
		       unsigned int *out) IBSA_MUST_USE;

/*
 * Do what ibsa_port_access_get() does. @is_remote: the port is at a fabric
 * server.
 */
int ibsa__port_access_get(const struct ibsa_port *port, bool is_remote,
			  struct ibsa_port_access *out) IBSA_MUST_USE;

#endif
