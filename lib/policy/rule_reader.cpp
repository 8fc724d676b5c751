#include "lib/policy/rule_reader.hpp"

#include "lib/policy/action_reader.hpp"
#include "lib/policy/condition.hpp"
#include "lib/policy/key_reader.hpp"
#include "lib/policy/limit_reader.hpp"
#include "lib/policy/nearest.hpp"

#include <algorithm>
#include <array>

namespace sluice {
namespace {

constexpr auto kRuleKeys = std::to_array<KeyRow>({
    {"id"},
    {"description"},
    {"mode"},
    {"when"},
    {"on_match"},
    {"key"},
    {"per"},
    {"limits"},
    {"on_exceed"},
    {"missing_key"},
    {"on_full"},
    {"cost"},            // only 1
    {"rejected_spend"},  // only false
    {"table_share"},     // only 100%
    {"scope"},           // only box
    {"tiers", false},
    {"on_color", false},
    {"ban", false},
    {"overrides", false},
    {"candidates", false},
    {"dynamic", false},
    {"max_unsynced", false},
    {"cluster_sync", false},
    {"events", false},
    {"ttl", false},
});

// Keys whose default alone is built: said aloud, it changes nothing.
struct DefaultOnly {
    std::string_view key;
    std::string_view value;
};
constexpr auto kDefaultOnly = std::to_array<DefaultOnly>(
    {{"cost", "1"}, {"rejected_spend", "false"}, {"table_share", "100%"}, {"scope", "box"}});

// What a rule that decides on sight does not have.
constexpr auto kNotOnSight = std::to_array<std::string_view>(
    {"key", "limits", "on_exceed", "tiers", "per", "missing_key", "on_full", "on_color", "ban"});

constexpr auto kOnMatchWords = std::to_array<std::string_view>({"drop", "allow"});
constexpr auto kMissingKeyWords = std::to_array<std::string_view>({"skip", "share"});
constexpr auto kOnFullWords = std::to_array<std::string_view>({"open", "closed"});
constexpr auto kDefaultsKeys = std::to_array<KeyRow>({{"mode"}, {"missing_key"}, {"on_full"}});

bool is_id(std::string_view id) noexcept {
    const auto good = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    };
    return !id.empty() && id.size() <= kMaxRuleIdSize && std::all_of(id.begin(), id.end(), good);
}

std::optional<OnFull> read_on_full(const MapReader& map, const ReadContext& context) {
    const YamlNode* value = map.find("on_full");
    if (value != nullptr && value->is_map()) {
        constexpr auto kKeys = std::to_array<KeyRow>({{"coarsen", false}});
        const MapReader coarsen{*value, kKeys, context, "on_full"};
        return std::nullopt;
    }
    const std::optional<std::size_t> index = map.word("on_full", kOnFullWords);
    if (!index) {
        return std::nullopt;
    }
    return *index == 0 ? OnFull::Open : OnFull::Closed;
}

std::optional<Mode> read_mode(const MapReader& map) {
    const std::optional<std::size_t> index = map.word("mode", kModeNames);
    return index ? std::optional{static_cast<Mode>(*index)} : std::nullopt;
}

std::optional<MissingKey> read_missing_key(const MapReader& map) {
    const std::optional<std::size_t> index = map.word("missing_key", kMissingKeyWords);
    return index ? std::optional{static_cast<MissingKey>(*index)} : std::nullopt;
}

// FNV-1a over what a bucket's state belongs to, in one spelling.
std::uint64_t identity_of(const Rule& rule, const std::string& limit, const std::string& schema,
                          Per per) {
    const std::string text = rule.id + "\n" + limit + "\n" + schema + "\ntoken_bucket\n" +
                             (per == Per::Byte ? "byte" : "packet");
    std::uint64_t hash = 0xCBF2'9CE4'8422'2325;
    for (const char c : text) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x0000'0100'0000'01B3;
    }
    return hash;
}

// One rule, read key by key.
class RuleReader {
public:
    RuleReader(const YamlNode& node, const FileContext& file)
        : file_{file},
          mode_{mode_of(node, file)},
          context_{context_of(file, mode_)},
          map_{node, kRuleKeys, context_, "a rule"} {}

    ReadRule run() {
        read_head();
        read_when();
        report_what_is_not_built();
        if (map_.find("on_match") != nullptr) {
            read_on_match();
        } else if (map_.find("tiers") == nullptr) {
            read_meter();
        }
        return std::move(read_);
    }

private:
    // The mode decides how strictly the rest is read, so it is looked up first, without a word.
    static Mode mode_of(const YamlNode& node, const FileContext& file) {
        const YamlNode* id = value_of(node, "id");
        const auto set = file.modes.find(id == nullptr ? "" : id->text);
        if (set != file.modes.end()) {
            return set->second;
        }
        const YamlNode* mode = value_of(node, "mode");
        const auto word = std::find(kModeNames.begin(), kModeNames.end(),
                                    mode == nullptr ? std::string_view{} : mode->text);
        return word == kModeNames.end() ? file.defaults.mode
                                        : static_cast<Mode>(word - kModeNames.begin());
    }
    static ReadContext context_of(const FileContext& file, Mode mode) {
        return {file.text, file.problems, file.purpose == Purpose::Enforce && mode != Mode::Off};
    }

    void read_head() {
        Rule& rule = read_.rule;
        rule.id = map_.text("id").value_or("");
        rule.mode = mode_;
        (void)read_mode(map_);  // reports a word that is no mode
        if (map_.find("id") == nullptr) {
            file_.problems.error(map_.node().at, "a rule needs an `id`");
        } else if (!is_id(rule.id)) {
            file_.problems.error(map_.find("id")->at,
                                 "an id has 1 to 128 lower-case letters, digits and `-`");
        }
        read_.summary.id = rule.id;
        read_.summary.mode = mode_;
        read_.summary.line = map_.node().at.line;
        read_.summary.description = map_.text("description").value_or("");
    }

    void read_when() {
        const YamlNode* when = map_.find("when");
        const std::optional<std::string> text = map_.text("when");
        if (!text) {
            return;
        }
        read_.everything = false;
        read_.summary.when = *text;
        const auto parsed = parse_expression(*text);
        if (const Remark* error = std::get_if<Remark>(&parsed)) {
            file_.problems.error(place_in(file_.text, *when, error->offset), error->text);
            return;
        }
        const auto& expression = std::get<ParsedExpression>(parsed);
        for (const Remark& remark : expression.not_built) {
            context_.not_enforced(place_in(file_.text, *when, remark.offset), remark.text);
        }
        if (expression.not_built.empty() && can_never_match(expression.tree)) {
            file_.problems.warning(when->at, "this rule can never match");
        }
        read_.when = expression.tree;
    }

    void report_what_is_not_built() {
        for (const DefaultOnly& row : kDefaultOnly) {
            const YamlNode* value = map_.find(row.key);
            if (value != nullptr && value->text != row.value) {
                context_.not_enforced(
                    map_.place_of_key(row.key),
                    "`" + std::string{row.key} + "` other than " + std::string{row.value});
            }
        }
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
        const std::optional<std::size_t> index = map_.word("on_match", kOnMatchWords);
        read_.rule.on_match = index.value_or(0) == 0 ? OnMatch::Drop : OnMatch::Allow;
        read_.summary.action = "on_match " + std::string{kOnMatchWords[index.value_or(0)]};
    }

    void read_meter() {
        Rule& rule = read_.rule;
        rule.missing_key = read_missing_key(map_).value_or(file_.defaults.missing_key);
        rule.on_full = read_on_full(map_, context_).value_or(file_.defaults.on_full);
        KeyText key;
        if (const YamlNode* node = map_.find("key")) {
            key = read_key(*node, context_);
        } else {
            file_.problems.error(map_.node().at,
                                 "a rule needs `key` ([] for one bucket in all) or `on_match`");
        }
        rule.key = key.parts;
        read_.summary.key = key.text;
        const YamlNode* exceed = map_.find("on_exceed");
        const ActionText action = exceed == nullptr ? ActionText{} : read_action(*exceed, context_);
        rule.on_exceed = action.verdict;
        rule.tag = action.tag;
        read_.summary.action = action.text;
        read_limits(key);
    }

    void read_limits(const KeyText& key) {
        const std::optional<PerWord> per = read_per(map_, context_);
        const YamlNode* limits = map_.find("limits");
        if (limits == nullptr || !limits->is_list() || limits->items.empty()) {
            file_.problems.error(limits == nullptr ? map_.node().at : limits->at,
                                 "a rule needs `limits`, a list of names or limits");
            return;
        }
        if (limits->items.size() > kMaxLimitsPerRule) {
            file_.problems.error(
                limits->at, "a rule has at most " + std::to_string(kMaxLimitsPerRule) + " limits");
            return;
        }
        std::size_t position = 0;
        for (const YamlNode& item : limits->items) {
            add_limit(item, ++position, per, key);
        }
    }

    void add_limit(const YamlNode& item, std::size_t position, std::optional<PerWord> per,
                   const KeyText& key) {
        const YamlNode* node = item.is_scalar() ? find_named(item) : &item;
        if (node == nullptr) {
            return;
        }
        const std::string name = item.is_scalar() ? item.text : std::to_string(position);
        const LimitText limit = read_limit(*node, per, context_);
        for (const LimitSummary& other : read_.summary.limits) {
            if (other.name == name) {
                file_.problems.error(item.at, "the limit `" + name + "` is listed twice");
            }
        }
        read_.summary.limits.push_back(summary_of(name, limit, key));
        if (limit.numbers) {
            read_.rule.limits.push_back({identity_of(read_.rule, name, key.schema, limit.per), name,
                                         limit.per, *limit.numbers});
        }
    }

    const YamlNode* find_named(const YamlNode& item) {
        const auto found = file_.limits.nodes.find(item.text);
        if (found != file_.limits.nodes.end()) {
            file_.limits.used.insert(item.text);
            return found->second;
        }
        std::vector<std::string_view> names;
        names.reserve(file_.limits.nodes.size());
        for (const auto& [name, node] : file_.limits.nodes) {
            names.push_back(name);
        }
        file_.problems.error(item.at, "there is no limit called `" + item.text + "`" +
                                          did_you_mean(item.text, names));
        return nullptr;
    }

    static LimitSummary summary_of(const std::string& name, const LimitText& limit,
                                   const KeyText& key) {
        const std::string unit = limit.per == Per::Byte ? "" : " packets";
        LimitSummary summary{name,
                             limit.text + (limit.per == Per::Byte ? " per byte" : " per packet"),
                             key.has_source ? "local" : "merged", ""};
        if (limit.numbers) {
            summary.bound = limit.burst + unit + " + " + limit.rate + " * W";
            // Until workers share a ledger, each that sees the key holds a bucket of its own.
            summary.bound += key.has_source ? "" : ", for each worker";
        }
        return summary;
    }

    const FileContext& file_;
    Mode mode_;
    ReadContext context_;
    MapReader map_;
    ReadRule read_;
};

}  // namespace

RuleDefaults read_defaults(const YamlNode& node, const ReadContext& context) {
    RuleDefaults defaults;
    const MapReader map{node, kDefaultsKeys, context, "defaults"};
    defaults.mode = read_mode(map).value_or(defaults.mode);
    defaults.missing_key = read_missing_key(map).value_or(defaults.missing_key);
    defaults.on_full = read_on_full(map, context).value_or(defaults.on_full);
    return defaults;
}

ReadRule read_rule(const YamlNode& node, const FileContext& file) {
    if (!node.is_map()) {
        file.problems.error(node.at, "a rule must be a map, found " + kind_name(node));
        return {};
    }
    return RuleReader{node, file}.run();
}

}  // namespace sluice
