#include "control/daemon/fleet/fleet_settings.hpp"
#include "tests/fuzz/input.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

// Any value as the cluster's settings of single keys: what is read spells itself again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice;
    using test::require;
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    if (const Result<FleetSetting> setting = fleet_setting_from(text)) {
        const Result<FleetSetting> again = fleet_setting_from(text_of(*setting));
        require(again && *again == *setting);
    }
    if (const Result<FleetAct> act = fleet_act_from(text)) {
        const Result<FleetAct> again = fleet_act_from(text_of(*act));
        require(again && *again == *act);
    }
    if (const Result<FleetSettings> latest = fleet_number_from(text)) {
        require(latest->number != 0);
    }
    return 0;
}
