#pragma once
#include "lib/base/bytes.hpp"
#include "lib/packet/packet_headers.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace sluice {

// Everything a rule can test as a text, that is, as bytes of any length, in one table: the payload,
// and what later layers find in a packet. The door for these: a row here, and a parser that sets it
// (lib/l7). A number of a later layer is a text of decimal digits.
//
// Texts that rules name have no row of their own (lib/packet/text_name.hpp): what stands behind the
// rows is theirs, in the order of RuleSet::named_texts.
enum class TextField : std::uint8_t {
    Payload,
    DnsQr,
    DnsQname,
    DnsQtype,
    ProtoL7,
    ProtoScheme,
    HttpMethod,
    HttpHost,
    HttpUri,
    HttpPath,
    HttpQuery,
    HttpUserAgent,
    HttpReferer,
    TlsHandshakeType,
    TlsSni,
    TlsAlpn,
    TlsJa4,
    QuicPacketType,
    QuicVersion,
    QuicTokenLen,
    QuicSni,
    Named,  // the first of them
};

enum class TextKind : std::uint8_t {
    Plain,
    Number,  // decimal, up to `max`; conditions compare it as a number
    Folded,  // in small letters; names that are the same whatever their case
};

struct TextFieldRow {
    TextField field;
    std::string_view name;
    TextKind kind = TextKind::Plain;
    std::uint64_t max = 0;        // largest value of a Number
    std::uint8_t hex_digits = 0;  // 8: people read the Number as 0x0000abcd; 0: in decimal
};
inline constexpr auto kTextFields = std::to_array<TextFieldRow>({
    {TextField::Payload, "payload"},
    {TextField::DnsQr, "dns.qr", TextKind::Number, 1},
    {TextField::DnsQname, "dns.qname", TextKind::Folded},
    {TextField::DnsQtype, "dns.qtype", TextKind::Number, 0xFFFF},
    {TextField::ProtoL7, "proto.l7"},
    {TextField::ProtoScheme, "proto.scheme"},
    {TextField::HttpMethod, "http.request.method"},
    {TextField::HttpHost, "http.host", TextKind::Folded},
    {TextField::HttpUri, "http.request.uri"},
    {TextField::HttpPath, "http.request.uri.path"},
    {TextField::HttpQuery, "http.request.uri.query"},
    {TextField::HttpUserAgent, "http.user_agent"},
    {TextField::HttpReferer, "http.referer"},
    {TextField::TlsHandshakeType, "tls.handshake.type", TextKind::Number, 0xFF},
    {TextField::TlsSni, "tls.sni", TextKind::Folded},
    {TextField::TlsAlpn, "tls.alpn"},
    {TextField::TlsJa4, "tls.ja4"},
    {TextField::QuicPacketType, "quic.packet_type"},
    {TextField::QuicVersion, "quic.version", TextKind::Number, 0xFFFF'FFFF, 8},
    {TextField::QuicTokenLen, "quic.token_len", TextKind::Number, 0xFFFF},
    {TextField::QuicSni, "quic.sni", TextKind::Folded},
});
inline constexpr std::size_t kTextFieldCount = 64;  // rows and named texts
static_assert(kTextFields.size() == static_cast<std::size_t>(TextField::Named));
// Behind all named texts, and no field of the language: of a request the last header that names its
// client, where proxies do (lib/l7/proxy/client_source.hpp).
inline constexpr TextField kClientHeader{kTextFieldCount - 1};
inline constexpr std::size_t kMaxNamedTexts = kTextFieldCount - 1 - kTextFields.size();
[[nodiscard]] constexpr TextField named_text(std::size_t number) noexcept {
    return static_cast<TextField>(kTextFields.size() + number);
}
[[nodiscard]] constexpr bool is_named(TextField field) noexcept {
    return field >= TextField::Named;
}

constexpr bool text_fields_in_enum_order() noexcept {
    for (std::size_t i = 0; i < kTextFields.size(); ++i) {
        if (static_cast<std::size_t>(kTextFields[i].field) != i) {
            return false;
        }
    }
    return true;
}
static_assert(text_fields_in_enum_order(), "kTextFields is indexed by TextField");

// The row that all named texts have in common; their own names are the rule set's.
inline constexpr TextFieldRow kNamedTextRow{TextField::Named, "named text"};
[[nodiscard]] constexpr const TextFieldRow& row_of(TextField field) noexcept {
    return is_named(field) ? kNamedTextRow : kTextFields[static_cast<std::size_t>(field)];
}
// Rows and named texts, in their order.
inline constexpr auto kAllTextFields = [] {
    std::array<TextField, kTextFieldCount> all{};
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i] = static_cast<TextField>(i);
    }
    return all;
}();

// Some of the text fields.
class TextFieldSet {
public:
    constexpr TextFieldSet() noexcept = default;
    constexpr TextFieldSet(std::initializer_list<TextField> fields) noexcept {
        for (const TextField field : fields) {
            add(field);
        }
    }
    constexpr void add(TextField field) noexcept {
        bits_ |= std::uint64_t{1} << static_cast<unsigned>(field);
    }
    constexpr void add_all(TextFieldSet other) noexcept { bits_ |= other.bits_; }
    constexpr void remove(TextField field) noexcept {
        bits_ &= ~(std::uint64_t{1} << static_cast<unsigned>(field));
    }
    [[nodiscard]] constexpr bool has(TextField field) const noexcept {
        return (bits_ >> static_cast<unsigned>(field) & 1U) != 0;
    }
    [[nodiscard]] constexpr bool meets(TextFieldSet other) const noexcept {
        return (bits_ & other.bits_) != 0;
    }
    [[nodiscard]] constexpr bool empty() const noexcept { return bits_ == 0; }
    [[nodiscard]] constexpr bool operator==(const TextFieldSet&) const noexcept = default;

private:
    std::uint64_t bits_ = 0;
};

// True unless a packet has the text by itself; all other texts come with a unit of a later layer.
[[nodiscard]] constexpr bool is_of_unit(TextField field) noexcept {
    return field != TextField::Payload;
}

// The values of proto.scheme and of proto.l7.
inline constexpr auto kSchemes = std::to_array<std::string_view>({"http", "https"});
inline constexpr auto kL7Names =
    std::to_array<std::string_view>({"http", "h2c", "tls", "quic", "dns"});
inline constexpr std::string_view kL7Dns = "dns";

// The texts of one unit of a later layer: a request, a query, a handshake. Each stands in the place
// of the packet's own text of that field. They lie in the frame, or outside of it with readable
// bytes behind them (lib/l7/stream/text_arena.hpp).
class UnitTexts {
public:
    void clear() noexcept {
        present_ = {};
        client_ = {};
    }
    void set(TextField field, ByteView text) noexcept {
        texts_[static_cast<std::size_t>(field)] = text;
        present_.add(field);
    }
    void unset(TextField field) noexcept { present_.remove(field); }
    [[nodiscard]] bool has(TextField field) const noexcept { return present_.has(field); }
    [[nodiscard]] ByteView text(TextField field) const noexcept {
        return texts_[static_cast<std::size_t>(field)];
    }
    // The client that the unit names; of no version: none.
    void set_client(const VersionedAddress& client) noexcept { client_ = client; }
    [[nodiscard]] const VersionedAddress& client() const noexcept { return client_; }
    [[nodiscard]] bool has_client() const noexcept { return client_.version != IpVersion::None; }

private:
    std::array<ByteView, kTextFieldCount> texts_{};
    TextFieldSet present_;
    VersionedAddress client_;
};

// The payload as far as it is at hand: what follows the TCP, UDP or ICMP header, up to where the
// packet ends by its lengths. It can be empty. It is absent where payload.len is, in later
// fragments for one, and where some was on the wire and nothing of it is at hand.
[[nodiscard]] inline std::optional<ByteView> read_payload(const PacketHeaders& headers,
                                                          ByteView frame) noexcept {
    if (!headers.fields.has(Field::PayloadLen)) {
        return std::nullopt;
    }
    if (headers.payload_len == 0) {
        return ByteView{};
    }
    if (headers.payload_at >= frame.size()) {
        return std::nullopt;
    }
    const ByteView rest = frame.subspan(headers.payload_at);
    return rest.first(std::min<std::size_t>(rest.size(), headers.payload_len));
}

// The text of the unit at hand, else of the packet, a part of `frame`; nullopt: it has none.
[[nodiscard]] inline std::optional<ByteView> read_text(TextField field,
                                                       const PacketHeaders& headers,
                                                       ByteView frame) noexcept {
    if (headers.unit != nullptr && headers.unit->has(field)) {
        return headers.unit->text(field);
    }
    switch (field) {
        case TextField::Payload:
            return read_payload(headers, frame);
        default:
            return std::nullopt;
    }
}

}  // namespace sluice
