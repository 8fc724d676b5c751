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

// The texts of one unit of a later layer: a request, a query, a handshake. Each stands in the place
// of the packet's own text of that field. They lie in the frame, or outside of it with readable
// bytes behind them (lib/pipeline/text_arena.hpp).
class UnitTexts {
public:
    void clear() noexcept { present_ = 0; }
    void set(TextField field, ByteView text) noexcept {
        texts_[static_cast<std::size_t>(field)] = text;
        present_ |= bit(field);
    }
    [[nodiscard]] bool has(TextField field) const noexcept { return (present_ & bit(field)) != 0; }
    [[nodiscard]] ByteView text(TextField field) const noexcept {
        return texts_[static_cast<std::size_t>(field)];
    }

private:
    [[nodiscard]] static constexpr std::uint32_t bit(TextField field) noexcept {
        return std::uint32_t{1} << static_cast<unsigned>(field);
    }

    std::array<ByteView, kTextFieldCount> texts_{};
    std::uint32_t present_ = 0;
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
