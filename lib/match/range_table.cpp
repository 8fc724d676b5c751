#include "lib/match/range_table.hpp"

#include <bit>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace sluice {
namespace {

constexpr std::size_t kLeastSlots = 8;
constexpr std::size_t kMostSlots = std::size_t{1} << 20;

// The root grows with the steps. 2^20 slots are 4 MiB: when there are many steps, several slots for
// each, so that few are left in one.
constexpr std::size_t root_slots_for(std::size_t steps) noexcept {
    return steps >= (std::size_t{1} << 16) ? kMostSlots
           : steps >= 512                  ? std::size_t{1} << 18
                                           : std::size_t{1} << 12;
}

}  // namespace

// Tables are filled in the order in which they are met: each is a piece of the keys, whose slots
// are pieces again.
template <typename Key>
class RangeTable<Key>::Builder {
public:
    // Writes to `lines`; nullptr: it only counts.
    Builder(Steps steps, std::byte* lines) : steps_{steps}, lines_{lines} {}

    // The bytes of all tables and lines; once they are more than `most`, no more are met.
    std::size_t run(std::size_t most) {
        (void)add_table({0, steps_.size() - 1}, root_slots_for(steps_.size()));
        for (std::size_t next = 0; next < tables_.size() && bytes() <= most; ++next) {
            const Pending table = tables_[next];
            fill(table);
        }
        return bytes();
    }

private:
    // Keys in a row: the step that holds the first, and the steps that begin behind it.
    struct Piece {
        std::size_t step = 0;
        std::size_t inside = 0;
    };
    struct Pending {
        std::uint32_t place = 0;
        Piece piece;
        Table head;
    };

    [[nodiscard]] std::size_t bytes() const { return line_count_ * kLineSize; }
    [[nodiscard]] Key first(const Piece& piece, std::size_t number) const {
        return steps_[piece.step + number].first;
    }
    [[nodiscard]] std::uint32_t row(const Piece& piece, std::size_t number) const {
        return steps_[piece.step + number].row;
    }

    // Lines beyond the bound are detected before the next table, and never written.
    std::uint32_t add_lines(std::size_t bytes) {
        const std::size_t place = line_count_;
        line_count_ += (bytes + kLineSize - 1) / kLineSize;
        return static_cast<std::uint32_t>(place & kPlaceMask);
    }
    void write(std::uint32_t line, std::size_t offset, const void* from, std::size_t size) {
        if (lines_ != nullptr) {
            std::memcpy(lines_ + line * kLineSize + offset, from, size);
        }
    }

    // True if a line can hold the steps of a piece; it compares no bits below these.
    [[nodiscard]] bool fits_line(const Piece& piece, unsigned below) const {
        const Key others = (Key{1} << below) - 1;
        for (std::size_t i = 1; i <= piece.inside; ++i) {
            if (i == Line::kRanges || (first(piece, i) & others) != 0) {
                return false;
            }
        }
        return true;
    }

    // The place for a piece of 2^bits keys.
    [[nodiscard]] std::uint32_t place_for(const Piece& piece, unsigned bits) {
        constexpr unsigned kCompared = 8 * sizeof(typename Line::Bits);
        if (piece.inside == 0) {
            return row(piece, 0);
        }
        const unsigned below = std::max(bits, kCompared) - kCompared;
        return fits_line(piece, below)
                   ? kLine | below << kPlaceBits | add_line(piece, below)
                   : kTable | add_table(piece, std::clamp(std::bit_ceil(piece.inside), kLeastSlots,
                                                          kMostSlots));
    }

    std::uint32_t add_line(const Piece& piece, unsigned below) {
        Line line;
        line.first.fill(std::numeric_limits<typename Line::Bits>::max());
        line.row.fill(row(piece, piece.inside));
        line.row[0] = row(piece, 0);
        for (std::size_t i = 1; i <= piece.inside; ++i) {
            line.first[i - 1] = static_cast<typename Line::Bits>(first(piece, i) >> below);
            line.row[i] = row(piece, i);
        }
        const std::uint32_t place = add_lines(kLineSize);
        write(place, 0, &line, sizeof(line));
        return place;
    }

    // The slot is noted as one to be filled.
    std::uint32_t add_table(const Piece& piece, std::size_t most_slots) {
        const Table table = table_over(piece, most_slots);
        const std::uint32_t place =
            add_lines(kSlotsAt + (table.last + std::size_t{1}) * sizeof(std::uint32_t));
        write(place, 0, &table, kSlotsAt);
        tables_.push_back({place, piece, table});
        return place;
    }
    // The least slots into which the keys from the first step to the last fall apart: so many that
    // these two never share one, since each level has to leave less than it found; or the fewest
    // that separate all steps. And one before them and one behind them, if there are keys there.
    [[nodiscard]] Table table_over(const Piece& piece, std::size_t most_slots) const {
        Table table;
        if (piece.inside == 0) {
            return table;
        }
        const Key least = first(piece, 1);
        const Key last = first(piece, piece.inside);
        while ((last >> table.shift) - (least >> table.shift) >= most_slots) {
            ++table.shift;
        }
        Key bits{};
        for (std::size_t i = 1; i <= piece.inside; ++i) {
            bits |= first(piece, i);
        }
        while (bits != 0 && (bits >> table.shift & 1) == 0 &&
               (bits & ((Key{1} << table.shift) - 1)) == 0) {
            ++table.shift;
        }
        table.first = std::max<Key>(least >> table.shift, 1) - 1;
        const Key last_slot = last >> table.shift;
        table.last =
            static_cast<std::uint32_t>(std::max<Key>(last_slot, last_slot + 1) - table.first);
        return table;
    }

    void fill(const Pending& pending) {
        const Table& table = pending.head;
        const std::size_t end = pending.piece.step + pending.piece.inside + 1;
        std::size_t step = pending.piece.step;
        for (std::size_t slot = 0; slot <= table.last; ++slot) {
            const Key begin = static_cast<Key>((table.first + slot) << table.shift);
            const Key last = begin | static_cast<Key>((Key{1} << table.shift) - 1);
            while (step + 1 < end && steps_[step + 1].first <= begin) {
                ++step;
            }
            Piece piece{.step = step};
            while (step + piece.inside + 1 < end && steps_[step + piece.inside + 1].first <= last) {
                ++piece.inside;
            }
            const std::uint32_t place = place_for(piece, table.shift);
            write(pending.place, kSlotsAt + slot * sizeof(place), &place, sizeof(place));
            step += piece.inside;
        }
    }

    Steps steps_;
    std::byte* lines_;
    std::size_t line_count_ = 0;
    std::vector<Pending> tables_;
};

template <typename Key>
std::size_t RangeTable<Key>::bytes_for(Steps steps, std::size_t most) {
    return Builder{steps, nullptr}.run(std::min(most, kMostBytes));
}

template <typename Key>
Result<RangeTable<Key>> RangeTable<Key>::make(Steps steps, std::size_t most) {
    const std::size_t bytes = bytes_for(steps, most);
    if (bytes > std::min(most, kMostBytes)) {
        // Put together step by step: GCC 12 sees an overflow in the sum of texts that is not there.
        std::string what = "the networks would take more than ";
        what += std::to_string(most >> 20);
        what += " MiB as a table";
        return Error{Errc::TooMany, std::move(what)};
    }
    RangeTable table{bytes};
    auto* lines = static_cast<std::byte*>(table.lines_.data());
    (void)Builder{steps, lines}.run(kMostBytes);
    table.root_ = *reinterpret_cast<const Table*>(lines);
    return table;
}

// How many levels a key takes is beyond prediction: what is left is counted in bits, not branched
// on.
template <typename Key>
void RangeTable<Key>::find_each(std::span<const Key> keys, std::uint32_t* rows) const noexcept {
    std::array<const std::uint32_t*, kMaxKeys> slots;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        slots[i] = root_slot(keys[i]);
        prefetch0(slots[i]);
    }
    std::uint32_t inside = 0;  // keys that are not at a row yet
    const auto enter = [&](std::size_t i) {
        rows[i] = *slots[i];
        prefetch0(at(rows[i]));  // of a row: any line, whose content is unused
        inside |= (rows[i] > kMaxRow ? 1U : 0U) << i;
    };
    for (std::size_t i = 0; i < keys.size(); ++i) {
        enter(i);
    }
    while (inside != 0) {
        std::uint32_t in_tables = 0;
        for (std::uint32_t left = inside; left != 0; left &= left - 1) {
            const auto i = static_cast<unsigned>(std::countr_zero(left));
            if (is_table(rows[i])) {
                slots[i] = slot_in(rows[i], keys[i]);
                prefetch0(slots[i]);
                in_tables |= 1U << i;
            } else {
                rows[i] = find_in_line(rows[i], keys[i]);
            }
        }
        inside = 0;
        for (std::uint32_t left = in_tables; left != 0; left &= left - 1) {
            enter(static_cast<unsigned>(std::countr_zero(left)));
        }
    }
}

template class RangeTable<std::uint64_t>;
template class RangeTable<Wide>;

}  // namespace sluice
