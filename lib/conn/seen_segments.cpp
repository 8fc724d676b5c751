#include "lib/conn/seen_segments.hpp"

#include <algorithm>

namespace sluice {

void SeenSegments::add(std::uint32_t from, ByteView bytes, const KeyHasher& hash) noexcept {
    const auto size = static_cast<std::uint32_t>(bytes.size());
    const auto kept =
        std::remove_if(segments_.begin(), segments_.begin() + count_,
                       [&](const Segment& segment) { return segment.meets(from, from + size); });
    count_ = static_cast<std::uint16_t>(kept - segments_.begin());
    if (count_ == kKept) {
        const std::uint32_t gone = segments_.front().end();
        horizon_ = has_horizon_ && sequence_distance(horizon_, gone) < 0 ? horizon_ : gone;
        has_horizon_ = true;
        std::shift_left(segments_.begin(), segments_.end(), 1);
        --count_;
    }
    segments_[count_++] = {from, size, digest_of(bytes, hash)};
}

bool SeenSegments::may_repeat(std::uint32_t from, ByteView bytes,
                              const KeyHasher& hash) const noexcept {
    const std::uint32_t to = from + static_cast<std::uint32_t>(bytes.size());
    bool begins_known = !has_horizon_ || sequence_distance(horizon_, from) >= 0;
    for (std::size_t i = 0; i < count_; ++i) {
        const Segment& seen = segments_[i];
        if (!seen.meets(from, to)) {
            continue;
        }
        const std::int32_t begin = sequence_distance(from, seen.from);
        if (begin < 0 || sequence_distance(seen.end(), to) < 0 ||
            digest_of(bytes.subspan(static_cast<std::size_t>(begin), seen.size), hash) !=
                seen.digest) {
            return false;
        }
        begins_known = begins_known || begin == 0;
    }
    return begins_known;
}

}  // namespace sluice
