#include "lib/l7/quic/quic_hellos.hpp"
#include "lib/l7/quic/quic_lines.hpp"
#include "lib/l7/stream/tick.hpp"

#include <algorithm>
#include <utility>

// Hellos of QuicHellos that come again.
namespace sluice {

bool QuicHellos::is_hello_of(std::uint64_t id, std::uint64_t hello) const noexcept {
    const ConnectionIndex index = lines_.find(id);
    return index != kNoConnection && lines_[index].phase == kJudgedHello &&
           load_state<JudgedHello>(lines_[index]).twin == hello;
}

void QuicHellos::note_verdict(ConnectionIndex index) noexcept {
    const Connection& line = lines_[index];
    if (line.phase == kJudgedHello && line.judged.strictest(0, 1, 1) == StickyVerdict{0}) {
        const auto state = load_state<JudgedHello>(line);
        verdicts_.note(line.digest, state.twin, {.ticks = line.touched, .gaps = state.gaps});
    }
}

bool QuicHellos::recall(std::uint64_t id, std::uint64_t hello, std::uint64_t path,
                        AnswersSeen seen) noexcept {
    const QuicVerdicts::Charged* const charged = verdicts_.find(id, hello);
    if (charged == nullptr || seen != AnswersSeen::All || charged->gaps != gaps_) {
        return false;
    }
    const std::uint32_t age = ticks_ - charged->ticks;
    if (age > idle_ticks_ || answers_.answered_within(path, age, ticks_) || !judge(id, hello)) {
        return false;
    }
    settle(id, true);
    return true;
}

void QuicHellos::note_answer(std::uint64_t path, Instant now) noexcept {
    answers_.note_answer(path, ticks_of(now.time_since_epoch()));
}

void QuicHellos::note_retry(std::uint64_t path, Instant now) noexcept {
    answers_.note_retry(path, ticks_of(now.time_since_epoch()));
}

bool QuicHellos::may_be_forgotten(std::uint64_t key, std::uint64_t path,
                                  AnswersSeen seen) const noexcept {
    const ConnectionIndex index = lines_.find(key);
    if (index == kNoConnection || lines_[index].phase != kJudgedHello) {
        return false;
    }
    const auto state = load_state<JudgedHello>(lines_[index]);
    const std::uint32_t age = age_of(index);
    const bool counts = seen != AnswersSeen::None;
    if (state.gaps != gaps_ || (counts && answers_.answered_within(path, age, ticks_))) {
        return true;
    }
    return seen != AnswersSeen::All && (age > ticks_of(kRepeatedFor) || state.repeats >= kRepeats);
}

void QuicHellos::note_repeat(std::uint64_t id) noexcept {
    const ConnectionIndex index = lines_.find(id);
    if (index != kNoConnection && lines_[index].phase == kJudgedHello) {
        JudgedHello state = load_state<JudgedHello>(lines_[index]);
        state.repeats = static_cast<std::uint8_t>(std::min(state.repeats + 1U, kRepeats));
        store_state(lines_[index], state);
    }
}

bool QuicHellos::begin_anew(std::uint64_t id, std::uint64_t again, std::uint64_t path,
                            std::uint64_t source, unsigned& given_up) noexcept {
    const bool lacks = lacks_beginning(again);
    const bool is_half = state_of(again) == State::Half;
    const ConnectionIndex index = is_half || lacks ? line_for(id) : lines_.find(id);
    if (index == kNoConnection) {
        return !is_half && !lacks;
    }
    Connection& line = lines_[index];
    line.phase = kGivenUpHello;
    line.judged = {};
    line.framing = {};
    line.framing[kLacksBeginning] = static_cast<std::byte>(lacks);
    if (!is_half) {
        return true;
    }
    const ConnectionIndex before = lines_.find(again);
    const std::byte has_passed = lines_[before].framing[kHasPassed];
    std::swap(spare_, lines_[before].held);
    end_half(before, true);
    remove(before);
    HalfHello& half = slot(spare_);
    half.id = id;
    half.path = path;
    half.is_again = false;
    if (!keep_spare(source, given_up)) {
        return false;
    }
    lines_[lines_.find(id)].framing[kHasPassed] |= has_passed;
    return true;
}

void QuicHellos::forget_judged(std::uint64_t id) noexcept {
    const ConnectionIndex index = lines_.find(id);
    if (index != kNoConnection && lines_[index].phase == kJudgedHello) {
        remove(index);
    }
}

bool QuicHellos::follow_retry(std::uint64_t id, std::uint64_t hello, std::uint64_t path,
                              AnswersSeen seen) noexcept {
    const ConnectionIndex index = lines_.find(hello);
    if (index == kNoConnection || lines_[index].phase != kJudgedHello) {
        return false;
    }
    JudgedHello state = load_state<JudgedHello>(lines_[index]);
    const StickyVerdict verdict = verdict_of(hello);
    const bool is_heard = seen == AnswersSeen::All && !blocks(verdict);
    if (state.twin == id || state.retried || verdict == StickyVerdict::Undecided ||
        may_be_forgotten(hello, path, seen) ||
        (is_heard && !answers_.retried_within(path, age_of(index), ticks_))) {
        return false;
    }
    if (is_heard) {
        forget_judged(state.twin);
    }
    state.retried = true;
    store_state(lines_[index], state);
    touch(index);
    if (judge(id, hello)) {
        settle(id, !blocks(verdict));
        const ConnectionIndex after = lines_.find(hello);
        store_state(lines_[after], JudgedHello{.twin = id, .retried = true, .gaps = gaps_});
    }
    return true;
}

}  // namespace sluice
