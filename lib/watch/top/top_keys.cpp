#include "lib/watch/top/top_keys.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

namespace sluice {
namespace {

std::string_view text_of(const KeySample& sample) noexcept {
    return {reinterpret_cast<const char*>(sample.key.data()), sample.size};
}

std::uint64_t part_of(std::uint64_t count, double part) noexcept {
    return static_cast<std::uint64_t>(std::llround(static_cast<double>(count) * part));
}

// In a window that so much of the part before is in.
std::uint64_t count_in(const SpaceSaving::Counted& one, double before) noexcept {
    return one.now.count + part_of(one.before.count, before);
}

// A count is a sum of weights, each the packets that one sample stands for.
std::uint64_t error_in(const SpaceSaving::Counted& one, double before) noexcept {
    const double squares = one.now.squares + one.before.squares * before * before;
    return one.now.error + part_of(one.before.error, before) +
           static_cast<std::uint64_t>(std::ceil(3 * std::sqrt(squares)));
}

// A sketch's estimate for a key. Without a counter there its count is 0, and the error the sketch's
// least counter.
struct Known {
    std::uint64_t count = 0;
    std::uint64_t error = 0;
    std::uint64_t remaining = KeySample::kUnknown;
};
Known known_of(const SpaceSaving& sketch, std::string_view key, double before) {
    const SpaceSaving::Counted* one = sketch.find(key);
    if (one == nullptr) {
        return {.error = sketch.least()};
    }
    return {count_in(*one, before), error_in(*one, before), one->note};
}

std::optional<std::uint64_t> remaining_in(std::uint64_t note) {
    if (note == KeySample::kBanned) {
        return 0;
    }
    return note == KeySample::kUnknown || note == KeySample::kExempt ? std::nullopt
                                                                     : std::optional{note};
}

// True if it has anything of what keys are listed by.
bool is_listed(const TopKey& key, TopOrder order) {
    switch (order) {
        case TopOrder::Bits:
            return key.bytes != 0;
        case TopOrder::Denied:
            return key.hits != 0 && key.denied != 0;
        case TopOrder::Remaining:
            return key.hits != 0 && key.remaining;
        default:
            return key.hits != 0;
    }
}

auto rank(const TopKey& key, TopOrder order) {
    switch (order) {
        case TopOrder::Denied:
            return std::tuple{~key.denied, ~key.hits};
        case TopOrder::Bits:
            return std::tuple{~key.bytes, ~key.hits};
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
    constexpr std::size_t kOfRule = kSketches * kTopWindows.size();
    const std::size_t capacity = std::clamp<std::size_t>(
        kMaxKeysInAll / kOfRule / std::max<std::size_t>(metered, 1), 4, kMaxKeys);
    const SpaceSaving none{capacity};
    const OfRule fresh{now_, std::vector<Sketches>(kTopWindows.size(), {none, none, none})};
    for (const LoadedRule& rule : rules.rules) {
        OfRule* of_rule = nullptr;
        if (rule.has_limits()) {
            of_rule = &rules_.try_emplace(rule.id, fresh).first->second;
        }
        by_index_.push_back(of_rule);
    }
}

void TopKeys::take(const KeySample& sample) {
    if (sample.load != load_ || sample.rule >= by_index_.size() ||
        by_index_[sample.rule] == nullptr || sample.weight == 0) {
        return;
    }
    for (std::size_t window = 0; window < kTopWindows.size(); ++window) {
        ++running_[window].samples;
        Sketches& sketches = by_index_[sample.rule]->windows[window];
        sketches.hits.add(text_of(sample), sample.weight, sample.remaining);
        sketches.bytes.add(text_of(sample),
                           std::uint64_t{sample.weight} * std::max(sample.bytes, 1U));
        if (sample.denied) {
            sketches.denied.add(text_of(sample), sample.weight);
        }
    }
}

void TopKeys::pass(Instant now) {
    if (!first_) {
        first_ = now;
        running_.fill({.begun = now});
        for (auto& [id, rule] : rules_) {
            rule.since = now;
        }
    }
    now_ = std::max(now_, now);
    for (std::size_t window = 0; window < kTopWindows.size(); ++window) {
        rotate(window, now_);
    }
}

// After two parts in which nothing was taken nothing is left, however many more have passed.
void TopKeys::rotate(std::size_t window, Instant now) {
    Running& running = running_[window];
    const Nanoseconds part = kTopWindows[window];
    const auto turns = (now - running.begun) / part;
    for (std::int64_t i = 0; i < std::min<std::int64_t>(turns, 2); ++i) {
        running.samples_before = std::exchange(running.samples, 0);
        for (auto& [id, rule] : rules_) {
            rule.windows[window].hits.rotate();
            rule.windows[window].denied.rotate();
            rule.windows[window].bytes.rotate();
        }
    }
    running.begun += turns * part;
}

TopKeys::Overlap TopKeys::overlap(TopWindow window, Instant since) const noexcept {
    const auto index = static_cast<std::size_t>(window);
    const Nanoseconds whole = kTopWindows[index];
    const Instant begun = running_[index].begun;
    // The part before counts as far as the rule was there; it comes to the window's beginning.
    const Nanoseconds known = std::min(begun - since, whole);
    const Nanoseconds reaches = std::min(whole - (now_ - begun), known);
    return {std::min(now_ - since, whole),
            known <= Nanoseconds{0}
                ? 0.0
                : static_cast<double>(reaches.count()) / static_cast<double>(known.count())};
}

std::uint64_t TopKeys::samples(TopWindow window) const noexcept {
    const Running& running = running_[static_cast<std::size_t>(window)];
    const double before = overlap(window, first_.value_or(now_)).before;
    return running.samples + part_of(running.samples_before, before);
}

void TopKeys::add_names(const std::string& rule, std::vector<std::string>& names) const {
    const auto known = rules_.find(rule);
    if (known == rules_.end()) {
        return;
    }
    for (const Sketches& sketches : known->second.windows) {
        for (const SpaceSaving* sketch : {&sketches.hits, &sketches.denied, &sketches.bytes}) {
            for (const SpaceSaving::Counted& one : sketch->all()) {
                names.push_back(one.key);
            }
        }
    }
}

std::vector<TopKey> TopKeys::list(const Choice& choice) const {
    std::vector<TopKey> keys;
    for (const auto& [id, of_rule] : rules_) {
        if (choice.rule.empty() || choice.rule == id) {
            add_keys(id, of_rule, choice, keys);
        }
    }
    const auto by_rank = [&](const TopKey& a, const TopKey& b) {
        return rank(a, choice.order) < rank(b, choice.order);
    };
    const std::size_t shown = std::min(choice.count, keys.size());
    std::partial_sort(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(shown), keys.end(),
                      by_rank);
    keys.resize(shown);
    return keys;
}

void TopKeys::add_keys(const std::string& rule, const OfRule& of_rule, const Choice& choice,
                       std::vector<TopKey>& keys) const {
    const Overlap over = overlap(choice.window, of_rule.since);
    const Sketches& sketches = of_rule.windows[static_cast<std::size_t>(choice.window)];
    const bool by_bits = choice.order == TopOrder::Bits;
    for (const SpaceSaving::Counted& one : (by_bits ? sketches.bytes : sketches.hits).all()) {
        const Known hits = known_of(sketches.hits, one.key, over.before);
        const Known denied = known_of(sketches.denied, one.key, over.before);
        const Known bytes = known_of(sketches.bytes, one.key, over.before);
        TopKey key{.rule = rule,
                   .key = one.key,
                   .window_ns = static_cast<std::uint64_t>(over.length.count()),
                   .hits = hits.count,
                   .hits_error = hits.error,
                   .denied = denied.count,
                   .denied_error = denied.error,
                   .bytes = bytes.count,
                   .bytes_error = bytes.error,
                   .remaining = remaining_in(hits.remaining),
                   .exempt = hits.remaining == KeySample::kExempt,
                   .banned = hits.remaining == KeySample::kBanned};
        if (is_listed(key, choice.order)) {
            keys.push_back(std::move(key));
        }
    }
}

}  // namespace sluice
