#include "control/daemon/api/change.hpp"
#include "control/daemon/api/cluster.hpp"
#include "control/daemon/api/tenant_view.hpp"
#include "lib/policy/expression/token.hpp"
#include "lib/policy/files/rule_lines.hpp"
#include "lib/rules/tenant_name.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

// One rule: in full, and put into the text of the set in force, replaced or deleted.
namespace sluice {
namespace {

// The text of a tenant, as a file that is called like it.
std::vector<RuleFilePart> parts_of_tenant(const RuleView& view, const std::string& tenant) {
    const auto found = view.tenants.find(tenant);
    return found == view.tenants.end()
               ? std::vector<RuleFilePart>{}
               : std::vector<RuleFilePart>{{tenant, found->second.text, ""}};
}

// The file that has the rule, and its lines there; of a candidate those of its rule. null: they
// cannot be told.
Json source_json(const RuleView& view, const RuleSummary& rule) {
    const std::string_view own = own_id(rule.id);
    const std::string_view id =
        rule.kind == RuleKind::Candidate ? own.substr(0, own.find('.')) : own;
    const std::string tenant{tenant_of(rule.id)};
    std::vector<RuleFilePart> parts =
        tenant.empty() ? parts_of(view.text, view.slices) : parts_of_tenant(view, tenant);
    if (parts.empty() && tenant.empty()) {
        parts.push_back({view.file, view.text, view.directory});
    }
    for (const RuleFilePart& part : parts) {
        for (const RuleLines& lines : rule_lines(part.text)) {
            if (lines.id != id || (!rule.file.empty() && part.file != rule.file)) {
                continue;
            }
            const LineIndex index{part.text};
            const std::size_t begin = index.offset_of({lines.first, 1});
            const std::size_t end = index.offset_of({lines.last + 1, 1});
            return {{"file", part.file},
                    {"line", lines.first},
                    {"last_line", lines.last},
                    {"text", part.text.substr(begin, end - begin)}};
        }
    }
    return nullptr;
}

// The lists that its condition asks.
Json lists_json(const RuleView& view, const RuleSummary& rule) {
    std::set<std::string> names;
    for (const Token& token : split_into_tokens(rule.when)) {
        if (token.kind == Token::Kind::List) {
            names.insert(token.text);
        }
    }
    Json lists = Json::array();
    for (const ListSummary& list : view.list_summaries) {
        if (names.contains(list.name)) {
            lists.push_back({{"name", list.name},
                             {"type", list.type},
                             {"file", list.file},
                             {"known", list.known},
                             {"entries", list.entries}});
        }
    }
    return lists;
}

Json settings_of(const RuleSummary& rule) {
    Json settings = Json::object();
    for (const NamedText& setting : rule.settings) {
        settings[std::string{setting.name}] = setting.value;
    }
    return settings;
}

HttpResponse made(const HttpRequest& request, Services& services, RuleEdit edit,
                  const std::string& call) {
    if (std::optional<HttpResponse> refusal = refuse_undetached(request, services)) {
        return *std::move(refusal);
    }
    std::variant<ChangeTerms, HttpResponse> terms = change_terms_of(request);
    if (auto* refusal = std::get_if<HttpResponse>(&terms)) {
        return std::move(*refusal);
    }
    const auto& how = std::get<ChangeTerms>(terms);
    edit.force = how.force;
    edit.strict = how.strict;
    edit.confirm = how.confirm;
    edit.in_place_of = how.in_place_of;
    edit.from = author_of(request);
    edit.name = argument(request, "file", "rule.yaml");
    const RuleChange change = services.rules.edit(edit);
    record(services, request, call + how.words, change);
    return change.refusal ? refused(*change.refusal) : changed(change, services);
}

// For the audit: what the text calls the rule, where that can be read.
std::string id_of(const std::string& text) {
    Problems ignored{""};
    const std::optional<LoneRule> rule = read_lone_rule(text, ignored);
    return rule ? " " + rule->id.substr(0, kMaxRuleIdSize) : "";
}

}  // namespace

HttpResponse get_rule(const HttpRequest& request, Services& services) {
    const std::string id = rule_in(request, "/full");
    const std::shared_ptr<const RuleView> view = view_for(request, services);
    const auto found = std::find_if(view->rules.begin(), view->rules.end(),
                                    [&](const RuleSummary& rule) { return rule.id == id; });
    if (found == view->rules.end()) {
        return no_such_rule(id);
    }
    Json rule = rule_json(*view, static_cast<std::size_t>(found - view->rules.begin()));
    const auto life = view->lives.find(id);
    rule["first_applied"] =
        life == view->lives.end() ? Json() : Json(utc_text(life->second.first_applied));
    rule["settings"] = settings_of(*found);
    rule["lists"] = lists_json(*view, *found);
    rule["source"] = source_json(*view, *found);
    rule["generation"] = generation_text(view->generation);
    rule["etag"] = view->tag;
    HttpResponse response = json_response(rule);
    response.etag = view->tag;
    return response;
}

// `?before=ID` or `?after=ID`; without them it goes behind all others.
HttpResponse post_rule(const HttpRequest& request, Services& services) {
    const std::string before = argument(request, "before", "");
    const std::string after = argument(request, "after", "");
    if (!before.empty() && !after.empty()) {
        return bad_request("a rule goes `before` or `after` another");
    }
    RuleEdit edit{.kind = RuleEdit::Kind::Add, .text = request.body};
    std::string words;
    if (!before.empty()) {
        edit.place = {RulePlace::Where::Before, before};
        words = " --before " + before;
    } else if (!after.empty()) {
        edit.place = {RulePlace::Where::After, after};
        words = " --after " + after;
    }
    return made(request, services, std::move(edit), "rule add" + id_of(request.body) + words);
}

HttpResponse put_rule(const HttpRequest& request, Services& services) {
    const std::string id = rule_in(request);
    return made(request, services,
                {.kind = RuleEdit::Kind::Replace, .id = id, .text = request.body},
                "rule replace " + id);
}

HttpResponse delete_rule(const HttpRequest& request, Services& services) {
    const std::string id = rule_in(request);
    return made(request, services, {.kind = RuleEdit::Kind::Delete, .id = id}, "rule delete " + id);
}

}  // namespace sluice
