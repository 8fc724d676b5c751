#include "lib/pipeline/stages.hpp"

#include <span>

namespace sluice {

void locate_burst(Burst& burst, const CoreState& core) noexcept {
    Scratch& scratch = burst.scratch();
    const std::span<Look> looks{scratch.looks.get(), scratch.look_count};
    scratch.miss_count = core.buckets.keys.probe_first(looks, scratch.missed.get());
}

}  // namespace sluice
