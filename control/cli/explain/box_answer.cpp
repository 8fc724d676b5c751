#include "control/cli/explain/box_answer.hpp"

#include "control/hex_text.hpp"

#include <algorithm>

namespace sluice {
namespace {

Json frame_json(const BoxQuestion::Frame& asked) {
    const CapturedFrame& frame = asked.frame.frame();
    return {{"frame", hex_text(frame.bytes)},
            {"wire_bytes", frame.wire_size},
            {"dir", asked.dir == Direction::In ? "in" : "out"},
            {"age_ns", static_cast<std::uint64_t>(asked.age.count())}};
}

Nanoseconds wait_in(const Json& json, const char* name) {
    const Json& wait = json.at(name);
    return wait.is_string() ? kNever : Nanoseconds{wait.get<std::int64_t>()};
}

// Names in an answer as indexes of the rules here.
class Indexes {
public:
    explicit Indexes(const ReplayRules& rules) : set_{rules.loaded.set()} {}

    [[nodiscard]] std::uint32_t rule(const Json& id) const {
        const auto found = id.is_null()
                               ? set_.rules.end()
                               : std::ranges::find(set_.rules, id.get<std::string>(),
                                                   [](const LoadedRule& one) { return one.id; });
        return found == set_.rules.end() ? kNoRule
                                         : static_cast<std::uint32_t>(found - set_.rules.begin());
    }
    [[nodiscard]] Decision decision(const Json& json) const {
        const auto verdict =
            std::ranges::find(kVerdictNames, json.at("verdict").get<std::string>());
        const auto reason =
            std::ranges::find(kReasons, json.at("reason").get<std::string>(), &ReasonRow::name);
        Decision decision{.verdict = static_cast<Verdict>(verdict - kVerdictNames.begin()),
                          .reason = static_cast<Reason>(reason - kReasons.begin()),
                          .rule = rule(json.at("rule")),
                          .wait = wait_in(json, "wait_ns")};
        if (decision.rule != kNoRule) {
            const LoadedRule& decides = set_.rules[decision.rule];
            decision.limit = limit(decides, json.at("limit"));
            decision.action = action(decides, decision);
        }
        return decision;
    }

private:
    [[nodiscard]] static std::uint8_t limit(const LoadedRule& rule, const Json& name) {
        const auto found = name.is_null()
                               ? rule.limits.begin()
                               : std::ranges::find(rule.limits, name.get<std::string>(),
                                                   [](const LoadedLimit& one) { return one.name; });
        return found == rule.limits.end() ? std::uint8_t{0}
                                          : static_cast<std::uint8_t>(found - rule.limits.begin());
    }
    // The one of the rule's with that verdict.
    [[nodiscard]] ActionIndex action(const LoadedRule& rule, const Decision& decision) const {
        const auto fits = [&](ActionIndex one) {
            return set_.actions[one].verdict == decision.verdict;
        };
        if (decision.reason == Reason::Banned && fits(rule.ban.action)) {
            return rule.ban.action;
        }
        if (rule.on_match == OnMatch::Act) {
            return rule.match_action;
        }
        const auto by_color = std::ranges::find_if(rule.on_color, fits);
        return fits(rule.on_exceed) || by_color == rule.on_color.end() ? rule.on_exceed : *by_color;
    }

    const LoadedSet& set_;
};

BoxAnswer read_answer(const Json& json, const ReplayRules& rules) {
    const Indexes indexes{rules};
    BoxAnswer answer{.limits = {},
                     .bans = {},
                     .decision = indexes.decision(json),
                     .units = {},
                     .generation = json.at("generation"),
                     .lcore = json.at("lcore"),
                     .is_sure = json.at("sure"),
                     .enforces = json.at("enforces")};
    for (const Json& one : json.at("limits")) {
        answer.limits[{indexes.rule(one.at("rule")), one.at("index"), one.at("unit")}] = {
            .asked = one.at("asked"),
            .admitted = one.at("admitted"),
            .charged = one.at("charged"),
            .at_owner = one.at("at_owner"),
            .has_bucket = one.at("bucket").get<bool>() || one.at("step").get<unsigned>() != 0,
            .remaining = Units{one.at("remaining").get<std::uint64_t>()},
            .wait = wait_in(one, "wait_ns")};
    }
    for (const Json& one : json.at("bans")) {
        answer.bans[{indexes.rule(one.at("rule")), one.at("tier").get<std::size_t>() - 1,
                     one.at("unit")}] = {.refusals = one.at("refusals"),
                                         .after = one.at("after"),
                                         .left = wait_in(one, "left_ns")};
    }
    for (const Json& unit : json.at("units")) {
        answer.units.push_back(indexes.decision(unit));
    }
    return answer;
}

}  // namespace

std::variant<BoxAnswer, DaemonRefusal> ask_box(const Options& options, const BoxQuestion& question,
                                               const ReplayRules& rules) {
    Json body{{"packet", frame_json(question.packet)}, {"before", Json::array()}};
    for (const BoxQuestion::Frame& frame : question.before) {
        body["before"].push_back(frame_json(frame));
    }
    const auto answer = ask(options, post_json("/v1/explain", body));
    if (const auto* refusal = std::get_if<DaemonRefusal>(&answer)) {
        return *refusal;
    }
    return read_answer(std::get<Json>(answer), rules);
}

}  // namespace sluice
