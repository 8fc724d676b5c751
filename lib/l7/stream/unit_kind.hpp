#pragma once
#include <cstdint>
#include <initializer_list>

namespace sluice {

// The unit that a limit counts. The first three a packet has by itself, the others are units of
// later layers: a packet completes none, one or several of them.
enum class Per : std::uint8_t { Packet, Byte, Connection, Request, Query, Handshake };
[[nodiscard]] constexpr bool is_of_packet(Per per) noexcept {
    return per <= Per::Connection;
}
// Some kinds of units.
class PerSet {
public:
    constexpr PerSet() noexcept = default;
    constexpr PerSet(std::initializer_list<Per> units) noexcept {
        for (const Per unit : units) {
            add(unit);
        }
    }
    constexpr void add(Per per) noexcept { bits_ |= bit(per); }
    constexpr void add_all(PerSet other) noexcept { bits_ |= other.bits_; }
    [[nodiscard]] constexpr bool has(Per per) const noexcept { return (bits_ & bit(per)) != 0; }
    [[nodiscard]] constexpr bool empty() const noexcept { return bits_ == 0; }

private:
    [[nodiscard]] static constexpr std::uint8_t bit(Per per) noexcept {
        return static_cast<std::uint8_t>(1U << static_cast<unsigned>(per));
    }
    std::uint8_t bits_ = 0;
};

}  // namespace sluice
