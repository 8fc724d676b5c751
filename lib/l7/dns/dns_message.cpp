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
    if (stream.size() < kDnsLengthSize) {
        return {.missing = kDnsLengthSize - stream.size()};
    }
    const std::size_t size = load_be16(stream, 0);
    if (stream.size() - kDnsLengthSize < size) {
        return {.missing = size - (stream.size() - kDnsLengthSize)};
    }
    return {.message = stream.subspan(kDnsLengthSize, size), .end = kDnsLengthSize + size};
}

bool ends_with_dns_message(ByteView stream) noexcept {
    DnsTcpFrame frame;
    while (!stream.empty() && frame.missing == 0) {
        frame = split_dns_stream(stream);
        stream = stream.subspan(frame.end);
    }
    return frame.missing == 0;
}

std::size_t short_dns_frames(ByteView stream) noexcept {
    std::size_t at = 0;
    for (;;) {
        const DnsTcpFrame frame = split_dns_stream(stream.subspan(at));
        if (frame.missing != 0 || frame.message.size() >= kDnsHeaderSize) {
            return at;
        }
        at += frame.end;
    }
}

}  // namespace sluice
