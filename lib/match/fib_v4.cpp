#include "lib/match/fib_v4.hpp"

#include <algorithm>
#include <string>

namespace sluice {
namespace {

constexpr std::uint64_t kNoMore = std::uint64_t{1} << 32;

}  // namespace

template <typename OnDivided, typename OnSame>
void FibV4::walk(Steps steps, OnDivided on_divided, OnSame on_same) {
    std::size_t step = 0;
    std::size_t slot = 0;
    const auto begin_of = [&](std::size_t number) {
        return number < steps.size() ? steps[number].first : kNoMore;
    };
    while (slot < kSlots) {
        // Up to the next step's /24, everything is the same.
        const std::uint64_t next = begin_of(step + 1);
        const auto end = static_cast<std::size_t>(next >> 8);
        on_same(slot, end, steps[step].row);
        slot = end;
        if ((next & 0xFF) == 0) {
            ++step;
        }
        if (slot == kSlots) {
            break;
        }
        Divided divided{.slot = static_cast<std::uint32_t>(slot), .step = step};
        const std::uint64_t end_of_slot = (std::uint64_t{slot} + 1) << 8;
        while (begin_of(step + divided.inside + 1) < end_of_slot) {
            ++divided.inside;
        }
        if (divided.inside == 0) {
            continue;  // the step begins with the /24
        }
        on_divided(divided);
        step += divided.inside;
        ++slot;
        step += begin_of(step + 1) == end_of_slot ? 1 : 0;
    }
}

std::size_t FibV4::count_lines(Steps steps) {
    std::size_t lines = 0;
    walk(
        steps, [&](const Divided& divided) { lines += lines_for(divided.inside); },
        [](std::size_t, std::size_t, std::uint32_t) {});
    return lines;
}

std::size_t FibV4::bytes_for(Steps steps) {
    return kSlots * sizeof(std::uint32_t) + count_lines(steps) * kLineSize;
}

Result<FibV4> FibV4::make(Steps steps, std::size_t most) {
    const std::size_t lines = count_lines(steps);
    const std::size_t bytes = kSlots * sizeof(std::uint32_t) + lines * kLineSize;
    if (bytes > most || lines > kMaxValue) {
        return Error{Errc::TooMany, "the IPv4 networks would take " + std::to_string(bytes >> 20) +
                                        " MiB as a table, and at most " +
                                        std::to_string(most >> 20) + " MiB are given to it"};
    }
    return FibV4{steps, lines};
}

FibV4::FibV4(Steps steps, std::size_t lines)
    : table_{kSlots * sizeof(std::uint32_t)}, lines_{std::max<std::size_t>(lines, 1) * kLineSize} {
    std::size_t next = 0;
    walk(
        steps,
        [&](const Divided& divided) {
            const std::size_t count = lines_for(divided.inside);
            if (count == 1) {
                fill_line(divided, steps, next);
            } else {
                fill_whole(divided, steps, next);
            }
            table()[divided.slot] =
                (count == 1 ? kLine : kWhole) | static_cast<std::uint32_t>(next);
            next += count;
        },
        [&](std::size_t from, std::size_t to, std::uint32_t value) {
            std::fill(table() + from, table() + to, value);
        });
}

void FibV4::fill_line(const Divided& divided, Steps steps, std::size_t at) noexcept {
    Line line;
    line.first.fill(255);
    line.value.fill(steps[divided.step + divided.inside].row);
    line.value[0] = steps[divided.step].row;
    for (std::size_t i = 1; i <= divided.inside; ++i) {
        line.first[i - 1] = static_cast<std::uint8_t>(steps[divided.step + i].first);
        line.value[i] = steps[divided.step + i].row;
    }
    *reinterpret_cast<Line*>(line_at(at)) = line;
}

void FibV4::fill_whole(const Divided& divided, Steps steps, std::size_t at) noexcept {
    auto* values = reinterpret_cast<std::uint32_t*>(line_at(at));
    std::size_t from = 0;
    for (std::size_t i = 0; i <= divided.inside; ++i) {
        const std::size_t step = divided.step + i;
        const std::size_t to =
            i == divided.inside ? 256 : static_cast<std::uint8_t>(steps[step + 1].first);
        std::fill(values + from, values + to, steps[step].row);
        from = to;
    }
}

void FibV4::find_each(std::span<const std::uint64_t> addresses,
                      std::uint32_t* values) const noexcept {
    bool divided = false;
    for (std::size_t i = 0; i < addresses.size(); ++i) {
        const auto address = static_cast<std::uint32_t>(addresses[i]);
        values[i] = table()[address >> 8];
        if (values[i] > kMaxValue) {
            prefetch0(line_of(values[i], address));
            divided = true;
        }
    }
    if (!divided) {
        return;
    }
    for (std::size_t i = 0; i < addresses.size(); ++i) {
        if (values[i] > kMaxValue) {
            values[i] = find_in_line(values[i], static_cast<std::uint32_t>(addresses[i]));
        }
    }
}

}  // namespace sluice
