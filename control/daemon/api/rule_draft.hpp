#pragma once
#include "control/daemon/http.hpp"
#include "control/daemon/keeper/rule_drafts.hpp"
#include "control/json.hpp"

#include <initializer_list>
#include <string_view>
#include <variant>
#include <vector>

namespace sluice {

// The draft that a request has as `text` of its body, and where it is to stand: by `whole` of the
// body, `file` and `rule` of the query. The body has these members alone.
[[nodiscard]] std::variant<RuleDraft, HttpResponse> draft_of(
    const HttpRequest& request, std::initializer_list<std::string_view> members);

// The same of a body that has been read.
[[nodiscard]] std::variant<RuleDraft, HttpResponse> draft_in(
    const Json& body, const HttpRequest& request, std::initializer_list<std::string_view> members);

// Problems by their places in the draft: [{"severity","line","column","length","path","text",
// "hint","file"}]. `length` of the word at that place, `path` to it, `hint` the name that was
// meant; each is null where there is none. `file` is null of what stands in the draft.
[[nodiscard]] Json draft_problems(const std::vector<Problem>& problems, const RuleDraft& draft);

}  // namespace sluice
