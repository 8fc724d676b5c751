#include "lib/bucket/meter/distinct_values.hpp"

#include <bit>

namespace sluice {
DistinctValues::Shown DistinctValues::as_of(const DistinctLimit& limit,
                                            Instant now) const noexcept {
    const std::uint64_t half = half_of(limit, now);
    if (half <= half_) {
        return {half_, current_, previous_};
    }
    return {half, Count{}, half == half_ + std::uint64_t{1} ? current_ : Count{}};
}

// Values that have gone are forgotten before the half is another; in between, counts count twice.
void DistinctValues::move_to(const DistinctLimit& limit, LinePool& pool, Instant now) noexcept {
    const std::uint64_t half = half_of(limit, now);
    if (half <= half_) {
        return;
    }
    const bool is_next = half == half_ + std::uint64_t{1};
    if (is_next) {
        drop_previous(pool);
    } else {
        drop_all(pool);
    }
    const Count gone = is_next ? current_ : Count{};
    keep_store_order();
    previous_ = gone;
    keep_store_order();
    half_ = static_cast<std::uint32_t>(half);
    keep_store_order();
    current_ = Count{};
}

auto* DistinctValues::find(auto& self, auto& pool, ShownValue value) noexcept {
    const auto in = [word = value.bits << 1](auto& words) {
        std::uint32_t hits = 0;
        for (std::size_t i = 0; i < words.size(); ++i) {
            hits |= std::uint32_t{(words[i] & ~Word{1}) == word} << i;
        }
        return hits == 0 ? nullptr : &words[static_cast<std::size_t>(std::countr_zero(hits))];
    };
    auto* found = decltype(&self.words_[0]){nullptr};
    if (!value.is_known()) {
        return found;
    }
    if (!is_line(self.words_[0])) {
        return in(self.words_);
    }
    for (std::size_t i = 0; found == nullptr && i < kInLine && is_line(self.words_[i]); ++i) {
        found = in(pool.template at<Line>(line_of(self.words_[i])));
    }
    return found;
}

bool DistinctValues::has(const DistinctLimit& limit, const LinePool& pool, Instant now,
                         ShownValue value) const noexcept {
    const Word* const word = find(*this, pool, value);
    return word != nullptr && counts(*word, half_of(limit, now));
}

DistinctValues::Word* DistinctValues::at(LinePool& pool, std::size_t place) noexcept {
    if (!is_line(words_[0])) {
        return place < kInLine ? &words_[place] : nullptr;
    }
    const std::size_t line = place / kPerLine;
    return line < kInLine && is_line(words_[line])
               ? &pool.at<Line>(line_of(words_[line]))[place % kPerLine]
               : nullptr;
}

// Copies are there before the line is, and go after it has come.
bool DistinctValues::move_to_lines(LinePool& pool) noexcept {
    const PoolLine taken = pool.take();
    if (taken == kNoLine) {
        return false;
    }
    std::copy(words_.begin(), words_.end(), pool.at<Line>(taken).begin());
    keep_store_order();
    words_[0] = taken | kLineBit;
    keep_store_order();
    std::fill(words_.begin() + 1, words_.end(), 0);
    return true;
}

bool DistinctValues::add_line(LinePool& pool, std::size_t place) noexcept {
    if (!is_line(words_[0])) {
        return move_to_lines(pool);
    }
    const PoolLine taken = pool.take();
    if (taken == kNoLine) {
        return false;
    }
    keep_store_order();
    words_[place / kPerLine] = taken | kLineBit;
    return true;
}

bool DistinctValues::make_room(LinePool& pool, std::uint64_t values) noexcept {
    const std::size_t end = size() + std::min<std::uint64_t>(values, kMost - size());
    for (std::size_t place = size(); place < end; ++place) {
        if (at(pool, place) == nullptr && !add_line(pool, place)) {
            return false;
        }
    }
    return true;
}

void DistinctValues::note(LinePool& pool, ShownValue value) noexcept {
    if (Word* const known = find(*this, pool, value)) {
        if (*known != word_now(value)) {
            ++current_.known;
            keep_store_order();
            *known = word_now(value);
            keep_store_order();
            --previous_.known;
        }
        return;
    }
    // A reservation is charged later than it was asked about; the lines may have gone meanwhile.
    Word* const place = value.is_known() && make_room(pool, 1) ? at(pool, size()) : nullptr;
    if (place == nullptr) {
        add_unknown(1);
        return;
    }
    *place = word_now(value);
    keep_store_order();
    ++current_.known;
}

void DistinctValues::note_all(const DistinctLimit& limit, LinePool& pool, Instant now,
                              DistinctValues& from) noexcept {
    const std::uint64_t half = half_of(limit, now);
    for (std::size_t place = 0; place < from.size(); ++place) {
        const Word* const word = from.at(pool, place);
        if (word != nullptr && from.counts(*word, half)) {
            note(pool, {*word >> 1});
        }
    }
}

void DistinctValues::add_unknown(std::uint64_t values) noexcept {
    const std::uint64_t sum = current_.unknown + std::min<std::uint64_t>(values, kMostUnknown);
    current_.unknown = std::min(static_cast<std::uint32_t>(sum), kMostUnknown) & kMostUnknown;
}

// The last one takes its place; lines go when they are empty.
void DistinctValues::drop(LinePool& pool, std::size_t place) noexcept {
    const std::size_t end = size() - 1;
    Word& hole = *at(pool, place);
    Word& last = *at(pool, end);
    Count& count = (hole & 1U) == (half_ & 1U) ? current_ : previous_;
    hole = last;
    keep_store_order();
    last = 0;
    keep_store_order();
    --count.known;
    const bool has_lines = is_line(words_[0]);
    for (std::size_t line = (end + kPerLine - 1) / kPerLine;
         has_lines && line < kInLine && is_line(words_[line]); ++line) {
        const PoolLine done = line_of(words_[line]);
        words_[line] = 0;
        keep_store_order();
        pool.give_back(done);
    }
}

void DistinctValues::drop_previous(LinePool& pool) noexcept {
    if (current_.known == 0) {
        drop_all(pool);
        return;
    }
    for (std::size_t place = size(); previous_.known != 0 && place != 0; --place) {
        if ((*at(pool, place - 1) & 1U) != (half_ & 1U)) {
            drop(pool, place - 1);
        }
    }
}

void DistinctValues::drop_all(LinePool& pool) noexcept {
    close(pool);
    words_.fill(0);
    keep_store_order();
    current_.known = 0;
    previous_.known = 0;
}

void DistinctValues::close(LinePool& pool) noexcept {
    for (std::size_t i = kInLine; i != 0; --i) {
        if (is_line(words_[i - 1])) {
            const PoolLine done = line_of(words_[i - 1]);
            words_[i - 1] = 0;
            keep_store_order();
            pool.give_back(done);
        }
    }
}

void DistinctValues::give_back(LinePool& pool, std::uint64_t values) noexcept {
    for (Count* count : {&current_, &previous_}) {
        const std::uint32_t unknown = count->unknown;
        const auto gone = static_cast<std::uint32_t>(std::min<std::uint64_t>(values, unknown));
        count->unknown = (unknown - gone) & kMostUnknown;
        values -= gone;
    }
    for (std::uint64_t left = std::min<std::uint64_t>(values, size()); left != 0; --left) {
        drop(pool, size() - 1);
    }
}

std::optional<Nanoseconds> DistinctValues::wait(const DistinctLimit& limit, Instant now,
                                                std::uint64_t more) const noexcept {
    const std::uint64_t most = limit.numbers.count;
    const Shown shown = as_of(limit, now);
    const std::uint64_t current = shown.current.all();
    if (more > most) {
        return std::nullopt;
    }
    if (current + shown.previous.all() + more <= most) {
        return Nanoseconds{0};
    }
    return begin_of(limit, shown.half + (current + more <= most ? 1 : 2)) - now;
}

Instant DistinctValues::fresh_from(const DistinctLimit& limit, Instant now) const noexcept {
    const Shown shown = as_of(limit, now);
    if (shown.current.all() != 0) {
        return begin_of(limit, shown.half + 2);
    }
    return shown.previous.all() != 0 ? begin_of(limit, shown.half + 1) : now;
}

// Words that are no values, and gaps, are what a bit that flips leaves, or the end of a process.
void DistinctValues::recount(LinePool& pool) noexcept {
    std::array<std::uint32_t, 2> known{};
    std::size_t end = 0;
    for (std::size_t place = 0; place < kMost; ++place) {
        Word* const word = at(pool, place);
        if (word == nullptr) {
            break;
        }
        const Word value = *word;
        const bool is_value = value > 1 && !is_line(value);
        if (is_value) {
            *at(pool, end) = value;
            ++known[(value & 1U) == (half_ & 1U) ? 0 : 1];
        }
        if (!is_value || end != place) {
            *word = 0;
        }
        end += is_value ? 1 : 0;
    }
    current_.known = known[0] & UINT8_MAX;
    previous_.known = known[1] & UINT8_MAX;
}

}  // namespace sluice
