#include "control/cli/explain/box_states.hpp"

#include <fmt/format.h>

namespace sluice {
namespace {

class Asking {
public:
    explicit Asking(const Options& options) : options_{options} {}

    // nullopt: done.
    std::optional<DaemonRefusal> ask_rule(std::size_t place, const RuleAccount& account,
                                          const LoadedRule& rule) {
        for (std::size_t i = 0; i < rule.limits.size(); ++i) {
            if (account.limits[i].missing_key) {
                continue;
            }
            const auto answer = ask(options_, request_of(account, i, rule));
            if (const auto* refusal = std::get_if<DaemonRefusal>(&answer)) {
                return *refusal;
            }
            const Json& document = std::get<Json>(answer);
            take_buckets({place, i}, document);
            take_bans({place, rule.limits[i].key}, document);
            for (const Json& worker : document.at("unanswered")) {
                states_.silent.insert(worker.at("lcore").get<std::uint32_t>());
            }
        }
        return std::nullopt;
    }
    [[nodiscard]] BoxStates take() { return std::move(states_); }

private:
    static DaemonRequest request_of(const RuleAccount& account, std::size_t limit,
                                    const LoadedRule& rule) {
        const LimitAccount& asked = account.limits[limit];
        return {.target = fmt::format("/v1/rules/{}/key?key={}&tier={}&limit={}&cost={}",
                                      url_escape(rule.id), url_escape(asked.key),
                                      rule.limits[limit].key + 1, url_escape(asked.name),
                                      asked.cost.count())};
    }

    void take_buckets(BoxStates::Place place, const Json& document) {
        for (const Json& limit : document.at("limits")) {
            for (const Json& worker : limit.at("workers")) {
                const auto lcore = worker.at("lcore").get<std::uint32_t>();
                const Json& wait = worker.at("wait_ns");
                states_.lcores.insert(lcore);
                states_.buckets[place][lcore] = {
                    .remaining = worker.at("remaining"),
                    .wait = wait.is_null() ? kNever : Nanoseconds{wait.get<std::int64_t>()}};
                if (worker.at("bucket").get<bool>() || worker.at("step").get<unsigned>() != 0) {
                    states_.knowing.insert(lcore);
                }
            }
        }
    }
    void take_bans(BoxStates::Place place, const Json& document) {
        if (!document.contains("ban")) {
            return;
        }
        for (const Json& worker : document.at("ban").at("workers")) {
            const auto lcore = worker.at("lcore").get<std::uint32_t>();
            const BoxStates::Ban ban{.refusals = worker.at("refusals"),
                                     .left = Nanoseconds{worker.at("left_ns").get<std::int64_t>()}};
            states_.bans[place][lcore] = ban;
            if (ban.refusals != 0 || ban.left != Nanoseconds{0}) {
                states_.knowing.insert(lcore);
            }
        }
    }

    const Options& options_;
    BoxStates states_;
};

}  // namespace

std::variant<BoxStates, DaemonRefusal> box_states(const Options& options,
                                                  const PacketAccount& account,
                                                  const ReplayRules& rules) {
    Asking asking{options};
    auto rule = rules.loaded.set().rules.begin();
    for (std::size_t place = 0; place < account.rules.size(); ++place) {
        const RuleAccount& asked = account.rules[place];
        if (asked.part == RuleAccount::Part::Off) {
            continue;
        }
        if (asked.part == RuleAccount::Part::Metered) {
            if (const auto refusal = asking.ask_rule(place, asked, *rule)) {
                return *refusal;
            }
        }
        ++rule;
    }
    return asking.take();
}

}  // namespace sluice
