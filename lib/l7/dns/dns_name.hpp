#pragma once
#include "lib/base/bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice {

// How reading a DNS message ended. What is not Ok is malformed, and the name says how.
enum class DnsParsed : std::uint8_t {
    Ok,
    ShortHeader,  // fewer than the 12 bytes of a header
    BadOpcode,    // one that is not assigned
    NoQuestion,   // a question count of zero
    Truncated,    // the message ends inside its question
    BadLabel,     // a length byte that begins with the bits 01 or 10
    BadPointer,   // compression that does not lead further towards the beginning, or too often
    NameTooLong,  // more than 255 bytes uncompressed
};

// A name in wire form that was walked: sound from its first byte to its root label.
struct DnsNameWalk {
    DnsParsed parsed = DnsParsed::Ok;
    std::size_t end = 0;  // of the bytes at its place: behind the root label, or the first pointer
    std::size_t steps = 0;  // length bytes and pointers that were read
};

// RFC 1035, 2.3.4: octets of an uncompressed name, length bytes and root label included.
inline constexpr std::size_t kMaxDnsName = 255;
// And of one of its labels, without the length byte.
inline constexpr std::size_t kMaxDnsLabel = 63;
// Characters of such a name in presentation form, if each of its octets needs an escape: `\DDD` for
// an octet of a label, a dot between two labels.
inline constexpr std::size_t kMaxDnsNameText = std::size_t{4} * (kMaxDnsName - 2);

// Pointers of one name. Who compresses needs few; what has more is made to cost time.
inline constexpr std::size_t kMaxDnsPointers = 16;

// Walks a name that begins at `at`, in at most kMaxDnsName / 2 + kMaxDnsPointers + 1 steps. A
// pointer has to lead before the place where the labels that it ends began, so none comes again.
[[nodiscard]] DnsNameWalk walk_dns_name(ByteView message, std::size_t at) noexcept;

// The presentation form of a name that was walked and is Ok, in small letters (RFC 4343: names
// compare without regard to case): labels with dots between them and none behind, the root alone
// as `.`. In a label `.` and `\` are written `\.` and `\\`, octets other than 0x21 to 0x7E as
// `\DDD`. Returns its length; `to` has room for kMaxDnsNameText.
[[nodiscard]] std::size_t write_dns_name(ByteView message, std::size_t at,
                                         std::span<std::byte> to) noexcept;

}  // namespace sluice
