#pragma once
#include "lib/packet/flow.hpp"

#include <cstddef>
#include <cstdint>

namespace sluice {

// What is matched: a packet's fields, and its frame for those that Flow does not copy.
struct Subject {
    const Flow* flow = nullptr;
    ByteView frame;
    std::uint32_t readable_behind = 0;  // bytes behind the frame that may be read
};
inline constexpr std::size_t kMaxSubjects = 32;

}  // namespace sluice
