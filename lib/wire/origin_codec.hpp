#pragma once
#include "lib/match/origin_parts.hpp"
#include "lib/wire/bytes_io.hpp"

#include <memory>

namespace sluice {

void put_origins(Writer& out, const std::shared_ptr<const OriginParts>& parts);
// Whether they are sound is asked by whoever takes the whole set.
[[nodiscard]] std::shared_ptr<const OriginParts> get_origins(Reader& in);

}  // namespace sluice
