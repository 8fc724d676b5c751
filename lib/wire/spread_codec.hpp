#pragma once
#include "lib/rules/port_spread.hpp"
#include "lib/wire/bytes_io.hpp"

namespace sluice {

void put_spread(Writer& out, const BoxSpread& spread);
[[nodiscard]] BoxSpread get_spread(Reader& in);

}  // namespace sluice
