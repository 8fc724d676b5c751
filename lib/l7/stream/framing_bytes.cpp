#include "lib/l7/stream/framing_bytes.hpp"

#include "lib/base/check.hpp"
#include "lib/l7/stream/joined_lines.hpp"
#include "lib/share/word.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <tuple>

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
    return LineArray<Owners>::memory_of(sets) + LineArray<Block>::memory_of(sets * kWays) +
           LineArray<std::uint32_t>::memory_of(lines) +
           LineArray<std::uint32_t>::memory_of(sources_for(sets));
}

std::uint64_t FramingBytes::kept_of(std::size_t lines) noexcept {
    const std::size_t sets = sets_for(lines);
    return KeptMemory::taken_for(sets * sizeof(Owners)) +
           KeptMemory::taken_for(sets * kWays * sizeof(Block)) +
           KeptMemory::taken_for(lines * sizeof(std::uint32_t));
}

FramingBytes::FramingBytes(std::size_t lines, KeptMemory& memory)
    : sets_{sets_for(lines)},
      lines_{lines},
      owners_{array_in<Owners>(memory, sets_)},
      blocks_{array_in<Block>(memory, sets_ * kWays)},
      lost_{array_in<std::uint32_t>(memory, lines)},
      by_source_(sources_for(sets_)) {}

// A block can go on that is its connection's alone, and in its set.
bool FramingBytes::can_go_on(std::size_t block, const NextOf& next_of) const {
    const ConnectionIndex connection = owners_[block / kWays][block % kWays].connection;
    return connection < lines_ && set_of(connection) == block / kWays &&
           find(connection) == block && next_of(connection).has_value();
}

void FramingBytes::take_back(ConnectionIndex connection, std::uint32_t next) noexcept {
    if (sets_ == 0 || find(connection) != kNone) {
        return;
    }
    const std::size_t first = set_of(connection) * kWays;
    for (std::size_t at = first; at < first + kWays; ++at) {
        Owner& owner = owner_of(at);
        if (owner.used == 0 && owner.connection == connection && !blocks_[at].is_spent()) {
            owner.used = 1;
            return;
        }
    }
    // Lines that nothing is kept of were lost, and the block may be another connection's since.
    lose(connection, next);
}

void FramingBytes::take_over(const NextOf& next_of) {
    for (std::size_t at = 0; at < sets_ * kWays; ++at) {
        Owner& owner = owner_of(at);
        if (owner.used == 0) {
            continue;
        }
        if (!can_go_on(at, next_of)) {
            owner.used = 0;
            continue;
        }
        // The kill may have come before a line was counted.
        blocks_[at].count = kKept;
        drop_from(blocks_[at], *next_of(owner.connection));
        ++blocks_of(owner.source);
        uses_ = std::max(uses_, owner.used);
    }
    for (std::size_t line = 0; line < lines_; ++line) {
        if (lost_[line] != 0 && !next_of(static_cast<ConnectionIndex>(line))) {
            lost_[line] = 0;
        }
    }
}

std::size_t FramingBytes::Block::kept() const noexcept {
    return static_cast<std::size_t>(
        std::ranges::count_if(all(), [](const Line& line) { return line.size != 0; }));
}

// The end of the lines of a block that is not spent.
std::uint32_t FramingBytes::Block::end() const noexcept {
    std::uint32_t last = has_horizon ? horizon : lines[count - 1U].end();
    for (const Line& line : all()) {
        last = line.size != 0 && sequence_distance(last, line.end()) > 0 ? line.end() : last;
    }
    return last;
}

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

// A free block for a connection that has none, else the one that goes for it. kNone: none does.
std::size_t FramingBytes::place_for(const Sender& sender) noexcept {
    enum Class : unsigned { Free, Spent, InUse };
    using Rank = std::tuple<Class, std::uint32_t, std::uint32_t>;  // the least goes first
    const std::size_t first = set_of(sender.connection) * kWays;
    const auto rank = [&](std::size_t at) -> Rank {
        const Owner& owner = owner_of(at);
        if (owner.used == 0 || blocks_[at].is_spent()) {
            return {owner.used == 0 ? Free : Spent, 0, owner.used};
        }
        return {InUse, ~blocks_of(owner.source), owner.used};
    };
    std::size_t goes = first;
    for (std::size_t at = first + 1; at < first + kWays; ++at) {
        goes = rank(at) < rank(goes) ? at : goes;
    }
    const bool has_more = std::get<Class>(rank(goes)) == InUse &&
                          blocks_of(sender.source) > blocks_of(owner_of(goes).source);
    return has_more ? kNone : goes;
}

// The connection's own block, or one that is its own from now on. kNone: there is no room.
std::size_t FramingBytes::take(const Sender& sender, std::uint32_t body_from,
                               Adding& adding) noexcept {
    uses_ = uses_ == std::numeric_limits<std::uint32_t>::max() ? 1 : uses_ + 1;
    std::size_t at = find(sender.connection);
    if (at != kNone) {
        owner_of(at).used = uses_;
        return at;
    }
    at = place_for(sender);
    if (at == kNone) {
        adding.what = Added::Full;
        return at;
    }
    Owner& owner = owner_of(at);
    if (owner.used != 0 && !blocks_[at].is_spent()) {
        adding = {.what = Added::Evicted, .evicted = owner.connection};
        lose(owner.connection, blocks_[at].end());
        keep_store_order();
    }
    give_up(owner);
    keep_store_order();
    const std::uint32_t lost = lost_[sender.connection];
    blocks_[at] = Block{.horizon = lost, .has_horizon = lost != 0, .body_from = body_from};
    owner.connection = sender.connection;
    owner.source = sender.source;
    keep_store_order();
    owner.used = uses_;
    ++blocks_of(sender.source);
    return at;
}

void FramingBytes::lose(ConnectionIndex connection, std::uint32_t until) noexcept {
    std::uint32_t& lost = lost_[connection];
    if (lost == 0 || sequence_distance(lost, until) > 0) {
        lost = until == 0 ? 1 : until;
    }
}

void FramingBytes::give_up(Owner& owner) noexcept {
    if (owner.used != 0) {
        owner.used = 0;
        --blocks_of(owner.source);
    }
}

void FramingBytes::trim(Block& block) noexcept {
    while (block.count != 0 && block.lines[block.count - 1U].size == 0) {
        --block.count;
    }
}

void FramingBytes::drop_acknowledged(Block& block, std::uint32_t acknowledged) noexcept {
    for (Line& line : block.all()) {
        if (sequence_distance(line.end(), acknowledged) >= 0) {
            line.size = 0;
        }
    }
    block.has_horizon = block.has_horizon && sequence_distance(block.horizon, acknowledged) < 0;
    trim(block);
}

// A process that ended was reading those.
void FramingBytes::drop_from(Block& block, std::uint32_t next) noexcept {
    for (Line& line : block.all()) {
        if (sequence_distance(next, line.end()) > 0) {
            line.size = 0;
        }
    }
    trim(block);
}

void FramingBytes::drop_oldest(Block& block, std::size_t count) noexcept {
    for (std::size_t i = 0; i < count; ++i) {
        const auto oldest = std::ranges::min_element(block.all(), [](const Line& a, const Line& b) {
            return a.size != 0 && (b.size == 0 || sequence_distance(a.from, b.from) > 0);
        });
        const std::uint32_t gone = oldest->end();
        block.horizon =
            block.has_horizon && sequence_distance(block.horizon, gone) < 0 ? block.horizon : gone;
        keep_store_order();
        block.has_horizon = true;
        keep_store_order();
        oldest->size = 0;
    }
    trim(block);
}

// There is room.
void FramingBytes::put(Block& block, const Bytes& read, const PayloadRange& place,
                       const KeyHasher& hash) noexcept {
    const ByteView bytes = read.bytes.subspan(place.begin, place.end - place.begin);
    SLUICE_CHECK(bytes.size() <= std::numeric_limits<std::uint16_t>::max());
    const auto free =
        std::ranges::find_if(block.lines, [](const Line& line) { return line.size == 0; });
    Line line{.from = read.from + place.begin, .size = static_cast<std::uint16_t>(bytes.size())};
    if (line.is_short()) {
        std::copy(bytes.begin(), bytes.end(), line.bytes.begin());
    } else {
        const std::uint32_t digest = digest_of(bytes, hash);
        const ByteView said = std::as_bytes(std::span{&digest, 1});
        std::copy(said.begin(), said.end(), line.bytes.begin());
    }
    free->from = line.from;
    free->bytes = line.bytes;
    keep_store_order();
    free->size = line.size;
    keep_store_order();
    const auto behind = static_cast<std::uint16_t>(free - block.lines.begin() + 1);
    block.count = std::max(block.count, behind);
}

FramingBytes::Adding FramingBytes::add(const Sender& sender, const Bytes& read,
                                       std::span<const PayloadRange> lines,
                                       std::optional<std::uint32_t> acknowledged,
                                       const KeyHasher& hash) noexcept {
    Adding adding;
    if (sets_ == 0 || lines.empty()) {
        return adding;
    }
    // A body begins with a line: without a block it has had none before these.
    const std::size_t at = take(sender, read.from, adding);
    if (at == kNone) {
        return adding;
    }
    Block& block = blocks_[at];
    if (acknowledged) {
        drop_acknowledged(block, *acknowledged);
    }
    // Without room to tell them apart they are one, with the data between them.
    const JoinedLines all{lines};
    const bool has_room =
        (acknowledged ? block.kept() : 0) + lines.size() + kFreeBehindSeveral <= kKept;
    const std::span<const PayloadRange> places =
        has_room && std::ranges::none_of(lines, is_too_long) ? lines : all.places();
    const std::size_t all_of_them = block.kept() + places.size();
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
    if (line.is_short()) {
        return std::equal(said.begin(), said.end(), line.bytes.begin() + (begin - at));
    }
    const std::uint32_t digest = digest_of(said, hash);
    const ByteView known = std::as_bytes(std::span{&digest, 1});
    return said.size() == line.size && std::equal(known.begin(), known.end(), line.bytes.begin());
}

bool FramingBytes::agrees(ConnectionIndex connection, const Bytes& repeat,
                          const KeyHasher& hash) const noexcept {
    if (sets_ != 0 && lost_[connection] != 0 &&
        sequence_distance(repeat.from, lost_[connection]) > 0) {
        return false;
    }
    const std::size_t at = find(connection);
    if (at == kNone) {
        return true;
    }
    const Block& block = blocks_[at];
    if (block.has_horizon && sequence_distance(repeat.from, block.horizon) > 0) {
        return false;
    }
    const std::uint32_t to = repeat.from + static_cast<std::uint32_t>(repeat.bytes.size());
    return std::ranges::all_of(block.all(), [&](const Line& line) {
        return !line.meets(repeat.from, to) || is_same(line, repeat, hash);
    });
}

void FramingBytes::begin_body(ConnectionIndex connection, std::uint32_t from) noexcept {
    if (const std::size_t at = find(connection); at != kNone) {
        // The one before, which is over, ends before this begins: between the two it is empty.
        blocks_[at].body_from = from;
        keep_store_order();
        blocks_[at].is_over = false;
    }
}

void FramingBytes::end_body(ConnectionIndex connection, std::uint32_t to) noexcept {
    if (const std::size_t at = find(connection); at != kNone) {
        blocks_[at].body_to = to;
        keep_store_order();
        blocks_[at].is_over = true;
    }
}

bool FramingBytes::is_in_body(ConnectionIndex connection, std::uint32_t from,
                              std::uint32_t to) const noexcept {
    const std::size_t at = find(connection);
    return at != kNone && sequence_distance(blocks_[at].body_from, from) >= 0 &&
           (!blocks_[at].is_over || sequence_distance(to, blocks_[at].body_to) >= 0);
}

bool FramingBytes::acknowledge(ConnectionIndex connection, std::uint32_t to) noexcept {
    if (sets_ == 0) {
        return false;
    }
    std::uint32_t& lost = lost_[connection];
    lost = lost != 0 && sequence_distance(lost, to) >= 0 ? 0 : lost;
    const std::size_t at = find(connection);
    if (at == kNone) {
        return lost != 0;
    }
    const Block& block = blocks_[at];
    drop_acknowledged(blocks_[at], to);
    // Nothing of its body comes again, and its numbers are other bytes' by and by.
    const bool is_past = block.is_over && sequence_distance(block.body_to, to) >= 0;
    if (is_past && block.is_spent()) {
        give_up(owner_of(at));
    }
    return lost != 0 || !block.is_spent();
}

bool FramingBytes::has_any(ConnectionIndex connection) const noexcept {
    const std::size_t at = find(connection);
    return sets_ != 0 && (lost_[connection] != 0 || (at != kNone && !blocks_[at].is_spent()));
}

void FramingBytes::forget(ConnectionIndex connection) noexcept {
    if (sets_ == 0) {
        return;
    }
    if (const std::size_t at = find(connection); at != kNone) {
        give_up(owner_of(at));
    }
}

void FramingBytes::begin(ConnectionIndex connection) noexcept {
    if (sets_ != 0) {
        lost_[connection] = 0;
    }
}

}  // namespace sluice
