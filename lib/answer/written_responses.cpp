#include "lib/answer/written_responses.hpp"

#include <algorithm>

namespace sluice {
namespace {

void write(const ResponseKey& key, const MadeResponse& made, WrittenResponse& to) noexcept {
    to.key = key;
    to.size = made.write(key.numbers, key.is_head, to.bytes);
    to.cut = cut_response(to.size, key.has_timestamps);
    for (std::size_t i = 0; i < to.cut.count; ++i) {
        const ByteView rest = to.view().subspan(i * to.cut.piece);
        to.sums[i] = {};
        to.sums[i].add(rest.first(std::min(rest.size(), to.cut.piece)));
    }
}

}  // namespace

// What differs between answers of one flood stands in the lowest bits of these numbers.
std::size_t WrittenResponses::place_of(const ResponseKey& key) noexcept {
    const std::uint64_t mixed = key.numbers.retry_after + key.numbers.remaining * 5 +
                                key.numbers.quota * 3 + key.response * std::uint64_t{7} +
                                (key.is_head ? 2U : 0U) + (key.has_timestamps ? 1U : 0U);
    return mixed % kKeptResponses;
}

const WrittenResponse& WrittenResponses::get(const ResponseKey& key,
                                             const MadeResponse& made) noexcept {
    WrittenResponse& place = places_[place_of(key)];
    if (place.size == 0 || place.key != key) {
        write(key, made, place);
    }
    return place;
}

}  // namespace sluice
