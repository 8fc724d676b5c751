#pragma once
#include "lib/wire/bytes_io.hpp"
#include "lib/wire/message.hpp"

namespace sluice {

void put_stats(Writer& out, const Stats& stats);
[[nodiscard]] Stats get_stats(Reader& in);

}  // namespace sluice
