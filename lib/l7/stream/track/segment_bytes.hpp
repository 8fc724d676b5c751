#pragma once
#include "lib/l7/stream/track/tracked_segment.hpp"
#include "lib/packet/packet_headers.hpp"
#include "lib/packet/payload_range.hpp"

#include <optional>

namespace sluice {

// All that a frame says of its segment; ends, service and the checksum's finding are its caller's.
// nullopt: no TCP, or its header is not all at hand. The scale is read of a
// SYN alone, up to the first option that is not sound.
[[nodiscard]] std::optional<TrackedSegment> read_tracked_segment(const PacketHeaders& headers,
                                                                 ByteView frame) noexcept;
// True if options of TCP or IP are some for which a host may drop the segment: a signature
// (RFC 2385, RFC 5925), a source route, what is not sound. What others make of its bytes is another
// question (TrackedSegment::has_doubtful_options).
[[nodiscard]] bool may_be_dropped_for_options(const PacketHeaders& headers,
                                              ByteView frame) noexcept;

// Clears the urgent flag and pointer of a TCP segment whose header is at hand, so that the byte
// stays in the stream for everybody. The checksum is updated (RFC 1624): one that was wrong stays
// wrong.
void clear_urgent(const PacketHeaders& headers, MutableBytes frame) noexcept;
// Overwrites options of unknown kinds by padding, so that both ends do without (RFC 8684, 3.7, of
// Multipath TCP). The checksum is updated.
void clear_options(const PacketHeaders& headers, MutableBytes frame) noexcept;
// Makes of a TCP segment whose header is at hand one without bytes, whose sequence number is 2^30
// less: the IP packet ends behind its header, and has the right checksums.
void make_probe(const PacketHeaders& headers, MutableBytes frame) noexcept;
// Sets the TTL of IPv4, with its checksum, or the hop limit of IPv6.
void set_ttl(const PacketHeaders& headers, std::uint8_t ttl, MutableBytes frame) noexcept;
// Letters of these bytes of the payload become `x`, so that a header line there is one that no
// server knows. Its blanks, colons and end stay.
void void_line(const PacketHeaders& headers, PayloadRange line, MutableBytes frame) noexcept;

}  // namespace sluice
