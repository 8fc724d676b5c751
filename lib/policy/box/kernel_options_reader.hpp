#pragma once
#include "lib/policy/yaml/map_reader.hpp"
#include "lib/rules/box_config.hpp"

namespace sluice {

// `kernel` of sluice.yaml; `idle_sleep` is that of `workers`, which beat between two sleeps.
[[nodiscard]] KernelOptions read_kernel_options(const YamlNode& node, const ReadContext& context,
                                                Nanoseconds idle_sleep);

}  // namespace sluice
