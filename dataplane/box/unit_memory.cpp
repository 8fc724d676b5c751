#include "dataplane/box/unit_memory.hpp"

#include "lib/base/memory_room.hpp"
#include "lib/l7/stream/unit_budget.hpp"

#include <string>

namespace sluice {

std::uint64_t unit_memory_of(const BoxConfig& box, std::size_t workers) noexcept {
    return workers * memory_of(unit_budget(box.units, workers));
}

Result<Done> check_unit_memory(const BoxConfig& box, std::size_t workers) {
    const std::uint64_t needed = unit_memory_of(box, workers);
    const std::uint64_t there_are = available_memory();
    if (needed <= there_are) {
        return Done{};
    }
    return Error{Errc::NoMemory,
                 "connections and fragments need " + std::to_string((needed >> 20) + 1) +
                     " MiB of memory, and " + std::to_string(there_are >> 20) +
                     " MiB are available: `packets: {connections: {max}}` or `packets: "
                     "{fragments: {table}}` of sluice.yaml must be smaller"};
}

}  // namespace sluice
