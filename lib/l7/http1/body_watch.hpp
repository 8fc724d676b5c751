#pragma once
#include "lib/base/bytes.hpp"

#include <cstddef>
#include <cstdint>

namespace sluice {

// Looks at the beginning of a body for a request that a server would serve which leaves the body
// unread: it reads what follows the head as the next request. One byte, kept between two pieces.
class BodyWatch {
public:
    // Looks for nothing.
    constexpr BodyWatch() noexcept = default;
    // `by_first_byte`: look_at_data() is of use; `by_line`: look_at_line().
    constexpr BodyWatch(bool by_first_byte, bool by_line) noexcept
        : bits_{static_cast<std::uint8_t>((by_first_byte ? kFirstByte : 0U) |
                                          (by_line ? static_cast<unsigned>(Line::Begin) : 0U))} {}
    [[nodiscard]] static constexpr BodyWatch from(std::byte state) noexcept {
        BodyWatch watch;
        watch.bits_ = std::to_integer<std::uint8_t>(state);
        return watch;
    }
    [[nodiscard]] constexpr std::byte state() const noexcept { return std::byte{bits_}; }
    // False: the state is none that a watch left.
    [[nodiscard]] constexpr bool can_be() const noexcept {
        return (bits_ & ~kFirstByte) <= static_cast<unsigned>(Line::VersionEnd);
    }

    [[nodiscard]] constexpr bool looks_at_data() const noexcept {
        return (bits_ & kFirstByte) != 0;
    }
    [[nodiscard]] constexpr bool looks_at_line() const noexcept { return line() != Line::None; }

    struct Look {
        std::size_t bytes = 0;  // looked at
        bool is_request = false;
    };
    // The body's data: behind white space it begins with a byte that a method may begin with.
    [[nodiscard]] Look look_at_data(ByteView data) noexcept;
    // The body as it is sent: its first line has three words or more, the last one a version.
    [[nodiscard]] Look look_at_line(ByteView bytes) noexcept;

private:
    static constexpr unsigned kFirstByte = 0x80;
    // The place in the line, behind a byte of it.
    enum class Line : std::uint8_t {
        None,
        Begin,
        Method,
        BehindMethod,
        Target,
        Blank,
        Word,  // the third or a later one, and no version as far as it has come
        Slash,
        Major,
        Dot,
        Minor,
        VersionEnd,
    };
    [[nodiscard]] constexpr Line line() const noexcept {
        return static_cast<Line>(bits_ & ~kFirstByte);
    }
    constexpr void set(Line line) noexcept {
        bits_ = static_cast<std::uint8_t>((bits_ & kFirstByte) | static_cast<unsigned>(line));
    }
    [[nodiscard]] static Line behind(Line line, std::byte byte) noexcept;
    [[nodiscard]] static Line in_version(Line line, std::byte byte) noexcept;

    std::uint8_t bits_ = 0;
};

}  // namespace sluice
