#pragma once
#include "control/replay/worker_set.hpp"
#include "lib/respond/decision.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

// What the box would send for a packet that it answers: that of a worker that has answered none
// yet, by the code that answers.
struct AnswerAccount {
    std::string_view event{};    // in kAnswerEvents; empty: it answers no such packet
    std::string_view help{};     // what that is, for people
    std::uint32_t every = 1;     // of such packets of a rule so many get it; 0: none does
    std::string head{};          // of a response of HTTP/1: its lines, each with an LF
    std::size_t body_bytes = 0;  // behind it
};

// The packet has been decided, and its verdict answers().
[[nodiscard]] AnswerAccount answer_of(const WorkerSet::Place& place, const LoadedSet& rules,
                                      const Decision& decision);

}  // namespace sluice
