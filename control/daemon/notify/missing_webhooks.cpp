#include "control/daemon/notify/missing_webhooks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

namespace sluice {
namespace {

constexpr std::size_t kMostWebhooksNamed = 5;

}  // namespace

MissingWebhooks missing_webhooks(const RuleView& view, const NoticeSender& sender) {
    MissingWebhooks missing;
    for (const RuleSummary& rule : view.rules) {
        if (rule.notify && rule.mode != Mode::Off && !sender.has(rule.notify->to)) {
            missing[rule.notify->to].push_back(rule.id);
        }
    }
    return missing;
}

std::string missing_text(const std::vector<std::string>& rules) {
    const std::size_t named = std::min(rules.size(), kMostWebhooksNamed);
    const std::size_t more = rules.size() - named;
    return fmt::format("sluice.yaml has no such webhook; named by {}{}",
                       fmt::join(std::span{rules}.first(named), ", "),
                       more == 0 ? "" : fmt::format(" and {} more", more));
}

}  // namespace sluice
