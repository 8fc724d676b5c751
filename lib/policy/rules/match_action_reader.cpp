#include "lib/policy/rules/match_action_reader.hpp"

#include "lib/policy/file_keys/rule_keys.hpp"
#include "lib/policy/problems/nearest.hpp"
#include "lib/policy/rules/answer_reader.hpp"
#include "lib/policy/rules/shape_check.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {
namespace {

constexpr std::uint16_t kForbidden = 403;
constexpr std::string_view kSayAllow = "what `on_match` lets through is written `on_match: allow`";
constexpr std::array kWordActions{kDrop, kPass};
static_assert(kWordActions.size() == rule_keys::kOnMatchWords.size());

ActionText read_match_word(const YamlNode& node, const ReadContext& context) {
    constexpr auto& words = rule_keys::kOnMatchWords;
    const auto* const word =
        node.is_scalar() ? std::find(words.begin(), words.end(), node.text) : words.end();
    if (word == words.end()) {
        const std::string meant = !node.is_scalar()     ? ""
                                  : node.text == "pass" ? "; did you mean `allow`?"
                                                        : did_you_mean(node.text, words);
        context.problems.error(node.at, "`on_match` is one of " + list_of(words) +
                                            ", or an action such as {action: reply, status: 403}; "
                                            "found " +
                                            kind_name(node) + meant);
        return {};
    }
    ActionText read;
    read.action = kWordActions[static_cast<std::size_t>(word - words.begin())];
    read.text = *word;
    return read;
}

// Keys of a response that tell of the limit which has refused.
void refuse_quota(const YamlNode& action, const ReadContext& context) {
    const YamlNode* const numbers = value_of(action, "x_ratelimit");
    if (numbers != nullptr && numbers->is_scalar() && numbers->text == "true") {
        context.problems.error(
            numbers->at, "`x_ratelimit` tells of a limit, and a rule with `on_match` has none");
    }
    const YamlNode* const body = value_of(action, "body");
    if (body != nullptr && body->is_scalar() && body->text == kProblemDetails) {
        context.problems.error(body->at, "`body: " + std::string{kProblemDetails} +
                                             "` names a limit that was exceeded, and a rule with "
                                             "`on_match` has none; write the body itself");
    }
}

}  // namespace

ActionText read_match_action(const MapReader& rule, const ReadContext& context) {
    const YamlNode& node = *rule.find("on_match");
    if (!node.is_map()) {
        return read_match_word(node, context);
    }
    const YamlNode* const name = value_of(node, "action");
    if (name != nullptr && name->is_scalar() && (name->text == "allow" || name->text == "pass")) {
        context.problems.error(name->at, std::string{kSayAllow});
        return {};
    }
    ActionText read = read_action(node, context, kForbidden);
    refuse_shape(read, "`on_match`", context);
    refuse_quota(node, context);
    read.names_policy = false;
    return read;
}

}  // namespace sluice
