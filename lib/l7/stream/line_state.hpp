#pragma once
#include "lib/l7/stream/connection.hpp"

#include <cstring>

namespace sluice {

// State that a line keeps beside its verdicts, in its `framing`.
template <typename State>
State load_state(const Connection& line) noexcept {
    static_assert(sizeof(State) <= sizeof(FramingState));
    State state;
    std::memcpy(&state, line.framing.data(), sizeof(state));
    return state;
}
template <typename State>
void store_state(Connection& line, const State& state) noexcept {
    static_assert(sizeof(State) <= sizeof(FramingState));
    std::memcpy(line.framing.data(), &state, sizeof(state));
}

}  // namespace sluice
