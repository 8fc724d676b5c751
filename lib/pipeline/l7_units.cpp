#include "lib/pipeline/l7_units.hpp"

#include "lib/l7/dns/dns_datagram.hpp"
#include "lib/l7/dns/dns_message.hpp"

#include <array>
#include <charconv>
#include <cstring>
#include <string_view>

namespace sluice {
namespace {

constexpr std::uint8_t kUdp = 17;

// Texts that are the same for many packets, with the readable bytes behind them that UnitTexts asks
// for.
struct Constant {
    explicit consteval Constant(std::string_view text) : size{text.size()} {
        for (std::size_t i = 0; i < text.size(); ++i) {
            bytes[i] = static_cast<std::byte>(text[i]);
        }
    }
    [[nodiscard]] ByteView view() const noexcept { return ByteView{bytes}.first(size); }

    std::array<std::byte, 8 + kTextPadding> bytes{};
    std::size_t size;
};
constexpr Constant kDns{kL7Dns};
constexpr std::array kFlags{Constant{"0"}, Constant{"1"}};

ByteView decimal(std::uint64_t number, UnitSink& units) noexcept {
    constexpr std::size_t kDigits = 20;
    const std::span<std::byte> room = units.room();
    if (room.size() < kDigits) {
        units.refuse();
        return {};
    }
    char* const first = reinterpret_cast<char*>(room.data());
    return units.keep(
        static_cast<std::size_t>(std::to_chars(first, first + kDigits, number).ptr - first));
}

ByteView name_of(ByteView message, std::size_t at, UnitSink& units) noexcept {
    const std::span<std::byte> room = units.room();
    if (room.size() < kMaxDnsNameText) {
        units.refuse();
        return {};
    }
    return units.keep(write_dns_name(message, at, room));
}

constexpr UnitEvent event_of(DnsParsed parsed) noexcept {
    switch (parsed) {
        case DnsParsed::ShortHeader:
            return UnitEvent::DnsShortHeader;
        case DnsParsed::BadOpcode:
            return UnitEvent::DnsBadOpcode;
        case DnsParsed::NoQuestion:
            return UnitEvent::DnsNoQuestion;
        case DnsParsed::BadLabel:
            return UnitEvent::DnsBadLabel;
        case DnsParsed::BadPointer:
            return UnitEvent::DnsBadPointer;
        case DnsParsed::NameTooLong:
            return UnitEvent::DnsNameTooLong;
        default:
            return UnitEvent::DnsTruncated;
    }
}

// A response is no query: it has its question's texts, and counts for no limit over queries.
bool add_dns(ByteView message, const DnsQuestion& question, bool is_response,
             const UnitSource& packet, UnitSink& units) noexcept {
    UnitTexts* const texts = units.add(is_response ? Per::Packet : Per::Query);
    if (texts == nullptr) {
        return false;
    }
    units.count(is_response ? UnitEvent::DnsResponse : UnitEvent::DnsQuery);
    texts->set(TextField::ProtoL7, kDns.view());
    texts->set(TextField::DnsQr, kFlags[is_response ? 1 : 0].view());
    if (packet.wanted.has(TextField::DnsQname)) {
        texts->set(TextField::DnsQname, name_of(message, question.name_at, units));
    }
    if (packet.wanted.has(TextField::DnsQtype)) {
        texts->set(TextField::DnsQtype, decimal(question.type, units));
    }
    return true;
}

// Each question of a query is a unit, as far as they are sound: who answers may read the first one
// alone, or all of them.
void find_dns(ByteView message, const UnitSource& packet, UnitSink& units) noexcept {
    const DnsMessage parsed = parse_dns_message(message);
    if (parsed.parsed != DnsParsed::Ok) {
        units.count(event_of(parsed.parsed));
        return;
    }
    const std::size_t count = parsed.is_response ? 1 : parsed.questions;
    DnsQuestion question = parsed.first;
    for (std::size_t number = 1; question.parsed == DnsParsed::Ok; ++number) {
        if (!add_dns(message, question, parsed.is_response, packet, units) || number == count) {
            return;
        }
        question = parse_dns_question(message, question.end);
    }
    units.count(event_of(question.parsed));
}

bool is_dns(const PacketHeaders& headers, ByteView payload) noexcept {
    const bool is_response = payload.size() >= kDnsHeaderSize && DnsHeader{payload}.is_response();
    switch (dns_ports(headers.sport, headers.dport, is_response)) {
        case DnsPorts::Dns:
            return true;
        case DnsPorts::Other:
            return looks_like_dns(payload);
        default:
            return false;
    }
}

void find(void*, const UnitSource& packet, UnitSink& units) noexcept {
    const PacketHeaders& headers = packet.headers;
    if (headers.proto != kUdp || !headers.fields.has(Field::L4Dport)) {
        return;
    }
    const std::optional<ByteView> payload = read_payload(headers, packet.frame.bytes);
    if (payload && is_dns(headers, *payload)) {
        find_dns(*payload, packet, units);
    }
}

}  // namespace

UnitFinder l7_unit_finder() noexcept {
    return {
        .find = &find,
        .parser = nullptr,
        .texts = {TextField::ProtoL7, TextField::DnsQr, TextField::DnsQname, TextField::DnsQtype},
        .proto = kUdp};
}

}  // namespace sluice
