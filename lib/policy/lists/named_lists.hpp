#pragma once
#include "lib/policy/compile.hpp"
#include "lib/policy/lists/list_reader.hpp"
#include "lib/policy/lists/list_text.hpp"
#include "lib/policy/yaml/map_reader.hpp"

#include <map>
#include <string>
#include <string_view>

namespace sluice {

inline constexpr std::size_t kMaxLists = 256;

struct NamedList {
    Position at;
    std::string file;    // as the rule file has it
    bool known = false;  // its values have been read, and all of them are good
    bool used = false;
    ListValues values;  // the type holds in both cases
    // The text as it was read: an entry at fault is found again in it.
    ListFile source{};
};

// The top-level `data: lists`: their files, read once each, and which of them rules use.
class NamedLists {
public:
    // Reports what is no list, files that are missing (a warning, or an error where the context is
    // strict) and what is wrong inside them.
    void read(const YamlNode& lists, const ListReader* files, const ReadContext& context);

    // nullptr: there is none of that name.
    [[nodiscard]] const NamedList* find(std::string_view name);
    // `; did you mean $name?`, or nothing.
    [[nodiscard]] std::string nearest_to(std::string_view name) const;

    void warn_of_unused(const ReadContext& context) const;
    [[nodiscard]] std::vector<ListSummary> summaries() const;

private:
    std::map<std::string, NamedList, std::less<>> lists_;
};

}  // namespace sluice
