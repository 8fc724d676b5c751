#pragma once
#include "lib/match/classifier_parts.hpp"
#include "lib/wire/bytes_io.hpp"

namespace sluice {

void put_classifier(Writer& out, const ClassifierParts& parts);

// What comes back may be anything that the types can hold: are_sound() is asked next.
[[nodiscard]] ClassifierParts get_classifier(Reader& in);

}  // namespace sluice
