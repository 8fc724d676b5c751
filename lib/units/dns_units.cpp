#include "lib/units/dns_units.hpp"

#include "lib/l7/dns/dns_datagram.hpp"
#include "lib/l7/dns/dns_message.hpp"
#include "lib/units/unit_text.hpp"

#include <array>
#include <cstddef>
#include <span>

namespace sluice {
namespace {

constexpr ConstantText kDns{kL7Dns};
constexpr std::array kFlags{ConstantText{"0"}, ConstantText{"1"}};

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
        texts->set(TextField::DnsQtype, decimal_text(question.type, units));
    }
    return true;
}

// Each question of a query is a unit, as far as they are sound: who answers may read the first one
// alone, or all of them.
void find_questions(ByteView message, const UnitSource& packet, UnitSink& units) noexcept {
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

}  // namespace

bool find_dns(ByteView datagram, const UnitSource& packet, UnitSink& units) noexcept {
    if (!is_dns(packet.headers, datagram)) {
        return false;
    }
    find_questions(datagram, packet, units);
    return true;
}

}  // namespace sluice
