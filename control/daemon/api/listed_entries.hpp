#pragma once
#include "control/daemon/rule_change.hpp"
#include "control/json.hpp"
#include "lib/policy/lists/list_text.hpp"
#include "lib/policy/texts/text_test.hpp"

#include <compare>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <utility>

namespace sluice {

// Entries of a rule set's lists that name what one request seeks. However many conditions compare
// with a list, it is read once for each way of comparing.
class ListedEntries {
public:
    struct Comparison {
        ListType type{};
        TextHow how = TextHow::Equals;  // of texts
        bool ignore_case = false;

        auto operator<=>(const Comparison&) const = default;
    };

    // Nobody is told of lists who may not read them: no entry is found then.
    ListedEntries(const RuleView& view, bool may_read) : view_{view}, may_read_{may_read} {}

    // The first entry that this holds of, as {"list":"bad","entry":"10.0.0.0/8","line":3,
    // "others":0}; null: there is none.
    [[nodiscard]] const Json& find(const std::string& list, const Comparison& how,
                                   const std::function<bool(const ListValues&)>& holds);
    [[nodiscard]] std::size_t reads() const noexcept { return found_.size(); }

private:
    [[nodiscard]] Json read(const std::string& list, ListType type,
                            const std::function<bool(const ListValues&)>& holds) const;

    const RuleView& view_;
    bool may_read_;
    std::map<std::pair<std::string, Comparison>, Json> found_;
};

}  // namespace sluice
