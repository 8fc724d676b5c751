#include "lib/l7/dns/dns_datagram.hpp"

#include "lib/l7/dns/dns_message.hpp"

#include <cstddef>

namespace sluice {
namespace {

// Records that are walked at most; a message with more of them is none that has to be recognised
// without its port.
constexpr std::size_t kMostRecords = 64;
// Labels and pointers of all names that are walked at most, so that no message costs more time than
// it takes to walk a few; who compresses takes two or three for a record.
constexpr std::size_t kMostSteps = 256;
// Type, class, TTL and length of the data, behind a record's name.
constexpr std::size_t kRecordTail = 10;

constexpr bool is_known_class(std::uint16_t value) noexcept {
    return value == 1 || value == 3 || value == 4 || value == 254 || value == 255;
}

bool is_plausible(const DnsHeader& header) noexcept {
    constexpr std::uint8_t kMostResponseCode = 11;  // up to DSOTYPENI
    if (header.opcode() != 0 || header.questions != 1) {
        return false;
    }
    return header.is_response() ? header.response_code() <= kMostResponseCode
                                : header.answers == 0 && header.authorities == 0;
}

// The end of the record that begins at `at`; 0: it does not fit, or its name takes more steps than
// are left.
std::size_t end_of_record(ByteView message, std::size_t at, std::size_t& steps_left) noexcept {
    const DnsNameWalk name = walk_dns_name(message, at);
    if (name.parsed != DnsParsed::Ok || message.size() - name.end < kRecordTail ||
        name.steps > steps_left) {
        return 0;
    }
    steps_left -= name.steps;
    const std::size_t data = name.end + kRecordTail;
    const std::size_t size = load_be16(message, data - 2);
    return message.size() - data < size ? 0 : data + size;
}

}  // namespace

bool may_look_like_dns(ByteView message) noexcept {
    return message.size() >= kLeastDnsMessage && is_plausible(DnsHeader{message});
}

bool looks_like_dns(ByteView message) noexcept {
    if (!may_look_like_dns(message)) {
        return false;
    }
    const DnsHeader header{message};
    const std::size_t records =
        std::size_t{header.answers} + header.authorities + header.additionals;
    if (records > kMostRecords) {
        return false;
    }
    const DnsQuestion question = parse_dns_question(message, kDnsHeaderSize);
    if (question.parsed != DnsParsed::Ok || !is_known_class(question.in_class)) {
        return false;
    }
    std::size_t at = question.end;
    std::size_t steps_left = kMostSteps;
    for (std::size_t record = 0; record < records; ++record) {
        at = end_of_record(message, at, steps_left);
        if (at == 0) {
            return false;
        }
    }
    return at == message.size();
}

}  // namespace sluice
