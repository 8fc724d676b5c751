#include "lib/l7/stream/judged_ranges.hpp"

#include <algorithm>

namespace sluice {

// Ranges under construction: splitting one range makes two more at most.
struct JudgedRanges::Parts {
    std::array<std::uint32_t, kRanges + 2> starts{};
    std::array<StickyVerdict, kRanges + 2> verdicts{};
    std::size_t count = 0;

    void add(std::uint32_t start, StickyVerdict verdict) noexcept {
        if (count != 0 && verdicts[count - 1] == verdict) {
            return;
        }
        starts[count] = start;
        verdicts[count++] = verdict;
    }
};

void JudgedRanges::take(Parts& parts) noexcept {
    const std::size_t excess = parts.count > kRanges ? parts.count - kRanges : 0;
    const auto first = parts.verdicts.begin();
    // The oldest ones become one.
    parts.verdicts[excess] =
        *std::max_element(first, first + static_cast<std::ptrdiff_t>(excess) + 1);
    parts.starts[excess] = parts.starts[0];
    Parts merged;
    for (std::size_t i = excess; i < parts.count; ++i) {
        merged.add(parts.starts[i], parts.verdicts[i]);
    }
    count_ = static_cast<std::uint8_t>(merged.count);
    std::copy_n(merged.starts.begin(), kRanges, starts_.begin());
    std::copy_n(merged.verdicts.begin(), kRanges, verdicts_.begin());
}

bool JudgedRanges::any_blocks() const noexcept {
    return std::any_of(verdicts_.begin(), verdicts_.begin() + count_, blocks);
}

StickyVerdict JudgedRanges::strictest(std::uint32_t from, std::uint32_t to,
                                      std::uint32_t end) const noexcept {
    auto found = StickyVerdict{};
    if (count_ == 0 || sequence_distance(starts_[0], from) < 0) {
        found = StickyVerdict::Unjudged;
    }
    for (std::size_t i = 0; i < count_; ++i) {
        const bool reached = sequence_distance(starts_[i], to) > 0;
        if (reached && sequence_distance(end_of(i, end), from) < 0) {
            found = std::max(found, verdicts_[i]);
        }
    }
    return found;
}

std::uint32_t JudgedRanges::alike_until(std::uint32_t from, std::uint32_t to,
                                        std::uint32_t end) const noexcept {
    const auto unjudged = [&](std::uint32_t at) {
        return strictest(at, at + 1, end) == StickyVerdict::Unjudged;
    };
    for (std::size_t i = 0; i < count_; ++i) {
        const std::uint32_t start = starts_[i];
        const bool inside = sequence_distance(from, start) > 0 && sequence_distance(start, to) > 0;
        if (inside && unjudged(start) != unjudged(from)) {
            return start;
        }
    }
    return to;
}

// Bytes that follow others of their verdict, or the first ones, make no range but the last.
bool JudgedRanges::append_to_last(StickyVerdict verdict, std::uint32_t from) noexcept {
    if (count_ == 0) {
        starts_[0] = from;
        verdicts_[0] = verdict;
        count_ = 1;
    }
    if (verdicts_[count_ - 1U] == verdict) {
        return true;
    }
    if (count_ == kRanges) {
        return false;
    }
    starts_[count_] = from;
    verdicts_[count_++] = verdict;
    return true;
}

void JudgedRanges::append(StickyVerdict verdict, std::uint32_t from, std::uint32_t end) noexcept {
    if (append_to_last(verdict, from)) {
        end_at(end);
        return;
    }
    Parts parts;
    for (std::size_t i = 0; i < count_; ++i) {
        parts.add(starts_[i], verdicts_[i]);
    }
    parts.add(from, verdict);
    take(parts);
    end_at(end);
}

// The whole of the last range has another verdict, which may be that of the one before it.
void JudgedRanges::paint_last(StickyVerdict verdict) noexcept {
    verdicts_[count_ - 1U] = verdict;
    if (count_ > 1 && verdicts_[count_ - 2U] == verdict) {
        --count_;
    }
}

void JudgedRanges::paint(StickyVerdict verdict, std::uint32_t from, std::uint32_t to,
                         std::uint32_t end) noexcept {
    if (count_ != 0 && starts_[count_ - 1U] == from && to == end) {
        paint_last(verdict);
        return;
    }
    Parts parts;
    for (std::size_t i = 0; i < count_; ++i) {
        const std::uint32_t start = starts_[i];
        const std::uint32_t stop = end_of(i, end);
        const std::uint32_t left = sequence_distance(start, from) > 0 ? from : start;
        const std::uint32_t right = sequence_distance(to, stop) > 0 ? to : stop;
        if (sequence_distance(left, right) <= 0) {
            parts.add(start, verdicts_[i]);
            continue;
        }
        if (left != start) {
            parts.add(start, verdicts_[i]);
        }
        parts.add(left, verdict);
        if (right != stop) {
            parts.add(right, verdicts_[i]);
        }
    }
    if (parts.count != 0) {
        take(parts);
    }
}

bool JudgedRanges::recover(std::uint32_t end) noexcept {
    if (count_ > kRanges) {
        return false;
    }
    Parts parts;
    for (std::size_t i = 0; i < count_; ++i) {
        if (sequence_distance(starts_[i], end_of(i, end)) <= 0) {
            return false;
        }
        parts.add(starts_[i], verdicts_[i] == StickyVerdict::Undecided ? StickyVerdict::Unjudged
                                                                       : verdicts_[i]);
    }
    if (parts.count != 0) {
        take(parts);
    }
    return true;
}

void JudgedRanges::end_at(std::uint32_t end) noexcept {
    while (count_ != 0 && sequence_distance(starts_[count_ - 1U], end) <= 0) {
        --count_;
    }
    // Ranges older than any window cannot be told apart by these numbers.
    const std::uint32_t oldest = end - kMostBytes;
    while (count_ > 1 && sequence_distance(starts_[1], oldest) >= 0) {
        std::shift_left(starts_.begin(), starts_.end(), 1);
        std::shift_left(verdicts_.begin(), verdicts_.end(), 1);
        --count_;
    }
    if (count_ != 0 && sequence_distance(starts_[0], oldest) > 0) {
        starts_[0] = oldest;
    }
}

}  // namespace sluice
