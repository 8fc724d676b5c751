#include "lib/l7/tls/tls_units.hpp"

#include "lib/l7/byte_reader.hpp"
#include "lib/l7/stream/unit_text.hpp"
#include "lib/l7/stream/wanted_protocols.hpp"
#include "lib/l7/tls/hello_texts.hpp"
#include "lib/l7/tls/tls_records.hpp"

#include <algorithm>
#include <cstring>

namespace sluice {
namespace {

using What = StreamReading::What;

constexpr ConstantText kTls{"tls"};
constexpr ConstantText kClientHello{"1"};

constexpr std::uint16_t kEarlyDataExtension = 42;

// Early data that a second hello is looked for behind; what one record of it counts at least.
constexpr std::uint32_t kMostEarlyData = std::uint32_t{64} << 10;
constexpr std::uint32_t kLeastEarlyRecord = 512;

// A connection's memory behind its first hello: the last bytes of its FramingState, of which bodies
// of known size use the first.
struct BehindHello {
    std::uint64_t mark : 16 = 0;
    std::uint64_t early_data : 17 = 0;  // that may still come before a second hello
    std::uint64_t asked_for : 31 = 0;   // digest of whom it asked for

    static constexpr std::uint16_t kMark = 0x5453;
    // The client has changed its cipher spec: up to TLS 1.2 its handshake records are encrypted,
    // in TLS 1.3 a second hello may follow (RFC 8446, D.4).
    static constexpr std::uint16_t kChangedMark = 0x5454;
    static constexpr std::size_t kAt = 8;

    [[nodiscard]] static BehindHello of(const FramingState& state) noexcept {
        BehindHello behind;
        std::memcpy(&behind, state.data() + kAt, sizeof(behind));
        return behind;
    }
    [[nodiscard]] FramingState framing() const noexcept {
        FramingState state{};
        std::memcpy(state.data() + kAt, this, sizeof(*this));
        return state;
    }
};
static_assert(BehindHello::kAt + sizeof(BehindHello) <= sizeof(FramingState));

constexpr StreamReading need(std::size_t bytes) noexcept {
    return {.what = What::NeedMore, .need = {.bytes = bytes}};
}
// Behind a hello, where the bytes may be an encrypted record whose sender is silent behind it.
constexpr StreamReading may_need(std::size_t bytes) noexcept {
    return {.what = What::NeedMore, .need = {.bytes = bytes, .may_be_none = true}};
}
// The rest of the connection is not read.
constexpr StreamReading rest(What what, std::size_t bytes) noexcept {
    return {.what = what, .head = bytes, .body = {.kind = UnitBody::Kind::UntilClose}};
}
StreamReading malformed(What what, std::size_t bytes) noexcept {
    StreamReading reading = rest(what, bytes);
    reading.is_doubtful = true;
    return reading;
}
StreamReading step_over(std::size_t head, std::size_t body, const FramingState& state) noexcept {
    return {.what = What::Skip, .head = head, .body = {.bytes = body, .framing = state}};
}

bool announces_early_data(const ClientHello& hello) noexcept {
    for (ByteReader reader{hello.extensions}; reader.left() > 0 && reader.ok();) {
        const std::uint16_t type = reader.be16();
        (void)reader.part16();
        if (type == kEarlyDataExtension) {
            return true;
        }
    }
    return false;
}

// The bytes behind the first hello, where no second one begins.
StreamReading read_behind(ByteView bytes, BehindHello behind) noexcept {
    constexpr std::size_t kUpToMessage = kRecordHeader + 1;
    const std::size_t changes = cipher_changes(bytes);
    if (changes != 0) {
        behind.mark = BehindHello::kChangedMark;
        return step_over(changes, 0, behind.framing());
    }
    const std::size_t empty = empty_records(bytes);
    if (empty != 0) {
        return step_over(empty, 0, behind.framing());
    }
    const bool early = bytes[0] == kApplicationData && behind.early_data != 0;
    const bool handshake = may_be_of_handshake(bytes[0]);
    if (bytes.size() < kUpToMessage && (early || handshake)) {
        return may_need(kUpToMessage);
    }
    if (is_alert_in_clear(bytes)) {
        return step_over(kRecordHeader, load_be16(bytes, 3), behind.framing());
    }
    if (!early) {
        return rest(What::Skip, bytes.size());
    }
    const std::uint32_t record = load_be16(bytes, 3);
    const std::uint32_t left = behind.early_data;
    behind.early_data = (left - std::min(left, std::max(record, kLeastEarlyRecord))) & 0x1'FFFF;
    return step_over(kRecordHeader, record, behind.framing());
}

bool is_client_hello(ByteView bytes) noexcept {
    return TlsUnits::may_begin(bytes) && bytes.size() > kRecordHeader &&
           std::to_integer<std::uint8_t>(bytes[kRecordHeader]) == kClientHelloType;
}

}  // namespace

bool TlsUnits::may_begin(ByteView bytes) noexcept {
    return bytes[0] == kHandshake && (bytes.size() < 2 || bytes[1] == kMajorVersion);
}

bool TlsUnits::is_mine(const FramingState& before) noexcept {
    const std::uint64_t mark = BehindHello::of(before).mark;
    return mark == BehindHello::kMark || mark == BehindHello::kChangedMark;
}

StreamReading TlsUnits::read(ByteView bytes, const StreamContext& context,
                             UnitSink& units) noexcept {
    if (bytes.empty()) {
        return {};
    }
    if (!is_mine(context.before)) {
        const bool reads = context.packet.service.service != nullptr || may_begin(bytes);
        return reads ? read_hello(bytes, context, units) : StreamReading{};
    }
    return read_second(bytes, context, units);
}

StreamReading TlsUnits::read_second(ByteView bytes, const StreamContext& context,
                                    UnitSink& units) noexcept {
    const BehindHello behind = BehindHello::of(context.before);
    if (!is_client_hello(bytes)) {
        return read_behind(bytes, behind);
    }
    // Clients that announce early data speak TLS 1.3, in which no handshake record is encrypted.
    if (behind.mark != BehindHello::kChangedMark || behind.early_data != 0) {
        return read_hello(bytes, context, units);
    }
    const HelloRead read = tell_from_ciphertext(read_tls_stream(bytes, *room_, hello_), bytes);
    if (read.outcome == HelloOutcome::NeedMore) {
        return may_need(read.at);
    }
    return read.outcome == HelloOutcome::NotTls ? rest(What::Skip, bytes.size())
                                                : conclude(read, bytes, context, units);
}

StreamReading TlsUnits::read_hello(ByteView bytes, const StreamContext& context,
                                   UnitSink& units) noexcept {
    return conclude(read_tls_stream(bytes, *room_, hello_), bytes, context, units);
}

StreamReading TlsUnits::conclude(const HelloRead& read, ByteView bytes,
                                 const StreamContext& context, UnitSink& units) noexcept {
    switch (read.outcome) {
        case HelloOutcome::Whole:
            break;
        case HelloOutcome::NeedMore:
            return need(read.at);
        case HelloOutcome::Malformed:
            add_malformed(read.fault, context, units);
            return malformed(context.packet.service.service != nullptr ? What::Unit : What::Skip,
                             bytes.size());
        default:
            return {};
    }
    const std::uint32_t asked_for = asked_server(hello_, context.packet.hash);
    if (is_mine(context.before)) {
        units.count(UnitEvent::TlsSecondHello);
        const bool is_other = BehindHello::of(context.before).asked_for != asked_for;
        if (is_other) {
            units.count(UnitEvent::TlsOtherHello);
        }
        add(context, is_other ? Per::Handshake : Per::Packet, units);
        return rest(What::Unit, read.at);
    }
    units.count(UnitEvent::TlsHello);
    add(context, Per::Handshake, units);
    const BehindHello behind{.mark = BehindHello::kMark,
                             .early_data = announces_early_data(hello_) ? kMostEarlyData : 0,
                             .asked_for = asked_for & 0x7FFF'FFFF};
    return {.what = What::Unit, .head = read.at, .body = {.framing = behind.framing()}};
}

// All servers agree that it is TLS. Anywhere it passes, and the rest of its connection unread.
void TlsUnits::add_malformed(HelloFault fault, const StreamContext& context,
                             UnitSink& units) noexcept {
    if (context.packet.service.service != nullptr && reads_tls_hellos(context.packet)) {
        refuse_hello(fault, units);
        return;
    }
    count_fault(fault, units);
    if (UnitTexts* const texts = units.add(Per::Packet)) {
        texts->set(TextField::ProtoL7, kTls.view());
        texts->set(TextField::ProtoScheme, kHttps.view());
    }
}

void TlsUnits::add(const StreamContext& context, Per kind, UnitSink& units) noexcept {
    UnitTexts* const texts = units.add(kind);
    if (texts == nullptr) {
        return;
    }
    texts->set(TextField::ProtoL7, kTls.view());
    texts->set(TextField::TlsHandshakeType, kClientHello.view());
    set_hello_texts(hello_, HelloCarrier::Tcp, context.packet, units, *texts);
}

}  // namespace sluice
