#pragma once
#include "control/cli/exit_code.hpp"

#include <cstdint>
#include <functional>

namespace sluice {

// Shows something again each second, until it has been shown `count` times (0: for ever), fails, or
// is interrupted, which is no failure. On a terminal each time takes the place of the one before.
class Watch {
public:
    Watch(bool redraw, std::uint64_t count) : redraw_{redraw}, count_{count} {}

    ExitCode run(const std::function<ExitCode()>& show) const;

private:
    bool redraw_;
    std::uint64_t count_;
};

}  // namespace sluice
