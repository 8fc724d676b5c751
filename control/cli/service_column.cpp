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

ServiceSight ServiceColumn::next(const CapturedFrame& frame) {
    const auto unread = [this] {
        const WorkerSet::Unread connections = workers_.unread();
        return connections.of_services + connections.anywhere;
    };
    const std::uint64_t before = unread();
    frame_.keep(frame);
    now_ = std::max(now_, frame.timestamp);
    const std::vector<BurstRow>& rows = workers_.judge(std::span{&frame_, 1}, now_);
    return {.account = service_account(*rows.front().burst, rules_.loaded.set().services),
            .goes_unread = unread() != before};
}

namespace {

// Empty: the frame has no later layer that can be read.
std::string_view stance_of(const ServiceSight& sight, const PacketHeaders& headers) {
    if (!headers.fields.has(Field::L4Dport)) {
        return "";
    }
    return sight.account ? "service" : "anywhere";
}

}  // namespace

std::string reading_text(const ServiceSight& sight, const PacketHeaders& headers) {
    return std::string{stance_of(sight, headers)} + (sight.goes_unread ? " unread" : "");
}

Json reading_json(const ServiceSight& sight, const PacketHeaders& headers) {
    const std::string_view stance = stance_of(sight, headers);
    return stance.empty() ? Json() : Json{{"stance", stance}, {"goes_unread", sight.goes_unread}};
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
