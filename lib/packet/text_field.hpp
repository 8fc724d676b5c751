#pragma once
#include "lib/base/bytes.hpp"
#include "lib/packet/packet_headers.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace sluice {

// Everything a rule can test as a text, that is, as bytes of any length, in one table. The door for
// what later layers find in a packet: a row here, a case in read_text().
enum class TextField : std::uint8_t { Payload };

struct TextFieldRow {
    TextField field;
    std::string_view name;
};
inline constexpr auto kTextFields = std::to_array<TextFieldRow>({{TextField::Payload, "payload"}});
inline constexpr std::size_t kTextFieldCount = kTextFields.size();
static_assert(kTextFieldCount <= 32, "sets of text fields are one word");

[[nodiscard]] constexpr const TextFieldRow& row_of(TextField field) noexcept {
    return kTextFields[static_cast<std::size_t>(field)];
}

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

// The text of a packet, a part of `frame`; nullopt: it has none.
[[nodiscard]] inline std::optional<ByteView> read_text(TextField field,
                                                       const PacketHeaders& headers,
                                                       ByteView frame) noexcept {
    switch (field) {
        case TextField::Payload:
            return read_payload(headers, frame);
        default:
            return std::nullopt;
    }
}

}  // namespace sluice
