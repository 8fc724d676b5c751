#include "lib/policy/box/kernel_options_reader.hpp"

#include "lib/policy/box/box_values.hpp"
#include "lib/policy/file_keys/box_keys.hpp"

#include <array>

namespace sluice {
namespace {}  // namespace

KernelOptions read_kernel_options(const YamlNode& node, const ReadContext& context,
                                  Nanoseconds idle_sleep) {
    const MapReader map{node, box_keys::kKernel, context, "`kernel`"};
    KernelOptions kernel;
    read_word(map, "fail", kKernelFailNames, kernel.fail);
    read_word(map, "mode", kKernelModeNames, kernel.mode);
    read_time(map, "heartbeat", {kHeartbeatRange, "from 5ms to 1m, such as 100ms"}, context,
              kernel.heartbeat);
    read_text(map, "pins", kernel.pins);
    read_amount(map, "early_drop", kEarlyDropRange, context, kernel.early_drop);
    if (!kernel.pins.starts_with('/')) {
        context.problems.error(map.find("pins")->at, "`pins` is a path from the root");
    }
    if (kernel.heartbeat / kBeatsInHeartbeat < idle_sleep) {
        const YamlNode* heartbeat = map.find("heartbeat");
        context.problems.error(heartbeat == nullptr ? node.at : heartbeat->at,
                               "`heartbeat` is at least four times `idle_sleep` of `workers`: a "
                               "worker that sleeps does not beat");
    }
    return kernel;
}

}  // namespace sluice
