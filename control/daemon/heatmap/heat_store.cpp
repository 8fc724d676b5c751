#include "control/daemon/heatmap/heat_store.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace sluice {
namespace {

struct KeptLength {
    unsigned step;
    std::size_t columns;
    bool always;  // else where it is the limit's own
};
constexpr auto kKeptLengths = std::to_array<KeptLength>({
    {1, 600, false},
    {5, 120, false},
    {10, 720, true},
    {30, 240, false},
    {60, 2880, true},
});

bool is_kept(const KeptLength& kept, unsigned own_step) {
    return kept.always || kept.step == own_step;
}

// Columns that have their keys still.
std::size_t named_columns(unsigned step) {
    return std::max<std::size_t>(2, HeatStore::kNamedSeconds / step);
}

void add_facts(HeatName& name, const std::vector<HeatPacket>& packets) {
    for (const HeatPacket& packet : packets) {
        for (const HeatField& field : packet.fields) {
            if (name.facts.size() < HeatStore::kMostFacts &&
                std::ranges::find(name.facts, field) == name.facts.end()) {
                name.facts.push_back(field);
            }
        }
    }
}

}  // namespace

const HeatSeries* HeatStore::OfLimit::of(unsigned step) const {
    const auto found = std::ranges::find(series, step, &HeatSeries::step);
    return found == series.end() ? nullptr : &*found;
}

std::size_t HeatStore::OfLimit::bytes() const {
    return std::accumulate(
        series.begin(), series.end(), std::size_t{0},
        [](std::size_t sum, const HeatSeries& one) { return sum + one.bytes(); });
}

std::vector<unsigned> HeatStore::steps_of(unsigned own_step) {
    std::vector<unsigned> steps;
    for (const KeptLength& kept : kKeptLengths) {
        if (is_kept(kept, own_step)) {
            steps.push_back(kept.step);
        }
    }
    return steps;
}

const HeatStore::OfLimit* HeatStore::find(const std::string& rule, unsigned limit) const {
    const auto found = limits_.find({rule, limit});
    return found == limits_.end() ? nullptr : &found->second;
}

// Many limits have fewer keys each.
HeatStore::OfLimit HeatStore::begin(const LimitSecond& second) const {
    const std::size_t most_keys =
        std::clamp(kMostKeysInAll / (limits_.size() + 1), kMostKeysInAll / kMostLimits, kMostKeys);
    OfLimit limit{.terms = second.terms, .series = {}, .names = {}, .last = 0};
    for (const KeptLength& kept : kKeptLengths) {
        if (is_kept(kept, second.own_step)) {
            limit.series.emplace_back(kept.step, kept.columns, most_keys, named_columns(kept.step));
        }
    }
    return limit;
}

bool HeatStore::add(const LimitSecond& second, const HeatLimit& watched) {
    const std::lock_guard lock{mutex_};
    const Place place{watched.rule, watched.limit};
    auto found = limits_.find(place);
    if (found != limits_.end() && found->second.terms != second.terms) {
        limits_.erase(found);
        found = limits_.end();
    }
    if (found == limits_.end()) {
        if (limits_.size() >= kMostLimits && !drop_stalest(second.second)) {
            return false;
        }
        found = limits_.emplace(place, begin(second)).first;
    }
    OfLimit& limit = found->second;
    limit.last = second.second;
    for (HeatSeries& series : limit.series) {
        series.add(second.second, watched.samples, watched.sampling_bits, watched.left_out,
                   second.seconds);
    }
    take_names(limit, watched.names);
    for (HeatSeries& series : limit.series) {
        series.thin_keys([&](const HeatKey& key) { return limit.names.contains(key.digest); });
    }
    make_room();
    return true;
}

// True: a limit that nothing came of for long has made room.
bool HeatStore::drop_stalest(std::int64_t second) {
    const auto stalest =
        std::ranges::min_element(limits_, {}, [](const auto& one) { return one.second.last; });
    if (stalest == limits_.end() || stalest->second.last + kIdle >= second) {
        return false;
    }
    limits_.erase(stalest);
    return true;
}

// Names of keys that no column has any more make room for others.
void HeatStore::take_names(OfLimit& limit, const std::vector<NamedHeatKey>& names) const {
    const auto with_names =
        std::ranges::count_if(limits_, [](const auto& one) { return !one.second.names.empty(); });
    if (limit.names.empty() && static_cast<std::size_t>(with_names) >= kNamedLimits) {
        return;
    }
    if (limit.names.size() + names.size() > kMostNames) {
        std::erase_if(limit.names, [&](const auto& one) {
            return std::ranges::none_of(
                limit.series, [&](const HeatSeries& series) { return series.has_key(one.first); });
        });
    }
    for (const NamedHeatKey& one : names) {
        if (limit.names.size() < kMostNames || limit.names.contains(one.digest)) {
            HeatName& name = limit.names[one.digest];
            name.key = one.key;
            add_facts(name, one.packets);
        }
    }
}

void HeatStore::pass(std::int64_t second) {
    const std::lock_guard lock{mutex_};
    for (auto& [place, limit] : limits_) {
        for (HeatSeries& series : limit.series) {
            series.pass(second);
        }
        if (limit.last + kIdle < second) {
            limit.names.clear();
        }
    }
    make_room();
}

void HeatStore::make_room() {
    const auto sum = [](std::size_t all, const auto& one) { return all + one.second.bytes(); };
    std::size_t all = std::accumulate(limits_.begin(), limits_.end(), std::size_t{0}, sum);
    while (all > most_bytes_) {
        const auto fullest = std::ranges::max_element(
            limits_, {}, [](const auto& one) { return one.second.bytes(); });
        const auto series = std::ranges::max_element(
            fullest->second.series, {}, [](const HeatSeries& one) { return one.bytes(); });
        const std::size_t before = series->bytes();
        series->drop_oldest();
        all -= before - series->bytes();
    }
}

std::vector<std::optional<HeatColumn>> HeatStore::columns(const std::string& rule, unsigned limit,
                                                          const Range& range) const {
    const std::lock_guard lock{mutex_};
    const OfLimit* of_limit = find(rule, limit);
    const HeatSeries* series = of_limit == nullptr ? nullptr : of_limit->of(range.step);
    std::vector<std::optional<HeatColumn>> found;
    for (std::int64_t begins = range.from; begins < range.to; begins += range.step) {
        const HeatColumn* column = series == nullptr ? nullptr : series->at(begins);
        found.push_back(column == nullptr ? std::nullopt : std::optional{*column});
    }
    return found;
}

std::optional<HeatStore::Named> HeatStore::named(const std::string& rule, unsigned limit,
                                                 unsigned step, std::int64_t begins) const {
    const std::lock_guard lock{mutex_};
    const OfLimit* of_limit = find(rule, limit);
    const HeatSeries* series = of_limit == nullptr ? nullptr : of_limit->of(step);
    const HeatColumn* column = series == nullptr ? nullptr : series->at(begins);
    if (column == nullptr) {
        return std::nullopt;
    }
    const std::vector<HeatKey>* const keys = series->keys_at(begins);
    Named found{.column = *column, .has_keys = keys != nullptr, .keys = {}, .names = {}};
    if (keys != nullptr) {
        found.keys = *keys;
        found.names = of_limit->names;
    }
    return found;
}

std::size_t HeatStore::bytes() const {
    const std::lock_guard lock{mutex_};
    std::size_t all = 0;
    for (const auto& [place, limit] : limits_) {
        all += limit.bytes();
    }
    return all;
}

}  // namespace sluice
