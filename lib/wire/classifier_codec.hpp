#pragma once
#include "lib/match/classifier_parts.hpp"
#include "lib/wire/bytes_io.hpp"

namespace sluice {

// Without its databases of patterns: what they hold is said by the texts already, and one that was
// made in one piece and two that came one after the other mean the same.
void put_classifier(Writer& out, const ClassifierParts& parts);
void put_databases(Writer& out, const ClassifierParts& parts);

// What comes back may be anything that the types can hold: are_sound() is asked next.
[[nodiscard]] ClassifierParts get_classifier(Reader& in);
void get_databases(Reader& in, ClassifierParts& parts);

}  // namespace sluice
