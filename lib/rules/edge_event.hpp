#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice {

// An event that a rule may report of its keys, as `events` lists it.
enum class EdgeEvent : std::uint8_t {
    LimitStart,  // a limit refuses the key, which none had before
    LimitEnd,    // the key has not been refused for a while
    Refill,      // the key's bucket would admit again what it refused
    Ban,         // a ban begins, or ends
};
inline constexpr auto kEdgeEventNames =
    std::to_array<std::string_view>({"limit_start", "limit_end", "refill", "ban"});
inline constexpr std::size_t kEdgeEventCount = kEdgeEventNames.size();

class EdgeEventSet {
public:
    constexpr EdgeEventSet() noexcept = default;
    constexpr explicit EdgeEventSet(std::uint8_t bits) noexcept : bits_{bits} {}

    static constexpr std::uint8_t kAll = (1U << kEdgeEventCount) - 1;

    constexpr void add(EdgeEvent event) noexcept { bits_ |= bit(event); }
    [[nodiscard]] constexpr bool has(EdgeEvent event) const noexcept {
        return (bits_ & bit(event)) != 0;
    }
    [[nodiscard]] constexpr bool empty() const noexcept { return bits_ == 0; }
    [[nodiscard]] constexpr std::uint8_t bits() const noexcept { return bits_; }
    // Some event that follows refusals by limits.
    [[nodiscard]] constexpr bool has_limits() const noexcept {
        return has(EdgeEvent::LimitStart) || has(EdgeEvent::LimitEnd) || has(EdgeEvent::Refill);
    }
    [[nodiscard]] bool operator==(const EdgeEventSet&) const noexcept = default;

private:
    [[nodiscard]] static constexpr std::uint8_t bit(EdgeEvent event) noexcept {
        return static_cast<std::uint8_t>(1U << static_cast<unsigned>(event));
    }
    std::uint8_t bits_ = 0;
};

}  // namespace sluice
