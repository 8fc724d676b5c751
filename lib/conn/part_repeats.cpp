#include "lib/conn/part_repeats.hpp"

#include <algorithm>

namespace sluice {

PartRepeats::Run* PartRepeats::find(ConnectionIndex connection) noexcept {
    const auto found = std::find_if(runs_.begin(), runs_.end(),
                                    [&](const Run& run) { return run.connection == connection; });
    return found == runs_.end() ? nullptr : found;
}

PartRepeats::Run& PartRepeats::longest_unused() noexcept {
    return *std::min_element(runs_.begin(), runs_.end(), [](const Run& a, const Run& b) {
        return a.is_open() != b.is_open() ? b.is_open() : a.used < b.used;
    });
}

void PartRepeats::forget(ConnectionIndex connection) noexcept {
    if (Run* const run = find(connection)) {
        *run = Run{};
    }
}

// Whether some byte of it is another than the one that is known to have been judged in its place.
bool PartRepeats::contradicts(const Run& run, const Bytes& repeat) noexcept {
    const std::int64_t at = sequence_distance(run.from, repeat.from);
    const std::int64_t begin = std::max<std::int64_t>(at, 0);
    const std::int64_t end =
        std::min<std::int64_t>(at + static_cast<std::int64_t>(repeat.bytes.size()), run.checked);
    if (begin >= end) {
        return false;
    }
    const auto size = static_cast<std::size_t>(end - begin);
    const ByteView known = ByteView{room_of(run)}.subspan(static_cast<std::size_t>(begin), size);
    const ByteView said = repeat.bytes.subspan(static_cast<std::size_t>(begin - at), size);
    return !std::equal(known.begin(), known.end(), said.begin());
}

// Whether it begins where the run reaches, and what both hold is the same.
bool PartRepeats::agrees(const Run& run, const Bytes& repeat) noexcept {
    const std::int32_t at = sequence_distance(run.from, repeat.from);
    if (at < 0 || at > static_cast<std::int32_t>(run.size)) {
        return false;
    }
    const auto begin = static_cast<std::size_t>(at);
    const ByteView both =
        repeat.bytes.first(std::min<std::size_t>(repeat.bytes.size(), run.size - begin));
    return std::equal(both.begin(), both.end(),
                      room_of(run).begin() + static_cast<std::ptrdiff_t>(begin));
}

// What is known to be the same goes first.
bool PartRepeats::make_room(Run& run, std::size_t size) noexcept {
    if (run.size + size > kRunBytes) {
        const MutableBytes room = room_of(run);
        std::copy(room.begin() + run.checked, room.begin() + run.size, room.begin());
        run.from += run.checked;
        run.size -= run.checked;
        run.checked = 0;
    }
    return run.size + size <= kRunBytes;
}

PartRepeats::Part PartRepeats::go_on(Run& run, const Bytes& repeat, const SeenSegments& seen,
                                     const KeyHasher& hash) noexcept {
    const std::size_t known = run.from + run.size - repeat.from;
    if (known >= repeat.bytes.size()) {
        return run.is_open() ? Part::Open : Part::Whole;
    }
    const ByteView fresh = repeat.bytes.subspan(known);
    if (!make_room(run, fresh.size())) {
        return Part::Differs;
    }
    const MutableBytes room = room_of(run);
    std::copy(fresh.begin(), fresh.end(), room.begin() + run.size);
    const std::size_t size = run.size + fresh.size();
    const ByteView unchecked = ByteView{room}.subspan(run.checked, size - run.checked);
    const SeenSegments::Comparison is = seen.compare(run.from + run.checked, unchecked, hash);
    if (is.what == SeenSegments::Repeat::Differs) {
        return Part::Differs;
    }
    run.size = static_cast<std::uint32_t>(size);
    run.checked += static_cast<std::uint32_t>(is.whole);
    return run.is_open() ? Part::Open : Part::Whole;
}

PartRepeats::Answer PartRepeats::take(ConnectionIndex connection, bool was_open,
                                      const Bytes& repeat, const SeenSegments& seen,
                                      const KeyHasher& hash) noexcept {
    Run* run = find(connection);
    if (run != nullptr && contradicts(*run, repeat)) {
        return {.part = Part::Differs};
    }
    if (run != nullptr && agrees(*run, repeat)) {
        run->used = ++uses_;
        const Part part = go_on(*run, repeat, seen, hash);
        if (part != Part::Differs || run->is_open()) {
            return {.part = part};
        }
    }
    using Repeat = SeenSegments::Repeat;
    const Repeat is =
        was_open ? Repeat::Differs : seen.compare(repeat.from, repeat.bytes, hash).what;
    if (is != Repeat::Part || repeat.bytes.size() > kRunBytes) {
        return {.part = is == Repeat::Same ? Part::Whole : Part::Differs};
    }
    run = run != nullptr ? run : &longest_unused();
    const bool evicted = run->is_open();
    *run = {.connection = connection, .from = repeat.from, .used = ++uses_};
    return {.part = go_on(*run, repeat, seen, hash), .evicted = evicted};
}

}  // namespace sluice
