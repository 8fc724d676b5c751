#include "lib/conn/connection_lines.hpp"

#include <algorithm>
#include <bit>
#include <new>

namespace sluice {
namespace {

constexpr std::size_t words_for(std::size_t lines) noexcept {
    return (lines + 63) / 64;
}

}  // namespace

std::size_t ConnectionLines::lines_for(std::size_t connections) noexcept {
    return std::bit_ceil(std::max<std::size_t>(connections + connections / 2, kReach));
}

std::uint64_t ConnectionLines::memory_of(std::size_t connections) noexcept {
    const std::size_t lines = lines_for(connections);
    return LineMemory::taken_for(lines * sizeof(Connection)) +
           words_for(lines) * sizeof(std::uint64_t);
}

ConnectionLines::ConnectionLines(std::size_t connections)
    : memory_{lines_for(connections) * sizeof(Connection)},
      lines_{static_cast<Connection*>(memory_.data())},
      mask_{lines_for(connections) - 1},
      homes_(words_for(mask_ + 1)) {
    for (std::size_t i = 0; i <= mask_; ++i) {
        new (&lines_[i]) Connection{};
    }
}

ConnectionIndex ConnectionLines::find(std::uint64_t digest) const noexcept {
    const std::uint64_t home = digest & mask_;
    for (std::uint32_t near = lines_[home].at_home; near != 0; near &= near - 1) {
        const std::uint64_t at = (home + static_cast<unsigned>(std::countr_zero(near))) & mask_;
        if (lines_[at].digest == digest) {
            return static_cast<ConnectionIndex>(at);
        }
    }
    return kNoConnection;
}

ConnectionIndex ConnectionLines::add(std::uint64_t digest) noexcept {
    const std::uint64_t home = digest & mask_;
    for (unsigned step = 0; step < kReach; ++step) {
        Connection& line = lines_[(home + step) & mask_];
        if (line.phase == StreamPhase::Free) {
            line.digest = digest;
            line.phase = StreamPhase::Head;
            lines_[home].at_home = static_cast<std::uint16_t>(lines_[home].at_home | 1U << step);
            note_home(home);
            ++size_;
            return static_cast<ConnectionIndex>((home + step) & mask_);
        }
    }
    return kNoConnection;
}

void ConnectionLines::note_home(std::uint64_t home) noexcept {
    const std::uint64_t bit = std::uint64_t{1} << (home % 64);
    std::uint64_t& word = homes_[home / 64];
    word = lines_[home].at_home != 0 ? word | bit : word & ~bit;
}

void ConnectionLines::remove(ConnectionIndex index) noexcept {
    Connection& line = lines_[index];
    Connection& home = lines_[line.digest & mask_];
    const auto step = (index - line.digest) & mask_;
    home.at_home = static_cast<std::uint16_t>(home.at_home & ~(std::uint64_t{1} << step));
    note_home(line.digest & mask_);
    const std::uint16_t of_others = line.at_home;
    line = Connection{};
    line.at_home = of_others;
    --size_;
}

}  // namespace sluice
