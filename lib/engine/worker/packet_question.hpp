#pragma once
#include "lib/engine/stage/dry_run_burst.hpp"
#include "lib/engine/worker/running.hpp"

#include <cstdint>

// A question of an operator to a worker about a packet that has not come. All memory is the
// asker's, and the worker's alone from when the question is posted until it is answered or
// withdrawn unread.
namespace sluice {

struct PacketQuestion {
    std::uint64_t load = 0;  // of the set that the packet has been matched and keyed under
    Burst* burst = nullptr;  // the packet alone
    FindingsRoom room;
};

struct PacketAnswer {
    Running::State state = Running::State::Enforce;  // the rules decide only where they enforce
    DryRun run;  // not decided: the worker acts on another set, or the findings have no room
};

}  // namespace sluice
