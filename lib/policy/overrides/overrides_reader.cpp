#include "lib/policy/overrides/overrides_reader.hpp"

#include "lib/policy/file_keys/rule_keys.hpp"
#include "lib/policy/lists/data_file.hpp"
#include "lib/policy/overrides/dynamic_terms.hpp"
#include "lib/policy/overrides/override_builder.hpp"
#include "lib/policy/overrides/override_cache.hpp"
#include "lib/policy/overrides/override_csv.hpp"
#include "lib/policy/overrides/setting_faults.hpp"
#include "lib/policy/overrides/setting_rows.hpp"
#include "lib/rules/network_bans.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>

namespace sluice {
namespace {

constexpr OverrideSource kInline = OverrideSource::RuleFile;
constexpr OverrideSource kFile = OverrideSource::CsvFile;

std::string_view text_of(const YamlNode* node) noexcept {
    return node != nullptr && node->is_scalar() ? std::string_view{node->text} : std::string_view{};
}

// Parts stand alone here: what would end one in a text is spelled otherwise.
std::string spelled(const std::string& part) {
    std::string out;
    for (const char c : part) {
        out += c == '|' ? "\\x7c" : c == '\\' ? "\\x5c" : std::string(1, c);
    }
    return out;
}

class OverridesReader {
public:
    OverridesReader(const YamlNode& node, const ReadContext& context, OverrideBuilder* builder)
        : map_{node, rule_keys::kOverrides, context, "`overrides`"},
          context_{context},
          builder_{builder} {}

    void read_inline() {
        const YamlNode* list = map_.find("inline");
        if (list == nullptr) {
            return;
        }
        if (!list->is_list()) {
            context_.problems.error(list->at,
                                    "`inline` is a list of overrides, found " + kind_name(*list));
            return;
        }
        for (const YamlNode& item : list->items) {
            read_item(item);
        }
    }

    // To be called before read_inline().
    void read_file(const ListReader* files, const Rule& rule, OverrideCache* cache) {
        const std::optional<std::string> path = data_path(map_, "file", context_);
        if (!path) {
            return;
        }
        const Position at = map_.find("file")->at;
        const std::optional<ListFile> file = read_data_file(*path, at, files, context_);
        if (!file) {
            return;
        }
        file_ = file->name;
        if (const auto known = cache != nullptr ? cache->find(rule, file->text) : nullptr) {
            builder_->begin_with(*known);
            return;
        }
        const OverrideCsv csv = read_override_csv(*file->text, *builder_, context_.problems.stop());
        if (context_.problems.are_interrupted()) {
            return;
        }
        csv.report(file_, context_.problems);
        if (csv.rows == 0 && csv.fault_count == 0) {
            context_.problems.warning(at, file_ + " has no override");
        }
        if (cache != nullptr && csv.rows != 0 && csv.fault_count == 0) {
            cache->keep(rule, file->text, std::make_shared<OverrideRows>(builder_->sorted_rows()));
        }
    }

    [[nodiscard]] const std::string& file() const noexcept { return file_; }

private:
    void read_item(const YamlNode& item) {
        const MapReader map{item, rule_keys::kOverrideItem, context_, "an override"};
        if (!map.is_map()) {
            return;
        }
        const std::optional<std::string> key = read_key(map);
        const std::optional<std::string> until = map.text("until");
        const bool exempt = map.flag("exempt").value_or(false);
        const YamlNode* limits = map.find("limits");
        if (exempt == (limits != nullptr)) {
            context_.problems.error(item.at, "an override has `limits` or is `exempt: true`");
            return;
        }
        if (!key) {
            return;
        }
        if (exempt) {
            add({.key = *key, .limit = kExempt, .numbers = {}, .until = until.value_or("")}, map,
                *map.find("exempt"));
        } else if (!limits->is_map() || limits->entries.empty()) {
            context_.problems.error(limits->at,
                                    "`limits` is a map of names of limits to their numbers");
        } else {
            for (const YamlEntry& entry : limits->entries) {
                read_numbers(entry, *key, until.value_or(""), map);
            }
        }
    }

    // nullopt: reported.
    std::optional<std::string> read_key(const MapReader& map) {
        const YamlNode* key = map.find("key");
        if (key == nullptr) {
            context_.problems.error(map.node().at, "an override needs a `key`");
            return std::nullopt;
        }
        if (key->is_scalar()) {
            return key->text;
        }
        std::string text;
        for (const YamlNode& part : key->items) {
            if (!part.is_scalar()) {
                context_.problems.error(part.at,
                                        "a part of a key is one value, found " + kind_name(part));
                return std::nullopt;
            }
            text += (&part == key->items.data() ? "" : "|") + spelled(part.text);
        }
        if (!key->is_list()) {
            context_.problems.error(key->at,
                                    "`key` is a list of the key's parts, found " + kind_name(*key));
            return std::nullopt;
        }
        return text;
    }

    void read_numbers(const YamlEntry& entry, const std::string& key, const std::string& until,
                      const MapReader& item) {
        const MapReader numbers{entry.value, rule_keys::kOverrideNumbers, context_,
                                "an override's limit"};
        if (!numbers.is_map()) {
            return;
        }
        const YamlNode* burst =
            numbers.find("burst") != nullptr ? numbers.find("burst") : numbers.find("queue");
        if (numbers.find("burst") != nullptr && numbers.find("queue") != nullptr) {
            context_.problems.error(entry.value.at, "`burst` and `queue` are one number");
            return;
        }
        add({.key = key,
             .limit = entry.key.text,
             .numbers = {.rate = text_of(numbers.find("rate")),
                         .burst = text_of(burst),
                         .count = text_of(numbers.find("count"))},
             .until = until},
            item, entry.value);
    }

    void add(const OverrideText& text, const MapReader& item, const YamlNode& limit) {
        if (builder_ == nullptr) {
            return;
        }
        const Position at_key = item.find("key")->at;
        const std::optional<OverrideFault> fault =
            builder_->add(text, {kInline, at_key.line, at_key.column});
        if (!fault) {
            return;
        }
        using Word = OverrideFault::Word;
        const YamlNode* of_key = item.find("key");
        const YamlNode* of_until = item.find("until");
        const Position at = fault->word == Word::Key     ? of_key->at
                            : fault->word == Word::Until ? of_until->at
                                                         : limit.at;
        context_.problems.error(at, fault->what);
    }

    MapReader map_;
    const ReadContext& context_;
    OverrideBuilder* builder_;
    std::string file_;
};

void report_twice(const std::vector<OverrideTwice>& twice, const std::string& file,
                  const ReadContext& context) {
    for (const OverrideTwice& one : twice) {
        const bool one_text = one.first.source == one.second.source;
        const std::string where = one_text                    ? ""
                                  : one.first.source == kFile ? " of " + file
                                                              : " of the rule file";
        const std::string what =
            one.what + "; the first is on line " + std::to_string(one.first.line) + where;
        if (one.second.source == kFile) {
            context.problems.error_in(file, {one.second.line, one.second.column}, what);
        } else {
            context.problems.error({one.second.line, one.second.column}, what);
        }
    }
}

std::string text_of(const Overrides& overrides, std::uint64_t sum) {
    std::size_t keys = 0;
    for (const KeyOverrides& one : overrides.keys) {
        keys += one.rows.size();
    }
    std::size_t ranges = 0;
    for (const std::vector<OverrideRange>& one : overrides.ranges) {
        ranges += one.size();
    }
    const std::string wider = ranges == 0 ? ""
                              : ranges == 1
                                  ? ", 1 network or range"
                                  : ", " + std::to_string(ranges) + " networks and ranges";
    char digits[17] = {};
    (void)std::snprintf(digits, sizeof(digits), "%016llx", static_cast<unsigned long long>(sum));
    return std::to_string(keys) + (keys == 1 ? " key" : " keys") + wider + ", sum " + digits;
}

// Reads the settings made at run time for the keys of one rule.
class SettingsReader {
public:
    SettingsReader(const Rule& rule, const OverrideSources& sources, OverrideBuilder& builder,
                   const ReadContext& context)
        : rule_{rule}, sources_{sources}, builder_{builder}, context_{context} {}

    // Settings that no longer fit the rule are reported, and have no effect.
    void run() {
        if (!append_kept()) {
            for (const KeySetting& set : *sources_.set) {
                if (set.rule == rule_.id) {
                    add(set);
                }
            }
        }
        faults_.tell(context_.problems, sources_.rule);
    }

private:
    // False: they are to be read one by one, since bounds hold for them.
    bool append_kept() {
        if (sources_.cache == nullptr || sources_.dynamic != nullptr) {
            return false;
        }
        SettingRows rows = sources_.cache->take_settings(rule_);
        rows.follow(rule_, *sources_.set, context_.text_names);
        std::size_t at = 0;
        for (const KeySetting& set : *sources_.set) {
            if (set.rule == rule_.id) {
                report(set, rows.fault(at++));
            }
        }
        builder_.append(rows.rows());
        sources_.cache->give_settings(rule_, std::move(rows));
        return true;
    }

    void add(const KeySetting& set) {
        NumbersText numbers{.rate = set.rate, .burst = set.burst, .count = set.count};
        std::optional<OverrideFault> fault;
        if (sources_.dynamic != nullptr && set.what == KeySetting::What::Numbers) {
            fault = hold(set, numbers);
        }
        if (!fault) {
            fault = find_other_key(set, rule_, context_.text_names);
        }
        if (!fault) {
            fault = builder_.add(text_of(set, numbers), {OverrideSource::RunTime, 0});
        }
        report(set, fault);
    }

    void report(const KeySetting& set, const std::optional<OverrideFault>& fault) {
        if (fault && set.is_new) {
            context_.problems.error(sources_.rule, "the key " + set.key + ": " + fault->what);
        } else if (fault) {
            faults_.note_unfit(set.key, fault->what);
        }
    }

    // New numbers outside of the bounds are a fault; those from before the bounds are brought back.
    std::optional<OverrideFault> hold(const KeySetting& set, NumbersText& numbers) {
        const auto limit =
            std::find_if(rule_.limits.begin(), rule_.limits.end(), [&](const MeteredLimit& one) {
                return one.name == set.limit && one.key + 1U == set.tier;
            });
        const std::optional<NumbersFault> fault =
            limit == rule_.limits.end() ? std::nullopt
                                        : fault_under(*sources_.dynamic, numbers, limit->per);
        if (!fault) {
            return std::nullopt;
        }
        if (set.is_new) {
            return OverrideFault{OverrideFault::Word::Limit, fault->what};
        }
        faults_.note_held(set.key);
        numbers = held_within(*sources_.dynamic, numbers, limit->per);
        return std::nullopt;
    }

    const Rule& rule_;
    const OverrideSources& sources_;
    OverrideBuilder& builder_;
    const ReadContext& context_;
    SettingFaults faults_{};
};

// True if what is probed for a key that has nothing of its own stays within its bounds.
bool networks_fit(const Overrides& overrides, Position rule, const ReadContext& context) {
    for (const KeyOverrides& networks : overrides.networks) {
        std::array<std::set<unsigned>, 2> lengths;
        for (std::size_t row = 0; row < networks.rows.size(); ++row) {
            const KeyNetwork network = network_of_key(networks.key(row));
            lengths[network.version == 4 ? 0 : 1].insert(network.length);
        }
        if (networks.rows.size() > kMaxBannedNetworks) {
            context.problems.error(
                rule, "a rule bans at most " + std::to_string(kMaxBannedNetworks) + " networks");
            return false;
        }
        if (std::max(lengths[0].size(), lengths[1].size()) > kMaxNetworkLengths) {
            context.problems.error(
                rule, "the networks that a rule bans have at most " +
                          std::to_string(kMaxNetworkLengths) +
                          " different lengths for IPv4, and as many for IPv6; use some of them");
            return false;
        }
    }
    return true;
}

// A ban of everybody is allowed, and hardly meant.
void warn_of_everybody(const Overrides& overrides, Position rule, const ReadContext& context) {
    for (const KeyOverrides& networks : overrides.networks) {
        for (std::size_t row = 0; row < networks.rows.size(); ++row) {
            const KeyNetwork network = network_of_key(networks.key(row));
            if (network.length == 0) {
                context.problems.warning(rule, network.version == 4
                                                   ? "0.0.0.0/0 bans every address of IPv4"
                                                   : "::/0 bans every address of IPv6");
            }
        }
    }
}

}  // namespace

ReadOverrides read_overrides(const YamlNode* node, const Rule& rule, const OverrideSources& sources,
                             const ReadContext& context) {
    OverrideBuilder builder{rule};
    if (context.text_names != nullptr) {
        builder.set_names(*context.text_names);
    }
    std::string file;
    if (node != nullptr) {
        OverridesReader reader{*node, context, &builder};
        reader.read_file(sources.files, rule, sources.cache);
        reader.read_inline();
        file = reader.file();
    }
    if (sources.set != nullptr) {
        SettingsReader{rule, sources, builder, context}.run();
    }
    std::vector<OverrideTwice> twice;
    const std::shared_ptr<const Overrides> overrides =
        builder.finish(twice, context.problems.stop());
    if (context.problems.are_interrupted()) {
        return {};
    }
    report_twice(twice, file, context);
    if (overrides == nullptr || !networks_fit(*overrides, sources.rule, context)) {
        return {};
    }
    warn_of_everybody(*overrides, sources.rule, context);
    return {overrides, builder.banned(), builder.ranges(), builder.named(),
            text_of(*overrides, builder.sum())};
}

void check_overrides(const YamlNode& node, const ReadContext& context) {
    OverridesReader{node, context, nullptr}.read_inline();
}

}  // namespace sluice
