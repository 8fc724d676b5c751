#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace sluice {

inline constexpr float kNoNumber = std::numeric_limits<float>::quiet_NaN();

// The latest seconds of some numbers, one row a second. A second that nobody has put is a gap:
// kNoNumber in all of its columns.
template <std::size_t kColumns>
class SecondRing {
public:
    static constexpr std::int64_t kSeconds = 600;
    using Row = std::array<float, kColumns>;

    [[nodiscard]] static Row no_row() {
        Row row;
        row.fill(kNoNumber);
        return row;
    }

    // Seconds only grow.
    void put(std::int64_t second, const Row& row) {
        if (rows_.empty()) {
            rows_.assign(static_cast<std::size_t>(kSeconds), no_row());
            newest_ = second - 1;
        }
        if (second <= newest_) {
            return;
        }
        if (second - newest_ >= kSeconds) {
            rows_.assign(static_cast<std::size_t>(kSeconds), no_row());
        } else {
            for (std::int64_t gap = newest_ + 1; gap < second; ++gap) {
                place(gap) = no_row();
            }
        }
        place(second) = row;
        newest_ = second;
    }
    [[nodiscard]] Row at(std::int64_t second) const {
        const bool is_kept =
            !rows_.empty() && second <= newest_ && second > newest_ - kSeconds && second >= 0;
        return is_kept ? rows_[static_cast<std::size_t>(second % kSeconds)] : no_row();
    }

private:
    [[nodiscard]] Row& place(std::int64_t second) {
        return rows_[static_cast<std::size_t>(second % kSeconds)];
    }

    std::vector<Row> rows_;
    std::int64_t newest_ = -1;
};

}  // namespace sluice
