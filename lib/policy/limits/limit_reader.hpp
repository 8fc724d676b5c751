#pragma once
#include "lib/policy/limits/promise.hpp"
#include "lib/policy/limits/scope_reader.hpp"
#include "lib/policy/values/named_text.hpp"
#include "lib/policy/yaml/map_reader.hpp"
#include "lib/rules/rule_set.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// The name that `per` has in a rule file.
[[nodiscard]] std::string_view name_of(Per per) noexcept;

// The value of `per`, if given.
[[nodiscard]] std::optional<Per> read_per(const MapReader& map);

// One limit as written.
struct LimitText {
    std::optional<AnyLimit> numbers;  // nullopt: wrong, or not built yet (reported)
    Per per = Per::Packet;
    GroupingKey of;                  // the field whose different values it counts; empty: none
    std::string text;                // "token_bucket 50/s burst 200"
    std::string bound;               // the most it admits in any window W: "200 packets + 50/s * W"
    std::optional<Promise> promise;  // the same as a number
    // The state depends on these beside its numbers: algorithm, window, buckets, edge, ...
    std::vector<NamedText> schema;
    ScopeText scope{};  // its own, which wins over its rule's
};

// Reads an inline or a named limit; `rule_per` counts where the limit has no `per` of its own.
[[nodiscard]] LimitText read_limit(const YamlNode& node, std::optional<Per> rule_per,
                                   const ReadContext& context);

}  // namespace sluice
