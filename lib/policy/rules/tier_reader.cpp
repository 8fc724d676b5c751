#include "lib/policy/rules/tier_reader.hpp"

#include "lib/policy/file_keys/rule_keys.hpp"

namespace sluice {
namespace {

class TierReader {
public:
    TierReader(const MapReader& rule, const LimitListReader& limits,
               const ReadContext& context) noexcept
        : rule_{rule}, limits_{limits}, context_{context} {}

    ReadTiers run() {
        if (const YamlNode* tiers = rule_.find("tiers")) {
            read_all(*tiers);
        } else {
            add(rule_, "", "a rule needs `key` ([] for one bucket in all), `tiers` or `on_match`");
        }
        return std::move(read_);
    }

private:
    void read_all(const YamlNode& tiers) {
        for (const std::string_view key : {"key", "limits"}) {
            if (rule_.find(key) != nullptr) {
                context_.problems.error(
                    rule_.place_of_key(key),
                    "with `tiers`, each tier has its own `" + std::string{key} + "`");
            }
        }
        if (!tiers.is_list() || tiers.items.empty() || tiers.items.size() > kMaxLimitsPerRule) {
            context_.problems.error(tiers.at, "`tiers` is a list of 1 to " +
                                                  std::to_string(kMaxLimitsPerRule) +
                                                  " maps of `key` and `limits`");
            return;
        }
        for (const YamlNode& node : tiers.items) {
            const MapReader tier{node, rule_keys::kTier, context_, "a tier"};
            if (tier.is_map()) {
                add(tier, "t" + std::to_string(read_.keys.size() + 1) + ".", "a tier needs `key`");
            }
        }
    }

    void add(const MapReader& map, std::string position, std::string_view without_key) {
        KeyText key;
        if (const YamlNode* parts = map.find("key")) {
            key = read_key(*parts, context_);
        } else {
            context_.problems.error(map.node().at, std::string{without_key});
        }
        if (!position.empty() && key.text.empty()) {
            key.text = "[]";  // among others it must be seen
        }
        const auto index = static_cast<std::uint8_t>(read_.keys.size());
        read_.ban_keys.push_back({key.schema, position});
        limits_.read(map, {key, index, std::move(position)}, read_.limits);
        read_.text += (read_.keys.empty() ? "" : "; ") + key.text;
        read_.whole = read_.whole && key.whole;
        read_.keys.push_back(std::move(key.parts));
    }

    const MapReader& rule_;
    const LimitListReader& limits_;
    const ReadContext& context_;
    ReadTiers read_;
};

}  // namespace

ReadTiers read_tiers(const MapReader& rule, const LimitOwner& owner, NamedLimits& named,
                     const ReadContext& context) {
    const LimitListReader limits{owner, named, context};
    return TierReader{rule, limits, context}.run();
}

}  // namespace sluice
