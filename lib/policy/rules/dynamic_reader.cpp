#include "lib/policy/rules/dynamic_reader.hpp"

#include "lib/policy/file_keys/rule_keys.hpp"
#include "lib/policy/values/units_text.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <string>

namespace sluice {
namespace {

constexpr auto kDynamicSources = std::to_array<std::string_view>({"api"});
constexpr Nanoseconds kShortestTtl = std::chrono::seconds{1};
constexpr Nanoseconds kLongestTtl = std::chrono::hours{24 * 3650};

struct BoundRow {
    NumberWord word;
    std::string_view name;
    std::string WrittenNumbers::* number;
};
constexpr auto kBoundRows = std::to_array<BoundRow>({
    {NumberWord::Rate, "rate", &WrittenNumbers::rate},
    {NumberWord::Burst, "burst", &WrittenNumbers::burst},
    {NumberWord::Count, "count", &WrittenNumbers::count},
});

class DynamicReader {
public:
    DynamicReader(const MapReader& rule, std::span<const MeteredLimit> limits,
                  const ReadContext& context)
        : limits_{limits},
          context_{context},
          map_{*rule.find("dynamic"), rule_keys::kDynamic, context, "`dynamic`"} {}

    std::optional<DynamicTerms> run() {
        if (!map_.is_map()) {
            return std::nullopt;
        }
        DynamicTerms terms;
        const bool has_source =
            is_there("source") && map_.word("source", kDynamicSources).has_value();
        const bool has_ttl = read_ttl(terms);
        const bool has_floor = read_bound("floor", terms.floor);
        const bool has_ceiling = read_bound("ceiling", terms.ceiling);
        if (!has_source || !has_ttl || !has_floor || !has_ceiling || limits_.empty() ||
            !bounds_fit(terms)) {
            return std::nullopt;
        }
        return terms;
    }

private:
    bool is_there(std::string_view key) {
        if (map_.find(key) == nullptr) {
            context_.problems.error(map_.node().at, "`dynamic` needs `" + std::string{key} + "`");
            return false;
        }
        return true;
    }

    bool read_ttl(DynamicTerms& terms) {
        if (!is_there("ttl")) {
            return false;
        }
        const YamlNode& value = *map_.find("ttl");
        const Result<Nanoseconds> ttl = parse_duration(value.is_scalar() ? value.text : "");
        if (!ttl || *ttl < kShortestTtl || *ttl > kLongestTtl) {
            context_.problems.error(
                value.at,
                "`ttl` is a duration from 1s to 3650d, such as 10m; found " + kind_name(value));
            return false;
        }
        terms.ttl = *ttl;
        terms.ttl_text = value.text;
        return true;
    }

    bool read_bound(std::string_view key, WrittenNumbers& bound) {
        if (!is_there(key)) {
            return false;
        }
        const YamlNode& value = *map_.find(key);
        if (value.is_scalar()) {
            (value.text.find('/') != std::string::npos ? bound.rate : bound.count) = value.text;
            return true;
        }
        const MapReader numbers{value, rule_keys::kDynamicBound, context_,
                                "`" + std::string{key} + "`"};
        if (!numbers.is_map()) {
            return false;
        }
        if (numbers.find("burst") != nullptr && numbers.find("queue") != nullptr) {
            context_.problems.error(value.at, "`burst` and `queue` are one number");
            return false;
        }
        const auto text = [&numbers](std::string_view name) {
            return numbers.text(name).value_or("");
        };
        bound = {text("rate"), text("burst") + text("queue"), text("count")};
        if (bound.rate.empty() && bound.burst.empty() && bound.count.empty()) {
            context_.problems.error(value.at, "`" + std::string{key} + "` has no number");
            return false;
        }
        return true;
    }

    bool bounds_fit(const DynamicTerms& terms) {
        return std::all_of(kBoundRows.begin(), kBoundRows.end(),
                           [&](const BoundRow& row) { return number_fits(row, terms); });
    }

    bool number_fits(const BoundRow& row, const DynamicTerms& terms) {
        const std::string& floor = terms.floor.*row.number;
        const std::string& ceiling = terms.ceiling.*row.number;
        if (floor.empty() && ceiling.empty()) {
            return true;
        }
        if (floor.empty() || ceiling.empty()) {
            const std::string_view without = floor.empty() ? "floor" : "ceiling";
            context_.problems.error(map_.find(without)->at,
                                    "`" + std::string{without} + "` has no " +
                                        std::string{row.name} +
                                        ", and the other bound of `dynamic` has one");
            return false;
        }
        bool any = false;
        for (const MeteredLimit& limit : limits_) {
            if (has_number(limit, row.word)) {
                any = true;
                if (!fits(limit, row, "floor", floor) || !fits(limit, row, "ceiling", ceiling) ||
                    !in_order(row.word, floor, ceiling, limit.per)) {
                    return false;
                }
            }
        }
        if (!any) {
            context_.problems.error(
                map_.find("floor")->at,
                "no limit of the rule has a " + std::string{row.name} + " that could be set");
        }
        return any;
    }

    static bool has_number(const MeteredLimit& limit, NumberWord word) {
        const Counting counting = counting_of(limit.limit);
        return counting != Counting::Colors &&
               (counting == Counting::Bucket) == (word != NumberWord::Count);
    }

    // The limit takes the bound as one of its numbers.
    bool fits(const MeteredLimit& limit, const BoundRow& row, std::string_view key,
              const std::string& bound) {
        NumbersFault fault;
        const NumbersText text{
            .rate = row.word == NumberWord::Rate ? std::string_view{bound} : std::string_view{},
            .burst = row.word == NumberWord::Burst ? std::string_view{bound} : std::string_view{},
            .count = row.word == NumberWord::Count ? std::string_view{bound} : std::string_view{}};
        if (with_numbers(limit, text, fault)) {
            return true;
        }
        context_.problems.error(
            map_.find(key)->at,
            "the " + std::string{row.name} + " of the limit `" + limit.name + "`: " + fault.what);
        return false;
    }

    bool in_order(NumberWord word, const std::string& floor, const std::string& ceiling, Per per) {
        if (order_of(word, floor, ceiling, per).value_or(0) <= 0) {
            return true;
        }
        context_.problems.error(map_.find("ceiling")->at,
                                "the ceiling " + ceiling + " is below the floor " + floor);
        return false;
    }

    std::span<const MeteredLimit> limits_;
    const ReadContext& context_;
    MapReader map_;
};

}  // namespace

std::optional<DynamicTerms> read_dynamic(const MapReader& rule,
                                         std::span<const MeteredLimit> limits,
                                         const ReadContext& context) {
    return DynamicReader{rule, limits, context}.run();
}

}  // namespace sluice
