#include "lib/l7/stream/unit_text.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <span>

namespace sluice {

ByteView decimal_text(std::uint64_t number, UnitSink& units) noexcept {
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

ByteView lasting_text(ByteView text, const UnitSource& packet, UnitSink& units) noexcept {
    const ByteView frame = packet.frame.bytes;
    const std::less_equal<> before;
    if (before(frame.data(), text.data()) &&
        before(text.data() + text.size(), frame.data() + frame.size())) {
        return text;
    }
    const std::span<std::byte> room = units.room();
    if (room.size() < text.size()) {
        units.refuse();
        return {};
    }
    std::copy(text.begin(), text.end(), room.begin());
    return units.keep(text.size());
}

}  // namespace sluice
