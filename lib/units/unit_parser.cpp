#include "lib/units/unit_parser.hpp"

#include "lib/units/dns_units.hpp"
#include "lib/units/wanted_protocols.hpp"

#include <optional>

namespace sluice {
namespace {

constexpr std::uint8_t kTcp = 6;
constexpr std::uint8_t kUdp = 17;

// What follows the header of that protocol, where there is a whole one.
std::optional<ByteView> payload_of(const UnitSource& packet, std::uint8_t proto) noexcept {
    const PacketHeaders& headers = packet.headers;
    if (headers.proto != proto || !headers.fields.has(Field::L4Dport)) {
        return std::nullopt;
    }
    return read_payload(headers, packet.frame.bytes);
}

void find_lone(void*, const UnitSource& packet, UnitSink& units) noexcept {
    if (const std::optional<ByteView> payload = payload_of(packet, kUdp)) {
        if (wants_dns(packet)) {
            (void)find_dns(*payload, packet, units);
        }
    }
}

}  // namespace

UnitParser::UnitParser(const UnitBudget& budget)
    : streams_{budget.connections, budget.on_ambiguous},
      quic_{budget.quic, *InitialOpener::make()},
      fragments_{budget.fragments, budget.fragment_policy} {}

void UnitParser::find(void* parser, const UnitSource& packet, UnitSink& units) noexcept {
    auto& self = *static_cast<UnitParser*>(parser);
    if (const std::optional<ByteView> datagram = payload_of(packet, kUdp)) {
        if (!(wants_dns(packet) && find_dns(*datagram, packet, units)) && wants_quic(packet)) {
            self.quic_.find(*datagram, packet, units);
        }
    } else if (const std::optional<ByteView> payload = payload_of(packet, kTcp)) {
        if (packet.headers.fields.has(Field::TcpFlags)) {
            self.streams_.find(*payload, packet, units);
        }
    }
}

// Keys of connections are keyed digests of 64 bits: one that a table does not have is another's.
void UnitParser::settle(void* parser, const StickyBytes& bytes, UnitFate fate) noexcept {
    auto& self = *static_cast<UnitParser*>(parser);
    self.streams_.settle(bytes, fate);
    self.quic_.settle(bytes, fate == UnitFate::Forwarded);
}

bool UnitParser::refused(void* parser, const StickyBytes& bytes) noexcept {
    const auto& self = *static_cast<const UnitParser*>(parser);
    return self.streams_.refused(bytes) || self.quic_.refused(bytes);
}

UnitFinder UnitParser::finder() noexcept {
    UnitFinder finder{.find = &find,
                      .settle = &settle,
                      .refused = &refused,
                      .parser = this,
                      .texts = kTextsOfAll,
                      .protos = {kTcp, kUdp}};
    for (const TextFieldSet& protocol : {kDnsTexts, kHttpTexts, kTlsTexts, kQuicTexts}) {
        finder.texts.add_all(protocol);
    }
    return finder;
}

UnitFinder lone_unit_finder() noexcept {
    UnitFinder finder{.find = &find_lone, .texts = kTextsOfAll, .protos = {kUdp, kUdp}};
    finder.texts.add_all(kDnsTexts);
    return finder;
}

}  // namespace sluice
