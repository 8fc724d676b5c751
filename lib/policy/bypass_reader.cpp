#include "lib/policy/bypass_reader.hpp"

#include "lib/policy/condition_reader.hpp"
#include "lib/policy/key_reader.hpp"
#include "lib/policy/limit_reader.hpp"

namespace sluice {

void check_bypass(const YamlNode& bypass, NamedLimits& limits, NamedLists& lists,
                  const ReadContext& context) {
    for (const YamlNode& item : bypass.items) {
        const YamlNode* when = value_of(item, "when");
        if (when != nullptr && when->is_scalar()) {
            (void)read_condition(*when, lists, context);
        }
        if (const YamlNode* key = value_of(item, "key")) {
            (void)read_key(*key, context);
        }
        const YamlNode* limit = value_of(item, "limit");
        if (limit != nullptr && limit->is_scalar()) {
            limit = limits.find(*limit, context);
        }
        if (limit != nullptr) {
            (void)read_limit(*limit, std::nullopt, context);
        }
    }
}

}  // namespace sluice
