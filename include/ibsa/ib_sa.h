/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The Linux kernel's ib_sa calls for user space: path, service, multicast
 * and GUID queries from any thread, answered by callbacks.
 *
 * Callbacks come from one worker thread a device, or, for a device that was
 * opened without it, from ibsa_device_dispatch(), ibsa_device_wait() and
 * ibsa_device_put(): never from inside a call that starts a query, one at a
 * time a device, exactly once a query. From a callback queries may be started
 * and cancelled, and everything freed that the query was given.
 *
 * Source: Linux include/rdma/ib_sa.h, drivers/infiniband/core/sa_query.c.
 */
#ifndef IBSA_IB_SA_H
#define IBSA_IB_SA_H

#include <ibsa/ib_sa_types.h>
#include <ibsa/ibsa.h>

IBSA_BEGIN

struct ib_sa_query;
struct ibsa_fabric;
struct ibsa__sa;

/**
 * struct ib_sa_client - who asks; the members are the library's
 *
 * Zero until ib_sa_register_client(), and again after unregistering.
 */
struct ib_sa_client {
	struct ibsa__sa *sa;
	unsigned long users;
};

/**
 * ib_sa_register_client - begin to ask
 * @client: not registered yet; stays the caller's memory
 *
 * Without memory it stays unregistered, and its queries are -EINVAL. Any
 * thread.
 */
void ib_sa_register_client(struct ib_sa_client *client);

/**
 * ib_sa_unregister_client - wait until no callback of a client will come
 * @client: registered
 *
 * Cancels nothing: whoever does not want to wait for answers and timeouts
 * cancels first. Queries on devices without a worker are dispatched from
 * here. From inside any callback it cannot wait, as the kernel would for
 * ever: it returns at once, @client is free, and the callbacks of its queries
 * that are still under way come later.
 */
void ib_sa_unregister_client(struct ib_sa_client *client);

/**
 * struct ibsa_device_options - how to open a device; zero is the default
 * @name:      of the device, or of a node in a fabric; NULL: the first
 * @fabric:    topology file of an embedded fabric instead of a device; NULL:
 *             $IBSA_FABRIC if set, unless the program is set-uid
 * @on:        a fabric that is loaded already, instead of @fabric; the
 *             caller puts it after the device
 * @sa:        address of the SA instead of each port's SM; NULL: the SM
 * @sm_key:    sent with every request; 0: none
 * @window:    requests in flight a port; default 16
 * @audit_ms:  how often memberships and services are read back; default 30000
 * @no_thread: no worker: the caller polls and dispatches
 */
struct ibsa_device_options {
	const char *name;
	const char *fabric;
	struct ibsa_fabric *on;
	const struct ibsa_address *sa;
	uint64_t sm_key;
	unsigned int window;
	unsigned int audit_ms;
	bool no_thread;
};

/**
 * ibsa_device_get - open a device by its name, or share it
 * @name: of the device, or of a node in the fabric that $IBSA_FABRIC names;
 *        NULL: the first
 * @out:  the device; ibsa_device_put() lets go of it
 *
 * All who get one name share the device and its worker. Ports are opened
 * when they are first asked through.
 *
 * Return: 0; -ENODEV no such device; -ENOSYS the RDMA modules are not
 * loaded; -ENETDOWN no name was given and no port is active; -ENOENT or
 * -EINVAL the fabric's file is not there or does not parse; -ENOMEM; or the
 * system's error. Any thread.
 */
int ibsa_device_get(const char *name, struct ib_device **out) IBSA_MUST_USE;

/**
 * ibsa_device_open - open a device with options
 * @options: NULL for all defaults
 * @error:   filled on failure with what was wrong and what to do; or NULL
 * @out:     the device, shared with nobody; ibsa_device_put() closes it
 *
 * Return: as ibsa_device_get(); -EINVAL also for a window above 1048576.
 */
int ibsa_device_open(const struct ibsa_device_options *options,
		     struct ibsa_error *error,
		     struct ib_device **out) IBSA_MUST_USE;

/**
 * ibsa_device_put - let go of a device
 * @device: or NULL
 *
 * The last one ends what is under way on it: callbacks come with -EINTR
 * before this returns, from the worker if there is one, or from here. From
 * inside a callback nothing waits for other threads: the device is then closed
 * by whoever dispatches it, once that is between two callbacks.
 */
void ibsa_device_put(struct ib_device *device);

/**
 * ibsa_device_fd - what to poll for reading, without a worker
 * @device: opened with no_thread
 *
 * Return: an fd that is readable when ibsa_device_dispatch() has work, the
 * same for the device's life; -1 on a simulated clock, or where the device
 * cannot be polled with others (ibsim): use ibsa_device_wait() there.
 */
int ibsa_device_fd(struct ib_device *device);

/**
 * ibsa_device_timeout_ms - how long to poll at most, without a worker
 * @device: opened with no_thread
 *
 * Return: milliseconds until ibsa_device_dispatch() has a deadline to look
 * at, rounded up; 0 now; -1 if there is none, or the device has a worker.
 */
int ibsa_device_timeout_ms(struct ib_device *device);

/**
 * ibsa_device_dispatch - start, receive, retry, expire, call back
 * @device: opened with no_thread
 *
 * Return: 0; -EBUSY from inside a callback, or while another thread
 * dispatches; -EINVAL the device has a worker.
 */
int ibsa_device_dispatch(struct ib_device *device);

/**
 * ibsa_device_wait - wait for something to do, then dispatch
 * @device:     opened with no_thread
 * @timeout_ms: at most; -1 for no limit
 *
 * Return: as ibsa_device_dispatch(); -EINTR a signal ended the wait.
 */
int ibsa_device_wait(struct ib_device *device, int timeout_ms);

/**
 * ibsa_last_reply - what is behind the callback that runs
 * @device: the query's
 *
 * The status that a callback is told folds much into one number; this has
 * the SA's status, what failed here, tries and round-trip time.
 *
 * Return: the reply, until the callback returns; NULL outside of one, and for
 * a query that ended before it was sent.
 */
const struct ibsa_reply *ibsa_last_reply(const struct ib_device *device);

/**
 * ib_sa_path_rec_get - ask for one path
 * @client:     registered
 * @device:     to ask through
 * @port_num:   from 1
 * @rec:        what is wanted; rec_type IB or OPA; network order; copied
 * @comp_mask:  which members of @rec count: IB_SA_PATH_REC_DGID | ...
 * @timeout_ms: in all, with retries; 0 counts as 1
 * @gfp_mask:   ignored; the first call on a port opens it and may sleep
 * @callback:   called once, later; or NULL. Its @resp is valid until it
 *              returns and only if @status is 0: 0; -EINVAL the SA answered
 *              with a status, see ibsa_last_reply(); -ETIMEDOUT; -EINTR it
 *              was cancelled, or the device was closed or went away; -EIO
 *              anything else. @resp is not NULL for 0 and -EINVAL
 * @context:    handed to @callback as it is
 * @sa_query:   with the id, what ib_sa_cancel_query() takes; set before
 *              @callback can run, NULL on failure; or NULL
 *
 * An OPA record is asked for in the form that opa_pr_query_possible() finds;
 * one that is asked as an IB record comes back as an OPA record.
 *
 * Return: the query's id, 0 or more; -ENODEV no such port, or none that has
 * an SA; -EINVAL @client is not registered, @rec is of another type, or OPA
 * records are not supported; -EAGAIN the port is down or knows no SM; -ENOBUFS
 * more than 1048576 queries wait at the port; -EOPNOTSUPP a second port
 * where devices cannot be waited for together; -ENOMEM; or the error of
 * opening the port. @callback is then not called. Any thread.
 *
 * Source: Linux drivers/infiniband/core/sa_query.c; IBA vol 1, 15.2.5.16.
 */
int ib_sa_path_rec_get(struct ib_sa_client *client, struct ib_device *device,
		       uint8_t port_num, struct sa_path_rec *rec,
		       ib_sa_comp_mask comp_mask, unsigned long timeout_ms,
		       unsigned int gfp_mask,
		       void (*callback)(int status, struct sa_path_rec *resp,
					void *context),
		       void *context, struct ib_sa_query **sa_query);

/**
 * ib_sa_service_rec_query - look up, register or remove one service
 * @method: IB_MGMT_METHOD_GET, IB_MGMT_METHOD_SET or IB_SA_METHOD_DELETE
 * @rec:    network order throughout, also where its type does not say so
 *
 * The other arguments are those of ib_sa_path_rec_get().
 *
 * Return: as ib_sa_path_rec_get(); -EINVAL also for any other method.
 *
 * Source: Linux 5.8 drivers/infiniband/core/sa_query.c; IBA vol 1, 15.2.5.14.
 */
int ib_sa_service_rec_query(struct ib_sa_client *client,
			    struct ib_device *device, uint8_t port_num,
			    uint8_t method, struct ib_sa_service_rec *rec,
			    ib_sa_comp_mask comp_mask, unsigned long timeout_ms,
			    unsigned int gfp_mask,
			    void (*callback)(int status,
					     struct ib_sa_service_rec *resp,
					     void *context),
			    void *context, struct ib_sa_query **sa_query);

/**
 * ib_sa_service_rec_get - look up all services that match
 * @callback: its @resp is an array of @num_services records; -ENODATA there
 *            is none; -ENOMEM; else as for ib_sa_path_rec_get(), with @resp
 *            NULL unless @status is 0
 *
 * The other arguments are those of ib_sa_path_rec_get().
 *
 * Return: as ib_sa_path_rec_get().
 *
 * Source: Linux 6.18 drivers/infiniband/core/sa_query.c.
 */
int ib_sa_service_rec_get(
	struct ib_sa_client *client, struct ib_device *device, uint8_t port_num,
	struct sa_service_rec *rec, ib_sa_comp_mask comp_mask,
	unsigned long timeout_ms, unsigned int gfp_mask,
	void (*callback)(int status, struct sa_service_rec *resp,
			 unsigned int num_services, void *context),
	void *context, struct ib_sa_query **sa_query);

/**
 * ib_sa_mcmember_rec_query - one request about a multicast group
 * @method: IB_MGMT_METHOD_GET, IB_MGMT_METHOD_SET or IB_SA_METHOD_DELETE
 *
 * What the SA does counts for the whole port: those who share it use
 * ib_sa_join_multicast(). The other arguments are those of
 * ib_sa_path_rec_get().
 *
 * Return: as ib_sa_path_rec_get(); -EINVAL also for any other method.
 *
 * Source: Linux drivers/infiniband/core/sa_query.c; IBA vol 1, 15.2.5.17.
 */
int ib_sa_mcmember_rec_query(struct ib_sa_client *client,
			     struct ib_device *device, uint8_t port_num,
			     uint8_t method, struct ib_sa_mcmember_rec *rec,
			     ib_sa_comp_mask comp_mask,
			     unsigned long timeout_ms, unsigned int gfp_mask,
			     void (*callback)(int status,
					      struct ib_sa_mcmember_rec *resp,
					      void *context),
			     void *context, struct ib_sa_query **sa_query);

/**
 * opa_pr_query_possible - in which form path records can be asked for
 * @client:   not looked at
 * @device:   to ask through
 * @port_num: from 1
 * @rec:      not looked at
 *
 * The manager's ClassPortInfo decides, which is fetched when the port is
 * opened and again when the port or the SM has changed; until it is here, an
 * OPA port counts as one whose manager answers IB records only.
 *
 * Return: PR_OPA_SUPPORTED its manager answers OPA path records;
 * PR_NOT_SUPPORTED it does not, and the port's LID, 0xC000 or more, cannot be
 * named in an IB record; or the port cannot be opened; PR_IB_SUPPORTED
 * otherwise. Any thread.
 *
 * Source: Linux drivers/infiniband/core/sa_query.c.
 */
int opa_pr_query_possible(struct ib_sa_client *client, struct ib_device *device,
			  uint8_t port_num, struct sa_path_rec *rec);

/**
 * ib_sa_cancel_query - end a query early
 * @id:    from the call that started it
 * @query: from the same call
 *
 * Its callback comes with -EINTR, or with the answer if that was faster. A
 * query that has ended, or whose callback is running, is left alone; @query is
 * a ticket and no address, and no two queries of a process have the same id
 * and ticket, so a late cancel hits nothing. Any thread, any callback.
 */
void ib_sa_cancel_query(int id, struct ib_sa_query *query);

/**
 * ib_sa_pack_path - a path record to its wire form
 * @rec:       network order; its type is not looked at: the IB layout
 * @attribute: room for 64 bytes
 *
 * Values wider than their field are cut.
 */
void ib_sa_pack_path(struct sa_path_rec *rec, void *attribute);

/**
 * ib_sa_unpack_path - a path record from its wire form
 * @attribute: 64 bytes
 * @rec:       the record, of type IB
 */
void ib_sa_unpack_path(void *attribute, struct sa_path_rec *rec);

IBSA_END

#endif
