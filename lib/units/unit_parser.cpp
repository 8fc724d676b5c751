#include "lib/units/unit_parser.hpp"

#include "lib/units/dns_units.hpp"

#include <optional>

namespace sluice {
namespace {

constexpr std::uint8_t kTcp = 6;
constexpr std::uint8_t kUdp = 17;

void find_lone(void*, const UnitSource& packet, UnitSink& units) noexcept {
    const PacketHeaders& headers = packet.headers;
    if (headers.proto != kUdp || !headers.fields.has(Field::L4Dport)) {
        return;
    }
    if (const std::optional<ByteView> payload = read_payload(headers, packet.frame.bytes)) {
        (void)find_dns(*payload, packet, units);
    }
}

}  // namespace

void UnitParser::find(void* parser, const UnitSource& packet, UnitSink& units) noexcept {
    const PacketHeaders& headers = packet.headers;
    if (headers.proto != kTcp) {
        find_lone(nullptr, packet, units);
        return;
    }
    if (!headers.fields.has(Field::L4Dport) || !headers.fields.has(Field::TcpFlags)) {
        return;
    }
    if (const std::optional<ByteView> payload = read_payload(headers, packet.frame.bytes)) {
        static_cast<UnitParser*>(parser)->streams_.find(*payload, packet, units);
    }
}

UnitFinder UnitParser::finder() noexcept {
    UnitFinder finder{.find = &find, .parser = this, .texts = kDnsTexts, .protos = {kTcp, kUdp}};
    finder.texts.add_all(kHttpTexts);
    finder.texts.add_all(kTlsTexts);
    finder.settle = [](void* parser, const StickyBytes& bytes, bool forwarded) noexcept {
        static_cast<UnitParser*>(parser)->streams_.settle(bytes, forwarded);
    };
    finder.refused = [](void* parser, const StickyBytes& bytes) noexcept {
        return static_cast<UnitParser*>(parser)->streams_.refused(bytes);
    };
    return finder;
}

UnitFinder lone_unit_finder() noexcept {
    return {.find = &find_lone, .texts = kDnsTexts, .protos = {kUdp, kUdp}};
}

}  // namespace sluice
