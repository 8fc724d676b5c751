/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#ifndef SLUICE_DATAPLANE_XDP_PORT_MAPS_H
#define SLUICE_DATAPLANE_XDP_PORT_MAPS_H

#include <linux/types.h>

/* What the program of one port looks up: made by the box for each port, and known to nobody else.
 */

/* An address with its version before it, so that 1.2.3.4 is never an address of IPv6. */
struct sluice_address {
    __u32 version;  /* 4 or 6 */
    __u8 bytes[16]; /* in network order; of IPv4 the first four */
};

/* A network whose packets are dropped early. Bits that count: those of the version, then its own.
 */
struct sluice_network {
    __u32 length;
    struct sluice_address from;
};
#define SLUICE_VERSION_BITS 32

struct sluice_drop {
    __u64 until; /* CLOCK_MONOTONIC, ns; 0: for ever */
    __u32 row;   /* in `early_counts` */
    __u8 passes;  /* not 0: it is left to the box, whatever network it lies in */
    __u8 source;  /* an EarlyDropSource, for people */
    __u8 length;  /* of the network itself, which a look-up does not tell; set with its entry */
    __u8 unused;
};

struct sluice_drop_count {
    __u64 packets;
    __u64 bytes;
};
#define SLUICE_DROP_ROWS 16384

/* Frames with more VLAN tags or MPLS labels are left to the box. */
#define SLUICE_MOST_TAGS 4
#define SLUICE_MOST_LABELS 4
/* IPv6 extension headers, as kMaxIpv6Extensions of lib/packet; no frame has so many bytes of them. */
#define SLUICE_MOST_EXTENSIONS 16
#define SLUICE_MOST_EXTENSION_BYTES 4096

/* What goes to the kernel's own stack: IP protocol << 16 | destination port, 0 where it has none.
 */
#define SLUICE_MOST_MANAGED 64

#endif
