#include "lib/policy/rules/rule_reader.hpp"

#include "lib/policy/file_keys/options_reader.hpp"
#include "lib/policy/file_keys/rule_keys.hpp"
#include "lib/policy/limits/candidate_reader.hpp"
#include "lib/policy/limits/cost_reader.hpp"
#include "lib/policy/limits/merging.hpp"
#include "lib/policy/overrides/overrides_reader.hpp"
#include "lib/policy/problems/nearest.hpp"
#include "lib/policy/rules/action_reader.hpp"
#include "lib/policy/rules/active_reader.hpp"
#include "lib/policy/rules/answer_reader.hpp"
#include "lib/policy/rules/ban_reader.hpp"
#include "lib/policy/rules/dynamic_reader.hpp"
#include "lib/policy/rules/events_reader.hpp"
#include "lib/policy/rules/match_action_reader.hpp"
#include "lib/policy/rules/notify_reader.hpp"
#include "lib/policy/rules/rule_id.hpp"
#include "lib/policy/rules/shape_check.hpp"
#include "lib/policy/rules/source_bans.hpp"
#include "lib/policy/rules/tier_reader.hpp"
#include "lib/policy/rules/ttl_reader.hpp"
#include "lib/policy/rules/when_reader.hpp"
#include "lib/rules/limit_numbers.hpp"
#include "lib/rules/tenant_name.hpp"

#include <algorithm>
#include <array>
#include <chrono>

namespace sluice {
namespace {

// Keys that a rule that decides on sight does not have.
constexpr auto kNotOnSight = std::to_array<std::string_view>(
    {"key", "limits", "on_exceed", "tiers", "per", "missing_key", "on_full", "on_color", "cost",
     "ban", "overrides", "candidates", "dynamic", "max_unsynced", "owner_down", "events", "heatmap",
     "notify"});

constexpr auto kColorWords = std::to_array<std::string_view>({"green", "yellow", "red"});

template <typename Value, typename Form>
std::string setting_text(const ConfigKey<RuleTerms, Value, Form>& row, const RuleTerms& rule) {
    return text_of(row.form, static_cast<std::size_t>(rule.*row.member));
}
std::string setting_text(const BareKey& key, const RuleTerms& rule) {
    return key.name == "cost" ? text_of_cost(rule)
                              : text_of(WhenFull{rule.on_full, rule.coarsen_factor});
}

std::vector<NamedText> settings_of(const RuleTerms& rule) {
    std::vector<NamedText> settings;
    for_each_key(kConfigKeys<RuleTerms>,
                 [&](const auto& row) { settings.push_back({row.name, setting_text(row, rule)}); });
    return settings;
}

std::optional<Mode> read_mode(const MapReader& map) {
    const std::optional<std::size_t> index = map.word("mode", kModeNames);
    return index ? std::optional{static_cast<Mode>(*index)} : std::nullopt;
}

// One rule, read key by key; or a candidate of it, which is the same rule with other limits.
class RuleReader {
public:
    RuleReader(const YamlNode& node, const FileContext& file, const Candidate* candidate)
        : file_{file},
          candidate_{candidate},
          mode_{mode_of(node, file)},
          context_{context_of(file, mode_ != Mode::Off)},
          map_{node, rule_keys::kRule, context_, "a rule"} {}

    ReadRule run() {
        read_head();
        read_when(map_, file_, context_, read_);
        read_.summary.active = read_active(map_, context_);
        if (map_.find("on_match") != nullptr) {
            read_on_match();
        } else {
            read_meter();
        }
        if (candidate_ != nullptr) {
            become_candidate();
        }
        if (file_.tenant != nullptr) {
            refuse_operators_keys(read_.rule, map_.place_of_key("key"), file_.problems);
        }
        if (asks_for_client(read_.asks_client, read_keys(read_.rule))) {
            note_client(file_.client_ip, read_.summary.settings);
            read_.rule.asks_clients = file_.client_ip.view.proxied;
        }
        return std::move(read_);
    }

private:
    // A candidate never acts, and is judged wherever its rule is.
    void become_candidate() {
        if (mode_ != Mode::Off) {
            read_.rule.mode = Mode::Monitor;
            read_.rule.candidate = true;
        }
        read_.summary.mode = read_.rule.mode;
        read_.summary.kind = RuleKind::Candidate;
        for (const auto& [name, change] : candidate_->limits.all()) {
            check_name(name, change.at);
        }
    }
    void check_name(const std::string& name, Position at) const {
        std::vector<std::string_view> names;
        names.reserve(read_.summary.limits.size());
        for (const LimitSummary& limit : read_.summary.limits) {
            names.push_back(limit.name);
        }
        if (std::find(names.begin(), names.end(), name) == names.end()) {
            file_.problems.error(
                at, "the rule has no limit called `" + name + "`" + did_you_mean(name, names));
        }
    }

    static std::string joint_id_of(std::string_view own, const FileContext& file) {
        return joint_id(file.tenant == nullptr ? "" : file.tenant->tenant->name, own);
    }

    // The mode decides how strictly the rest is read, so it is looked up first, without a word.
    static Mode mode_of(const YamlNode& node, const FileContext& file) {
        const YamlNode* id = value_of(node, "id");
        const auto set = file.modes.find(id == nullptr ? "" : joint_id_of(id->text, file));
        if (set != file.modes.end()) {
            return set->second;
        }
        const YamlNode* mode = value_of(node, "mode");
        const auto word = std::find(kModeNames.begin(), kModeNames.end(),
                                    mode == nullptr ? std::string_view{} : mode->text);
        return word == kModeNames.end() ? file.defaults.mode
                                        : static_cast<Mode>(word - kModeNames.begin());
    }

    void read_head() {
        Rule& rule = read_.rule;
        const std::string own = map_.text("id").value_or("");
        rule.mode = mode_;
        (void)read_mode(map_);  // reports a word that is no mode
        if (map_.find("id") == nullptr) {
            file_.problems.error(map_.node().at, "a rule needs an `id`");
        } else if (!is_rule_id(own)) {
            file_.problems.error(map_.find("id")->at,
                                 "an id has 1 to 128 lower-case letters, digits and `-`");
        }
        rule.id = joint_id_of(own, file_);
        if (rule.id.size() > kMaxRuleIdSize) {
            file_.problems.error(map_.find("id")->at,
                                 "with the tenant's name before it an id has at most 128 bytes");
        }
        if (candidate_ != nullptr) {
            rule.id += "." + candidate_->name;
        }
        read_.summary.id = rule.id;
        read_.summary.mode = mode_;
        read_.summary.line = map_.node().at.line;
        read_.summary.ttl = read_ttl(map_, context_);
        read_.summary.description = map_.text("description").value_or("");
    }

    void read_on_match() {
        for (const std::string_view key : kNotOnSight) {
            if (map_.find(key) != nullptr) {
                file_.problems.error(
                    map_.place_of_key(key),
                    "`" + std::string{key} +
                        "` has no meaning beside `on_match`, which decides at once");
            }
        }
        refuse_scope_on_sight(map_, file_.problems);
        const ActionText action = read_match_action(map_, context_);
        read_.rule.on_match = OnMatch::Act;
        read_.rule.match_action = index_of(action);
        read_.summary.action = "on_match " + action.text;
    }

    void read_meter() {
        Rule& rule = read_.rule;
        rule.missing_key = file_.defaults.missing_key;
        for_each_key(kConfigKeys<RuleTerms>, [&](const auto& row) {
            read_key(row, map_, context_, static_cast<RuleTerms&>(rule));
        });
        if (file_.tenant != nullptr && map_.find("table_share") == nullptr) {
            rule.table_share = file_.tenant->table_share;
        }
        const WhenFull full = read_on_full(map_, context_).value_or(file_.defaults.on_full);
        rule.on_full = full.on_full;
        rule.coarsen_factor = full.factor;
        ReadCost cost = read_cost(map_, context_);
        rule.cost = cost.cost;
        rule.path_costs = std::move(cost.by_path);
        read_.summary.settings = settings_of(rule);
        read_.summary.missing_key = rule.missing_key;
        const YamlNode* exceed = map_.find("on_exceed");
        const ActionText action = exceed == nullptr ? ActionText{} : read_action(*exceed, context_);
        read_.summary.action = action.text;
        rule.on_exceed = index_of(action);
        read_keys_and_limits();
        read_reports();
        read_dynamic_terms();
        read_overrides();
        read_on_color();
        check_shape(map_, action, rule.limits, context_);
        check_costs(map_, rule, context_);
        if (!fill_coarser(rule) && map_.find("on_full") != nullptr) {
            file_.problems.warning(
                map_.find("on_full")->at,
                "a limit times this factor, squared or cubed is more than can be "
                "counted; such a step keeps the numbers of the one before");
        }
    }

    void read_keys_and_limits() {
        Rule& rule = read_.rule;
        const ScopeText own = read_scope(map_);
        ScopeText scope = own;
        scope.scope = scope.scope.value_or(file_.defaults.scope);
        scope.owner_down = scope.owner_down.value_or(file_.defaults.owner_down);
        const LimitOwner owner{
            .rule = rule.id,
            .per = read_per(map_),
            .cost = rule.largest_cost(),
            .by_path = !rule.path_costs.empty(),
            .max_unsynced = read_max_unsynced(map_, rule.largest_cost(), context_),
            .overridden = map_.find("overrides") != nullptr ||
                          (map_.find("dynamic") != nullptr && candidate_ == nullptr),
            .changes = candidate_ == nullptr ? nullptr : &candidate_->limits,
            .scope = scope,
            .is_tenants = file_.tenant != nullptr};
        ReadTiers tiers = read_tiers(map_, owner, file_.limits, context_);
        rule.keys = std::move(tiers.keys);
        read_.summary.keys = rule.keys;
        rule.limits = std::move(tiers.limits.limits);
        read_.summary.key = std::move(tiers.text);
        read_.summary.limits = std::move(tiers.limits.summaries);
        keys_are_whole_ = tiers.whole;
        check_owner_down(own, read_.summary.limits, file_.problems);
        if (const YamlNode* node = map_.find("ban")) {
            ReadBan read = read_ban(*node, rule.id, tiers.ban_keys, context_);
            rule.ban = std::move(read.ban);
            check_source_ban(*node, rule, context_);
            rule.ban.action = index_of(std::move(read.action));
            read_.summary.ban = std::move(read.text);
            read_.summary.bans_sources = rule.ban.applies_to == BanScope::Source;
        }
    }

    // A candidate has no keys of its own to be set: what is set for its rule's is not its own.
    void read_dynamic_terms() {
        if (map_.find("dynamic") != nullptr && candidate_ == nullptr) {
            read_.summary.dynamic = read_dynamic(map_, read_.rule.limits, context_);
        }
    }

    void read_overrides() {
        const YamlNode* node = map_.find("overrides");
        Rule& rule = read_.rule;
        if (node == nullptr && file_.keys == nullptr) {
            return;
        }
        if (!keys_are_whole_ || rule.limits.empty() ||
            rule.limits.size() != read_.summary.limits.size()) {
            if (node != nullptr) {
                check_overrides(*node, context_);
            }
            return;
        }
        ReadOverrides read = sluice::read_overrides(
            node, rule,
            {.files = file_.files,
             .set = file_.keys,
             .rule = map_.node().at,
             .cache = file_.overrides,
             .dynamic = read_.summary.dynamic ? &*read_.summary.dynamic : nullptr},
            context_);
        rule.overrides = std::move(read.overrides);
        read_.summary.banned = std::move(read.banned);
        read_.summary.ranges = std::move(read.ranges);
        read_.summary.named = std::move(read.named);
        if (rule.overrides != nullptr) {
            read_.summary.settings.push_back({"overrides", std::move(read.text)});
        }
    }

    void read_reports() {
        if (candidate_ == nullptr) {
            read_.rule.events = read_events(map_, context_);
            read_.summary.notify = read_notify(map_, file_.targets, context_);
        }
        const std::optional<NotifyTerms>& notify = read_.summary.notify;
        if (notify) {
            const EdgeEventSet asked = events_for(*notify, map_.find("ban") != nullptr);
            read_.rule.events =
                EdgeEventSet{static_cast<std::uint8_t>(read_.rule.events.bits() | asked.bits())};
        }
        read_.summary.settings.push_back({"events", text_of(read_.rule.events)});
        read_.summary.settings.push_back({"notify", notify ? text_of(*notify) : ""});
    }

    // A rule that is off leaves nothing in the set.
    [[nodiscard]] ActionIndex index_of(ActionText action) const {
        if (mode_ == Mode::Off) {
            return kDropAction;
        }
        if (action.response) {
            complete_response(action, {read_.rule.id, map_.find("per")}, file_.problems);
        }
        return file_.actions.add(action);
    }
    void read_on_color() {
        const YamlNode* node = map_.find("on_color");
        if (node == nullptr) {
            return;
        }
        const std::vector<MeteredLimit>& limits = read_.rule.limits;
        const bool meters = std::any_of(limits.begin(), limits.end(), [](const auto& limit) {
            return algorithm_of(limit.limit) == Algorithm::ColorMeter;
        });
        if (!meters && !limits.empty()) {
            file_.problems.error(
                map_.place_of_key("on_color"),
                "`on_color` needs a colour meter, srtcm or trtcm, among the limits");
        }
        const MapReader colors{*node, rule_keys::kOnColor, context_, "on_color"};
        for (std::size_t color = 0; color < kColorWords.size(); ++color) {
            if (const YamlNode* action = colors.find(kColorWords[color])) {
                const ActionText text = read_action(*action, context_);
                refuse_shape(text, "a colour", context_);
                read_.rule.on_color[color] = index_of(text);
                read_.summary.action += ", " + std::string{kColorWords[color]} + ": " + text.text;
            }
        }
    }

    const FileContext& file_;
    const Candidate* candidate_;
    Mode mode_;
    ReadContext context_;
    MapReader map_;
    bool keys_are_whole_ = true;
    ReadRule read_;
};

}  // namespace

ReadContext context_of(const FileContext& file, bool acts) {
    // Headers and domains have room in a set, and data of the box, that are the operator's.
    const bool is_tenants = file.tenant != nullptr;
    return {file.lines,
            file.problems,
            file.purpose == Purpose::Enforce && acts,
            is_tenants ? nullptr : &file.databases,
            &file.client_ip,
            is_tenants ? nullptr : &file.text_names,
            is_tenants ? nullptr : &file.suffixes};
}

RuleDefaults read_defaults(const YamlNode& node, const ReadContext& context) {
    RuleDefaults defaults;
    const MapReader map{node, rule_keys::kDefaults, context, "defaults"};
    defaults.mode = read_mode(map).value_or(defaults.mode);
    if (const auto word = map.word("missing_key", kMissingKeyNames)) {
        defaults.missing_key = static_cast<MissingKey>(*word);
    }
    defaults.on_full = read_on_full(map, context).value_or(defaults.on_full);
    const ScopeText scope = read_scope(map);
    defaults.scope = scope.scope.value_or(defaults.scope);
    defaults.owner_down = scope.owner_down.value_or(defaults.owner_down);
    return defaults;
}

ReadRule read_rule(const YamlNode& node, const FileContext& file) {
    if (!node.is_map()) {
        file.problems.error(node.at, "a rule must be a map, found " + kind_name(node));
        return {};
    }
    return RuleReader{node, file, nullptr}.run();
}

std::vector<ReadRule> read_candidates_of(const YamlNode& node, const FileContext& file) {
    const YamlNode* candidates = value_of(node, "candidates");
    if (candidates == nullptr || value_of(node, "on_match") != nullptr) {
        return {};
    }
    std::vector<ReadRule> rules;
    const ReadContext context{file.lines, file.problems, false};
    for (const Candidate& candidate : read_candidates(*candidates, context)) {
        rules.push_back(RuleReader{node, file, &candidate}.run());
    }
    return rules;
}

}  // namespace sluice
