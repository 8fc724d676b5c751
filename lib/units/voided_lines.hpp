#pragma once
#include "lib/base/units.hpp"
#include "lib/conn/kept_memory.hpp"
#include "lib/rules/normalization.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice {

// Bytes of a stream, by their sequence numbers.
struct StreamRange {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
};

// Header lines that the box has taken out of clients' streams, so that what repeats their bytes is
// changed likewise. A connection has kMostLines of them that its server has not acknowledged, and a
// request with more is refused by whoever asks; so is one that finds no room. One per worker.
class VoidedLines {
public:
    static constexpr std::size_t kMostLines = Normalization::kMostLines;
    static constexpr std::size_t kConnections = 1024;
    static constexpr std::size_t kWays = 4;

    // In memory that may outlive the process take_over() follows.
    explicit VoidedLines(KeptMemory& memory = no_kept_memory())
        : memory_{memory.take(kConnections * sizeof(Entry))},
          entries_{static_cast<Entry*>(memory_.data())} {}
    // Bytes of it that outlive the process.
    [[nodiscard]] static constexpr std::size_t kept_of() noexcept {
        return KeptMemory::taken_for(kConnections * sizeof(Entry));
    }
    void take_over() noexcept;

    // True until the first line.
    [[nodiscard]] bool empty() const noexcept { return !has_any_; }

    // `acknowledged`: all before it the server has. False: there is no room, and nothing is kept.
    [[nodiscard]] bool add(std::uint64_t connection, StreamRange line, std::uint32_t acknowledged,
                           Instant now) noexcept;
    // Notes what of these bytes lies in such lines, by its place in them.
    void mark(std::uint64_t connection, StreamRange bytes, Normalization& change) const noexcept;

private:
    struct Entry {
        std::uint64_t connection;  // 0: free
        std::uint32_t touched;     // in ticks
        std::uint32_t count;
        std::array<StreamRange, kMostLines> lines;
    };
    [[nodiscard]] Entry* find(std::uint64_t connection) const noexcept;
    [[nodiscard]] Entry* make(std::uint64_t connection, std::uint32_t ticks) noexcept;

    LineMemory memory_;
    Entry* entries_;
    bool has_any_ = false;
};

}  // namespace sluice
