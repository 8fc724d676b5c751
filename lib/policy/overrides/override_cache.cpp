#include "lib/policy/overrides/override_cache.hpp"

#include <algorithm>
#include <utility>

namespace sluice {
namespace {

// Over all rules, some 50 bytes each.
constexpr std::size_t kMostRows = std::size_t{1} << 21;

}  // namespace

OverrideCache::Shape OverrideCache::shape_of(const Rule& rule) {
    Shape shape{.keys = rule.keys, .missing_key = rule.missing_key, .limits = {}};
    for (const MeteredLimit& limit : rule.limits) {
        shape.limits.push_back({limit.name, limit.key, limit.limit});
    }
    return shape;
}

OverrideCache::Rows OverrideCache::find(const Rule& rule, const Text& text) {
    const std::lock_guard lock{mutex_};
    const auto at = kept_.find(rule.id);
    if (at == kept_.end() || (at->second.text != text && *at->second.text != *text) ||
        at->second.shape != shape_of(rule)) {
        return nullptr;
    }
    at->second.text = text;  // mostly one that is held anyway
    at->second.used_at = ++uses_;
    return at->second.rows;
}

void OverrideCache::keep(const Rule& rule, Text text, Rows rows) {
    const std::lock_guard lock{mutex_};
    kept_.erase(rule.id);
    make_room(rows->rows.size());
    kept_[rule.id] = {shape_of(rule), std::move(text), std::move(rows), ++uses_};
}

// What was used longest ago goes first.
void OverrideCache::make_room(std::size_t rows) {
    const auto held = [this] {
        std::size_t sum = 0;
        for (const auto& [rule, kept] : kept_) {
            sum += kept.rows->rows.size();
        }
        return sum;
    };
    while (!kept_.empty() && held() + rows > kMostRows) {
        kept_.erase(std::min_element(kept_.begin(), kept_.end(), [](const auto& a, const auto& b) {
            return a.second.used_at < b.second.used_at;
        }));
    }
}

}  // namespace sluice
