#include "lib/conn/seen_segments.hpp"

#include <algorithm>
#include <limits>
#include <span>

namespace sluice {

std::uint32_t SeenSegments::digest_of_both(std::uint32_t one, std::uint32_t next,
                                           const KeyHasher& hash) noexcept {
    const std::array both{one, next};
    return digest_of(std::as_bytes(std::span{both}), hash);
}

// The bytes are those of all its segments.
std::uint32_t SeenSegments::digest_of(const Segment& segment, ByteView bytes,
                                      const KeyHasher& hash) noexcept {
    std::uint32_t digest = digest_of(bytes.first(segment.size), hash);
    for (std::size_t at = segment.size; at < bytes.size(); at += segment.size) {
        digest = digest_of_both(digest, digest_of(bytes.subspan(at, segment.size), hash), hash);
    }
    return digest;
}

bool SeenSegments::join_two(const KeyHasher& hash) noexcept {
    const auto all = std::span{segments_}.first(count_);
    const auto one =
        std::adjacent_find(all.begin(), all.end(),
                           [](const Segment& a, const Segment& b) { return a.goes_on_with(b); });
    if (one == all.end()) {
        return false;
    }
    one->digest = digest_of_both(one->digest, (one + 1)->digest, hash);
    ++one->count;
    std::shift_left(one + 1, all.end(), 1);
    --count_;
    return true;
}

bool SeenSegments::can_be() const noexcept {
    return count_ <= kKept &&
           std::all_of(segments_.begin(), segments_.begin() + count_, [](const Segment& segment) {
               return segment.size != 0 && segment.count != 0 &&
                      segment.bytes() <= kMostTogether + std::numeric_limits<std::uint16_t>::max();
           });
}

void SeenSegments::make_room(const KeyHasher& hash) noexcept {
    if (count_ < kKept || join_two(hash)) {
        return;
    }
    const std::uint32_t gone = segments_.front().end();
    horizon_ = has_horizon_ && sequence_distance(horizon_, gone) < 0 ? horizon_ : gone;
    has_horizon_ = true;
    std::shift_left(segments_.begin(), segments_.end(), 1);
    --count_;
}

void SeenSegments::add(std::uint32_t from, ByteView bytes, const KeyHasher& hash) noexcept {
    // No IP packet carries more.
    constexpr std::size_t kMost = std::numeric_limits<std::uint16_t>::max();
    const auto size = static_cast<std::uint16_t>(std::min(bytes.size(), kMost));
    const auto kept =
        std::remove_if(segments_.begin(), segments_.begin() + count_,
                       [&](const Segment& segment) { return segment.meets(from, from + size); });
    count_ = static_cast<std::uint16_t>(kept - segments_.begin());
    make_room(hash);
    segments_[count_++] = {
        .from = from, .size = size, .count = 1, .digest = digest_of(bytes.first(size), hash)};
}

SeenSegments::Comparison SeenSegments::compare(std::uint32_t from, ByteView bytes,
                                               const KeyHasher& hash) const noexcept {
    const std::uint32_t to = from + static_cast<std::uint32_t>(bytes.size());
    bool begins_known = !has_horizon_ || sequence_distance(horizon_, from) >= 0;
    Comparison is{.what = Repeat::Same, .whole = bytes.size()};
    for (std::size_t i = 0; i < count_; ++i) {
        const Segment& seen = segments_[i];
        if (!seen.meets(from, to)) {
            continue;
        }
        const std::int32_t begin = sequence_distance(from, seen.from);
        if (begin < 0) {
            return {};
        }
        const auto at = static_cast<std::size_t>(begin);
        begins_known = begins_known || begin == 0;
        if (sequence_distance(seen.end(), to) < 0) {
            is = {.what = Repeat::Part, .whole = at};
        } else if (digest_of(seen, bytes.subspan(at, seen.bytes()), hash) != seen.digest) {
            return {};
        }
    }
    return begins_known ? is : Comparison{};
}

bool SeenSegments::holds(std::uint32_t from, ByteView bytes, const KeyHasher& hash) const noexcept {
    const std::uint32_t to = from + static_cast<std::uint32_t>(bytes.size());
    std::size_t held = 0;
    for (const Segment& seen : std::span{segments_}.first(count_)) {
        if (!seen.meets(from, to)) {
            continue;
        }
        const std::int32_t at = sequence_distance(from, seen.from);
        const bool is_same =
            at >= 0 && sequence_distance(seen.end(), to) >= 0 &&
            digest_of(seen, bytes.subspan(static_cast<std::size_t>(at), seen.bytes()), hash) ==
                seen.digest;
        if (!is_same) {
            return false;
        }
        held += seen.bytes();
    }
    return held == bytes.size();
}

}  // namespace sluice
