/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "pair_state.h"

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

/* The program of one af_xdp port. While the box beats, frames go to the socket of their queue. When
 * it does not, or a queue has no socket, the kernel forwards them to the other port of the pair, or
 * drops them, as kernel.fail says. Before the first beat of all, nothing passes.
 *
 * libxdp, and so DPDK's driver, lets its sockets join a program that it finds on the interface under
 * this name and version, by the map `xsks_map`: neither loads nor removes one of its own then. */

const volatile __u32 side = 0; /* 0: outside, 1: inside */

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

static __u64 read_once(const __u64* word) {
    return *(const volatile __u64*)word;
}

SEC("xdp")
int xsk_def_prog(struct xdp_md* frame) {
    const __u32 first = 0;
    struct sluice_pair_state* pair = bpf_map_lookup_elem(&pair_state, &first);
    if (pair == 0) {
        return XDP_ABORTED;
    }
    const __u64 now = bpf_ktime_get_ns();
    const __u64 beat = read_once(&pair->beat);
    if (beat != 0 && now <= beat + read_once(&pair->heartbeat) &&
        bpf_redirect_map(&xsks_map, frame->rx_queue_index, XDP_DROP) == XDP_REDIRECT) {
        return XDP_REDIRECT;
    }
    struct sluice_port_counts* counts = &pair->ports[side & 1];
    const __u64 bytes = frame->data_end - frame->data;
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
