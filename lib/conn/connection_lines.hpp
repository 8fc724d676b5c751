#pragma once
#include "lib/base/line_memory.hpp"
#include "lib/base/prefetch.hpp"
#include "lib/conn/connection.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice {

// Where connections lie: in their home line, or in one of the fifteen behind it, of which the home
// line keeps a bit map (hopscotch hashing without displacement). A look-up reads the home line, and
// others only where the map leads. Lines are at least half as many again as connections, so that a
// free one is near; nobody can aim for lines that are taken with a keyed digest.
class ConnectionLines {
public:
    static constexpr unsigned kReach = 16;

    // Aborts if there is no memory.
    explicit ConnectionLines(std::size_t connections);
    [[nodiscard]] static std::size_t lines_for(std::size_t connections) noexcept;
    // Bytes that it takes.
    [[nodiscard]] static std::uint64_t memory_of(std::size_t connections) noexcept;

    [[nodiscard]] ConnectionIndex find(std::uint64_t digest) const noexcept;
    // A new connection with this digest, which is not there; kNoConnection: no line is near.
    [[nodiscard]] ConnectionIndex add(std::uint64_t digest) noexcept;
    void remove(ConnectionIndex index) noexcept;

    [[nodiscard]] Connection& operator[](ConnectionIndex index) noexcept { return lines_[index]; }
    [[nodiscard]] const Connection& operator[](ConnectionIndex index) const noexcept {
        return lines_[index];
    }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    // Indices are below this.
    [[nodiscard]] std::size_t capacity() const noexcept { return mask_ + 1; }
    // False: it is not there. Reads one bit of a bit map: 1/512 of the memory of the lines.
    [[nodiscard]] bool may_have(std::uint64_t digest) const noexcept {
        const std::uint64_t home = digest & mask_;
        return (homes_[home / 64] >> (home % 64) & 1) != 0;
    }
    void prefetch(std::uint64_t digest) const noexcept { prefetch0(&lines_[home_of(digest)]); }
    // Where most connections lie.
    [[nodiscard]] ConnectionIndex home_of(std::uint64_t digest) const noexcept {
        return static_cast<ConnectionIndex>(digest & mask_);
    }

    // Those that it may lie in, by steps below kReach.
    [[nodiscard]] ConnectionIndex near(std::uint64_t digest, unsigned step) const noexcept {
        return static_cast<ConnectionIndex>((digest + step) & mask_);
    }

private:
    void note_home(std::uint64_t home) noexcept;

    LineMemory memory_;
    Connection* lines_;
    std::uint64_t mask_;
    std::vector<std::uint64_t> homes_;  // a bit for each line that is some connection's home
    std::size_t size_ = 0;
};

}  // namespace sluice
