#include "lib/l7/quic/quic_hellos.hpp"

#include "lib/l7/quic/quic_lines.hpp"
#include "lib/l7/stream/tick.hpp"

#include <algorithm>

namespace sluice {
namespace {

// Lines that are looked at for each Initial, which takes four at most.
constexpr unsigned kExpiredAtOnce = 6;
constexpr std::size_t kMostHelloBytes = std::size_t{16} << 10;

QuicBudget checked(QuicBudget budget) noexcept {
    budget.connections = std::max<std::size_t>(budget.connections, 4);
    budget.half_hellos = std::clamp<std::size_t>(budget.half_hellos, 1, budget.connections / 4);
    budget.half_hellos_per_source = std::max<std::size_t>(budget.half_hellos_per_source, 1);
    budget.hello_bytes = std::clamp<std::size_t>(budget.hello_bytes, 1024, kMostHelloBytes);
    return budget;
}
// A worker opens 50,000 Initials a second at most (OpeningTime), which tell 25,000 hellos in parts
// or 50,000 that take one packet: with 4,096 of each kind, one in parts is kept for 160 ms in
// whatever flood, and one that takes a packet for 80 ms in a flood of those that rules let through.
constexpr std::size_t kept_for(const QuicBudget& budget) noexcept {
    return std::max<std::size_t>(budget.connections / 8, 4);
}
// Few hellos are given up but in a flood, whose sources lose theirs first.
constexpr std::size_t given_up_for(const QuicBudget& budget) noexcept {
    return std::max<std::size_t>(budget.connections / 32, 4);
}

}  // namespace

QuicHellos::QuicHellos(const QuicBudget& budget)
    : budget_{checked(budget)},
      half_ticks_{ticks_of(budget.half_hello_timeout) + 1},
      idle_ticks_{ticks_of(budget.idle_timeout) + 1},
      lines_{budget_.connections},
      paths_{lines_, budget_.connections / 2},
      answers_{budget_.connections},
      kept_{kept_for(budget_), budget_.idle_timeout},
      given_up_{given_up_for(budget_), budget_.idle_timeout},
      verdicts_{budget_.connections},
      pool_{budget_.half_hellos + 1},
      members_(lines_.capacity()),
      shares_{budget_.half_hellos, budget_.half_hellos_per_source, members_},
      rooms_{std::make_unique<std::byte[]>((budget_.half_hellos + 1) * budget_.hello_bytes)},
      spare_{pool_.take()} {
    slots_.reserve(budget_.half_hellos + 1);
    for (std::size_t i = 0; i <= budget_.half_hellos; ++i) {
        const MutableBytes room{rooms_.get() + i * budget_.hello_bytes, budget_.hello_bytes};
        slots_.push_back({.client_dcid = {}, .stream = CryptoStream{room}});
    }
}

std::uint64_t QuicHellos::memory_of(const QuicBudget& wanted) noexcept {
    const QuicBudget budget = checked(wanted);
    const std::size_t lines = ConnectionLines::lines_for(budget.connections);
    return ConnectionLines::memory_of(budget.connections) + lines * sizeof(SourceMember) +
           QuicAnswers::memory_of(budget.connections) +
           QuicKeptHellos::memory_of(kept_for(budget)) +
           QuicGivenUpHellos::memory_of(given_up_for(budget)) +
           QuicVerdicts::memory_of(budget.connections) +
           LinePool::bytes_for(budget.half_hellos + 1) +
           SourceShares::memory_of(budget.half_hellos, budget.half_hellos_per_source) +
           (budget.half_hellos + 1) * (budget.hello_bytes + sizeof(HalfHello));
}

QuicHellos::State QuicHellos::state_of(std::uint64_t id) const noexcept {
    const ConnectionIndex index = lines_.find(id);
    if (index == kNoConnection) {
        return State::Unknown;
    }
    switch (lines_[index].phase) {
        case kHalfHello:
            return State::Half;
        case kJudgedHello:
            return State::Judged;
        case kGivenUpHello:
            return State::GivenUp;
        default:
            return State::Unknown;
    }
}

HalfHello& QuicHellos::half_of(std::uint64_t id) noexcept {
    return slot(lines_[lines_.find(id)].held);
}

HalfHello* QuicHellos::half_on(std::uint64_t path) noexcept {
    const auto latest = paths_.latest_on(path);
    return latest && state_of(*latest) == State::Half ? &half_of(*latest) : nullptr;
}

bool QuicHellos::lacks_beginning(std::uint64_t id) const noexcept {
    const ConnectionIndex index = lines_.find(id);
    return index != kNoConnection && lines_[index].phase != kJudgedHello &&
           lines_[index].framing[kLacksBeginning] != std::byte{0};
}

HalfHello& QuicHellos::spare() noexcept {
    HalfHello& half = slot(spare_);
    half.stream.clear();
    half.is_again = false;
    half.is_of_service = false;
    return half;
}

// An idle line; where none is free the one that has been idle longest goes.
ConnectionIndex QuicHellos::add_line(std::uint64_t key) noexcept {
    if (lines_.size() >= budget_.connections && idle_.oldest() != kNoConnection) {
        note_verdict(idle_.oldest());
        remove(idle_.oldest());
        ++forgotten_;
    }
    const ConnectionIndex index =
        lines_.size() < budget_.connections ? lines_.add(key) : kNoConnection;
    if (index != kNoConnection) {
        lines_[index].touched = ticks_;
        idle_.push_newest(lines_, index);
    }
    return index;
}

ConnectionIndex QuicHellos::line_for(std::uint64_t key) noexcept {
    const ConnectionIndex index = lines_.find(key);
    return index == kNoConnection ? add_line(key) : index;
}

// Removes an idle line.
void QuicHellos::remove(ConnectionIndex index) noexcept {
    idle_.remove(lines_, index);
    lines_.remove(index);
}

void QuicHellos::touch(ConnectionIndex index) noexcept {
    lines_[index].touched = ticks_;
    idle_.remove(lines_, index);
    idle_.push_newest(lines_, index);
}

bool QuicHellos::keep_spare(std::uint64_t source, unsigned& given_up) noexcept {
    const HalfHello& half = slot(spare_);
    const auto whose = static_cast<SourceId>(source ^ source >> 32);
    if (shares_.count_of(whose) >= budget_.half_hellos_per_source) {
        end_half(shares_.oldest_of(whose), false);
        ++given_up;
    } else if (shares_.full()) {
        end_half(shares_.oldest_of_most(), false);
        ++given_up;
    }
    const bool may_pass = !lacks_beginning(half.id) &&
                          !(half.is_of_service && has_given_up(half.id)) &&
                          (half.is_again || paths_.may_pass_in_parts(half.path));
    const ConnectionIndex index = line_for(half.id);
    if (index == kNoConnection) {
        return false;
    }
    // Out of the idle ones first, so that its path's line cannot take its place.
    idle_.remove(lines_, index);
    Connection& line = lines_[index];
    half_.push_newest(lines_, index);
    line.touched = ticks_;
    line.phase = kHalfHello;
    line.held = spare_;
    line.framing = {};
    members_[index].id = whose;
    shares_.add(index);
    spare_ = pool_.take();
    const bool on_path = !half.is_again && join_path(half);
    line.framing[kOnPath] = static_cast<std::byte>(on_path);
    const bool passes = may_pass && (on_path || half.is_again);
    line.framing[kLacksBeginning] = static_cast<std::byte>(!passes);
    line.framing[kHasPassed] = static_cast<std::byte>(passes);
    return true;
}

// False: its path has no line.
bool QuicHellos::join_path(const HalfHello& half) noexcept {
    ConnectionIndex index = lines_.find(half.path);
    if (index == kNoConnection) {
        index = paths_.has_room() ? add_line(half.path) : kNoConnection;
        if (index == kNoConnection) {
            return false;
        }
        idle_.remove(lines_, index);
        paths_.adopt(index);
    }
    paths_.join(index, half.id);
    return true;
}

// A half hello becomes idle: whole, or given up.
void QuicHellos::end_half(ConnectionIndex index, bool is_whole) noexcept {
    Connection& line = lines_[index];
    const std::uint64_t path = slot(line.held).path;
    if (!is_whole && line.framing[kHasPassed] != std::byte{0}) {
        keep_given_up(index);
    }
    line.framing[kHasPassed] = std::byte{0};
    shares_.remove(index);
    pool_.give_back(line.held);
    line.held = kNoLine;
    line.phase = kGivenUpHello;
    line.framing[kLacksBeginning] = std::byte{1};
    line.touched = ticks_;
    half_.remove(lines_, index);
    idle_.push_newest(lines_, index);
    if (line.framing[kOnPath] != std::byte{0}) {
        line.framing[kOnPath] = std::byte{0};
        paths_.leave(lines_.find(path), is_whole, ticks_);
    }
}

// The parts of a half hello that passed stand.
void QuicHellos::keep_given_up(ConnectionIndex index) noexcept {
    const HalfHello& half = slot(lines_[index].held);
    if (!half.is_of_service || half.stream.empty()) {
        return;
    }
    const auto lost = given_up_.keep(
        {.id = half.id, .source = members_[index].id, .stream = half.stream}, *hash_, ticks_);
    if (lost) {
        kept_.note_lost(~*lost, now_);
    }
}

void QuicHellos::give_up(std::uint64_t id) noexcept {
    const ConnectionIndex index = lines_.find(id);
    if (index != kNoConnection && lines_[index].phase == kHalfHello) {
        end_half(index, false);
    }
}

void QuicHellos::forget_half(std::uint64_t id) noexcept {
    const ConnectionIndex index = lines_.find(id);
    if (index != kNoConnection && lines_[index].phase == kHalfHello) {
        end_half(index, true);
        remove(index);
    }
}

bool QuicHellos::judge(std::uint64_t id, std::uint64_t hello) noexcept {
    const ConnectionIndex half = lines_.find(id);
    ConnectionIndex path = kNoConnection;
    if (half != kNoConnection && lines_[half].phase == kHalfHello) {
        path = lines_.find(slot(lines_[half].held).path);
        end_half(half, true);
    }
    const std::uint64_t keys[] = {id, hello};
    for (const std::uint64_t key : keys) {
        const ConnectionIndex index = line_for(key);
        if (index == kNoConnection) {
            return false;
        }
        touch(index);
        Connection& line = lines_[index];
        line.phase = kJudgedHello;
        line.next = 1;
        line.judged = {};
        line.judged.append(StickyVerdict::Undecided, 0, 1);
        store_state(line, JudgedHello{.twin = key == id ? hello : id, .path = path, .gaps = gaps_});
    }
    return true;
}

void QuicHellos::settle(std::uint64_t id, bool forwarded) noexcept {
    kept_.settle(id, forwarded);
    const StickyVerdict verdict = forwarded ? StickyVerdict{0} : StickyVerdict::Blocked;
    for (std::uint64_t key = id, steps = 0; steps < 2; ++steps) {
        const ConnectionIndex index = lines_.find(key);
        if (index == kNoConnection || lines_[index].phase != kJudgedHello) {
            return;
        }
        lines_[index].judged.paint(verdict, 0, 1, 1);
        const JudgedHello state = load_state<JudgedHello>(lines_[index]);
        if (forwarded) {
            paths_.forget_forwarded(state.path, key);
        }
        key = state.twin;
    }
}

StickyVerdict QuicHellos::verdict_of(std::uint64_t id) const noexcept {
    const ConnectionIndex index = lines_.find(id);
    return index == kNoConnection ? StickyVerdict::Unjudged
                                  : lines_[index].judged.strictest(0, 1, 1);
}

unsigned QuicHellos::expire(Instant now, const KeyHasher& hash) noexcept {
    ticks_ = ticks_of(now.time_since_epoch());
    now_ = now;
    hash_ = &hash;
    kept_.expire(now);
    given_up_.expire(ticks_);
    unsigned given_up = 0;
    for (unsigned i = 0; i < kExpiredAtOnce && expire_one(given_up); ++i) {
    }
    return given_up;
}

// False: nothing has timed out.
bool QuicHellos::expire_one(unsigned& given_up) noexcept {
    const auto is_over = [this](ConnectionIndex index, std::uint32_t ticks) {
        return index != kNoConnection && age_of(index) > ticks;
    };
    if (is_over(half_.oldest(), half_ticks_)) {
        end_half(half_.oldest(), false);
        ++given_up;
    } else if (is_over(paths_.oldest(), idle_ticks_)) {
        paths_.remove(paths_.oldest());
    } else if (is_over(idle_.oldest(), idle_ticks_)) {
        remove(idle_.oldest());
    } else {
        return false;
    }
    return true;
}

}  // namespace sluice
