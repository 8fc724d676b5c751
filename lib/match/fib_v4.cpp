#include "lib/match/fib_v4.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace sluice {

template <unsigned kBits, typename OnPiece>
void FibV4::cut(Steps steps, const Piece& whole, OnPiece on_piece) {
    constexpr std::size_t kSize = std::size_t{1} << kBits;
    constexpr std::size_t kPieces = kBits == kPartBits ? kParts : kNetworks;
    Piece piece = whole;
    for (std::size_t number = 0; number < kPieces; ++number) {
        const std::uint64_t end = piece.first + kSize;
        piece.inside = 0;
        while (piece.step + piece.inside + 1 < steps.size() &&
               steps[piece.step + piece.inside + 1].first < end) {
            ++piece.inside;
        }
        on_piece(std::as_const(piece));
        piece.step += piece.inside;
        piece.first = end;
        if (piece.step + 1 < steps.size() && steps[piece.step + 1].first == end) {
            ++piece.step;
        }
    }
}

std::size_t FibV4::count_lines(Steps steps) {
    std::size_t lines = 0;
    cut<32 - kNetworkBits>(steps, {}, [&](const Piece& network) {
        if (network.inside >= Network::kMostRanges) {
            cut<kPartBits>(steps, network,
                           [&](const Piece& part) { lines += lines_for(part.inside); });
        }
    });
    return lines;
}

std::size_t FibV4::bytes_for(Steps steps) {
    return kNetworks * sizeof(Network) + count_lines(steps) * kLineSize;
}

Result<FibV4> FibV4::make(Steps steps, std::size_t most) {
    const std::size_t lines = count_lines(steps);
    const std::size_t bytes = kNetworks * sizeof(Network) + lines * kLineSize;
    if (bytes > most || lines > kMaxValue) {
        return Error{Errc::TooMany, "the IPv4 networks would take " + std::to_string(bytes >> 20) +
                                        " MiB as a table, and at most " +
                                        std::to_string(most >> 20) + " MiB are given to it"};
    }
    return FibV4{steps, lines};
}

FibV4::FibV4(Steps steps, std::size_t lines)
    : networks_{kNetworks * sizeof(Network)}, lines_{std::max<std::size_t>(lines, 1) * kLineSize} {
    std::size_t next = 0;
    const auto fill_part = [&](const Piece& part) {
        const std::size_t count = lines_for(part.inside);
        std::uint32_t place = steps[part.step].row;
        if (count == 1) {
            fill_line(part, steps, next);
            place = kLine | static_cast<std::uint32_t>(next);
        } else if (count != 0) {
            fill_whole(part, steps, next);
            place = kWhole | static_cast<std::uint32_t>(next);
        }
        network(part.first).places[part.first >> kPartBits & (kParts - 1)] = place;
        next += count;
    };
    cut<32 - kNetworkBits>(steps, {}, [&](const Piece& piece) {
        if (piece.inside < Network::kMostRanges) {
            fill_ranges(piece, steps);
        } else {
            cut<kPartBits>(steps, piece, fill_part);
        }
    });
}

void FibV4::fill_ranges(const Piece& piece, Steps steps) noexcept {
    Network filled;
    for (std::size_t range = 0; range < Network::kMostRanges; ++range) {
        const bool there = range <= piece.inside;
        const Step<std::uint64_t>& step = steps[piece.step + (there ? range : 0)];
        filled.places[range] = step.row;
        if (range != 0) {
            filled.set_first(
                range, there ? static_cast<std::uint16_t>(step.first & 0xFFF) : Network::kNowhere);
        }
    }
    filled.places[0] |= kRanges;
    network(piece.first) = filled;
}

void FibV4::fill_line(const Piece& piece, Steps steps, std::size_t at) noexcept {
    Line line;
    line.first.fill(255);
    line.value.fill(steps[piece.step + piece.inside].row);
    line.value[0] = steps[piece.step].row;
    for (std::size_t i = 1; i <= piece.inside; ++i) {
        line.first[i - 1] = static_cast<std::uint8_t>(steps[piece.step + i].first);
        line.value[i] = steps[piece.step + i].row;
    }
    *reinterpret_cast<Line*>(line_at(at)) = line;
}

void FibV4::fill_whole(const Piece& piece, Steps steps, std::size_t at) noexcept {
    auto* values = reinterpret_cast<std::uint32_t*>(line_at(at));
    std::size_t from = 0;
    for (std::size_t i = 0; i <= piece.inside; ++i) {
        const std::size_t step = piece.step + i;
        const std::size_t to =
            i == piece.inside ? 256 : static_cast<std::uint8_t>(steps[step + 1].first);
        std::fill(values + from, values + to, steps[step].row);
        from = to;
    }
}

void FibV4::find_each(std::span<const std::uint64_t> addresses,
                      std::uint32_t* values) const noexcept {
    bool divided = false;
    for (std::size_t i = 0; i < addresses.size(); ++i) {
        const auto address = static_cast<std::uint32_t>(addresses[i]);
        values[i] = place_of(address);
        if (values[i] > kMaxValue) {
            __builtin_prefetch(line_of(values[i], address));
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
