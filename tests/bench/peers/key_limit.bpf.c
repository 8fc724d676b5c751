/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/ip.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

/* Programs over frames that the kernel's own test of programs brings (BPF_PROG_TEST_RUN), and one over those of an interface.
 *
 *   key_limit   one token bucket for each IPv4 source, in an LRU hash map
 *   feed        none: the frame goes on into the kernel's stack, where other limiters wait for it
 *   key_limit_forward   the same bucket; what is admitted goes on into the stack, which forwards it
 *
 * The test brings one frame again and again, so the first two give it the source whose turn
 * it is. It runs on one CPU at a time: the counters below need no atomic. */

__u64 keys = 1;           /* sources that take turns */
__u64 first = 0;          /* number of the first of them */
__u64 resident_every = 0; /* of so many frames one is the resident's; 0: none is */
__u64 gap = 1000000;      /* ns from one packet of a key to the next */
__u64 burst_gaps = 0;     /* ns that packets of a key may come ahead of that */
__u64 head_sum = 0;       /* of the IPv4 header without source and checksum */

__u64 seen = 0;
__u64 admitted = 0;
__u64 resident_seen = 0;
__u64 resident_admitted = 0;
__u64 without_bucket = 0;   /* the map took no new key */
__u64 first_refused_at = 0; /* since it was last set to 0; CLOCK_MONOTONIC, ns */

static __u64 turn = 0;
static __u64 source_turn = 0;

#define RESIDENT 0x0B000001u

struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, __u64); /* when the next packet of the key conforms if none comes before (GCRA) */
} buckets SEC(".maps");

static __always_inline __u32 next_source(void) {
    if (resident_every != 0 && ++turn >= resident_every) {
        turn = 0;
        return RESIDENT;
    }
    const __u64 number = first + source_turn;
    source_turn = source_turn + 1 < keys ? source_turn + 1 : 0;
    return 0x0A000000u + (((__u32)number * 2654435761u) & 0xFFFFFFu);
}

static __always_inline struct iphdr* header_of(struct xdp_md* context) {
    struct iphdr* header = (void*)(long)context->data + sizeof(struct ethhdr);
    if ((void*)(header + 1) > (void*)(long)context->data_end) {
        return 0;
    }
    const struct ethhdr* link = (void*)(long)context->data;
    return link->h_proto == bpf_htons(ETH_P_IP) ? header : 0;
}

static __always_inline void give_source(struct iphdr* header, __u32 source) {
    __u32 sum = (__u32)head_sum + (source >> 16) + (source & 0xFFFF);
    sum = (sum & 0xFFFF) + (sum >> 16);
    sum = (sum & 0xFFFF) + (sum >> 16);
    header->saddr = bpf_htonl(source);
    header->check = bpf_htons((__u16)~sum);
}

static __always_inline int conforms(__u32 source) {
    const __u64 now = bpf_ktime_get_ns();
    __u64* next = bpf_map_lookup_elem(&buckets, &source);
    if (next == 0) {
        const __u64 after = now + gap;
        without_bucket += bpf_map_update_elem(&buckets, &source, &after, BPF_ANY) != 0;
        return 1;
    }
    for (int tries = 0; tries < 2; ++tries) {
        const __u64 before = *(volatile __u64*)next;
        if (before > now + burst_gaps) {
            if (first_refused_at == 0) {
                first_refused_at = now;
            }
            return 0;
        }
        const __u64 after = (before > now ? before : now) + gap;
        if (__sync_val_compare_and_swap(next, before, after) == before) {
            return 1;
        }
    }
    return 0;
}

/* What is admitted is dropped as well: the frame goes back to its pool, as net_pcap frees what it
 * is given to send. */
SEC("xdp")
int key_limit(struct xdp_md* context) {
    struct iphdr* header = header_of(context);
    if (header == 0) {
        return XDP_ABORTED;
    }
    const __u32 source = next_source();
    give_source(header, source);
    const int passes = conforms(bpf_ntohl(header->saddr));
    seen += 1;
    admitted += passes;
    if (source == RESIDENT) {
        resident_seen += 1;
        resident_admitted += passes;
    }
    return XDP_DROP;
}

SEC("xdp")
int feed(struct xdp_md* context) {
    struct iphdr* header = header_of(context);
    if (header == 0) {
        return XDP_ABORTED;
    }
    const __u32 source = next_source();
    give_source(header, source);
    seen += 1;
    resident_seen += source == RESIDENT;
    return XDP_PASS;
}

SEC("xdp")
int key_limit_forward(struct xdp_md* context) {
    const struct iphdr* header = header_of(context);
    return header == 0 || conforms(bpf_ntohl(header->saddr)) ? XDP_PASS : XDP_DROP;
}

char _license[] SEC("license") = "Dual BSD/GPL";
