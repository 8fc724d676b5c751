#pragma once
#include "lib/base/result.hpp"
#include "lib/wire/memory_budget.hpp"
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

    // Written whole, then renamed: the set that was kept is from then on the one before. An error
    // leaves both as they were.
    [[nodiscard]] Result<Done> save(const RulesInForce& rules) const;
    [[nodiscard]] Result<Done> save(const ApplyRules& rules) const {
        return save(RulesInForce{rules.rules, rules.source, rules.modes, rules.seal});
    }

    // nullopt: nothing was ever saved. A file that is of another version or was cut off is put
    // aside and reported; so is one that is gone. One that cannot be read just now
    // (Errc::Unreachable), or needs more memory than there is for so many workers beside what is
    // kept for others, stays where it is.
    [[nodiscard]] Result<std::optional<ApplyRules>> load(std::size_t workers = 1,
                                                         std::uint64_t kept_room = 0) const;
    // The set before it, likewise; nullopt: there is none. It stays the set before.
    [[nodiscard]] Result<std::optional<ApplyRules>> load_before(std::size_t workers = 1,
                                                                std::uint64_t kept_room = 0) const;
    // The set before is the saved one from now on, where no other is.
    void take_back() const;

private:
    [[nodiscard]] static Result<std::optional<ApplyRules>> read(const std::string& path,
                                                                MemoryBudget room);

    std::string directory_;
    std::string path_;
    std::string before_;
};

}  // namespace sluice
