#include "lib/l7/dns/dns_message.hpp"

namespace sluice {

DnsQuestion parse_dns_question(ByteView message, std::size_t at) noexcept {
    const DnsNameWalk name = walk_dns_name(message, at);
    if (name.parsed != DnsParsed::Ok) {
        return {.parsed = name.parsed};
    }
    if (message.size() - name.end < kDnsQuestionTail) {
        return {.parsed = DnsParsed::Truncated};
    }
    return {.name_at = at,
            .end = name.end + kDnsQuestionTail,
            .type = load_be16(message, name.end),
            .in_class = load_be16(message, name.end + 2)};
}

DnsMessage parse_dns_message(ByteView message) noexcept {
    if (message.size() < kDnsHeaderSize) {
        return {.parsed = DnsParsed::ShortHeader};
    }
    const DnsHeader header{message};
    DnsMessage parsed{.is_response = header.is_response(),
                      .opcode = header.opcode(),
                      .questions = header.questions};
    if (!is_assigned_dns_opcode(parsed.opcode)) {
        parsed.parsed = DnsParsed::BadOpcode;
        return parsed;
    }
    if (parsed.questions == 0) {
        parsed.parsed = DnsParsed::NoQuestion;
        return parsed;
    }
    parsed.first = parse_dns_question(message, kDnsHeaderSize);
    parsed.parsed = parsed.first.parsed;
    return parsed;
}

DnsTcpFrame split_dns_stream(ByteView stream) noexcept {
    constexpr std::size_t kLengthSize = 2;
    if (stream.size() < kLengthSize) {
        return {.missing = kLengthSize - stream.size()};
    }
    const std::size_t size = load_be16(stream, 0);
    if (stream.size() - kLengthSize < size) {
        return {.missing = size - (stream.size() - kLengthSize)};
    }
    return {.message = stream.subspan(kLengthSize, size), .end = kLengthSize + size};
}

}  // namespace sluice
