#pragma once
#include <cstdint>

namespace sluice {

// The reason why packets of a network are dropped before they reach the box, or left to it.
enum class EarlyDropSource : std::uint8_t {
    Condition,   // a rule drops them on sight
    KeyBan,      // an operator or an override file has banned the key
    NetworkBan,  // likewise a network of keys
    PenaltyBox,  // the key has gone there
    Exempt,      // within a banned network: they pass, and are left to the box
};

}  // namespace sluice
