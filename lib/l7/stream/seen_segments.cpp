#include "lib/l7/stream/seen_segments.hpp"

#include "lib/l7/stream/judged_ranges.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace sluice {

std::int64_t SeenSegments::span() const noexcept {
    std::int64_t all = 0;
    for (std::size_t i = 0; i < count_; ++i) {
        all += size_of(i);
    }
    return all;
}

bool SeenSegments::can_be() const noexcept {
    if (count_ > kKept) {
        return false;
    }
    for (std::size_t i = 0; i < count_; ++i) {
        if (size_of(i) == 0) {
            return false;
        }
    }
    return span() <= kMostSpan;
}

void SeenSegments::forget_first(std::size_t pieces) noexcept {
    for (std::size_t i = 0; i < pieces; ++i) {
        from_ += size_of(i);
    }
    std::shift_left(sizes_.begin(), sizes_.begin() + count_, static_cast<std::ptrdiff_t>(pieces));
    std::shift_left(words_.begin(), words_.begin() + count_, static_cast<std::ptrdiff_t>(pieces));
    count_ = static_cast<std::uint16_t>(count_ - pieces);
}

void SeenSegments::forget_before(std::uint32_t acknowledged) noexcept {
    const std::int64_t end = sequence_distance(from_, acknowledged);
    std::size_t gone = 0;
    for (std::int64_t at = 0; gone < count_ && at + size_of(gone) <= end; ++gone) {
        at += size_of(gone);
    }
    if (gone != 0) {
        forget_first(gone);
    }
    has_horizon_ = has_horizon_ && end < 0;
}

void SeenSegments::join_last() noexcept {
    const std::size_t last = count_ - 1U;
    const bool is_all_gap = is_gap(last - 1) && is_gap(last);
    const std::uint32_t both = size_of(last - 1) + size_of(last);
    sizes_[last - 1] = 0;
    words_[last - 1] = {.digest = is_all_gap ? both : both | kUnknown};
    --count_;
}

void SeenSegments::make_room(std::size_t pieces, bool knows_acknowledged) noexcept {
    while (count_ + pieces > kKept) {
        if (knows_acknowledged) {
            join_last();
        } else {
            forget_first(1);
            has_horizon_ = true;
        }
    }
}

// There is room for one more.
void SeenSegments::double_piece(std::size_t i) noexcept {
    const auto place = static_cast<std::ptrdiff_t>(i);
    std::copy_backward(sizes_.begin() + place, sizes_.begin() + count_,
                       sizes_.begin() + count_ + 1);
    std::copy_backward(words_.begin() + place, words_.begin() + count_,
                       words_.begin() + count_ + 1);
    ++count_;
}

void SeenSegments::prepend_gap(std::uint32_t size) noexcept {
    double_piece(0);
    sizes_[0] = 0;
    words_[0] = {.digest = size};
    from_ -= size;
}

// A piece begins there. True: it was a part of a known one, and neither part has its digest.
bool SeenSegments::split(std::int64_t at) noexcept {
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < count_ && begin < at; begin += size_of(i), ++i) {
        const std::uint32_t size = size_of(i);
        if (begin + size <= at) {
            continue;
        }
        const auto left = static_cast<std::uint32_t>(at - begin);
        const bool was_known = is_known(i);
        double_piece(i);
        if (was_known) {
            sizes_[i] = static_cast<std::uint16_t>(left);
            sizes_[i + 1] = static_cast<std::uint16_t>(size - left);
        } else {
            const std::uint32_t kind = words_[i + 1].digest & kUnknown;
            sizes_[i] = 0;
            words_[i] = {.digest = left | kind};
            words_[i + 1] = {.digest = (size - left) | kind};
        }
        return was_known;
    }
    return false;
}

void SeenSegments::append_gap(std::int64_t size) noexcept {
    if (size > 0) {
        sizes_[count_] = 0;
        words_[count_++] = {.digest = static_cast<std::uint32_t>(size)};
    }
}

void SeenSegments::set_unknown(std::size_t i, std::uint32_t size) noexcept {
    sizes_[i] = 0;
    words_[i] = {.digest = size | kUnknown};
}

// There is room for it, and it lies behind what was forgotten.
void SeenSegments::put(std::int64_t at, ByteView bytes, const KeyHasher& hash,
                       RecentBytes& recent) noexcept {
    const std::uint32_t place = recent.put(bytes);
    const std::int64_t to = at + static_cast<std::int64_t>(bytes.size());
    append_gap(at - span());
    append_gap(to - span());
    const bool leaves_left = split(at);
    const bool leaves_right = split(to);
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < count_; ++i) {
        const std::uint32_t size = size_of(i);
        const std::int64_t end = begin + size;
        if ((leaves_left && end == at) || (leaves_right && begin == to)) {
            set_unknown(i, size);
        } else if (begin >= at && end <= to && (is_known(i) || is_gap(i))) {
            const auto before = static_cast<std::size_t>(begin - at);
            sizes_[i] = static_cast<std::uint16_t>(size);
            words_[i] = {.digest = digest_of(bytes.subspan(before, size), hash),
                         .place = place + static_cast<std::uint32_t>(before)};
        }
        begin = end;
    }
}

void SeenSegments::add(std::uint32_t from, ByteView bytes,
                       std::optional<std::uint32_t> acknowledged, const KeyHasher& hash,
                       RecentBytes& recent) noexcept {
    // No IP packet carries more.
    bytes =
        bytes.first(std::min<std::size_t>(bytes.size(), std::numeric_limits<std::uint16_t>::max()));
    // One way nothing comes again from so far back.
    forget_before(acknowledged.value_or(from - JudgedRanges::kMostBytes));
    if (count_ == 0 && !has_horizon_) {
        from_ = from;
    }
    const auto place = [&] { return std::int64_t{sequence_distance(from_, from)}; };
    const std::int64_t end = span();
    if (place() == end && end + static_cast<std::int64_t>(bytes.size()) <= kMostSpan &&
        !bytes.empty()) [[likely]] {
        make_room(1, acknowledged.has_value());
        sizes_[count_] = static_cast<std::uint16_t>(bytes.size());
        words_[count_++] = {.digest = digest_of(bytes, hash), .place = recent.put(bytes)};
        return;
    }
    make_room(place() == end ? 1 : place() > end ? 2 : 4, acknowledged.has_value());
    if (place() + static_cast<std::int64_t>(bytes.size()) > kMostSpan) {
        has_horizon_ = true;
        count_ = 0;
        from_ = from;
    }
    if (place() < 0 && has_horizon_) {
        const auto before = std::min(bytes.size(), static_cast<std::size_t>(-place()));
        bytes = bytes.subspan(before);
        from += static_cast<std::uint32_t>(before);
    }
    if (bytes.empty()) {
        return;
    }
    if (span() - place() > kMostSpan) {  // numbers have gone round behind what is known
        has_horizon_ = true;
        count_ = 0;
        from_ = from;
    }
    if (place() < 0) {
        prepend_gap(static_cast<std::uint32_t>(-place()));
    }
    put(place(), bytes, hash, recent);
}

// The bytes of the whole piece are at hand if they have its digest.
SeenSegments::Repeat SeenSegments::compare_part(const PartOf& part, const KeyHasher& hash,
                                                const RecentBytes& recent) const noexcept {
    const ByteView all = recent.at(words_[part.piece].place, sizes_[part.piece]);
    if (all.empty() || digest_of(all, hash) != words_[part.piece].digest) {
        return Repeat::Untold;
    }
    const ByteView known = all.subspan(part.at, part.bytes.size());
    return std::equal(known.begin(), known.end(), part.bytes.begin()) ? Repeat::SamePart
                                                                      : Repeat::Differs;
}

SeenSegments::Repeat SeenSegments::compare(const Repeated& repeat, const KeyHasher& hash,
                                           const RecentBytes& recent) const noexcept {
    const ByteView bytes = repeat.bytes;
    const std::int64_t begin = sequence_distance(from_, repeat.from);
    const std::int64_t to = begin + static_cast<std::int64_t>(bytes.size());
    const std::int64_t until = begin + static_cast<std::int64_t>(repeat.size);
    if (begin < 0 && has_horizon_) {
        return Repeat::Differs;
    }
    Repeat all = Repeat::Same;
    std::int64_t at = 0;
    for (std::size_t i = 0; i < count_ && at < until; ++i) {
        const std::int64_t end = at + size_of(i);
        if (end > begin && !is_gap(i)) {
            if (!is_known(i)) {
                return Repeat::Differs;
            }
            const std::int64_t first = std::max(at, begin);
            const ByteView both =
                bytes.subspan(static_cast<std::size_t>(first - begin),
                              static_cast<std::size_t>(std::min(end, to) - first));
            const bool is_whole = both.size() == size_of(i);
            const Repeat is =
                is_whole
                    ? (digest_of(both, hash) == words_[i].digest ? Repeat::Same : Repeat::Differs)
                    : compare_part({i, static_cast<std::size_t>(first - at), both}, hash, recent);
            all = std::max(all, is);
        }
        at = end;
    }
    return all;
}

bool SeenSegments::holds(std::uint32_t from, ByteView bytes, const KeyHasher& hash,
                         const RecentBytes& recent) const noexcept {
    const std::int64_t begin = sequence_distance(from_, from);
    const std::int64_t to = begin + static_cast<std::int64_t>(bytes.size());
    std::int64_t at = 0;
    for (std::size_t i = 0; i < count_ && at < to; ++i) {
        const std::int64_t end = at + size_of(i);
        if (end > begin && !is_known(i)) {
            return false;
        }
        at = end;
    }
    return begin >= 0 && at >= to && compare({from, bytes}, hash, recent) < Repeat::Untold;
}

}  // namespace sluice
