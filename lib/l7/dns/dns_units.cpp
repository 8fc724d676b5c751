#include "lib/l7/dns/dns_units.hpp"

#include "lib/l7/dns/dns_datagram.hpp"
#include "lib/l7/dns/dns_message.hpp"
#include "lib/l7/stream/unit_text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
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

bool is_of_service(const UnitSource& packet) noexcept {
    return packet.service.service != nullptr;
}

// A query to a service that has no question, which servers answer for the sake of its cookie (RFC
// 7873, 5.4), is one without a name; BIND answers no other message that is not sound by more than
// an error.
bool find_no_question(const DnsMessage& parsed, const UnitSource& packet,
                      UnitSink& units) noexcept {
    units.count(event_of(parsed.parsed));
    if (!is_of_service(packet)) {
        return false;
    }
    if (parsed.parsed != DnsParsed::NoQuestion || parsed.is_response) {
        units.drop(Reason::Unreadable);
        return false;
    }
    UnitTexts* const texts = units.add(Per::Query);
    if (texts != nullptr) {
        units.count(UnitEvent::DnsQuery);
        texts->set(TextField::ProtoL7, kDns.view());
        texts->set(TextField::DnsQr, kFlags[0].view());
    }
    return true;
}

// Each question of a query is a unit, as far as they are sound: who answers may read the first one
// alone, or all of them.
// False: the message has no sound one.
bool find_questions(ByteView message, const UnitSource& packet, UnitSink& units) noexcept {
    const DnsMessage parsed = parse_dns_message(message);
    if (parsed.parsed != DnsParsed::Ok) {
        return find_no_question(parsed, packet, units);
    }
    const std::size_t count = parsed.is_response ? 1 : parsed.questions;
    DnsQuestion question = parsed.first;
    for (std::size_t number = 1; question.parsed == DnsParsed::Ok; ++number) {
        if (!add_dns(message, question, parsed.is_response, packet, units) || number == count) {
            return true;
        }
        question = parse_dns_question(message, question.end);
    }
    units.count(event_of(question.parsed));
    return true;
}

bool is_dns(const UnitSource& packet, ByteView payload) noexcept {
    if (is_of_service(packet)) {
        return true;
    }
    const PacketHeaders& headers = packet.headers;
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

using What = StreamReading::What;

// The part of a message longer than what is held that has its questions.
constexpr std::size_t kQuestionsReach = 2048;

// A connection's memory behind a message: the last bytes of its FramingState, of which bodies of
// known size use the first.
constexpr std::uint32_t kDnsMark = 0x444E'5301;
constexpr std::size_t kDnsMarkAt = 12;
FramingState behind_message() noexcept {
    FramingState state{};
    std::memcpy(state.data() + kDnsMarkAt, &kDnsMark, sizeof(kDnsMark));
    return state;
}

// Behind a message, which has a sound question or is malformed.
StreamReading after(bool has_question, std::size_t head, std::size_t body) noexcept {
    return {.what = has_question ? What::Unit : What::Skip,
            .head = head,
            .body = {.bytes = body, .framing = behind_message()},
            .is_doubtful = !has_question};
}

// True if a stream on another port may begin with a DNS message: a query with one question and at
// most two records, EDNS and a signature, and no flag set that a client does not set. Other
// protocols' first 14 bytes are hardly ever so; those of a TLS ClientKeyExchange never.
bool may_begin_dns(ByteView bytes, std::size_t head_bytes) noexcept {
    if (bytes.size() < kDnsLengthSize + kDnsHeaderSize) {
        return false;
    }
    const std::size_t size = load_be16(bytes, 0);
    const DnsHeader header{bytes.subspan(kDnsLengthSize)};
    constexpr std::uint16_t kOfQueries = 0x0130;  // RD, AD, CD
    return size >= kLeastDnsMessage && kDnsLengthSize + size < head_bytes &&
           (header.flags & ~kOfQueries) == 0 && header.questions == 1 && header.answers == 0 &&
           header.authorities == 0 && header.additionals <= 2;
}

// The beginning of a message that is not held as a whole.
StreamReading read_long(ByteView bytes, const UnitSource& packet, UnitSink& units) noexcept {
    const std::size_t size = load_be16(bytes, 0);
    const std::size_t reach = std::min(size, kQuestionsReach);
    if (bytes.size() < kDnsLengthSize + reach) {
        return {.what = What::NeedMore, .need = {.bytes = kDnsLengthSize + reach}};
    }
    units.count(UnitEvent::DnsLongMessage);
    const bool has = find_questions(bytes.subspan(kDnsLengthSize, reach), packet, units);
    return after(has, kDnsLengthSize + reach, size - reach);
}

}  // namespace

bool maybe_dns_stream(ByteView bytes, std::uint16_t sport, std::uint16_t dport,
                      std::size_t head_bytes) noexcept {
    return sport == kDnsPort || dport == kDnsPort || may_begin_dns(bytes, head_bytes);
}

bool is_dns_stream(const FramingState& before) noexcept {
    return std::memcmp(before.data() + kDnsMarkAt, &kDnsMark, sizeof(kDnsMark)) == 0;
}

StreamReading read_dns(ByteView bytes, const StreamContext& context, UnitSink& units) noexcept {
    const PacketHeaders& headers = context.packet.headers;
    const bool known = is_of_service(context.packet) || headers.sport == kDnsPort ||
                       headers.dport == kDnsPort || is_dns_stream(context.before);
    if (!known && !may_begin_dns(bytes, context.head_bytes)) {
        return {};
    }
    if (const std::size_t none = short_dns_frames(bytes); none != 0) {
        units.count(UnitEvent::DnsShortHeader);
        if (is_of_service(context.packet)) {
            units.drop(Reason::Unreadable);  // BIND closes the connection
        }
        return after(false, none, 0);
    }
    const DnsTcpFrame frame = split_dns_stream(bytes);
    if (bytes.size() >= kDnsLengthSize && bytes.size() + frame.missing >= context.head_bytes &&
        frame.missing != 0) {
        return read_long(bytes, context.packet, units);
    }
    if (frame.missing != 0) {
        return {.what = What::NeedMore, .need = {.bytes = bytes.size() + frame.missing}};
    }
    if (!known && !looks_like_dns(frame.message)) {
        return {};
    }
    const bool has = find_questions(frame.message, context.packet, units);
    return after(has, frame.end, 0);
}

bool maybe_dns(ByteView datagram, std::uint16_t sport, std::uint16_t dport) noexcept {
    return sport == kDnsPort || dport == kDnsPort || may_look_like_dns(datagram);
}

bool find_dns(ByteView datagram, const UnitSource& packet, UnitSink& units) noexcept {
    return is_dns(packet, datagram) && find_questions(datagram, packet, units);
}

}  // namespace sluice
