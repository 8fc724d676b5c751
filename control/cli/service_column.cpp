#include "control/cli/service_column.hpp"

#include "control/cli/field_list.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace sluice {

std::variant<std::unique_ptr<ServiceColumn>, ExitCode> ServiceColumn::make(const Options& options) {
    if (options.rules_files.empty()) {
        return nullptr;
    }
    auto setup = replay_setup(options);
    if (const auto* exit = std::get_if<ExitCode>(&setup)) {
        return *exit;
    }
    auto& ready = std::get<ReplaySetup>(setup);
    const std::variant<Tunnels, std::string> tunnels = parse_tunnels(options.tunnels);
    ready.policy.tunnels = std::get<Tunnels>(tunnels);
    auto rules = replay_rules(options, ready, RulesAct::No);
    if (const auto* exit = std::get_if<ExitCode>(&rules)) {
        return *exit;
    }
    return std::unique_ptr<ServiceColumn>{
        new ServiceColumn{std::move(ready), std::move(std::get<ReplayRules>(rules))}};
}

std::optional<ServiceAccount> ServiceColumn::next(const CapturedFrame& frame) {
    frame_.keep(frame);
    now_ = std::max(now_, frame.timestamp);
    const std::vector<BurstRow>& rows = workers_.judge(std::span{&frame_, 1}, now_);
    return service_account(*rows.front().burst, rules_.loaded.set().services);
}

std::string column_text(const ServiceAccount& account) {
    const ServiceOutcome& outcome = account.outcome;
    std::string text = account.id + " " + std::string{account.fate()};
    if (const auto reason = outcome.refused ? outcome.refused : outcome.would_refuse) {
        text += " " + std::string{row_of(*reason).name};
    }
    return text;
}

}  // namespace sluice
