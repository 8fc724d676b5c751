#pragma once
#include "lib/base/result.hpp"
#include "lib/base/zone_offsets.hpp"

#include <memory>
#include <string_view>

namespace sluice {

// A zone of the IANA time zone database, as this system has it (Debian's package tzdata), with all
// changes of its offset from 1970 to 2100. Errors say that there is no such zone, or no database.
// A process reads each zone once: of an updated database it learns by a restart.
[[nodiscard]] Result<std::shared_ptr<const ZoneOffsets>> read_time_zone(std::string_view name);

}  // namespace sluice
