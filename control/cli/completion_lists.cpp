#include "control/cli/completion.hpp"
#include "control/cli/daemon.hpp"
#include "lib/policy/rules/rule_id.hpp"
#include "lib/rules/tenant_name.hpp"

#include <fmt/format.h>

#include <chrono>
#include <string_view>
#include <variant>

// Words that shells offer and sluiced alone knows.
namespace sluice {
namespace {

constexpr std::chrono::milliseconds kPatience{300};

// The id of a rule or service, or of a candidate of a rule: RULE.NAME; of a tenant, behind TENANT:.
// One that begins as options do would be read as such.
bool is_offered(std::string_view joint) {
    const std::string_view tenant = tenant_of(joint);
    const std::string_view id = own_id(joint);
    const std::size_t dot = id.find('.');
    return !joint.starts_with('-') && (id == joint || is_tenant_name(tenant)) &&
           is_rule_id(id.substr(0, dot)) &&
           (dot == std::string_view::npos || is_rule_id(id.substr(dot + 1)));
}

}  // namespace

std::string running_ids(const Options& options, RunningIds which) {
    const auto answer = ask(options, {.target = "/v1/rules", .timeout = kPatience});
    const Json* const rules = std::get_if<Json>(&answer);
    std::string ids;
    for (const char* const list : {"rules", "services"}) {
        if (list == std::string_view{"services"} && which == RunningIds::RulesAlone) {
            break;
        }
        const Json none = Json::array();
        for (const Json& one : rules != nullptr && rules->contains(list) ? rules->at(list) : none) {
            const std::string id = one.value("id", "");
            ids += is_offered(id) ? id + "\n" : "";
        }
    }
    return ids;
}

std::string earlier_sets(const Options& options) {
    const auto answer = ask(options, {.target = "/v1/history", .timeout = kPatience});
    const Json* const history = std::get_if<Json>(&answer);
    std::string numbers;
    const Json none = Json::array();
    for (const Json& set :
         history != nullptr && history->contains("sets") ? history->at("sets") : none) {
        numbers += fmt::format("{}\n", set.value("number", std::uint64_t{0}));
    }
    return numbers;
}

std::string completion_text(const Options& options, const std::vector<CompletionWord>& words) {
    if (options.word == "ids") {
        return running_ids(options, RunningIds::All);
    }
    if (options.word == "rules") {
        return running_ids(options, RunningIds::RulesAlone);
    }
    if (options.word == "sets") {
        return earlier_sets(options);
    }
    auto* const script = options.word == "zsh"    ? zsh_completion
                         : options.word == "fish" ? fish_completion
                                                  : bash_completion;
    return script(words);
}

}  // namespace sluice
