/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#ifndef SLUICE_DATAPLANE_XDP_PAIR_STATE_H
#define SLUICE_DATAPLANE_XDP_PAIR_STATE_H

#include <linux/types.h>

/* What the box and the programs of one pair share: a map of one entry, which the box maps into its
 * memory. A map of another layout is replaced, never read. */
#define SLUICE_PAIR_LAYOUT 2

/* Counted by the program of a port, for frames that it received and the box did not get. What is
 * dropped early is counted by rule, in `early_counts`. */
struct sluice_port_counts {
    __u64 bridged_packets;
    __u64 bridged_bytes;
    __u64 dropped_packets;
    __u64 dropped_bytes;
    __u64 managed_packets; /* to the kernel's own stack */
    __u64 managed_refused; /* beyond the budget of that */
    __u64 unused[2];       /* a cache line for each port */
};

struct sluice_pair_state {
    __u64 layout;
    __u64 beat;      /* CLOCK_MONOTONIC, ns; 0: no box has beaten yet */
    __u64 heartbeat; /* ns without a beat after which the box counts as gone */
    __u64 fail_open; /* 1: the programs bridge then; 0: they drop */
    __u64 told;      /* bridged packets that the box has told of */
    __u64 unused[3];
    struct sluice_port_counts ports[2]; /* outside, inside */
};

#endif
