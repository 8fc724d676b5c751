#pragma once
#include "lib/wire/event_messages.hpp"

#include <cstdint>

namespace sluice {

// The place up to which the dataplane's events were read, and the instant from which they count.
class EventCursor {
public:
    // Somebody asks for the events from this instant on (UTC in nanoseconds). Those of before are
    // nobody's, and neither are those that went meanwhile.
    void begin(std::int64_t utc) noexcept {
        from_ = 0;
        since_ = utc;
    }

    [[nodiscard]] GetEvents request(std::uint32_t most) const noexcept {
        return {.origin = origin_, .from = from_, .most = most};
    }
    // Goes behind what was found, and says how many events are missing before it.
    [[nodiscard]] std::uint64_t advance(const Events& found) noexcept {
        const bool goes_on = from_ != 0 && found.origin == origin_;
        origin_ = found.origin;
        from_ = found.next;
        return goes_on ? found.missed : 0;
    }
    // True of a number that was read already.
    [[nodiscard]] bool is_behind(std::uint64_t origin, std::uint64_t number) const noexcept {
        return origin == origin_ && number < from_;
    }
    [[nodiscard]] bool counts(const KeyEvent& event) const noexcept {
        return event.utc_ns >= since_;
    }

private:
    std::uint64_t origin_ = 0;
    std::uint64_t from_ = 0;
    std::int64_t since_ = 0;
};

}  // namespace sluice
