#include "lib/policy/overrides/setting_rows.hpp"

#include <algorithm>
#include <chrono>

namespace sluice {
namespace {

// Beyond them reading all anew costs as little.
constexpr std::size_t kSpare = 1024;

}  // namespace

OverrideText text_of(const KeySetting& set, const NumbersText& numbers) {
    return {.key = set.key,
            .limit = set.what == KeySetting::What::Exempt ? kExempt : std::string_view{set.limit},
            .numbers = numbers,
            .until = {},
            .until_at = set.until == 0 ? kForever : Nanoseconds{std::chrono::seconds{set.until}},
            .banned = set.what == KeySetting::What::Banned,
            .tier = set.tier};
}

bool is_of_keys(const KeySetting& set, std::span<const GroupingKey> keys, const TextNames& names) {
    // One whose keys are not known is taken to be; a tier that there is not is a fault of its own.
    return set.of.empty() || set.tier == 0 || set.tier > keys.size() ||
           shape_of(keys[set.tier - 1], names) == set.of;
}

std::optional<OverrideFault> find_other_key(const KeySetting& set, const Rule& rule,
                                            const TextNames* names) {
    const TextNames known = names == nullptr ? TextNames{} : *names;
    if (is_of_keys(set, rule.keys, known)) {
        return std::nullopt;
    }
    return OverrideFault{OverrideFault::Word::Key, "it was set for a key " + set.of +
                                                       ", and the rule's is " +
                                                       shape_of(rule.keys[set.tier - 1], known)};
}

void SettingRows::follow(const Rule& rule, const KeySettings& all, const TextNames* names) {
    std::vector<std::size_t> gone;
    std::vector<const KeySetting*> fresh;
    std::size_t at = 0;
    for (const KeySetting& set : all) {
        if (set.rule != rule.id) {
            continue;
        }
        // New ones come behind those that stay, whatever has gone between them.
        std::size_t found = at;
        while (fresh.empty() && found < settings_.size() && !(settings_[found] == set)) {
            ++found;
        }
        if (!fresh.empty() || found == settings_.size()) {
            fresh.push_back(&set);
            continue;
        }
        for (; at < found; ++at) {
            gone.push_back(at);
        }
        ++at;
    }
    for (; at < settings_.size(); ++at) {
        gone.push_back(at);
    }
    forget(gone);
    if (is_worn()) {
        *this = {};
        follow(rule, all, names);
        return;
    }
    add(rule, fresh, names);
}

void SettingRows::forget(const std::vector<std::size_t>& gone) {
    if (gone.empty()) {
        return;
    }
    std::vector<std::uint32_t> lines;
    lines.reserve(gone.size());
    for (const std::size_t setting : gone) {
        lines.push_back(numbers_[setting]);  // ascending, as they were given out
    }
    std::erase_if(rows_.rows.rows, [&](const OverrideRows::Row& row) {
        return std::binary_search(lines.begin(), lines.end(), row.place.line);
    });
    rows_.rows.sorted = rows_.rows.rows.size();
    std::size_t at = 0;
    std::size_t next = 0;
    const auto goes = [&](const auto&) {
        const bool is_gone = next < gone.size() && gone[next] == at;
        next += is_gone ? 1 : 0;
        ++at;
        return is_gone;
    };
    std::erase_if(settings_, goes);
    at = next = 0;
    std::erase_if(numbers_, goes);
    at = next = 0;
    std::erase_if(faults_, goes);
}

void SettingRows::add(const Rule& rule, const std::vector<const KeySetting*>& fresh,
                      const TextNames* names) {
    OverrideBuilder builder{rule};
    if (names != nullptr) {
        builder.set_names(*names);
    }
    builder.resume(std::move(rows_));
    for (const KeySetting* set : fresh) {
        const NumbersText numbers{.rate = set->rate, .burst = set->burst, .count = set->count};
        std::optional<OverrideFault> fault = find_other_key(*set, rule, names);
        if (!fault) {
            fault = builder.add(text_of(*set, numbers), {OverrideSource::RunTime, next_});
        }
        faults_.push_back(std::move(fault));
        settings_.push_back(*set);
        settings_.back().is_new = false;
        numbers_.push_back(next_++);
    }
    rows_ = builder.leave();
}

bool SettingRows::is_worn() const noexcept {
    return next_ > 2 * settings_.size() + kSpare;
}

}  // namespace sluice
