#include "lib/answer/dns_answer.hpp"

#include "lib/answer/byte_writer.hpp"
#include "lib/l7/byte_reader.hpp"
#include "lib/l7/dns/dns_message.hpp"

#include <algorithm>
#include <optional>

namespace sluice {
namespace {

constexpr std::uint16_t kResponse = 0x8000;
constexpr std::uint16_t kTruncated = 0x0200;
constexpr std::uint16_t kRecursionDesired = 0x0100;
constexpr std::uint16_t kCheckingDisabled = 0x0010;
constexpr std::uint16_t kRefused = 5;
constexpr std::uint16_t kTypeOpt = 41;
// RFC 6891, 6.1.3: the flags of an OPT record stand in its TTL, behind an extended RCODE and a
// version.
constexpr std::uint32_t kDnssecOk = 0x8000;
constexpr std::uint32_t kBadVersion = 0x0100'0000;
constexpr std::uint16_t kUdpPayload = 1232;  // fits into the least MTU of IPv6
// Records behind the question that are looked at for an OPT record.
constexpr unsigned kMostRecords = 8;

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

struct EdnsQuery {
    bool is_version_0 = true;
    bool dnssec_ok = false;
};

// The first OPT record among the additional ones that the header counts. nullopt: there is none
// in the first records, or they are not sound.
std::optional<EdnsQuery> find_edns(ByteView query, std::size_t at) noexcept {
    constexpr std::size_t kFixedSize = 10;  // type, class, TTL, length of the data
    const DnsHeader header{query};
    const unsigned before = unsigned{header.answers} + header.authorities;
    const unsigned records = std::min(before + header.additionals, kMostRecords);
    for (unsigned record = 0; record < records; ++record) {
        const DnsNameWalk name = walk_dns_name(query, at);
        if (name.parsed != DnsParsed::Ok || query.size() - name.end < kFixedSize) {
            return std::nullopt;
        }
        ByteReader reader{query.subspan(name.end)};
        const std::uint16_t type = reader.be16();
        (void)reader.be16();
        const std::uint32_t flags = reader.be32();
        (void)reader.part16();
        if (!reader.ok()) {
            return std::nullopt;
        }
        if (record >= before && type == kTypeOpt && name.end == at + 1) {
            return EdnsQuery{.is_version_0 = (flags >> 16 & 0xFF) == 0,
                             .dnssec_ok = (flags & kDnssecOk) != 0};
        }
        at = name.end + reader.at();
    }
    return std::nullopt;
}

std::uint16_t flags_of(DnsAnswer answer, bool bad_version) noexcept {
    if (bad_version) {
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

void write_opt(ByteWriter& out, const EdnsQuery& edns) noexcept {
    out.u8(0);
    out.be16(kTypeOpt);
    out.be16(kUdpPayload);
    out.be32((edns.is_version_0 ? 0 : kBadVersion) | (edns.dnssec_ok ? kDnssecOk : 0));
    out.be16(0);
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
    const bool bad_version = edns && !edns->is_version_0;
    ByteWriter out{to};
    out.bytes(query.first(2));
    out.be16(static_cast<std::uint16_t>(kResponse | kept | flags_of(answer, bad_version)));
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
