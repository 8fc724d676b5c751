#include "lib/respond/answer/dns_answer.hpp"

#include "lib/l7/dns/dns_message.hpp"
#include "lib/respond/answer/byte_writer.hpp"
#include "lib/respond/answer/edns_query.hpp"

#include <optional>

namespace sluice {
namespace {

constexpr std::uint16_t kResponse = 0x8000;
constexpr std::uint16_t kTruncated = 0x0200;
constexpr std::uint16_t kRecursionDesired = 0x0100;
constexpr std::uint16_t kCheckingDisabled = 0x0010;
constexpr std::uint16_t kFormatError = 1;
constexpr std::uint16_t kRefused = 5;
constexpr std::uint32_t kBadVersion = 0x0100'0000;
constexpr std::uint16_t kUdpPayload = 1232;  // fits into the least MTU of IPv6

// The name stands there whole: label by label up to the root, without a pointer. The question has
// been parsed.
bool is_uncompressed(ByteView query, const DnsQuestion& question) noexcept {
    std::size_t at = question.name_at;
    while (load_u8(query, at) != 0) {
        if (load_u8(query, at) > 63) {
            return false;
        }
        at += load_u8(query, at) + 1U;
    }
    return true;
}

std::uint16_t flags_of(DnsAnswer answer, const std::optional<EdnsQuery>& edns) noexcept {
    if (edns && edns->is_malformed) {
        return kFormatError;
    }
    if (edns && !edns->is_version_0) {
        return 0;  // its RCODE's upper bits, and no others, are in the OPT record
    }
    switch (answer) {
        case DnsAnswer::Truncated:
            return kTruncated;
        case DnsAnswer::Refused:
            return kRefused;
        default:
            return 0;
    }
}

// A cookie goes back as it came: its client knows its own part again, and its server's own part is
// as good as before.
void write_opt(ByteWriter& out, const EdnsQuery& edns) noexcept {
    const ByteView cookie = edns.is_malformed ? ByteView{} : edns.cookie;
    out.u8(0);
    out.be16(kTypeOpt);
    out.be16(kUdpPayload);
    out.be32((edns.is_version_0 ? 0 : kBadVersion) | (edns.dnssec_ok ? kDnssecOk : 0));
    out.be16(static_cast<std::uint16_t>(cookie.size()));
    out.bytes(cookie);
}

}  // namespace

std::size_t write_dns_answer(ByteView query, DnsAnswer answer, MutableBytes to) noexcept {
    const DnsMessage message = parse_dns_message(query);
    const bool is_query = message.parsed == DnsParsed::Ok && !message.is_response &&
                          message.opcode == 0 && message.questions == 1;
    if (!is_query || !is_uncompressed(query, message.first)) {
        return 0;
    }
    const std::optional<EdnsQuery> edns = find_edns(query, message.first.end);
    const std::uint16_t kept = load_be16(query, 2) & (kRecursionDesired | kCheckingDisabled);
    ByteWriter out{to};
    out.bytes(query.first(2));
    out.be16(static_cast<std::uint16_t>(kResponse | kept | flags_of(answer, edns)));
    out.be16(1);
    out.be32(0);
    out.be16(edns ? 1 : 0);
    out.bytes(query.subspan(kDnsHeaderSize, message.first.end - kDnsHeaderSize));
    if (edns) {
        write_opt(out, *edns);
    }
    return out.at();
}

}  // namespace sluice
