#pragma once
#include "lib/base/now.hpp"
#include "lib/rules/load/loaded_set.hpp"

#include <optional>

namespace sluice {

// True of a limit whose windows begin by a box's own clock, of which no capture tells.
[[nodiscard]] bool lies_on_instants(const AnyLimit& limit);

// The clocks of a box at the instants of a capture. Instants count from the first frame on and must
// stay as small as a box's, while captures may span a century: of a pause in which everything is
// forgotten only so much passes that all is as if the whole of it had.
//
//   captured   |--frames--|--------------- pause ---------------|--frames--|
//   instants   |--frames--|- longest memory + part of a cycle --|--frames--|
//
// Windows that lie on the instants begin where they would have: what is left out are whole cycles,
// each a multiple of every window. UTC is the capture's. In such a pause that comes late, instants
// begin anew in the first cycle, so that only years without one bring them to their end.
class ReplayClock {
public:
    // Beside the debts of buckets, what is not forgotten within `longest_timeout`.
    explicit ReplayClock(const LoadedSet& rules, Nanoseconds longest_timeout = {});

    // `captured` never goes back.
    [[nodiscard]] Now at(Instant captured);
    // True if instants have begun anew in the pause before the last one: state of before it is
    // void.
    [[nodiscard]] bool begins_anew() const noexcept { return begins_anew_; }
    // True if instants have come to their end, where they stand still.
    [[nodiscard]] bool stopped() const noexcept { return stopped_; }

private:
    Nanoseconds longest_memory_;
    Nanoseconds cycle_;
    std::optional<Instant> first_;
    Instant last_{};
    Nanoseconds left_out_{};
    bool begins_anew_ = false;
    bool stopped_ = false;
};

}  // namespace sluice
