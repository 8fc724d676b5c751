#pragma once
#include "lib/l7/http1/request_doubts.hpp"
#include "lib/l7/http1/request_head.hpp"
#include "lib/l7/stream/unit_source.hpp"

namespace sluice {

// Doubts that the other readings of a request show, which has_stated_readings(), as far as rules
// read them: the readings are made and thrown away. Allocates, for explanations alone.
[[nodiscard]] RequestDoubts doubts_of_readings(const RequestHead& head, const UnitSource& packet);

}  // namespace sluice
