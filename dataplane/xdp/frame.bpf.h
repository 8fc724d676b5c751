/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#ifndef SLUICE_DATAPLANE_XDP_FRAME_BPF_H
#define SLUICE_DATAPLANE_XDP_FRAME_BPF_H

#include "port_maps.h"

#include <linux/types.h>

#include <bpf/bpf_helpers.h>

/* The addresses of a frame, found as lib/packet finds them: behind VLAN tags, MPLS labels and a
 * PPPoE header, of the outermost IP header. What is not understood is left to the box. */

struct sluice_cursor {
    const __u8* at;
    const __u8* end;
};

/* What lies behind the link layer. */
enum sluice_link { SLUICE_OTHER, SLUICE_IPV4, SLUICE_IPV6, SLUICE_ARP };

struct sluice_frame {
    struct sluice_address from;
    struct sluice_address to;
    __u32 service; /* protocol << 16 | destination port; 0: it has none that is known */
    __u8 asks_for; /* 1: it asks for the link address of `to`, or answers such a question */
    __u8 is_discovery; /* 1: neighbours find each other by it, which bans leave out */
};

static __always_inline int sluice_has(const struct sluice_cursor* cursor, __u32 size) {
    return cursor->at + size <= cursor->end;
}

static __always_inline __u16 sluice_be16(const __u8* at) {
    return (__u16)(at[0] << 8 | at[1]);
}

static __always_inline enum sluice_link sluice_skip_mpls(struct sluice_cursor* cursor) {
    for (int labels = 0; labels < SLUICE_MOST_LABELS; ++labels) {
        if (!sluice_has(cursor, 4)) {
            return SLUICE_OTHER;
        }
        const __u8 is_last = cursor->at[2] & 1;
        cursor->at += 4;
        if (is_last) {
            if (!sluice_has(cursor, 1)) {
                return SLUICE_OTHER;
            }
            const __u8 version = cursor->at[0] >> 4;
            return version == 4 ? SLUICE_IPV4 : version == 6 ? SLUICE_IPV6 : SLUICE_OTHER;
        }
    }
    return SLUICE_OTHER;
}

/* An odd first octet is the whole protocol (RFC 1661, 6.5). */
static __always_inline enum sluice_link sluice_skip_pppoe(struct sluice_cursor* cursor) {
    if (!sluice_has(cursor, 7)) {
        return SLUICE_OTHER;
    }
    __u16 protocol = cursor->at[6];
    if ((protocol & 1) != 0) {
        cursor->at += 7;
    } else if (sluice_has(cursor, 8)) {
        protocol = sluice_be16(cursor->at + 6);
        cursor->at += 8;
    } else {
        return SLUICE_OTHER;
    }
    switch (protocol) {
        case 0x0021:
            return SLUICE_IPV4;
        case 0x0057:
            return SLUICE_IPV6;
        case 0x0281:
        case 0x0283:
            return sluice_skip_mpls(cursor);
        default:
            return SLUICE_OTHER;
    }
}

static __always_inline enum sluice_link sluice_skip_link(struct sluice_cursor* cursor) {
    if (!sluice_has(cursor, 14)) {
        return SLUICE_OTHER;
    }
    __u16 type = sluice_be16(cursor->at + 12);
    cursor->at += 14;
    for (int tags = 0; tags < SLUICE_MOST_TAGS; ++tags) {
        if (type != 0x8100 && type != 0x88A8 && type != 0x9100 && type != 0x9200) {
            break;
        }
        if (!sluice_has(cursor, 4)) {
            return SLUICE_OTHER;
        }
        type = sluice_be16(cursor->at + 2);
        cursor->at += 4;
    }
    switch (type) {
        case 0x0800:
            return SLUICE_IPV4;
        case 0x86DD:
            return SLUICE_IPV6;
        case 0x0806:
            return SLUICE_ARP;
        case 0x8847:
        case 0x8848:
            return sluice_skip_mpls(cursor);
        case 0x8864:
            return sluice_skip_pppoe(cursor);
        default:
            return SLUICE_OTHER;
    }
}

static __always_inline void sluice_read_service(struct sluice_frame* frame, __u8 protocol,
                                                const __u8* at, const __u8* end) {
    frame->service = (__u32)protocol << 16;
    if ((protocol == 6 || protocol == 17) && at + 4 <= end) {
        frame->service |= sluice_be16(at + 2);
    }
}

static __always_inline int sluice_read_ipv4(const struct sluice_cursor* cursor,
                                            struct sluice_frame* frame) {
    if (!sluice_has(cursor, 20)) {
        return 0;
    }
    const __u8* const at = cursor->at;
    const __u32 header = (at[0] & 0xF) * 4;
    const __u16 total = sluice_be16(at + 2);
    if (at[0] >> 4 != 4 || header < 20 || (total != 0 && total < header)) {
        return 0;
    }
    frame->from.version = frame->to.version = 4;
    __builtin_memcpy(frame->from.bytes, at + 12, 4);
    __builtin_memcpy(frame->to.bytes, at + 16, 4);
    if ((sluice_be16(at + 6) & 0x3FFF) == 0 && header == 20) {
        sluice_read_service(frame, at[9], at + 20, cursor->end);
    }
    return 1;
}

static __always_inline int sluice_is_extension(__u8 next) {
    return next == 0 || next == 43 || next == 44 || next == 51 || next == 60 || next == 135 ||
           next == 139 || next == 140;
}

/* Of an IPv6 header with hop limit 255: neighbour discovery, as the box finds it, behind extension
 * headers too, and in no fragment but the first. Where headers are missing, or are more than the
 * box reads, the packet is malformed, and none. */
static __always_inline int sluice_is_discovery(const __u8* ip, const __u8* end) {
    const __u32 payload = sluice_be16(ip + 4);
    const __u32 size = payload != 0 ? payload : 0xFFFF;
    __u8 next = ip[6];
    __u32 offset = 0;
    for (int count = 0; count <= SLUICE_MOST_EXTENSIONS; ++count) {
        if (offset > SLUICE_MOST_EXTENSION_BYTES || offset + 8 > size) {
            return 0;
        }
        const __u8* const header = ip + 40 + offset;
        if (header + 8 > end) {
            return 0;
        }
        if (next == 58) {
            return header[0] >= 133 && header[0] <= 137;
        }
        if (!sluice_is_extension(next) || (next == 44 && sluice_be16(header + 2) >> 3 != 0)) {
            return 0;
        }
        const __u32 length = header[1];
        offset += next == 44 ? 8 : next == 51 ? (length + 2) * 4 : (length + 1) * 8;
        next = header[0];
    }
    return 0;
}

static __always_inline int sluice_read_ipv6(const struct sluice_cursor* cursor,
                                            struct sluice_frame* frame) {
    if (!sluice_has(cursor, 40)) {
        return 0;
    }
    const __u8* const at = cursor->at;
    if (at[0] >> 4 != 6) {
        return 0;
    }
    frame->from.version = frame->to.version = 6;
    __builtin_memcpy(frame->from.bytes, at + 8, 16);
    __builtin_memcpy(frame->to.bytes, at + 24, 16);
    sluice_read_service(frame, at[6], at + 40, cursor->end);
    frame->is_discovery = at[7] == 255 && sluice_is_discovery(at, cursor->end);
    /* A neighbour solicitation names whom it asks for inside; an advertisement goes to who asked.
     */
    if (at[6] == 58 && at + 64 <= cursor->end && at[7] == 255 && (at[40] == 135 || at[40] == 136)) {
        frame->asks_for = 1;
        if (at[40] == 135) {
            __builtin_memcpy(frame->to.bytes, at + 48, 16);
        }
    }
    return 1;
}

/* Only what it asks for: it has no source that a rule tests. */
static __always_inline int sluice_read_arp(const struct sluice_cursor* cursor,
                                           struct sluice_frame* frame) {
    if (!sluice_has(cursor, 28) || sluice_be16(cursor->at) != 1 ||
        sluice_be16(cursor->at + 2) != 0x0800 || cursor->at[4] != 6 || cursor->at[5] != 4) {
        return 0;
    }
    frame->to.version = 4;
    __builtin_memcpy(frame->to.bytes, cursor->at + 24, 4);
    frame->asks_for = 1;
    return 1;
}

/* 0: nothing in it is known. */
static __always_inline int sluice_read_frame(struct sluice_cursor cursor,
                                             struct sluice_frame* frame) {
    switch (sluice_skip_link(&cursor)) {
        case SLUICE_IPV4:
            return sluice_read_ipv4(&cursor, frame);
        case SLUICE_IPV6:
            return sluice_read_ipv6(&cursor, frame);
        case SLUICE_ARP:
            return sluice_read_arp(&cursor, frame);
        default:
            return 0;
    }
}

#endif
