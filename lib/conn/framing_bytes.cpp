#include "lib/conn/framing_bytes.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace sluice {
namespace {

// One in so many lines has a body in chunks under way.
constexpr std::size_t kLinesPerBlock = 32;
constexpr std::size_t kNone = ~std::size_t{0};

std::uint32_t digest_of(ByteView bytes, const KeyHasher& hash) noexcept {
    return static_cast<std::uint32_t>(hash.digest(bytes));
}

}  // namespace

std::size_t FramingBytes::sets_for(std::size_t lines) noexcept {
    return lines == 0 ? 0
                      : std::bit_ceil(std::max<std::size_t>(lines / (kLinesPerBlock * kWays), 1));
}

std::uint64_t FramingBytes::memory_of(std::size_t lines) noexcept {
    const std::size_t sets = sets_for(lines);
    return LineArray<Owners>::memory_of(sets) + LineArray<Block>::memory_of(sets * kWays);
}

FramingBytes::FramingBytes(std::size_t lines)
    : sets_{sets_for(lines)}, owners_(sets_), blocks_(sets_ * kWays) {}

std::size_t FramingBytes::find(ConnectionIndex connection) const noexcept {
    if (sets_ == 0) {
        return kNone;
    }
    const std::size_t set = set_of(connection);
    for (std::size_t way = 0; way < kWays; ++way) {
        const Owner& owner = owners_[set][way];
        if (owner.used != 0 && owner.connection == connection) {
            return set * kWays + way;
        }
    }
    return kNone;
}

// The connection's own block, else a free one, else the longest unused.
std::size_t FramingBytes::take(ConnectionIndex connection, std::uint32_t body_from,
                               Adding& adding) noexcept {
    std::size_t at = find(connection);
    uses_ = uses_ == std::numeric_limits<std::uint32_t>::max() ? 1 : uses_ + 1;
    if (at != kNone) {
        owners_[at / kWays][at % kWays].used = uses_;
        return at;
    }
    Owners& owners = owners_[set_of(connection)];
    const auto longest =
        std::min_element(owners.begin(), owners.end(),
                         [](const Owner& a, const Owner& b) { return a.used < b.used; });
    at = set_of(connection) * kWays + static_cast<std::size_t>(longest - owners.begin());
    if (longest->used != 0 && blocks_[at].count != 0) {
        adding = {.what = Added::Evicted, .evicted = longest->connection};
    }
    *longest = {.connection = connection, .used = uses_};
    blocks_[at] = Block{.body_from = body_from};
    return at;
}

void FramingBytes::drop_acknowledged(Block& block, std::uint32_t acknowledged) noexcept {
    const auto end = block.lines.begin() + block.count;
    const auto kept = std::remove_if(block.lines.begin(), end, [&](const Line& line) {
        return sequence_distance(line.end(), acknowledged) >= 0;
    });
    block.count = static_cast<std::uint16_t>(kept - block.lines.begin());
}

void FramingBytes::drop_oldest(Block& block, std::size_t count) noexcept {
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint32_t gone = block.lines[i].end();
        block.horizon =
            block.has_horizon && sequence_distance(block.horizon, gone) < 0 ? block.horizon : gone;
        block.has_horizon = true;
    }
    std::shift_left(block.lines.begin(), block.lines.begin() + block.count,
                    static_cast<std::ptrdiff_t>(count));
    block.count = static_cast<std::uint16_t>(block.count - count);
}

void FramingBytes::put(Block& block, const Bytes& read, const PayloadRange& place,
                       const KeyHasher& hash) noexcept {
    const ByteView bytes = read.bytes.subspan(place.begin, place.end - place.begin);
    Line& line = block.lines[block.count++];
    line = {.from = read.from + place.begin,
            .size = static_cast<std::uint16_t>(bytes.size()),
            .is_short = bytes.size() <= kShort};
    if (line.is_short) {
        std::copy(bytes.begin(), bytes.end(), line.bytes.begin());
    } else {
        const std::uint32_t digest = digest_of(bytes, hash);
        const ByteView said = std::as_bytes(std::span{&digest, 1});
        std::copy(said.begin(), said.end(), line.bytes.begin());
    }
}

FramingBytes::Adding FramingBytes::add(ConnectionIndex connection, const Bytes& read,
                                       std::span<const PayloadRange> lines,
                                       std::optional<std::uint32_t> acknowledged,
                                       const KeyHasher& hash) noexcept {
    Adding adding;
    if (sets_ == 0 || lines.empty()) {
        return adding;
    }
    // More than are told apart are one, with the data between them.
    const PayloadRange all{lines.front().begin, lines.back().end};
    const std::span<const PayloadRange> places =
        lines.size() > kMostLines ? std::span{&all, 1} : lines;
    // A body begins with a line: without a block it has had none before these.
    Block& block = blocks_[take(connection, read.from, adding)];
    if (acknowledged) {
        drop_acknowledged(block, *acknowledged);
    }
    const std::size_t all_of_them = block.count + places.size();
    if (all_of_them > kKept) {
        if (acknowledged) {
            adding.what = Added::Full;
            return adding;
        }
        drop_oldest(block, all_of_them - kKept);
    }
    for (const PayloadRange& place : places) {
        put(block, read, place, hash);
    }
    return adding;
}

bool FramingBytes::is_same(const Line& line, const Bytes& repeat, const KeyHasher& hash) noexcept {
    const std::int32_t at = sequence_distance(repeat.from, line.from);
    const auto size = static_cast<std::int32_t>(repeat.bytes.size());
    const std::int32_t begin = std::max(at, 0);
    const std::int32_t end = std::min(at + std::int32_t{line.size}, size);
    const ByteView said = repeat.bytes.subspan(static_cast<std::size_t>(begin),
                                               static_cast<std::size_t>(end - begin));
    if (line.is_short) {
        return std::equal(said.begin(), said.end(), line.bytes.begin() + (begin - at));
    }
    const std::uint32_t digest = digest_of(said, hash);
    const ByteView known = std::as_bytes(std::span{&digest, 1});
    return said.size() == line.size && std::equal(known.begin(), known.end(), line.bytes.begin());
}

bool FramingBytes::agrees(ConnectionIndex connection, const Bytes& repeat,
                          const KeyHasher& hash) const noexcept {
    const std::size_t at = find(connection);
    if (at == kNone) {
        return true;
    }
    const Block& block = blocks_[at];
    if (block.has_horizon && sequence_distance(repeat.from, block.horizon) > 0) {
        return false;
    }
    const std::uint32_t to = repeat.from + static_cast<std::uint32_t>(repeat.bytes.size());
    return std::all_of(block.lines.begin(), block.lines.begin() + block.count,
                       [&](const Line& line) {
                           return !line.meets(repeat.from, to) || is_same(line, repeat, hash);
                       });
}

void FramingBytes::begin_body(ConnectionIndex connection, std::uint32_t from) noexcept {
    if (const std::size_t at = find(connection); at != kNone) {
        blocks_[at].body_from = from;
        blocks_[at].is_over = false;
    }
}

void FramingBytes::end_body(ConnectionIndex connection, std::uint32_t to) noexcept {
    if (const std::size_t at = find(connection); at != kNone) {
        blocks_[at].body_to = to;
        blocks_[at].is_over = true;
    }
}

bool FramingBytes::is_in_body(ConnectionIndex connection, std::uint32_t from,
                              std::uint32_t to) const noexcept {
    const std::size_t at = find(connection);
    return at != kNone && sequence_distance(blocks_[at].body_from, from) >= 0 &&
           (!blocks_[at].is_over || sequence_distance(to, blocks_[at].body_to) >= 0);
}

void FramingBytes::forget(ConnectionIndex connection) noexcept {
    if (const std::size_t at = find(connection); at != kNone) {
        owners_[at / kWays][at % kWays] = {};
    }
}

}  // namespace sluice
