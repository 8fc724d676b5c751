#pragma once
#include "lib/base/result.hpp"
#include "lib/wire/message.hpp"

#include <optional>
#include <string>

namespace sluice {

// The last rule set that was applied, as it came over the wire, kept in the state directory: a
// restarted dataplane has its rules before its ports start, also without sluiced. The set before it
// stays beside it, for the day on which it cannot be read.
class RulesStore {
public:
    explicit RulesStore(std::string directory);

    // Written whole, then renamed: the set that was kept is then the one before. An error leaves
    // everything as it was.
    [[nodiscard]] Result<Done> save(const RulesInForce& rules) const;
    [[nodiscard]] Result<Done> save(const ApplyRules& rules) const {
        return save(RulesInForce{rules.rules, rules.source, rules.modes, rules.seal});
    }

    // nullopt: nothing was ever saved. A file that cannot be read, since it is of another version
    // or was cut off, is put aside and reported; so is one that is gone.
    [[nodiscard]] Result<std::optional<ApplyRules>> load() const;
    // The set before takes the place of the one that was put aside. nullopt: there is none.
    [[nodiscard]] Result<std::optional<ApplyRules>> take_back() const;
    // For a set that was read and cannot be used all the same. Says where it is: "it is kept as
    // ...".
    [[nodiscard]] std::string put_aside() const;

private:
    [[nodiscard]] static Result<std::optional<ApplyRules>> read(const std::string& path);
    void keep_before() const;

    std::string directory_;
    std::string path_;
    std::string before_;
};

}  // namespace sluice
