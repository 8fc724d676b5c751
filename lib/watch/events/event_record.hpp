#pragma once
#include "lib/base/units.hpp"
#include "lib/rules/group.hpp"
#include "lib/watch/events/key_event.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice {

// One event on its way from the worker that saw it.
struct EventRecord {
    std::uint64_t load;  // of the rule set that `rule` and `limit` are meant in
    Nanoseconds utc;     // when it was
    Nanoseconds length;  // as KeyEvent::for_ns
    std::uint32_t rule;
    KeyEventKind kind;
    std::uint8_t limit;  // index in the rule; of a ban the key's
    std::uint16_t size;  // of the key
    std::array<std::byte, KeyBytes::kMaxSize> bytes;
};

}  // namespace sluice
