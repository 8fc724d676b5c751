#pragma once
#include "lib/engine/worker/running.hpp"
#include "lib/l7/stream/unit_parser.hpp"
#include "lib/peer/merge/ledger.hpp"
#include "lib/peer/reserve/ask_lane.hpp"
#include "lib/respond/act/answerer.hpp"
#include "lib/share/published.hpp"

#include <cstddef>
#include <span>

namespace sluice {

// One worker among all, which share what is no more than referred to.
struct WorkerSetup {
    const Published<Running>& running;
    DeltaLanes& ledger_lanes;
    AskLanes& ask_lanes;
    std::size_t workers;
    UnitBudget units;
    KeptMemory connections;     // the worker's own
    std::span<Record> records;  // likewise, for amounts that others have not settled
    unsigned held_percent;  // of each lane's buffers, over all workers: packets that depart later
    AnswerBoards& answer_boards;  // see Answerer
};

}  // namespace sluice
