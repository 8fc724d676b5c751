#pragma once
#include "lib/base/result.hpp"
#include "lib/wire/message.hpp"

#include <optional>
#include <string>

namespace sluice {

// The last rule set that was applied, as it came over the wire, kept in the state directory: a
// restarted dataplane has its rules before its ports start, also without sluiced.
class RulesStore {
public:
    explicit RulesStore(std::string directory);

    // Written whole, then renamed.
    [[nodiscard]] Result<Done> save(const RulesInForce& rules) const;
    [[nodiscard]] Result<Done> save(const ApplyRules& rules) const {
        return save(RulesInForce{rules.rules, rules.source, rules.modes});
    }

    // nullopt: nothing was ever saved. A file that cannot be read, since it is of another version
    // or was cut off, is put aside and reported.
    [[nodiscard]] Result<std::optional<ApplyRules>> load() const;

private:
    std::string directory_;
    std::string path_;
};

}  // namespace sluice
