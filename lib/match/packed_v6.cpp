#include "lib/match/packed_v6.hpp"

#include "lib/base/prefetch.hpp"

#include <bit>
#include <cstring>
#include <optional>
#include <vector>

namespace sluice {
namespace {

constexpr std::size_t kLeastRootSlots = std::size_t{1} << 16;  // so that a slot is 2^112 keys
constexpr std::size_t kMostRootSlots = std::size_t{1} << 18;
constexpr unsigned kLeastRootShift = 66;      // so that differences of slots have a sign
constexpr std::size_t kLeastPackedSlots = 6;  // of which a table is one line
constexpr std::size_t kStepsOfSlot = 8;       // half as many entries, and half of these on average
constexpr std::size_t kMostPackedSlots = std::size_t{1} << 20;

}  // namespace

// Places in lines, so that no record lies in two of them: where one ends, another has room.
class PackedV6::Lines {
public:
    using Words = std::vector<std::uint64_t>;

    // The first word of so many, of one line.
    [[nodiscard]] std::size_t add(std::size_t words) {
        for (std::size_t left = words; left < kLineWords; ++left) {
            if (!open_[left].empty()) {
                const std::size_t at = open_[left].back();
                open_[left].pop_back();
                leave(at + words, left - words);
                return at;
            }
        }
        const std::size_t at = add_lines(1);
        leave(at + words, kLineWords - words);
        return at;
    }
    [[nodiscard]] std::size_t add_lines(std::size_t count) {
        const std::size_t at = words_.size();
        words_.resize(at + count * kLineWords);
        return at;
    }
    [[nodiscard]] Words& words() noexcept { return words_; }

private:
    void leave(std::size_t at, std::size_t words) {
        if (words != 0) {
            open_[words].push_back(at);
        }
    }

    Words words_;
    std::array<std::vector<std::size_t>, kLineWords> open_;  // by how many words are left there
};

// Tables are filled in the order in which they are met: each is a piece of the keys, whose slots
// are pieces again.
class PackedV6::Builder {
public:
    Builder(Steps steps, std::size_t most)
        : steps_{steps}, most_{std::min(most, kMostBytes) / sizeof(std::uint64_t)} {}

    // False: a row is too large, or it would take too much.
    [[nodiscard]] bool run() {
        if (!std::all_of(steps_.begin(), steps_.end(),
                         [](const auto& step) { return step.row <= kMaxValue; })) {
            return false;
        }
        const std::size_t slots = std::clamp(std::bit_ceil(steps_.size()) / kStepsOfSlot,
                                             kLeastRootSlots, kMostRootSlots);
        add_table({0, steps_.size() - 1}, kLeastRootShift, slots, 0);
        const Table root = tables_.front().head;
        const std::uint32_t around = most_frequent_row();
        root_ = {static_cast<std::uint64_t>(root.base) - 1, root.count + std::int64_t{1},
                 root.shift, around};
        for (std::size_t next = 0; next < tables_.size(); ++next) {
            const Pending table = tables_[next];
            if (!fill(table)) {
                return false;
            }
        }
        return true;
    }
    [[nodiscard]] std::size_t bytes() { return words().size() * sizeof(std::uint64_t); }
    [[nodiscard]] PackedV6 made() {
        LineMemory memory{bytes()};
        std::memcpy(memory.data(), words().data(), bytes());
        return {root_, std::move(memory)};
    }

private:
    // Keys in a row: the step that holds the first, and the steps that begin behind it.
    struct Piece {
        std::size_t step = 0;
        std::size_t inside = 0;
    };
    // The keys of a slot, or of a part of it.
    struct Range {
        Wide first = 0;
        unsigned bits = 0;
        [[nodiscard]] Wide last() const { return first | ((Wide{1} << bits) - 1); }
    };
    struct Pending {
        Table head;
        Piece piece;
        std::size_t slots_at = 0;  // counted in slots from the first of the root
    };
    [[nodiscard]] std::uint32_t most_frequent_row() const {
        std::array<std::size_t, kMaxValue + 1> counts{};
        for (const Step<Wide>& step : steps_) {
            ++counts[step.row];
        }
        return static_cast<std::uint32_t>(std::max_element(counts.begin(), counts.end()) -
                                          counts.begin());
    }

    [[nodiscard]] Lines::Words& words() noexcept { return lines_.words(); }
    [[nodiscard]] Wide first(const Piece& piece, std::size_t number) const {
        return steps_[piece.step + number].first;
    }
    [[nodiscard]] std::uint32_t row(const Piece& piece, std::size_t number) const {
        return steps_[piece.step + number].row;
    }
    // Finds a piece of which one before it is known.
    [[nodiscard]] Piece piece_of(const Range& range, std::size_t step_before,
                                 std::size_t end) const {
        Piece piece{.step = step_before};
        while (piece.step + 1 < end && first(piece, 1) <= range.first) {
            ++piece.step;
        }
        const Wide last = range.last();
        while (piece.step + piece.inside + 1 < end && first(piece, piece.inside + 1) <= last) {
            ++piece.inside;
        }
        return piece;
    }

    // A table over the steps of a piece, whose head takes so many words; it is noted as to be
    // filled. The least slots into which the keys from the first step to the last fall apart: so
    // many that these two never share one, since each level has to leave less than it found.
    std::size_t add_table(const Piece& piece, unsigned least_shift, std::size_t most_slots,
                          std::size_t head_words) {
        Table table{.shift = least_shift};
        if (piece.inside != 0) {
            const Wide least = first(piece, 1);
            const Wide last = first(piece, piece.inside);
            while ((last >> table.shift) - (least >> table.shift) >= most_slots) {
                ++table.shift;
            }
            table.base = least >> table.shift;
            table.count = static_cast<std::uint32_t>((last >> table.shift) - table.base + 1);
        }
        const std::size_t size = head_words + (table.count + 2 + 1) / 2;
        const std::size_t at = lines_.add_lines((size + kLineWords - 1) / kLineWords);
        if (head_words != 0) {
            std::memcpy(&words()[at], &table, sizeof(table));
        }
        tables_.push_back({table, piece, (at + head_words) * 2});
        return at;
    }

    [[nodiscard]] bool fill(const Pending& pending) {
        const Table& table = pending.head;
        const Piece& all = pending.piece;
        const std::size_t end = all.step + all.inside + 1;
        write_slot(pending.slots_at, place_of_value(row(all, 0)));
        write_slot(pending.slots_at + table.count + 1, place_of_value(row(all, all.inside)));
        Piece piece = all;
        for (std::uint32_t slot = 0; slot < table.count; ++slot) {
            const Range range{(table.base + slot) << table.shift, table.shift};
            piece = piece_of(range, piece.step, end);
            write_slot(pending.slots_at + slot + 1, place_for(piece, range));
            if (words().size() > most_) {
                return false;
            }
        }
        return true;
    }
    void write_slot(std::size_t slot, std::uint32_t place) {
        std::memcpy(reinterpret_cast<std::byte*>(words().data()) + slot * sizeof(place), &place,
                    sizeof(place));
    }

    // Words beyond the bound are detected before they are read.
    [[nodiscard]] static std::uint32_t word(std::size_t at) noexcept {
        return static_cast<std::uint32_t>(at) & kPlaceMask;
    }
    [[nodiscard]] std::uint32_t place_for(const Piece& piece, const Range& slot) {
        if (piece.inside == 0) {
            return place_of_value(row(piece, 0));
        }
        if (const std::optional<std::uint32_t> place = add_records(piece, slot)) {
            return *place;
        }
        const std::size_t slots = std::clamp(std::bit_ceil(piece.inside) / kStepsOfSlot,
                                             kLeastPackedSlots, kMostPackedSlots);
        return kTable | word(add_table(piece, 0, slots, sizeof(Table) / sizeof(std::uint64_t)));
    }
    [[nodiscard]] std::uint32_t place_of_value(std::uint32_t value) {
        std::uint32_t& place = values_[value];
        if (place == 0) {
            const std::size_t at = lines_.add(1);
            PackedRecord::of_value(value).write(&words()[at], 1);
            place = kMostSplit << kSplitAt | word(at);
        }
        return place;
    }

    // A record of the slot, or as many as it takes until each lies in one line, but not so many
    // that a table would take less.
    [[nodiscard]] std::optional<std::uint32_t> add_records(const Piece& piece, const Range& slot) {
        for (unsigned split = 0; split < std::min(kMostSplit, slot.bits + 1); ++split) {
            const std::size_t parts = std::size_t{1} << split;
            if (split != 0 && 2 * parts > piece.inside) {
                break;
            }
            if (piece.inside <= 2 * parts * kLineWords && plan(piece, slot, split)) {
                return write_records(split);
            }
        }
        return std::nullopt;
    }

    // True if records of a line each can hold the steps of a piece.
    [[nodiscard]] bool plan(const Piece& piece, const Range& slot, unsigned split) {
        records_.clear();
        entries_ = 0;
        tail_ = 0;
        const unsigned bits = slot.bits - split;
        Piece part = piece;
        for (std::size_t i = 0; i < std::size_t{1} << split; ++i) {
            const Range range{slot.first + (Wide{i} << bits), bits};
            part = piece_of(range, part.step, piece.step + piece.inside + 1);
            const std::optional<PackedRecord> record =
                PackedRecord::make(steps_.subspan(part.step, part.inside + 1),
                                   {range.first, range.last(), slot.bits}, root_.around);
            if (!record) {
                return false;
            }
            entries_ = std::max(entries_, record->entries());
            tail_ = std::max(tail_, record->tail());
            records_.push_back(*record);
        }
        return entries_ + tail_ <= kLineWords;
    }
    [[nodiscard]] std::uint32_t write_records(unsigned split) {
        const std::size_t size = entries_ + tail_;
        const std::size_t at = split == 0 ? lines_.add(size) : lines_.add_lines(records_.size());
        for (std::size_t i = 0; i < records_.size(); ++i) {
            records_[i].write(&words()[at + i * kLineWords], entries_);
        }
        return (kMostSplit - split) << kSplitAt |
               static_cast<std::uint32_t>(entries_ - 1) << kPlaceBits | word(at);
    }

    Steps steps_;
    std::size_t most_;  // words
    Root root_;
    Lines lines_;
    std::vector<Pending> tables_;
    std::array<std::uint32_t, kMaxValue + 1> values_{};  // places of records of one value
    std::vector<PackedRecord> records_;                  // of the slot at hand
    std::size_t entries_ = 0;                            // the most that one of them has
    std::size_t tail_ = 0;
};

std::size_t PackedV6::bytes_for(Steps steps) {
    Builder builder{steps, kMostBytes};
    return builder.run() ? builder.bytes() : kMostBytes + 1;
}

Result<PackedV6> PackedV6::make(Steps steps, std::size_t most) {
    Builder builder{steps, most};
    if (!builder.run()) {
        return Error{Errc::TooMany, "too many rows, or networks, for a table of few rows"};
    }
    return builder.made();
}

// Nothing branches on what one key finds, but that few are in tables of their own, or in tails:
// these are counted in bits, and looked up after all others.
void PackedV6::find_each(std::span<const Wide> keys, std::uint32_t* values) const noexcept {
    const std::size_t count = keys.size();
    Spots spots;
    std::uint32_t in_tables = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const Spot spot = enter_root(keys[i]);
        prefetch0(words() + spot.record);
        spots.set(i, spot);
        in_tables |= (is_table(spot.place) ? 1U : 0U) << i;
    }
    while (in_tables != 0) {
        in_tables = enter_each(in_tables, keys, spots);
    }
    const std::uint64_t* const lines = words();
    const std::uint32_t around = PackedRecord::code_of(root_.around);
    std::array<std::uint32_t, kMaxKeys> codes;
    std::uint32_t in_tails = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const Spot spot = spots.at(i);
        const PackedRecord::Found found =
            PackedRecord::find(lines, spot.record, entries_of(spot.place), spot.rest, around);
        codes[i] = found.code;
        values[i] = found.value();
        in_tails |= (found.is_in_tail() ? 1U : 0U) << i;
    }
    for (; in_tails != 0; in_tails &= in_tails - 1) {
        const auto i = static_cast<unsigned>(std::countr_zero(in_tails));
        values[i] = find_in_tail(spots.at(i), {codes[i]}, keys[i]);
    }
}

// One level on for the keys of these bits; those that are in tables still.
std::uint32_t PackedV6::enter_each(std::uint32_t in_tables, std::span<const Wide> keys,
                                   Spots& spots) const noexcept {
    for (std::uint32_t left = in_tables; left != 0; left &= left - 1) {
        const auto i = static_cast<unsigned>(std::countr_zero(left));
        prefetch0(slot_in(spots.place[i], keys[i]));
    }
    std::uint32_t still = 0;
    for (std::uint32_t left = in_tables; left != 0; left &= left - 1) {
        const auto i = static_cast<unsigned>(std::countr_zero(left));
        const Spot spot = enter(spots.place[i], keys[i]);
        prefetch0(words() + spot.record);
        spots.set(i, spot);
        still |= (is_table(spot.place) ? 1U : 0U) << i;
    }
    return still;
}

}  // namespace sluice
