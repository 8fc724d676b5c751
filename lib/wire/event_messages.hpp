#pragma once
#include "lib/watch/events/key_event.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace sluice {

// Asks for what has become of keys under rules with `events`, from a number on.
struct GetEvents {
    std::uint64_t origin = 0;  // as in Events; of another dataplane: from the oldest on
    std::uint64_t from = 0;    // 0: the oldest
    std::uint32_t most = 0;    // at most so many

    static void fields(auto& archive, auto& m) { archive(m.origin, m.from, m.most); }
};
struct Events {
    std::uint64_t origin = 0;  // of the numbers: another one for every start of a dataplane
    std::uint64_t next = 0;    // the number to come back with
    std::uint64_t missed = 0;  // that were there after `from`, and had to go for newer ones
    std::vector<KeyEvent> events;

    static void fields(auto& archive, auto& m) { archive(m.origin, m.next, m.missed, m.events); }
};
// Events of keys since the start; of KeyEventKind::Lost, those that could not be told.
struct EventStats {
    std::array<std::uint64_t, kKeyEventKindCount> by_kind{};

    static void fields(auto& archive, auto& m) { archive(m.by_kind); }
};

}  // namespace sluice
