#include "lib/heavy_hitters/top_keys.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

namespace sluice {
namespace {

std::string_view text_of(const KeySample& sample) noexcept {
    return {reinterpret_cast<const char*>(sample.key.data()), sample.size};
}

// Of a count that is a sum of weights, each the packets one sample stands for.
std::uint64_t sampling_error(double squares) {
    return static_cast<std::uint64_t>(std::ceil(3 * std::sqrt(squares)));
}

auto rank(const TopKey& key, TopOrder order) {
    switch (order) {
        case TopOrder::Denied:
            return std::tuple{~key.denied, ~key.hits};
        case TopOrder::Remaining:
            return std::tuple{key.remaining.value_or(UINT64_MAX), ~key.hits};
        default:
            return std::tuple{~key.hits, ~key.denied};
    }
}

}  // namespace

void TopKeys::adopt(const LoadedSet& rules) {
    load_ = rules.load;
    by_index_.clear();
    std::set<std::string> ids;
    std::size_t metered = 0;
    for (const LoadedRule& rule : rules.rules) {
        ids.insert(rule.id);
        metered += rule.has_limits() ? 1U : 0U;
    }
    std::erase_if(rules_, [&](const auto& one) { return !ids.contains(one.first); });
    // Two sketches a rule.
    const std::size_t capacity =
        std::clamp<std::size_t>(kMaxKeysInAll / 2 / std::max<std::size_t>(metered, 1), 4, kMaxKeys);
    for (const LoadedRule& rule : rules.rules) {
        OfRule* of_rule = nullptr;
        if (rule.has_limits()) {
            of_rule = &rules_.try_emplace(rule.id, SpaceSaving{capacity}, SpaceSaving{capacity})
                           .first->second;
        }
        by_index_.push_back(of_rule);
    }
}

void TopKeys::take(const KeySample& sample) {
    if (sample.load != load_ || sample.rule >= by_index_.size() ||
        by_index_[sample.rule] == nullptr || sample.weight == 0) {
        return;
    }
    ++samples_;
    OfRule& rule = *by_index_[sample.rule];
    rule.hits.add(text_of(sample), sample.weight, sample.remaining);
    if (sample.denied) {
        rule.denied.add(text_of(sample), sample.weight);
    }
}

void TopKeys::pass(Instant now) {
    Nanoseconds passed = now - last_.value_or(now);
    last_ = now;
    // After so many halvings nothing is left to halve.
    passed = std::min(passed, 64 * kHalfLife);
    while (passed >= kHalfLife - faded_) {
        passed -= kHalfLife - faded_;
        window_ += kHalfLife - faded_;
        faded_ = Nanoseconds{0};
        fade();
    }
    window_ += passed;
    faded_ += passed;
}

void TopKeys::fade() {
    window_ /= 2;
    samples_ /= 2;
    for (auto& [id, rule] : rules_) {
        rule.hits.halve();
        rule.denied.halve();
    }
}

std::vector<TopKey> TopKeys::list(const std::string& rule, TopOrder order,
                                  std::size_t count) const {
    std::vector<TopKey> keys;
    for (const auto& [id, of_rule] : rules_) {
        if (rule.empty() || rule == id) {
            add_keys(id, of_rule, order, keys);
        }
    }
    const auto by_rank = [&](const TopKey& a, const TopKey& b) {
        return rank(a, order) < rank(b, order);
    };
    const std::size_t shown = std::min(count, keys.size());
    std::partial_sort(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(shown), keys.end(),
                      by_rank);
    keys.resize(shown);
    return keys;
}

void TopKeys::add_keys(const std::string& rule, const OfRule& of_rule, TopOrder order,
                       std::vector<TopKey>& keys) const {
    for (const SpaceSaving::Counted& one : of_rule.hits.all()) {
        const SpaceSaving::Counted* denied = of_rule.denied.find(one.key);
        TopKey key{
            .rule = rule,
            .key = one.key,
            .hits = one.count,
            .hits_error = one.error + sampling_error(one.squares),
            .denied = denied == nullptr ? 0 : denied->count,
            .denied_error = denied == nullptr ? of_rule.denied.least()
                                              : denied->error + sampling_error(denied->squares),
            .remaining = one.note == KeySample::kUnknown ? std::nullopt : std::optional{one.note}};
        const bool asked = order == TopOrder::Hits ||
                           (order == TopOrder::Denied && key.denied != 0) ||
                           (order == TopOrder::Remaining && key.remaining);
        if (asked) {
            keys.push_back(std::move(key));
        }
    }
}

}  // namespace sluice
