#pragma once
#include "lib/packet/header_columns.hpp"
#include "lib/rules/load/key_schema.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace sluice {

// The canonical bytes of one key in several rows, as columns of 64-bit words: parts are appended
// for all rows at once. All rows have the same version of IP, so each part has one size.
class KeyColumns {
public:
    static constexpr std::size_t kMaxWords = (kMaxKeySize + 7) / 8;

    explicit KeyColumns(RowMask rows) noexcept
        : rows_{rows}, dense_{std::popcount(rows) > kDenseRows} {}

    // `value_of(row)` is a number of 32 or 64 bits.
    template <typename ValueOf>
    void append_32(ValueOf&& value_of) noexcept {
        if (!odd_) {
            each([&](std::size_t row) { carry_[row] = value_of(row); });
        } else {
            each([&](std::size_t row) {
                words_[count_][row] = carry_[row] | std::uint64_t{value_of(row)} << 32;
            });
            ++count_;
        }
        odd_ = !odd_;
    }
    template <typename ValueOf>
    void append_64(ValueOf&& value_of) noexcept {
        if (!odd_) {
            each([&](std::size_t row) { words_[count_][row] = value_of(row); });
        } else {
            each([&](std::size_t row) {
                const std::uint64_t value = value_of(row);
                words_[count_][row] = carry_[row] | value << 32;
                carry_[row] = static_cast<std::uint32_t>(value >> 32);
            });
        }
        ++count_;
    }

    // All parts have been appended.
    void finish() noexcept {
        size_ = count_ * sizeof(std::uint64_t) + (odd_ ? sizeof(std::uint32_t) : 0);
        if (odd_) {
            each([&](std::size_t row) { words_[count_][row] = carry_[row]; });
        }
    }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] std::uint64_t word(std::size_t index, std::size_t row) const noexcept {
        return words_[index][row];
    }

    // The rows, all at once where most of them are set: a value that nobody needs is written too.
    template <typename Visit>
    [[gnu::always_inline]] void each(Visit&& visit) const noexcept {
        if (dense_) {
            for (std::size_t row = 0; row < kMaxBurst; ++row) {
                visit(row);
            }
        } else {
            for_each_row(rows_, visit);
        }
    }

private:
    static constexpr int kDenseRows = 20;

    RowMask rows_;
    bool dense_;
    bool odd_ = false;  // half of a word is in carry_
    std::size_t count_ = 0;
    std::size_t size_ = 0;
    // Only what has been appended is read.
    std::array<std::uint32_t, kMaxBurst> carry_;
    std::array<std::array<std::uint64_t, kMaxBurst>, kMaxWords> words_;
};

}  // namespace sluice
