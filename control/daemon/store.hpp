#pragma once
#include "lib/base/result.hpp"
#include "lib/policy/compile.hpp"

#include <sys/types.h>
#include <cstdint>
#include <optional>
#include <string>

namespace sluice {

// The last applied rules, as sluiced keeps them on disk.
struct StoredRules {
    std::string file;     // the name it was applied under
    std::string text;     // of the rule file
    ModeOverrides modes;  // set at run time since
    std::uint64_t generation = 0;
    std::int64_t changed_at = 0;  // UTC, seconds
    uid_t changed_by = 0;
};

[[nodiscard]] std::string modes_to_json(const ModeOverrides& modes);
// Unknown words are left out.
[[nodiscard]] ModeOverrides modes_from_json(const std::string& text);

// What is safe on the disk beside the rules in force, and takes their place on commit(). Without it
// nothing has changed.
class PendingRules {
public:
    PendingRules(std::string from, std::string into);
    PendingRules(PendingRules&& other) noexcept;
    PendingRules& operator=(PendingRules&&) = delete;
    ~PendingRules();

    [[nodiscard]] Result<Done> commit();

private:
    std::string from_;  // empty: committed, or moved away
    std::string into_;
};

// One file in the state directory; written whole, then renamed.
class Store {
public:
    explicit Store(std::string directory);

    [[nodiscard]] Result<PendingRules> prepare(const StoredRules& rules) const;
    // nullopt: nothing was ever applied. A file that cannot be read is kept aside and reported.
    [[nodiscard]] Result<std::optional<StoredRules>> load() const;

private:
    [[nodiscard]] Error put_aside(const std::string& why) const;

    std::string directory_;
    std::string path_;
};

}  // namespace sluice
