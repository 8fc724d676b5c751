#pragma once
#include "lib/base/bytes.hpp"

#include <cstddef>
#include <cstdint>

namespace sluice {

// Looks at the first byte of a body for a request that a server would serve which leaves the body
// unread: it reads what follows the head as the next request. One byte, kept between two pieces.
class BodyWatch {
public:
    // Bytes of white space before it; more of these are taken for a request's.
    static constexpr std::uint8_t kMostSpace = 64;

    // `looks`: false, and it finds nothing.
    explicit constexpr BodyWatch(bool looks = false) noexcept : looks_{looks} {}
    [[nodiscard]] static constexpr BodyWatch from(std::byte state) noexcept {
        BodyWatch watch;
        watch.looks_ = std::to_integer<std::uint8_t>(state);
        return watch;
    }
    [[nodiscard]] constexpr std::byte state() const noexcept { return std::byte{looks_}; }
    // False: the state is none that a watch left.
    [[nodiscard]] constexpr bool can_be() const noexcept { return looks_ <= kMostSpace + 1; }

    // False: the body has begun, and its rest may be anything.
    [[nodiscard]] constexpr bool looks() const noexcept { return looks_ != 0; }

    struct Look {
        std::size_t bytes = 0;  // looked at
        bool is_request = false;
    };
    // The body's data: behind white space it begins with a byte that a method may begin with, or
    // with too much of that.
    [[nodiscard]] Look look_at(ByteView data) noexcept;

private:
    std::uint8_t looks_ = 0;  // one more than the white space that there was; 0: no more
};

}  // namespace sluice
