#pragma once
#include "lib/base/bytes.hpp"
#include "lib/base/check.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice {

// Writes numbers and bytes one behind the other into room that its owner has measured.
class ByteWriter {
public:
    explicit constexpr ByteWriter(MutableBytes room) noexcept : room_{room} {}

    [[nodiscard]] constexpr std::size_t at() const noexcept { return at_; }

    constexpr void bytes(ByteView more) noexcept {
        SLUICE_CHECK(more.size() <= room_.size() - at_);
        std::copy_n(more.data(), more.size(), room_.data() + at_);
        at_ += more.size();
    }
    void text(std::string_view more) noexcept { bytes(bytes_of(more)); }
    constexpr void u8(std::uint8_t value) noexcept { number(value); }
    constexpr void be16(std::uint16_t value) noexcept { number(value); }
    constexpr void be32(std::uint32_t value) noexcept { number(value); }

private:
    template <typename T>
    constexpr void number(T value) noexcept {
        SLUICE_CHECK(sizeof(T) <= room_.size() - at_);
        for (std::size_t i = sizeof(T); i-- > 0;) {
            room_[at_++] = static_cast<std::byte>(value >> (8 * i));
        }
    }

    MutableBytes room_;
    std::size_t at_ = 0;
};

}  // namespace sluice
