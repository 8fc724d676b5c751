#pragma once
#include "lib/base/bytes.hpp"
#include "lib/l7/dns/dns_name.hpp"

#include <cstddef>
#include <cstdint>

namespace sluice {

inline constexpr std::size_t kDnsHeaderSize = 12;
// A question's type and class, behind its name; so many bytes a message with a question has at
// least.
inline constexpr std::size_t kDnsQuestionTail = 4;
inline constexpr std::size_t kLeastDnsMessage = kDnsHeaderSize + 1 + kDnsQuestionTail;

// RFC 1035, 4.1.1. The message has kDnsHeaderSize bytes.
struct DnsHeader {
    explicit DnsHeader(ByteView message) noexcept
        : flags{load_be16(message, 2)},
          questions{load_be16(message, 4)},
          answers{load_be16(message, 6)},
          authorities{load_be16(message, 8)},
          additionals{load_be16(message, 10)} {}

    std::uint16_t flags;
    std::uint16_t questions;
    std::uint16_t answers;
    std::uint16_t authorities;
    std::uint16_t additionals;

    [[nodiscard]] bool is_response() const noexcept { return (flags & 0x8000U) != 0; }
    [[nodiscard]] std::uint8_t opcode() const noexcept { return (flags >> 11) & 0xFU; }
    [[nodiscard]] std::uint8_t response_code() const noexcept { return flags & 0xFU; }
};

// QUERY, IQUERY, STATUS, NOTIFY, UPDATE, DSO.
[[nodiscard]] constexpr bool is_assigned_dns_opcode(std::uint8_t opcode) noexcept {
    return opcode <= 6 && opcode != 3;
}

// One question of a message, which it points into.
struct DnsQuestion {
    DnsParsed parsed = DnsParsed::Ok;
    std::size_t name_at = 0;
    std::size_t end = 0;
    std::uint16_t type = 0;
    std::uint16_t in_class = 0;
};

// The question that begins at `at`.
[[nodiscard]] DnsQuestion parse_dns_question(ByteView message, std::size_t at) noexcept;

// The question or answer of a DNS message: its header and its first question.
struct DnsMessage {
    DnsParsed parsed = DnsParsed::Ok;
    bool is_response = false;
    std::uint8_t opcode = 0;
    std::uint16_t questions = 0;  // as the header counts them
    DnsQuestion first;
};

// Sound: its opcode is assigned, it counts a question at least, and the first is whole. What
// follows is the business of who answers.
[[nodiscard]] DnsMessage parse_dns_message(ByteView message) noexcept;

inline constexpr std::size_t kDnsLengthSize = 2;
// DNS over TCP: each message stands behind its length in two bytes (RFC 1035, 4.2.2).
struct DnsTcpFrame {
    std::size_t missing =
        0;  // bytes of the stream that have to come first; 0: the message is whole
    ByteView message;
    std::size_t end = 0;  // where the next frame begins
};
[[nodiscard]] DnsTcpFrame split_dns_stream(ByteView stream) noexcept;
// True if the stream ends where a message does, if one begins with its first byte.
[[nodiscard]] bool ends_with_dns_message(ByteView stream) noexcept;
// Bytes of whole frames at the beginning that are too short for a header, so that many of them are
// stepped over at once.
[[nodiscard]] std::size_t short_dns_frames(ByteView stream) noexcept;

}  // namespace sluice
