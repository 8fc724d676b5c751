#include "lib/pipeline/shared_charge.hpp"
#include "lib/pipeline/stages.hpp"

#include <span>

namespace sluice {

void locate_burst(Burst& burst, const CoreState& core) noexcept {
    Scratch& scratch = burst.scratch();
    const std::span<Look> looks{scratch.looks.get(), scratch.look_count};
    scratch.miss_count = core.buckets.keys.probe_first(looks, scratch.missed.get());
    if (core.ledger != nullptr) [[unlikely]] {
        prefetch_records(looks, *core.ledger);
    }
}

}  // namespace sluice
