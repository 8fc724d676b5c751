#include "lib/policy/overrides/override_cache.hpp"

#include <algorithm>
#include <utility>

namespace sluice {
namespace {

// Over all rules, some 50 bytes each.
constexpr std::size_t kMostRows = std::size_t{1} << 21;
constexpr std::size_t kMostSettings = 2 * kMaxKeySettings;

}  // namespace

OverrideCache::Shape OverrideCache::shape_of(const Rule& rule) {
    Shape shape{.keys = rule.keys, .missing_key = rule.missing_key, .limits = {}};
    for (const MeteredLimit& limit : rule.limits) {
        shape.limits.push_back({limit.name, limit.key, limit.limit});
    }
    return shape;
}

bool OverrideCache::Kept::is_of(const Shape& rule, const Text& other) const {
    return (text == other || *text == *other) && shape == rule;
}

OverrideCache::Rows OverrideCache::find(const Rule& rule, const Text& text) {
    if (behind_ != nullptr) {
        if (Rows rows = behind_->look_up(rule, text)) {
            return rows;
        }
    }
    const std::lock_guard lock{mutex_};
    const auto at = kept_.find(rule.id);
    if (at == kept_.end() || !at->second.is_of(shape_of(rule), text)) {
        return nullptr;
    }
    at->second.text = text;  // mostly one that is held anyway
    at->second.used_at = ++uses_;
    return at->second.rows;
}

OverrideCache::Rows OverrideCache::look_up(const Rule& rule, const Text& text) const {
    const std::lock_guard lock{mutex_};
    const auto at = kept_.find(rule.id);
    return at != kept_.end() && at->second.is_of(shape_of(rule), text) ? at->second.rows : nullptr;
}

void OverrideCache::keep(const Rule& rule, Text text, Rows rows) {
    const std::lock_guard lock{mutex_};
    if (behind_ != nullptr) {
        kept_.clear();
    }
    kept_.erase(rule.id);
    make_room(rows->size());
    kept_[rule.id] = {shape_of(rule), std::move(text), std::move(rows), ++uses_};
}

SettingRows OverrideCache::copied_settings(const Rule& rule) const {
    const std::lock_guard lock{mutex_};
    const auto at = settings_.find(rule.id);
    return at != settings_.end() && at->second.shape == shape_of(rule) ? at->second.rows
                                                                       : SettingRows{};
}

SettingRows OverrideCache::take_settings(const Rule& rule) {
    if (behind_ != nullptr) {
        return behind_->copied_settings(rule);
    }
    const std::lock_guard lock{mutex_};
    const auto at = settings_.find(rule.id);
    if (at == settings_.end() || at->second.shape != shape_of(rule)) {
        return {};
    }
    SettingRows rows = std::move(at->second.rows);
    settings_.erase(at);
    return rows;
}

void OverrideCache::give_settings(const Rule& rule, SettingRows rows) {
    if (behind_ != nullptr) {
        return;
    }
    const std::lock_guard lock{mutex_};
    settings_[rule.id] = {shape_of(rule), std::move(rows), ++uses_};
    // Rows of rules that have gone, or are settled, make room: few have as many as there may be.
    std::size_t held = 0;
    for (const auto& [id, kept] : settings_) {
        held += kept.rows.size();
    }
    while (held > kMostSettings && settings_.size() > 1) {
        const auto oldest = std::min_element(
            settings_.begin(), settings_.end(),
            [](const auto& a, const auto& b) { return a.second.used_at < b.second.used_at; });
        held -= oldest->second.rows.size();
        settings_.erase(oldest);
    }
}

// Rows that were used longest ago go first.
void OverrideCache::make_room(std::size_t rows) {
    const auto held = [this] {
        std::size_t sum = 0;
        for (const auto& [rule, kept] : kept_) {
            sum += kept.rows->size();
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
