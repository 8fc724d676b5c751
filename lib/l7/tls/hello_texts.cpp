#include "lib/l7/tls/hello_texts.hpp"

#include "lib/l7/byte_reader.hpp"

#include <array>
#include <optional>
#include <span>

namespace sluice {
namespace {

// The rows of faults stand in the order of the faults themselves.
constexpr UnitEvent event_of(HelloFault fault) noexcept {
    return static_cast<UnitEvent>(static_cast<unsigned>(UnitEvent::HelloTooLong) +
                                  static_cast<unsigned>(fault) -
                                  static_cast<unsigned>(HelloFault::TooLong));
}
static_assert(
    [] {
        constexpr std::string_view kPrefix = "hello_";
        for (const HelloFaultRow& row : kHelloFaults) {
            if (row.fault != HelloFault::None) {
                const std::string_view name =
                    kUnitEvents[static_cast<std::size_t>(event_of(row.fault))].name;
                if (!name.starts_with(kPrefix) || name.substr(kPrefix.size()) != row.name) {
                    return false;
                }
            }
        }
        return true;
    }(),
    "each fault of a hello has its event");

}  // namespace

void set_hello_texts(const ClientHello& hello, HelloCarrier carrier, const UnitSource& packet,
                     UnitSink& units, UnitTexts& texts) noexcept {
    const TextField name = carrier == HelloCarrier::Tcp ? TextField::TlsSni : TextField::QuicSni;
    const auto set = [&](TextField field, ByteView text) {
        texts.set(field, lasting_text(text, packet, units));
    };
    texts.set(TextField::ProtoScheme, kHttps.view());
    if (hello.server_name.kind() != ServerNameKind::Absent && packet.wanted.has(name)) {
        set(name, std::as_bytes(std::span{hello.server_name.text()}));
    }
    if (!hello.alpn.empty() && packet.wanted.has(TextField::TlsAlpn)) {
        set(TextField::TlsAlpn, hello.alpn);
    }
    if (packet.wanted.has(TextField::TlsJa4)) {
        if (const std::optional<Ja4> ja4 = make_ja4(hello, carrier)) {
            set(TextField::TlsJa4, std::as_bytes(std::span{ja4->characters}));
        }
    }
}

std::uint32_t asked_server(const ClientHello& hello, const KeyHasher& hash) noexcept {
    std::array<std::uint64_t, 2> contents{};
    for (ByteReader reader{hello.extensions}; reader.left() > 0 && reader.ok();) {
        const std::uint16_t type = reader.be16();
        const ByteView content = reader.part16();
        if (type == kServerNameExtension || type == kAlpnExtension) {
            contents[type == kAlpnExtension ? 1 : 0] = hash.digest(content);
        }
    }
    return static_cast<std::uint32_t>(hash.digest(std::as_bytes(std::span{contents})) >> 33);
}

void count_fault(HelloFault fault, UnitSink& units) noexcept {
    units.count(event_of(fault));
}
void refuse_hello(HelloFault fault, UnitSink& units) noexcept {
    count_fault(fault, units);
    units.drop(reason_of(fault));
}

Reason reason_of(HelloFault fault) noexcept {
    switch (doubt_of(fault)) {
        case HelloDoubt::SomeServers:
            return Reason::UnreadableHello;
        case HelloDoubt::Size:
            return Reason::HeadTooLong;
        case HelloDoubt::Pieces:
            return Reason::TooManyPieces;
        default:
            return Reason::MalformedHello;
    }
}

}  // namespace sluice
