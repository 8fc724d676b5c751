#pragma once
#include "lib/base/line_memory.hpp"
#include "lib/base/prefetch.hpp"
#include "lib/share/word.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

namespace sluice {

// Index of a connection's line in its table.
using ConnectionIndex = std::uint32_t;
inline constexpr ConnectionIndex kNoConnection = ~ConnectionIndex{0};

// Lines of connections: each lies in its home line or in one of the fifteen behind it, of which the
// home line keeps a bit map (hopscotch hashing without displacement). A look-up reads the home
// line, and others only where the map leads. Lines are at least half as many again as connections,
// so that a free one is near; nobody can aim for lines that are taken with a keyed digest.
//
// A Line has `digest`, `at_home` (16 bits, zero at first), is_free(), take() and give_up(), behind
// which it is free.
template <typename Line>
class HopscotchLines {
public:
    static constexpr unsigned kReach = 16;

    // Aborts if there is no memory.
    explicit HopscotchLines(std::size_t connections)
        : memory_{lines_for(connections) * sizeof(Line)},
          lines_{static_cast<Line*>(memory_.data())},
          mask_{lines_for(connections) - 1},
          homes_(words_for(mask_ + 1)) {
        for (std::size_t i = 0; i <= mask_; ++i) {
            new (&lines_[i]) Line{};
        }
    }
    // In memory that an earlier process may have left lines in: recover() follows.
    HopscotchLines(std::size_t connections, LineMemory memory)
        : memory_{std::move(memory)},
          lines_{static_cast<Line*>(memory_.data())},
          mask_{lines_for(connections) - 1},
          homes_(words_for(mask_ + 1)) {}
    [[nodiscard]] static constexpr std::size_t line_bytes(std::size_t connections) noexcept {
        return lines_for(connections) * sizeof(Line);
    }

    // The lines that keeps(line) says so of stay, as far as they lie where they can be found; all
    // others are free. At the start, in lines with any content.
    template <typename Keeps>
    void recover(Keeps&& keeps) noexcept {
        size_ = 0;
        std::fill(homes_.begin(), homes_.end(), 0);
        for (std::size_t at = 0; at <= mask_; ++at) {
            Line& line = lines_[at];
            if (line.is_free() || !keeps(line)) {
                line = Line{};
            }
            line.at_home = 0;
        }
        for (std::size_t at = 0; at <= mask_; ++at) {
            if (!lines_[at].is_free() && !find_place(at)) {
                const std::uint16_t of_others = lines_[at].at_home;
                lines_[at] = Line{};
                lines_[at].at_home = of_others;
            }
        }
    }
    [[nodiscard]] static constexpr std::size_t lines_for(std::size_t connections) noexcept {
        return std::bit_ceil(std::max<std::size_t>(connections + connections / 2, kReach));
    }
    // Bytes that it takes.
    [[nodiscard]] static std::uint64_t memory_of(std::size_t connections) noexcept {
        const std::size_t lines = lines_for(connections);
        return LineMemory::taken_for(lines * sizeof(Line)) +
               words_for(lines) * sizeof(std::uint64_t);
    }

    [[nodiscard]] ConnectionIndex find(std::uint64_t digest) const noexcept {
        const std::uint64_t home = digest & mask_;
        for (std::uint32_t near = lines_[home].at_home; near != 0; near &= near - 1) {
            const std::uint64_t at = (home + static_cast<unsigned>(std::countr_zero(near))) & mask_;
            if (lines_[at].digest == digest) {
                return static_cast<ConnectionIndex>(at);
            }
        }
        return kNoConnection;
    }
    // A new connection with this digest, which is not there; kNoConnection: no line is near.
    [[nodiscard]] ConnectionIndex add(std::uint64_t digest) noexcept {
        const std::uint64_t home = digest & mask_;
        for (unsigned step = 0; step < kReach; ++step) {
            Line& line = lines_[(home + step) & mask_];
            if (line.is_free()) {
                line.digest = digest;
                line.take();
                lines_[home].at_home =
                    static_cast<std::uint16_t>(lines_[home].at_home | 1U << step);
                note_home(home);
                ++size_;
                return static_cast<ConnectionIndex>((home + step) & mask_);
            }
        }
        return kNoConnection;
    }
    void remove(ConnectionIndex index) noexcept {
        Line& line = lines_[index];
        Line& home = lines_[line.digest & mask_];
        const auto step = (index - line.digest) & mask_;
        home.at_home = static_cast<std::uint16_t>(home.at_home & ~(std::uint64_t{1} << step));
        note_home(line.digest & mask_);
        const std::uint16_t of_others = line.at_home;
        // Free before anything else changes: a kill leaves no half of it.
        line.give_up();
        keep_store_order();
        line = Line{};
        line.at_home = of_others;
        --size_;
    }

    [[nodiscard]] Line& operator[](ConnectionIndex index) noexcept { return lines_[index]; }
    [[nodiscard]] const Line& operator[](ConnectionIndex index) const noexcept {
        return lines_[index];
    }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    // Indices are below this.
    [[nodiscard]] std::size_t capacity() const noexcept { return mask_ + 1; }
    // False: it is not there. Reads one bit of a bit map beside the lines.
    [[nodiscard]] bool may_have(std::uint64_t digest) const noexcept {
        const std::uint64_t home = digest & mask_;
        return (homes_[home / 64] >> (home % 64) & 1) != 0;
    }
    void prefetch(std::uint64_t digest) const noexcept { prefetch0(&lines_[home_of(digest)]); }
    // The home line, in which most connections lie.
    [[nodiscard]] ConnectionIndex home_of(std::uint64_t digest) const noexcept {
        return static_cast<ConnectionIndex>(digest & mask_);
    }
    // Lines that a connection may lie in, by steps below kReach.
    [[nodiscard]] ConnectionIndex near(std::uint64_t digest, unsigned step) const noexcept {
        return static_cast<ConnectionIndex>((digest + step) & mask_);
    }

private:
    [[nodiscard]] static std::size_t words_for(std::size_t lines) noexcept {
        return (lines + 63) / 64;
    }
    // False: its home is too far from it, or another line of that digest has been found.
    [[nodiscard]] bool find_place(std::size_t at) noexcept {
        const std::uint64_t digest = lines_[at].digest;
        const std::uint64_t step = (at - digest) & mask_;
        if (step >= kReach || find(digest) != kNoConnection) {
            return false;
        }
        Line& home = lines_[digest & mask_];
        home.at_home = static_cast<std::uint16_t>(home.at_home | 1U << step);
        note_home(digest & mask_);
        ++size_;
        return true;
    }
    void note_home(std::uint64_t home) noexcept {
        const std::uint64_t bit = std::uint64_t{1} << (home % 64);
        std::uint64_t& word = homes_[home / 64];
        word = lines_[home].at_home != 0 ? word | bit : word & ~bit;
    }

    LineMemory memory_;
    Line* lines_;
    std::uint64_t mask_;
    std::vector<std::uint64_t> homes_;  // a bit for each line that is some connection's home
    std::size_t size_ = 0;
};

}  // namespace sluice
