#include "lib/match/fib_v6.hpp"

#include "lib/base/prefetch.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace sluice {
namespace {

constexpr std::uint64_t kLargest = ~std::uint64_t{0};
constexpr unsigned kKeyBits = 128;
constexpr unsigned kComparedBits = 64;
constexpr std::size_t kLeastSlots = 8;
constexpr std::size_t kMostSlots = std::size_t{1} << 20;

}  // namespace

// Tables are filled in the order in which they are met: each is a piece of the keys, whose slots
// are pieces again.
class FibV6::Builder {
public:
    enum class For : std::uint8_t { Use, Count };
    Builder(Steps steps, std::size_t most, For what = For::Use)
        : steps_{steps},
          most_{std::min(most, kMostBytes) / kLineSize},
          counts_{what == For::Count} {}

    // nullopt: more lines than there may be.
    std::optional<FibV6> run() {
        const std::uint32_t root = place_for({0, steps_.size() - 1}, kKeyBits);
        if (!fill_all()) {
            return std::nullopt;
        }
        LineMemory memory{std::max<std::size_t>(lines_.size(), 1) * kLineSize};
        if (!lines_.empty()) {
            std::memcpy(memory.data(), lines_.data(), lines_.size() * kLineSize);
        }
        return FibV6{root, std::move(memory)};
    }

    // In bytes.
    std::size_t count() {
        (void)place_for({0, steps_.size() - 1}, kKeyBits);
        (void)fill_all();
        return std::max<std::size_t>(line_count_, 1) * kLineSize;
    }

private:
    // False: more lines than there may be.
    bool fill_all() {
        for (std::size_t next = 0; next < tables_.size(); ++next) {
            const Pending table = tables_[next];
            fill(table);
            if (line_count_ > most_) {
                return false;
            }
        }
        return true;
    }

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

    [[nodiscard]] Wide first(const Piece& piece, std::size_t number) const {
        return steps_[piece.step + number].first;
    }
    [[nodiscard]] std::uint32_t row(const Piece& piece, std::size_t number) const {
        return steps_[piece.step + number].row;
    }

    std::uint32_t add_lines(std::size_t count) {
        const std::size_t place = line_count_;
        line_count_ += count;
        // Lines beyond the bound are detected before the next table, and never read.
        if (!counts_) {
            lines_.resize(line_count_);
        }
        return static_cast<std::uint32_t>(place & kPlaceMask);
    }

    void write(std::uint32_t line, std::size_t offset, const auto& value) {
        if (!counts_) {
            std::memcpy(reinterpret_cast<std::byte*>(&lines_[line]) + offset, &value,
                        sizeof(value));
        }
    }

    // True if a line can hold the steps of a piece; it compares no bits below these.
    [[nodiscard]] bool fits_line(const Piece& piece, unsigned below) const {
        const Wide others = (Wide{1} << below) - 1;
        for (std::size_t i = 1; i <= piece.inside; ++i) {
            if (i == Line::kRanges || (first(piece, i) & others) != 0) {
                return false;
            }
        }
        return true;
    }

    // The place for a piece of 2^bits keys; a table is noted as to be filled.
    [[nodiscard]] std::uint32_t place_for(const Piece& piece, unsigned bits) {
        if (piece.inside == 0) {
            return row(piece, 0);
        }
        const unsigned below = std::max(bits, kComparedBits) - kComparedBits;
        if (fits_line(piece, below)) {
            return kLine | below << kPlaceBits | add_line(piece, below);
        }
        const Table table = table_over(piece);
        const std::size_t bytes = kTableSlotsAt + table.count * sizeof(std::uint32_t);
        const std::uint32_t place = add_lines((bytes + kLineSize - 1) / kLineSize);
        write(place, 0, table);
        tables_.push_back({place, piece, table});
        return kTable | place;
    }

    std::uint32_t add_line(const Piece& piece, unsigned below) {
        Line line;
        line.first.fill(kLargest);
        line.value.fill(row(piece, piece.inside));
        line.value[0] = row(piece, 0);
        for (std::size_t i = 1; i <= piece.inside; ++i) {
            line.first[i - 1] = static_cast<std::uint64_t>(first(piece, i) >> below);
            line.value[i] = row(piece, i);
        }
        const std::uint32_t place = add_lines(1);
        write(place, 0, line);
        return place;
    }

    // The least slots into which the keys from the first step to the last fall apart: so many that
    // these two never share one, since each level has to leave less than it found.
    [[nodiscard]] Table table_over(const Piece& piece) const {
        const Wide least = first(piece, 1);
        const Wide last = first(piece, piece.inside);
        const std::size_t most = std::clamp(std::bit_ceil(piece.inside), kLeastSlots, kMostSlots);
        Table table;
        while ((last >> table.shift) - (least >> table.shift) >= most) {
            ++table.shift;
        }
        table.base = least >> table.shift;
        table.count = static_cast<std::uint32_t>((last >> table.shift) - table.base + 1);
        table.before = row(piece, 0);
        table.after = row(piece, piece.inside);
        return table;
    }

    void fill(const Pending& pending) {
        const Table& table = pending.head;
        const std::size_t end = pending.piece.step + pending.piece.inside + 1;
        std::size_t step = pending.piece.step;
        for (std::uint32_t slot = 0; slot < table.count; ++slot) {
            const Wide begin = (table.base + slot) << table.shift;
            const Wide last = begin | ((Wide{1} << table.shift) - 1);
            while (step + 1 < end && steps_[step + 1].first <= begin) {
                ++step;
            }
            Piece piece{.step = step};
            while (step + piece.inside + 1 < end && steps_[step + piece.inside + 1].first <= last) {
                ++piece.inside;
            }
            const std::uint32_t place = place_for(piece, table.shift);
            write(pending.place, kTableSlotsAt + slot * sizeof(place), place);
            step += piece.inside;
        }
    }

    Steps steps_;
    std::size_t most_;  // lines
    bool counts_;       // them, and keeps none
    std::size_t line_count_ = 0;
    std::vector<Line> lines_;
    std::vector<Pending> tables_;
};

std::size_t FibV6::bytes_for(Steps steps, std::size_t most) {
    return Builder{steps, most, Builder::For::Count}.count();
}

Result<FibV6> FibV6::make(Steps steps, std::size_t most) {
    if (std::optional<FibV6> made = Builder{steps, most}.run()) {
        return *std::move(made);
    }
    // Put together step by step: GCC 12 sees an overflow in the sum of texts that is not there.
    std::string what = "the IPv6 networks would take more than ";
    what += std::to_string(most >> 20);
    what += " MiB as a table";
    return Error{Errc::TooMany, std::move(what)};
}

// How many levels a key takes is beyond prediction: what is left is counted in bits, not branched
// on.
void FibV6::find_each(std::span<const Wide> keys, std::uint32_t* values) const noexcept {
    if (!is_table(root_)) {
        for (std::size_t i = 0; i < keys.size(); ++i) {
            values[i] = find(keys[i]);
        }
        return;
    }
    std::array<const std::uint32_t*, kMaxKeys> slots;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        slots[i] = slot_of(table_at(root_), keys[i]);
        prefetch0(slots[i]);
    }
    std::uint32_t inside = 0;  // keys that are not at a value yet
    for (std::size_t i = 0; i < keys.size(); ++i) {
        values[i] = *slots[i];
        prefetch0(at(values[i]));  // of a value: any line, whose content is unused
        inside |= (values[i] > kMaxValue ? 1U : 0U) << i;
    }
    while (inside != 0) {
        std::uint32_t in_tables = 0;
        for (std::uint32_t left = inside; left != 0; left &= left - 1) {
            const auto i = static_cast<unsigned>(std::countr_zero(left));
            if (is_table(values[i])) {
                slots[i] = slot_of(table_at(values[i]), keys[i]);
                prefetch0(slots[i]);
                in_tables |= 1U << i;
            } else {
                values[i] = find_in_line(values[i], keys[i]);
            }
        }
        inside = 0;
        for (std::uint32_t left = in_tables; left != 0; left &= left - 1) {
            const auto i = static_cast<unsigned>(std::countr_zero(left));
            values[i] = *slots[i];
            prefetch0(at(values[i]));
            inside |= (values[i] > kMaxValue ? 1U : 0U) << i;
        }
    }
}

}  // namespace sluice
