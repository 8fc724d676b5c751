#pragma once
#include "lib/base/bytes.hpp"

#include <cstddef>
#include <cstdint>

namespace sluice {

// Reads numbers and length-prefixed parts in order. What lies beyond the end reads as zero or as
// empty, and ok() is false from then on: a parser reads a whole structure and asks once.
class ByteReader {
public:
    explicit constexpr ByteReader(ByteView bytes) noexcept : bytes_{bytes} {}

    [[nodiscard]] constexpr bool ok() const noexcept { return ok_; }
    [[nodiscard]] constexpr std::size_t at() const noexcept { return at_; }
    [[nodiscard]] constexpr std::size_t left() const noexcept { return bytes_.size() - at_; }
    // Everything was there, and nothing is left.
    [[nodiscard]] constexpr bool done() const noexcept { return ok_ && left() == 0; }

    // The bytes that have not been read.
    [[nodiscard]] constexpr ByteView rest() const noexcept { return bytes_.subspan(at_); }

    constexpr ByteView take(std::size_t size) noexcept {
        if (size > left()) {
            ok_ = false;
            at_ = bytes_.size();
            return {};
        }
        const ByteView part = bytes_.subspan(at_, size);
        at_ += size;
        return part;
    }
    constexpr std::uint8_t u8() noexcept { return number<std::uint8_t>(); }
    constexpr std::uint16_t be16() noexcept { return number<std::uint16_t>(); }
    constexpr std::uint32_t be32() noexcept { return number<std::uint32_t>(); }
    // A part behind its length of one or two bytes.
    constexpr ByteView part8() noexcept { return take(u8()); }
    constexpr ByteView part16() noexcept { return take(be16()); }

private:
    template <typename T>
    constexpr T number() noexcept {
        const ByteView part = take(sizeof(T));
        return part.empty() ? T{0} : load_be<T>(part.data());
    }

    ByteView bytes_;
    std::size_t at_ = 0;
    bool ok_ = true;
};

}  // namespace sluice
