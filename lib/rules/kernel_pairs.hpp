#pragma once
#include "lib/rules/box_config.hpp"

#include <string>
#include <string_view>

namespace sluice {

// The pairs that `kernel` is for: both ports are of af_xdp.
[[nodiscard]] inline bool has_program(const BoxConfig& box, const PairConfig& pair) {
    const auto is_af_xdp = [](const PortConfig& port) {
        return port.device.starts_with("net_af_xdp");
    };
    return box.kernel && is_af_xdp(pair.outside) && is_af_xdp(pair.inside);
}

// For people: `kernel` does nothing for this pair.
[[nodiscard]] inline std::string without_program_text(const PairConfig& pair) {
    return "pair " + pair.name +
           " ends with the process: `kernel` is for pairs of two net_af_xdp ports";
}

// False: the box decides by more than the kernel sees, so `early_drop` is without effect.
[[nodiscard]] inline bool may_drop_early(const BoxConfig& box) noexcept {
    return box.malformed == MalformedPolicy::Drop && !box.tunnels.any();
}

// For people, where it is false.
inline constexpr std::string_view kNoEarlyDropText =
    "nothing is dropped early: the kernel does not look into tunnels, nor tell what is malformed";

}  // namespace sluice
