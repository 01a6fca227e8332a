/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel transport: MADs by /dev/infiniband/umadN. */
#ifndef UMAD_DEV_UMAD_H
#define UMAD_DEV_UMAD_H

#include <ibsa/device.h>
#include <ibsa/transport.h>

struct device_files;

/**
 * ibsa__umad_open - a transport over a port of this machine
 * @files:       where devices and ports are found; the transport holds them
 * @device:      its name; NULL: the first whose active InfiniBand port opens
 * @port:        0: the first active one
 * @reply_bytes: largest MAD that recv takes, from the MAD header on; one MAD
 *               is always taken
 * @error:       filled on failure with what was wrong and what to do; or NULL
 * @out:         the transport; its close frees it
 *
 * Registers for answers to its own requests only: nothing unsolicited comes,
 * but for Reports while it listens. One program at a port can, and no other
 * can be told from here which: -EBUSY.
 *
 * send's further errors: -EMSGSIZE more than one MAD; -ERANGE a LID of more
 * than 16 bits without GRH; -EALREADY a MAD with this transaction id is still
 * under way, or the port cannot send to the address; -EOPNOTSUPP a MAD of
 * OPA's class version on a port of another kind, or a kernel that takes none;
 * -EAGAIN nothing can come in until the system has a descriptor, or memory,
 * for the device file to be opened anew.
 *
 * recv reports a reply above @reply_bytes once, with -EMSGSIZE, after which
 * requests under way are lost, since the device file is opened anew. As long
 * as that fails for want of a descriptor or memory, recv, send and wait try
 * again. Each time they check which file is the device's: if it is not the one
 * that was closed, the device went away and came back.
 *
 * When the device goes away, recv says so once, with -ENODEV, and changed
 * that the port is another: port is -ENODEV from then on, and so is send.
 * send, recv, port and wait look for it again, at most every 100 ms: for the
 * device with the same node GUID, whatever its name, else of the same name,
 * and at its port of the same number. Once its file can be opened, the
 * transport works as before, listening if it did; the port then says that
 * those on it are to register again. A file that is there but cannot be opened
 * is the same as a device that is not, with the error in place of -ENODEV. A
 * device that is only renamed stays open.
 *
 * Return: 0; -ENODEV no such device, or the port has no device file; -ENXIO
 * the device has no such port;
 * -ENOSYS the RDMA or umad modules are not loaded; -EACCES not permitted;
 * -ENETDOWN the port is not active; -EOPNOTSUPP the kernel is too old;
 * -ENOMEM; or the system's error.
 *
 * Source: Linux Documentation/infiniband/user_mad.rst.
 */
int ibsa__umad_open(struct device_files *files, const char *device,
		    unsigned int port, size_t reply_bytes,
		    struct ibsa_error *error,
		    struct ibsa_transport **out) IBSA_MUST_USE;

/**
 * ibsa__umad_events - hear of port events, and whether a GRH is needed
 * @transport: of ibsa__umad_open()
 * @cmd_fd:    of a verbs context of the same device, which the program has
 *             opened; used in this call only
 *
 * From then on the transport's fd is readable for events too, its changed
 * operation takes them, and client re-register events are counted. A port
 * that sends nothing without a GRH says so from then on. The program's own
 * events stay its own. They end, without a word, when the program closes its
 * context.
 *
 * Return: 0; -EOPNOTSUPP the device is simulated; -EBUSY it does already;
 * -ENODATA the driver's number cannot be learned, and -ELIBACC not without
 * libnl-3; or the kernel's error. The transport works as before.
 */
int ibsa__umad_events(struct ibsa_transport *transport,
		      int cmd_fd) IBSA_MUST_USE;

/* As ibsa_umad_version(), of the kernel or server that @files are of. */
int ibsa__umad_version(struct device_files *files, struct ibsa_error *error,
		       unsigned int *out) IBSA_MUST_USE;

/* As ibsa_port_access_get(). @is_remote: the port is at a fabric server. */
int ibsa__port_access_get(const struct ibsa_port *port, bool is_remote,
			  struct ibsa_port_access *out) IBSA_MUST_USE;

#endif
