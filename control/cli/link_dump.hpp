#pragma once
#include "control/cli/interface_programs.hpp"
#include "lib/base/bytes.hpp"
#include "lib/base/result.hpp"

#include <cstdint>
#include <vector>

namespace sluice {

// The list of interfaces as the kernel tells it (RTM_GETLINK), answer by answer: those that have a
// program.
class LinkDump {
public:
    enum class After : std::uint8_t { MoreCome, Whole };

    // An Error: the kernel refuses, the answer is cut, or interfaces have changed meanwhile; what
    // is found then is not all there is.
    [[nodiscard]] Result<After> read(ByteView answer);

    [[nodiscard]] std::vector<InterfaceProgram>& found() noexcept { return found_; }

private:
    std::vector<InterfaceProgram> found_;
};

}  // namespace sluice
