#pragma once
#include "lib/policy/databases/databases.hpp"
#include "lib/policy/expression/expression.hpp"
#include "lib/policy/yaml/map_reader.hpp"
#include "lib/policy/yaml/scalar_places.hpp"

#include <vector>

namespace sluice {

// Tells the databases of the file which of their fields an expression uses, and where.
inline void report_uses(const std::vector<FieldUse>& uses, const ScalarPlaces& places,
                        const ReadContext& context) {
    for (const FieldUse& use : uses) {
        if (context.databases != nullptr) {
            context.databases->use(use.field, places[use.offset], context.problems);
        }
    }
}

}  // namespace sluice
