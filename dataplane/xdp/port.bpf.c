/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "frame.bpf.h"
#include "pair_state.h"
#include "port_maps.h"

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

/* The program of one af_xdp port.
 *
 *   management      to the kernel's own stack, within its budget
 *   early drop      what the box has told it to drop, until then
 *   the box beats   to the socket of their queue
 *   it does not     to the other port of the pair, or nowhere, as kernel.fail says
 *
 * Before the first beat of all, nothing passes.
 *
 * libxdp, and so DPDK's driver, lets its sockets join a program that it finds on the interface
 * under this name and version, by the map `xsks_map`: neither loads nor removes one of its own
 * then. */

const volatile __u32 side = 0;        /* 0: outside, 1: inside */
const volatile __u32 drops_early = 0; /* what is 0 is left out when the program is loaded */
const volatile __u32 has_management = 0;
const volatile __u64 management_gap = 0;   /* ns from one packet to the next */
const volatile __u64 management_burst = 0; /* ns that packets may come ahead of that */

struct {
    __uint(type, BPF_MAP_TYPE_XSKMAP);
    __uint(max_entries, 64);
    __type(key, __u32);
    __type(value, __u32);
} xsks_map SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_DEVMAP);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, __u32);
} peer SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct sluice_pair_state);
} pair_state SEC(".maps");

struct early_networks {
    __uint(type, BPF_MAP_TYPE_LPM_TRIE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, 1);
    __uint(key_size, sizeof(struct sluice_network));
    __uint(value_size, sizeof(struct sluice_drop));
};

/* All networks at once, so that they are exchanged at one instant. None: nothing is dropped. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
    __uint(max_entries, 1);
    __type(key, __u32);
    __array(values, struct early_networks);
} early_drop SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, SLUICE_DROP_ROWS);
    __type(key, __u32);
    __type(value, struct sluice_drop_count);
} early_counts SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, SLUICE_MOST_MANAGED);
    __type(key, struct sluice_address);
    __type(value, __u8);
} management_to SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, SLUICE_MOST_MANAGED);
    __type(key, __u32);
    __type(value, __u8);
} management_allow SEC(".maps");

/* When the next packet of management conforms, if none comes before (GCRA). */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, __u64);
} management_next SEC(".maps");

static const __u32 first = 0;

static __u64 read_once(const __u64* word) {
    return *(const volatile __u64*)word;
}

static __always_inline int is_managed(const struct sluice_frame* frame) {
    if (bpf_map_lookup_elem(&management_to, &frame->to) == 0) {
        return 0;
    }
    const __u32 service = frame->service;
    return frame->asks_for || (service != 0 && bpf_map_lookup_elem(&management_allow, &service));
}

/* Another CPU may be faster: a packet that loses its turn twice is beyond the budget. */
static __always_inline int is_within_budget(__u64 now) {
    __u64* next = bpf_map_lookup_elem(&management_next, &first);
    if (next == 0) {
        return 0;
    }
    for (int tries = 0; tries < 2; ++tries) {
        const __u64 before = read_once(next);
        if (before > now + management_burst) {
            return 0;
        }
        const __u64 after = (before > now ? before : now) + management_gap;
        if (__sync_val_compare_and_swap(next, before, after) == before) {
            return 1;
        }
    }
    return 0;
}

static __always_inline int is_dropped_early(const struct sluice_frame* frame, __u64 now,
                                            __u64 bytes) {
    void* networks = bpf_map_lookup_elem(&early_drop, &first);
    if (networks == 0 || frame->from.version == 0 || frame->is_discovery) {
        return 0;
    }
    struct sluice_network key = {.length = SLUICE_VERSION_BITS + 128, .from = frame->from};
    const struct sluice_drop* drop = bpf_map_lookup_elem(networks, &key);
    if (drop == 0 || drop->passes != 0 || (drop->until != 0 && drop->until <= now)) {
        return 0;
    }
    const __u32 row = drop->row;
    struct sluice_drop_count* count = bpf_map_lookup_elem(&early_counts, &row);
    if (count == 0) {
        return 0;
    }
    count->packets += 1;
    count->bytes += bytes;
    return 1;
}

SEC("xdp")
int xsk_def_prog(struct xdp_md* context) {
    struct sluice_pair_state* pair = bpf_map_lookup_elem(&pair_state, &first);
    if (pair == 0) {
        return XDP_ABORTED;
    }
    struct sluice_port_counts* counts = &pair->ports[side & 1];
    const __u64 now = bpf_ktime_get_ns();
    const __u64 bytes = context->data_end - context->data;
    if (has_management || drops_early) {
        const struct sluice_cursor cursor = {(const __u8*)(long)context->data,
                                             (const __u8*)(long)context->data_end};
        struct sluice_frame frame = {};
        if (sluice_read_frame(cursor, &frame)) {
            if (has_management && is_managed(&frame)) {
                const int passes = is_within_budget(now);
                __sync_fetch_and_add(passes ? &counts->managed_packets : &counts->managed_refused,
                                     1);
                return passes ? XDP_PASS : XDP_DROP;
            }
            if (drops_early && is_dropped_early(&frame, now, bytes)) {
                return XDP_DROP;
            }
        }
    }
    const __u64 beat = read_once(&pair->beat);
    if (beat != 0 && now <= beat + read_once(&pair->heartbeat) &&
        bpf_redirect_map(&xsks_map, context->rx_queue_index, XDP_DROP) == XDP_REDIRECT) {
        return XDP_REDIRECT;
    }
    if (beat != 0 && read_once(&pair->fail_open) != 0 &&
        bpf_redirect_map(&peer, 0, XDP_DROP) == XDP_REDIRECT) {
        __sync_fetch_and_add(&counts->bridged_packets, 1);
        __sync_fetch_and_add(&counts->bridged_bytes, bytes);
        return XDP_REDIRECT;
    }
    __sync_fetch_and_add(&counts->dropped_packets, 1);
    __sync_fetch_and_add(&counts->dropped_bytes, bytes);
    return XDP_DROP;
}

char _license[] SEC("license") = "Dual BSD/GPL";
__uint(xsk_prog_version, 1) SEC("xdp_metadata");
