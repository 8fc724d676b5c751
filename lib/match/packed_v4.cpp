#include "lib/match/packed_v4.hpp"

#include "lib/base/prefetch.hpp"

#include <cstring>
#include <optional>

namespace sluice {
namespace {

constexpr std::uint64_t kBehindLast = std::uint64_t{1} << 32;
constexpr unsigned kWholeBits = 8;

}  // namespace

class PackedV4::Builder {
public:
    explicit Builder(Steps steps) : steps_{steps} {}

    // nullopt: a row is too large, or it would take more words than a place can name.
    [[nodiscard]] std::optional<Words> run() {
        if (!std::all_of(steps_.begin(), steps_.end(),
                         [](const auto& step) { return step.row <= kMaxValue; })) {
            return std::nullopt;
        }
        words_.resize(kSlots);
        Piece piece;
        for (std::size_t slot = 0; slot < kSlots; ++slot) {
            piece = next_piece(piece, slot, kSlotBits);
            const std::uint32_t place = place_for(piece, slot);
            words_[slot] = place;
            if (words_.size() + kLineSize > kPlaceMask) {
                return std::nullopt;
            }
        }
        // Records are read by half a line, also the last one.
        words_.resize(words_.size() + kLineSize / sizeof(words_.front()));
        return std::move(words_);
    }

private:
    // Addresses in a row: the step that holds the first, and the steps that begin behind it.
    struct Piece {
        std::size_t step = 0;
        std::size_t inside = 0;
    };

    [[nodiscard]] std::uint64_t first(std::size_t step) const {
        return step < steps_.size() ? steps_[step].first : kBehindLast;
    }
    [[nodiscard]] std::uint8_t row(std::size_t step) const {
        return static_cast<std::uint8_t>(steps_[step].row);
    }

    // The 2^bits addresses of a slot; `before`: a piece that ends where they begin, or holds them.
    [[nodiscard]] Piece next_piece(const Piece& before, std::size_t slot, unsigned bits) const {
        const std::uint64_t begin = std::uint64_t{slot} << bits;
        const std::uint64_t end = begin + (std::uint64_t{1} << bits);
        Piece piece{.step = before.step};
        while (first(piece.step + 1) <= begin) {
            ++piece.step;
        }
        while (first(piece.step + piece.inside + 1) < end) {
            ++piece.inside;
        }
        return piece;
    }

    // The place for the piece of a slot of the root.
    [[nodiscard]] std::uint32_t place_for(const Piece& piece, std::size_t slot) {
        if (piece.inside <= kMostSteps) {
            return piece.inside == 0 ? row(piece.step) : add_record(piece);
        }
        const std::size_t table = words_.size();
        words_.resize(table + kInnerSlots);
        Piece inner{.step = piece.step};
        for (std::size_t i = 0; i < kInnerSlots; ++i) {
            const std::size_t network = slot * kInnerSlots + i;
            inner = next_piece(inner, network, kWholeBits);
            const std::uint32_t place = inner.inside == 0            ? row(inner.step)
                                        : inner.inside <= kMostSteps ? add_record(inner)
                                                                     : add_whole(inner, network);
            words_[table + i] = place;
        }
        return kTable | word(table);
    }

    [[nodiscard]] static std::uint32_t word(std::size_t at) noexcept {
        return static_cast<std::uint32_t>(at) & kPlaceMask;
    }
    [[nodiscard]] std::uint8_t* bytes_at(std::size_t at) noexcept {
        return reinterpret_cast<std::uint8_t*>(&words_[at]);
    }

    std::uint32_t add_record(const Piece& piece) {
        constexpr std::size_t kWordsOfLine = kLineSize / sizeof(std::uint32_t);
        const std::size_t words =
            (3 * piece.inside + sizeof(std::uint32_t)) / sizeof(std::uint32_t);
        std::size_t at = words_.size();
        if (at / kWordsOfLine != (at + words - 1) / kWordsOfLine) {
            at = (at / kWordsOfLine + 1) * kWordsOfLine;
        }
        words_.resize(at + words);
        std::uint8_t* const bounds = bytes_at(at);
        std::uint8_t* const rows = bounds + piece.inside * sizeof(std::int16_t);
        rows[0] = row(piece.step);
        for (std::size_t i = 1; i <= piece.inside; ++i) {
            const std::int16_t bound = bound_of(steps_[piece.step + i].first);
            std::memcpy(bounds + (i - 1) * sizeof(bound), &bound, sizeof(bound));
            rows[i] = row(piece.step + i);
        }
        return kRecord | static_cast<std::uint32_t>(piece.inside - 1) << kPlaceBits | word(at);
    }

    // A value for each address of a /24.
    std::uint32_t add_whole(const Piece& piece, std::size_t network) {
        const std::size_t at = words_.size();
        words_.resize(at + (std::size_t{1} << kWholeBits) / sizeof(std::uint32_t));
        std::size_t step = piece.step;
        for (std::size_t i = 0; i < std::size_t{1} << kWholeBits; ++i) {
            step += first(step + 1) == (network << kWholeBits | i) ? 1 : 0;
            bytes_at(at)[i] = row(step);
        }
        return kWhole | word(at);
    }

    Steps steps_;
    Words words_;
};

std::size_t PackedV4::bytes_for(Steps steps) {
    const std::optional<Words> words = Builder{steps}.run();
    return words ? words->size() * sizeof(words->front()) : kMostBytes + 1;
}

Result<PackedV4> PackedV4::make(Steps steps, std::size_t most) {
    const std::optional<Words> words = Builder{steps}.run();
    if (!words || words->size() * sizeof(words->front()) > most) {
        return Error{Errc::TooMany, "too many rows, or networks, for a table of few rows"};
    }
    return PackedV4{*words};
}

PackedV4::PackedV4(const Words& words) : memory_{words.size() * sizeof(words.front())} {
    std::memcpy(memory_.data(), words.data(), memory_.bytes());
}

// Nothing branches on what one address finds, but that few are in tables of their own. Of a value
// some line is prefetched and compared too, with no effect.
void PackedV4::find_each(std::span<const std::uint64_t> addresses,
                         std::uint32_t* values) const noexcept {
    const std::size_t count = addresses.size();
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint32_t place = root_place(static_cast<std::uint32_t>(addresses[i]));
        values[i] = place;
        prefetch0(at(place));
    }
    for (std::size_t i = 0; i < count; ++i) {
        const auto address = static_cast<std::uint32_t>(addresses[i]);
        const std::uint32_t place = find_place(values[i], address);
        const std::uint32_t found = find_in_record(place, address);
        values[i] = place <= kMaxValue ? place : found;
    }
}

}  // namespace sluice
