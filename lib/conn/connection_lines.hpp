#pragma once
#include "lib/conn/connection.hpp"
#include "lib/conn/hopscotch_lines.hpp"

namespace sluice {

using ConnectionLines = HopscotchLines<Connection>;

}  // namespace sluice
