#pragma once
#include "lib/match/classifier_parts.hpp"
#include "lib/packet/row_mask.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <immintrin.h>

namespace sluice {

// The blocks of clauses that the packets of a burst may satisfy, packet by packet, one after the
// other: so that what comes next is one loop over them all, however many there are of a packet.
class OpenBlocks {
public:
    struct Open {
        std::uint16_t block;
        std::uint8_t packet;
    };
    // Writes them down, packet by packet. Nothing counts before done(): meanwhile where the next
    // goes is kept in a register.
    class Adder {
    public:
        explicit Adder(OpenBlocks& to) noexcept : to_{to}, next_{to.open_.data()} {}

        // Adds a packet's open blocks, `bits` of one word of the summary. Few of them are written
        // down without a branch: how many there are is as random as the packets.
        void add(std::size_t packet, std::size_t word, std::uint64_t bits) noexcept {
            const auto add_next = [&] {
                *next_ = {static_cast<std::uint16_t>(word * 64 + lowest(bits)),
                          static_cast<std::uint8_t>(packet)};
                next_ += bits != 0 ? 1 : 0;
                bits &= bits - 1;
            };
            for (int i = 0; i < kFew; ++i) {
                add_next();
            }
            while (bits != 0) {
                add_next();
            }
        }
        void done() noexcept { to_.count_ = static_cast<std::size_t>(next_ - to_.open_.data()); }

    private:
        OpenBlocks& to_;
        Open* next_;
    };

    [[nodiscard]] std::span<const Open> all() const noexcept {
        return std::span{open_}.first(count_);
    }

private:
    static constexpr int kFew = 4;
    // Without a branch where there is none.
    [[nodiscard]] static unsigned lowest(std::uint64_t bits) noexcept {
        return static_cast<unsigned>(_tzcnt_u64(bits));
    }

    // Only what has been written is read; behind the last is room for one that does not count.
    std::array<Open, kMaxBurst * kMaxBlocks + 1> open_;
    std::size_t count_ = 0;
};

}  // namespace sluice
