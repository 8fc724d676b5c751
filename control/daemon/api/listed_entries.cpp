#include "control/daemon/api/listed_entries.hpp"

#include <algorithm>
#include <optional>

namespace sluice {

const Json& ListedEntries::find(const std::string& list, const Comparison& how,
                                const std::function<bool(const ListValues&)>& holds) {
    static const Json kNone;
    if (!may_read_) {
        return kNone;
    }
    const auto [at, is_new] = found_.try_emplace({list, how});
    if (is_new) {
        at->second = read(list, how.type, holds);
    }
    return at->second;
}

Json ListedEntries::read(const std::string& list, ListType type,
                         const std::function<bool(const ListValues&)>& holds) const {
    const auto row = std::ranges::find(view_.list_summaries, list, &ListSummary::name);
    const auto text =
        row == view_.list_summaries.end() ? view_.lists.end() : view_.lists.find(row->file);
    if (text == view_.lists.end()) {
        return {};
    }
    const std::optional<FoundEntry> found = find_entry(*text->second, type, holds);
    return found ? Json{{"list", list},
                        {"entry", found->entry},
                        {"line", found->at.line},
                        {"others", found->others}}
                 : Json();
}

}  // namespace sluice
