#pragma once
#include "lib/policy/yaml/map_reader.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

// Other numbers for limits of a rule, by the limits' names.
class LimitChanges {
public:
    // `limits` of a candidate: a map of names to the parameters that differ. Says what is wrong.
    LimitChanges(const YamlNode& limits, const ReadContext& context);

    // The limit as it would be written with the change; nullopt: it stays as it is. A change that
    // names an algorithm is a limit of its own, from which nothing of the old one is left.
    [[nodiscard]] std::optional<YamlNode> change(const std::string& name,
                                                 const YamlNode& limit) const;

    struct Change {
        Position at;  // of the name
        const YamlNode* parameters = nullptr;
    };
    [[nodiscard]] const std::map<std::string, Change>& all() const noexcept { return changes_; }

private:
    std::map<std::string, Change> changes_;
};

// One set of limits judged in the place of a rule's own.
struct Candidate {
    std::string name;
    LimitChanges limits;
};

// `candidates` of a rule: what can be read of it; the rest is reported.
[[nodiscard]] std::vector<Candidate> read_candidates(const YamlNode& node,
                                                     const ReadContext& context);

}  // namespace sluice
