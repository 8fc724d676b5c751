#include "lib/units/tls_units.hpp"

#include "lib/l7/byte_reader.hpp"
#include "lib/units/hello_texts.hpp"
#include "lib/units/unit_text.hpp"
#include "lib/units/wanted_protocols.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace sluice {
namespace {

using What = StreamReading::What;

constexpr ConstantText kTls{"tls"};
constexpr ConstantText kClientHello{"1"};

constexpr std::byte kChangeCipherSpec{20};
constexpr std::byte kHandshake{22};
constexpr std::byte kApplicationData{23};
constexpr std::byte kMajorVersion{3};
constexpr std::uint16_t kEarlyDataExtension = 42;

// Early data that a second hello is looked for behind; what one record of it counts at least.
constexpr std::uint32_t kMostEarlyData = std::uint32_t{64} << 10;
constexpr std::uint32_t kLeastEarlyRecord = 512;

// What a connection remembers behind its first hello: the last bytes of its FramingState, of which
// bodies of known size use the first.
struct BehindHello {
    std::uint32_t mark = 0;
    std::uint32_t early_data = 0;  // that may still come before a second hello

    static constexpr std::uint32_t kMark = 0x544C'5301;
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
// The rest of the connection is not read.
constexpr StreamReading rest(What what, std::size_t bytes) noexcept {
    return {.what = what, .head = bytes, .body = {.kind = UnitBody::Kind::UntilClose}};
}
StreamReading malformed(std::size_t bytes) noexcept {
    StreamReading reading = rest(What::Unit, bytes);
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

// Records of change_cipher_spec at the beginning, which have one byte each, in bytes.
std::size_t cipher_changes(ByteView bytes) noexcept {
    constexpr std::array kRecord{std::byte{0}, std::byte{1}, std::byte{1}};
    constexpr std::size_t kSize = 3 + kRecord.size();
    std::size_t at = 0;
    while (bytes.size() - at >= kSize && bytes[at] == kChangeCipherSpec &&
           bytes[at + 1] == kMajorVersion &&
           std::equal(kRecord.begin(), kRecord.end(),
                      bytes.begin() + static_cast<std::ptrdiff_t>(at + 3))) {
        at += kSize;
    }
    return at;
}

// What stands behind the first hello, where no second one begins.
StreamReading read_behind(ByteView bytes, BehindHello behind) noexcept {
    constexpr std::size_t kUpToMessage = kRecordHeader + 1;
    const std::size_t changes = cipher_changes(bytes);
    if (changes != 0) {
        return step_over(changes, 0, behind.framing());
    }
    const bool early = bytes[0] == kApplicationData && behind.early_data != 0;
    const bool handshake = bytes[0] == kHandshake || bytes[0] == kChangeCipherSpec;
    if (bytes.size() < kUpToMessage && (early || handshake)) {
        return need(kUpToMessage);
    }
    if (!early) {
        return rest(What::Skip, bytes.size());
    }
    const std::uint32_t record = load_be16(bytes, 3);
    behind.early_data -= std::min(behind.early_data, std::max(record, kLeastEarlyRecord));
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
    return BehindHello::of(before).mark == BehindHello::kMark;
}

StreamReading TlsUnits::read(ByteView bytes, const StreamContext& context,
                             UnitSink& units) noexcept {
    if (bytes.empty()) {
        return {};
    }
    if (!is_mine(context.before)) {
        return may_begin(bytes) ? read_hello(bytes, context, Per::Handshake, units)
                                : StreamReading{};
    }
    return is_client_hello(bytes) ? read_hello(bytes, context, Per::Packet, units)
                                  : read_behind(bytes, BehindHello::of(context.before));
}

StreamReading TlsUnits::read_hello(ByteView bytes, const StreamContext& context, Per kind,
                                   UnitSink& units) noexcept {
    const HelloRead read = read_tls_stream(bytes, *room_, hello_);
    switch (read.outcome) {
        case HelloOutcome::Whole:
            break;
        case HelloOutcome::NeedMore:
            return need(read.at);
        case HelloOutcome::Malformed:
            add_malformed(read.fault, context, kind, units);
            return malformed(bytes.size());
        default:
            return {};
    }
    add(context, kind, units);
    if (kind == Per::Packet) {
        return rest(What::Unit, read.at);
    }
    const BehindHello behind{.mark = BehindHello::kMark,
                             .early_data = announces_early_data(hello_) ? kMostEarlyData : 0};
    return {.what = What::Unit, .head = read.at, .body = {.framing = behind.framing()}};
}

// That it is TLS, all servers agree on. No handshake begins with it: outside of services it counts
// for no limit over them.
void TlsUnits::add_malformed(HelloFault fault, const StreamContext& context, Per kind,
                             UnitSink& units) noexcept {
    const bool matters = reads_tls_hellos(context.packet);
    if (matters && context.packet.service.service != nullptr) {
        refuse_hello(fault, units);
        return;
    }
    count_fault(fault, units);
    if (UnitTexts* const texts = units.add(matters ? Per::Packet : kind)) {
        texts->set(TextField::ProtoL7, kTls.view());
        texts->set(TextField::ProtoScheme, kHttps.view());
    }
}

void TlsUnits::add(const StreamContext& context, Per kind, UnitSink& units) noexcept {
    UnitTexts* const texts = units.add(kind);
    if (texts == nullptr) {
        return;
    }
    units.count(kind == Per::Handshake ? UnitEvent::TlsHello : UnitEvent::TlsSecondHello);
    texts->set(TextField::ProtoL7, kTls.view());
    texts->set(TextField::TlsHandshakeType, kClientHello.view());
    set_hello_texts(hello_, HelloCarrier::Tcp, context.packet, units, *texts);
}

}  // namespace sluice
