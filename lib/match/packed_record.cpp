#include "lib/match/packed_record.hpp"

namespace sluice {
namespace {

// The size of a network: how many keys it is as a power of two; nullopt: it is none.
std::optional<unsigned> size_of(Wide first, Wide last) {
    const Wide others = first ^ last;
    if ((others & (others + 1)) != 0 || (first & others) != 0) {
        return std::nullopt;
    }
    return static_cast<unsigned>(std::popcount(static_cast<std::uint64_t>(others)) +
                                 std::popcount(static_cast<std::uint64_t>(others >> 64)));
}

}  // namespace

// The keys of a range, one segment after the other.
class PackedRecord::Segments {
public:
    Segments(Steps steps, const Range& range)
        : steps_{steps},
          range_{range},
          finer_{(Wide{1} << (std::max(range.slot_bits, kBoundBits) - kBoundBits)) - 1},
          at_{range.first} {}

    // False: there is none any more, or the bits do not distinguish it.
    [[nodiscard]] bool next(Segment& segment) {
        if (is_at_end_) {
            return false;
        }
        while (step_ + 1 < steps_.size() && steps_[step_ + 1].first <= at_) {
            ++step_;
        }
        segment = {.first = at_, .value = steps_[step_].row};
        Wide last = last_of(step_);
        if (last < (at_ | finer_)) {
            last = at_ | finer_;
            if (!tell(segment, last)) {
                failed_ = true;
                return false;
            }
        } else if (((last + 1) & finer_) != 0) {
            // Up to the bound before what is finer.
            last = (last & ~finer_) - 1;
        }
        is_at_end_ = last == range_.last;
        at_ = last + 1;
        return true;
    }
    [[nodiscard]] bool failed() const noexcept { return failed_; }

private:
    [[nodiscard]] Wide last_of(std::size_t step) const {
        return step + 1 < steps_.size() ? steps_[step + 1].first - 1 : range_.last;
    }

    // Between the segment's first key and the last, one or two steps begin; they are a network, and
    // what is around it.
    [[nodiscard]] bool tell(Segment& segment, Wide last) const {
        const std::size_t next = step_ + 1;
        const Wide begin = steps_[next].first;
        const bool are_two = last_of(next) < last;
        if (range_.slot_bits > kMostBits ||
            (are_two && (last_of(next + 1) < last || steps_[next + 1].row != segment.value))) {
            return false;
        }
        const std::uint32_t before = segment.value;
        const std::uint32_t behind = steps_[next].row;
        if (const auto size = size_of(begin, are_two ? last_of(next) : last)) {
            set(segment, begin, *size, {behind, before});
            return true;
        }
        const auto size = size_of(segment.first, begin - 1);
        if (are_two || !size) {
            return false;
        }
        set(segment, segment.first, *size, {before, behind});
        return true;
    }
    struct Values {
        std::uint32_t inside;
        std::uint32_t others;
    };
    static void set(Segment& segment, Wide first, unsigned size, Values values) {
        segment.is_fine = true;
        segment.word = static_cast<std::uint64_t>(first) << 1 | std::uint64_t{1} << size;
        segment.value = values.inside;
        segment.others = values.others;
    }

    Steps steps_;
    Range range_;
    Wide finer_;
    Wide at_;
    std::size_t step_ = 0;
    bool is_at_end_ = false;
    bool failed_ = false;
};

std::optional<PackedRecord> PackedRecord::make(Steps steps, const Range& range,
                                               std::uint32_t around) {
    PackedRecord record;
    Segments segments{steps, range};
    Segment next;
    bool has_next = segments.next(next);
    bool is_around = true;  // the value that entries so far leave for keys behind them
    bool fits = true;
    while (has_next && fits) {
        const Segment segment = next;
        has_next = segments.next(next);
        const std::uint64_t rest = rest_of(segment.first, range.slot_bits);
        if (segment.is_fine) {
            fits = record.add_tail(segment, range.slot_bits, around);
            is_around = true;
        } else if (segment.value != around || !is_around) {
            const auto size =
                segment.value != around && has_next && !next.is_fine && next.value == around
                    ? size_of(segment.first, next.first - 1)
                    : std::nullopt;
            const std::uint64_t shift = size ? *size + 63 - range.slot_bits : kEndless;
            // find() takes keys before the first entry for keys of it, were it endless.
            const bool is_first = record.entry_count_ == 0 && segment.first != range.first;
            fits = (size || !is_first || record.add_entry(0, kEndless, around)) &&
                   record.add_entry(rest, shift, segment.value);
            is_around = size.has_value() || segment.value == around;
        }
    }
    if (!fits || segments.failed()) {
        return std::nullopt;
    }
    return record.entry_count_ != 0 ? record : of_value(around);
}

PackedRecord PackedRecord::of_value(std::uint32_t value) {
    PackedRecord record;
    (void)record.add_entry(0, kEndless, value);
    return record;
}

bool PackedRecord::add_entry(std::uint64_t rest, std::uint64_t shift, std::uint32_t value) {
    if (entry_count_ + tail_count_ == kWords) {
        return false;
    }
    entries_[entry_count_++] = (rest | shift << kShiftAt | value) ^ kTurned;
    return true;
}

bool PackedRecord::add_tail(const Segment& segment, unsigned bits, std::uint32_t around) {
    const bool is_other = segment.others != around;
    const std::uint64_t place = 2 * tail_count_ + (is_other ? 1 : 0);
    const std::size_t words = is_other ? 2 : 1;
    if (place >= kLeastShift || tail_count_ + words + entry_count_ + 1 > kWords ||
        !add_entry(rest_of(segment.first, bits), place, segment.value)) {
        return false;
    }
    tail_[tail_count_] = segment.word;
    if (is_other) {
        tail_[tail_count_ + 1] = segment.others;
    }
    tail_count_ += words;
    return true;
}

void PackedRecord::write(std::uint64_t* to, std::size_t entries) const {
    std::uint64_t* const rest = std::copy_n(entries_.begin(), entry_count_, to);
    std::fill(rest, to + entries, entries_[entry_count_ - 1]);
    std::copy_n(tail_.begin(), tail_count_, to + entries);
}

}  // namespace sluice
