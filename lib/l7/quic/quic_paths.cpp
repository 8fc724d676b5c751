#include "lib/l7/quic/quic_paths.hpp"

#include "lib/l7/stream/line_state.hpp"

namespace sluice {
namespace {

// In the words of lib/l7/stream.
constexpr StreamPhase kPath = StreamPhase::Lost;

struct PathState {
    std::uint64_t latest = 0;
    std::uint16_t half = 0;
    bool uncertain = false;
    bool judged = false;
};

std::optional<PathState> state_of(const ConnectionLines& lines, std::uint64_t path) noexcept {
    const ConnectionIndex index = lines.find(path);
    return index == kNoConnection ? std::nullopt
                                  : std::optional{load_state<PathState>(lines[index])};
}

}  // namespace

std::optional<std::uint64_t> QuicPaths::latest_on(std::uint64_t path) const noexcept {
    const auto state = state_of(lines_, path);
    return state ? std::optional{state->latest} : std::nullopt;
}

bool QuicPaths::is_uncertain(std::uint64_t path) const noexcept {
    const auto state = state_of(lines_, path);
    return state && state->uncertain;
}

std::optional<std::uint64_t> QuicPaths::judged_on(std::uint64_t path) const noexcept {
    const auto state = state_of(lines_, path);
    return state && state->judged ? std::optional{state->latest} : std::nullopt;
}

bool QuicPaths::may_pass_in_parts(std::uint64_t path) const noexcept {
    const auto state = state_of(lines_, path);
    return state ? !state->uncertain && !state->judged : has_room();
}

void QuicPaths::adopt(ConnectionIndex index) noexcept {
    lines_[index].phase = kPath;
    store_state(lines_[index], PathState{});
    ages_.push_newest(lines_, index);
    ++size_;
}

void QuicPaths::join(ConnectionIndex index, std::uint64_t id) noexcept {
    PathState state = load_state<PathState>(lines_[index]);
    if (state.half == 0) {
        ages_.remove(lines_, index);
    }
    state.uncertain = state.uncertain || state.half != 0 || state.judged;
    state.latest = id;
    ++state.half;
    store_state(lines_[index], state);
}

void QuicPaths::leave(ConnectionIndex index, bool is_whole, std::uint32_t ticks) noexcept {
    PathState state = load_state<PathState>(lines_[index]);
    --state.half;
    state.uncertain = state.uncertain || !is_whole;
    state.judged = state.judged || is_whole;
    store_state(lines_[index], state);
    if (state.half == 0) {
        lines_[index].touched = ticks;
        ages_.push_newest(lines_, index);
    }
}

void QuicPaths::forget_forwarded(ConnectionIndex index, std::uint64_t id) noexcept {
    if (index == kNoConnection || lines_[index].phase != kPath) {
        return;
    }
    const PathState state = load_state<PathState>(lines_[index]);
    if (state.latest == id && state.half == 0 && !state.uncertain) {
        remove(index);
    }
}

void QuicPaths::remove(ConnectionIndex index) noexcept {
    ages_.remove(lines_, index);
    lines_.remove(index);
    --size_;
}

}  // namespace sluice
