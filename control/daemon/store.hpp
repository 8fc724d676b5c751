#pragma once
#include "lib/base/result.hpp"
#include "lib/policy/compile.hpp"

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
};

[[nodiscard]] std::string modes_to_json(const ModeOverrides& modes);
// Unknown words are left out.
[[nodiscard]] ModeOverrides modes_from_json(const std::string& text);

// One file in the state directory; written whole, then renamed.
class Store {
public:
    explicit Store(std::string directory);

    [[nodiscard]] Result<Done> save(const StoredRules& rules) const;
    // nullopt: nothing was ever applied. A file that cannot be read is kept aside and reported.
    [[nodiscard]] Result<std::optional<StoredRules>> load() const;

private:
    std::string directory_;
    std::string path_;
};

}  // namespace sluice
