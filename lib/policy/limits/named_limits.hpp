#pragma once
#include "lib/policy/yaml/map_reader.hpp"

#include <map>
#include <string>

namespace sluice {

// The top-level `limits`, and which of them rules use.
class NamedLimits {
public:
    // Reports what is no map, and names that cannot be one.
    void read(const YamlNode& limits, const ReadContext& context);

    // The limit that a list names; nullptr (reported) if there is none.
    [[nodiscard]] const YamlNode* find(const YamlNode& name, const ReadContext& context);

    // Reads the limits that no rule uses too, so that their errors are seen.
    void warn_of_unused(const ReadContext& context) const;

private:
    struct Named {
        const YamlNode* limit = nullptr;
        Position at;
        bool used = false;
    };
    std::map<std::string, Named, std::less<>> limits_;
};

}  // namespace sluice
