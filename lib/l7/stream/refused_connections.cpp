#include "lib/l7/stream/refused_connections.hpp"

#include <algorithm>
#include <bit>

namespace sluice {
namespace {

std::size_t refused_lines_for(std::size_t connections) noexcept {
    return std::bit_ceil(std::max<std::size_t>(connections, 2));
}

}  // namespace

std::uint64_t RefusedConnections::memory_of(std::size_t connections) noexcept {
    return LineMemory::taken_for(refused_lines_for(connections) * sizeof(Line));
}

RefusedConnections::RefusedConnections(std::size_t connections, std::uint32_t silence_ticks,
                                       FullHeads when_full)
    : memory_{refused_lines_for(connections) * sizeof(Line)},
      lines_{static_cast<Line*>(memory_.data())},
      mask_{refused_lines_for(connections) - 1},
      silence_{silence_ticks},
      when_full_{when_full} {}

// Another one than the first, whatever the tag.
std::uint64_t RefusedConnections::second_line(std::uint64_t digest) const noexcept {
    const std::uint64_t other = (digest >> 32) * 0x9E37'79B9'7F4A'7C15U >> 32;
    const std::uint64_t step = other & mask_;
    return (digest ^ (step == 0 ? 1 : step)) & mask_;
}

std::ptrdiff_t RefusedConnections::free_places(const Line& line,
                                               std::uint32_t ticks) const noexcept {
    return std::count_if(line.begin(), line.end(),
                         [&](const Place& place) { return is_free(place, ticks); });
}

RefusedConnections::Place* RefusedConnections::find(std::uint64_t digest,
                                                    std::uint32_t ticks) noexcept {
    const std::uint32_t tag = tag_of(digest);
    for (const std::uint64_t at : {first_line(digest), second_line(digest)}) {
        for (Place& place : lines_[at]) {
            if (place.tag == tag && !is_free(place, ticks)) {
                return &place;
            }
        }
    }
    return nullptr;
}

void RefusedConnections::stay_full(std::uint64_t digest, std::uint32_t ticks) noexcept {
    for (const std::uint64_t at : {first_line(digest), second_line(digest)}) {
        for (Place& place : lines_[at]) {
            place.seen = ticks;
        }
    }
    latest_ = ticks;
}

bool RefusedConnections::add(std::uint64_t digest, std::uint32_t ticks) noexcept {
    if (meets(digest, ticks)) {
        return true;
    }
    if (may_be_one(digest, ticks)) {
        stay_full(digest, ticks);
        return true;
    }
    Line& first = lines_[first_line(digest)];
    Line& second = lines_[second_line(digest)];
    Line& line = free_places(first, ticks) >= free_places(second, ticks) ? first : second;
    // A free one, else the longest silent.
    Place& place = *std::max_element(line.begin(), line.end(), [&](const Place& a, const Place& b) {
        return is_free(a, ticks) != is_free(b, ticks) ? is_free(b, ticks)
                                                      : ticks - a.seen < ticks - b.seen;
    });
    const bool was_free = is_free(place, ticks);
    place = {.tag = tag_of(digest), .seen = ticks};
    latest_ = ticks;
    has_any_ = true;
    return was_free;
}

bool RefusedConnections::meets(std::uint64_t digest, std::uint32_t ticks) noexcept {
    Place* place = find(digest, ticks);
    if (place == nullptr) {
        return false;
    }
    place->seen = ticks;
    latest_ = ticks;
    return true;
}

}  // namespace sluice
