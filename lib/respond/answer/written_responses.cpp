#include "lib/respond/answer/written_responses.hpp"

#include <algorithm>

namespace sluice {
namespace {

void sum_segment(WrittenResponse& of, std::size_t i) noexcept {
    const ByteView rest = of.view().subspan(i * of.cut.piece);
    of.sums[i] = {};
    of.sums[i].add(rest.first(std::min(rest.size(), of.cut.piece)));
}

void write(const ResponseKey& key, const MadeResponse& made, std::string_view date,
           WrittenResponse& to) noexcept {
    to.key = key;
    to.size = made.write(key.numbers, key.is_head, date, to.bytes);
    to.cut = cut_response(to.size, key.has_timestamps);
    for (std::size_t i = 0; i < to.cut.count; ++i) {
        sum_segment(to, i);
    }
}

}  // namespace

// Differences between answers of one flood stand in the lowest bits of these numbers.
std::size_t WrittenResponses::place_of(const ResponseKey& key) noexcept {
    const std::uint64_t mixed = key.numbers.retry_after + key.numbers.remaining * 5 +
                                key.numbers.quota * 3 + key.response * std::uint64_t{7} +
                                (key.is_head ? 2U : 0U) + (key.has_timestamps ? 1U : 0U);
    return mixed % kKeptResponses;
}

const WrittenResponse& WrittenResponses::get(const ResponseKey& key, std::uint32_t date,
                                             const MadeResponse& made) noexcept {
    WrittenResponse& place = places_[place_of(key)];
    if (place.size == 0 || place.key != key) {
        write(key, made, date_.at(date), place);
    } else if (place.date != date) {
        made.put_date(date_.at(date), place.bytes);
        sum_segment(place, 0);
    }
    place.date = date;
    return place;
}

}  // namespace sluice
