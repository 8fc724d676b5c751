#pragma once
#include "lib/base/bytes.hpp"
#include "lib/base/result.hpp"
#include "lib/rules/load/limit_slots.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice {

// The slots of limits as they are kept beside the tables whose entries name them; `region` says of
// which tables. Every length is checked once, here, as for messages.
struct KeptSlots {
    std::uint64_t region = 0;
    SlotsImage slots;
};
[[nodiscard]] std::vector<std::byte> encode(const KeptSlots& kept);
[[nodiscard]] Result<KeptSlots> decode_slots(ByteView bytes);

}  // namespace sluice
