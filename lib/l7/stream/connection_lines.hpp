#pragma once
#include "lib/l7/stream/connection.hpp"
#include "lib/l7/stream/hopscotch_lines.hpp"

namespace sluice {

using ConnectionLines = HopscotchLines<Connection>;

}  // namespace sluice
