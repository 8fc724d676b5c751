#include "control/daemon/api/rule_draft.hpp"

#include "control/daemon/api/api.hpp"
#include "control/daemon/api/json_body.hpp"
#include "control/daemon/api/known_members.hpp"
#include "lib/policy/problems/nearest.hpp"
#include "lib/policy/yaml/place_path.hpp"
#include "lib/policy/yaml/yaml_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace sluice {
namespace {

Json text_or_none(std::string_view text) {
    return text.empty() ? Json() : Json(text);
}

// The draft as its problems are shown: nullopt where it is no YAML.
std::optional<YamlNode> draft_tree_of(const LineIndex& lines) {
    Problems ignored{""};
    return read_yaml(lines, ignored);
}

// The rule of a list that has it alone.
const YamlNode* draft_root_of(const std::optional<YamlNode>& tree, bool whole) {
    if (!tree) {
        return nullptr;
    }
    return !whole && tree->is_list() && tree->items.size() == 1 ? &tree->items.front() : &*tree;
}

Json draft_problem_json(const Problem& problem, const LineIndex& lines, const YamlNode* root) {
    const bool is_own = problem.file.empty();
    const std::uint32_t length = is_own ? word_length(lines, problem.at) : 0;
    return {{"severity", problem.severity == Severity::Error ? "error" : "warning"},
            {"line", std::max(problem.at.line, 1U)},
            {"column", std::max(problem.at.column, 1U)},
            {"length", length == 0 ? Json() : Json(length)},
            {"path", is_own && root != nullptr && problem.at.line != 0
                         ? text_or_none(path_to(*root, problem.at))
                         : Json()},
            {"text", problem.message},
            {"hint", text_or_none(meant_name(problem.message))},
            {"file", text_or_none(problem.file)}};
}

// A session, a token's name, a process of a user of the box: whoever has several sessions is
// several.
std::string asker_of(const HttpRequest& request) {
    if (!request.session.empty()) {
        return "session " + request.session;
    }
    if (request.way == Way::Unix) {
        return fmt::format("uid {} process {}", request.peer.uid, request.peer.pid);
    }
    return "user " + request.user;
}

}  // namespace

std::variant<RuleDraft, HttpResponse> draft_of(const HttpRequest& request,
                                               std::initializer_list<std::string_view> members) {
    std::variant<Json, HttpResponse> parsed = parse_body(request);
    if (auto* const refusal = std::get_if<HttpResponse>(&parsed)) {
        return std::move(*refusal);
    }
    return draft_in(std::get<Json>(parsed), request, members);
}

std::variant<RuleDraft, HttpResponse> draft_in(const Json& body, const HttpRequest& request,
                                               std::initializer_list<std::string_view> members) {
    if (!body.is_object() || !body.contains("text") || !body["text"].is_string()) {
        return bad_request(R"(the body is {"text":"…"}, the text of a rule)");
    }
    if (std::optional<HttpResponse> refusal = refuse_unknown(body, members)) {
        return *std::move(refusal);
    }
    RuleDraft draft{.text = body["text"].get<std::string>(),
                    .file = argument(request, "file", ""),
                    .rule = argument(request, "rule", ""),
                    .from = asker_of(request)};
    if (body.contains("whole")) {
        if (!body["whole"].is_boolean()) {
            return bad_request("`whole` is true or false");
        }
        draft.whole = body["whole"].get<bool>();
    }
    if (draft.whole && !draft.rule.empty()) {
        return bad_request("`rule` is for the text of one rule, and this one is a whole file");
    }
    return draft;
}

Json draft_problems(const std::vector<Problem>& problems, const RuleDraft& draft) {
    const LineIndex lines{draft.text};
    const std::optional<YamlNode> tree = draft_tree_of(lines);
    const YamlNode* const root = draft_root_of(tree, draft.whole);
    Json list = Json::array();
    for (const Problem& problem : problems) {
        list.push_back(draft_problem_json(problem, lines, root));
    }
    return list;
}

}  // namespace sluice
