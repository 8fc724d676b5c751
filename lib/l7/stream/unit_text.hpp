#pragma once
#include "lib/l7/stream/unit_sink.hpp"
#include "lib/l7/stream/unit_source.hpp"
#include "lib/match/padded_text.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

// Texts of units as UnitTexts takes them: in the frame, or with readable bytes behind them.
namespace sluice {

// A text that is the same for many packets.
struct ConstantText {
    explicit consteval ConstantText(std::string_view text) : size{text.size()} {
        for (std::size_t i = 0; i < text.size(); ++i) {
            bytes[i] = static_cast<std::byte>(text[i]);
        }
    }
    [[nodiscard]] ByteView view() const noexcept { return ByteView{bytes}.first(size); }

    std::array<std::byte, 8 + kTextPadding> bytes{};
    std::size_t size;
};

// A number as decimal digits; refuses the packet where there is no room.
[[nodiscard]] ByteView decimal_text(std::uint64_t number, UnitSink& units) noexcept;

// The text itself where it lies in the frame, else a copy; refuses the packet where there is no
// room for it.
[[nodiscard]] ByteView lasting_text(ByteView text, const UnitSource& packet,
                                    UnitSink& units) noexcept;

}  // namespace sluice
