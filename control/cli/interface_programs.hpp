#pragma once
#include "lib/base/result.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sluice {

// An XDP program at an interface of the kernel, found without asking anybody's daemon.
struct InterfaceProgram {
    // Nobody has looked: that takes CAP_SYS_ADMIN.
    enum class Does : std::uint8_t { Unknown, Other, BridgesFrames, DropsFrames, AsksTheBox };
    std::string interface;
    std::uint32_t program = 0;  // its number in the kernel
    bool native = false;
    std::string name{};  // empty: unknown
    Does does = Does::Unknown;
};

// All of them in this network namespace, in the order of the interfaces. An Error says what the
// kernel refuses.
[[nodiscard]] Result<std::vector<InterfaceProgram>> interface_programs();

}  // namespace sluice
