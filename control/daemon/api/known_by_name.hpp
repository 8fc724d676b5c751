#pragma once
#include "control/daemon/api/key_words.hpp"
#include "control/daemon/api/sought.hpp"
#include "lib/policy/keys/key_text.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice {

// Settings of single keys that hold, by rule.
using SettingsByRule = std::multimap<std::string, const KeySetting*, std::less<>>;
[[nodiscard]] SettingsByRule settings_by_rule(const RuleView& view);

// Keys of one rule that concern what is sought and are known by name. Tables know digests alone: a
// key with parts that nobody names cannot be found in them.
class KnownByName {
public:
    // Keys of a rule, without those of penalty boxes: these come page by page, and find room.
    static constexpr std::size_t kMost = 1'000;

    struct Known {
        FoundKey key;
        bool exact = false;  // of packets of what is sought, whatever else is in them
    };
    // By tier and text, in the order of pages.
    using Keys = std::map<std::pair<std::size_t, std::string>, Known>;

    // Keys that are what is sought, and those that something is set for or a file bans.
    KnownByName(const RuleSummary& rule, const RuleView& view, const SettingsByRule& settings,
                const Sought& sought);

    // A key as the dataplane writes it; of no tier in particular where it does not say. nullptr: it
    // is none that concerns what is sought.
    const Known* add(std::string_view text, std::optional<std::size_t> tier = std::nullopt);
    // One of a penalty box, likewise; the caller bounds them.
    const Known* add_boxed(std::string_view text, std::size_t tier);
    [[nodiscard]] bool concerns(std::string_view text, std::size_t tier) const;
    [[nodiscard]] const Keys& keys() const noexcept { return keys_; }
    // True if some found no room.
    [[nodiscard]] bool is_cut() const noexcept { return cut_; }

    // Bans of networks that overlap with the one that is sought, where no key of it says so:
    // [{"key":"10.0.0.0/16","tier":1,"source":"operator","until":…,"reason":…}].
    [[nodiscard]] Json network_bans();
    // Networks and ranges of `overrides` that overlap with it, likewise, as override_range_json().
    [[nodiscard]] Json override_ranges();

private:
    void add_exact();
    void add_set(const SettingsByRule& settings);
    void add_banned();
    void add_overridden();
    // The first of the rule's keys that the text is one of and that concerns what is sought.
    [[nodiscard]] std::optional<ReadKey> key_of(std::string_view text,
                                                std::optional<std::size_t> tier) const;
    const Known* put(const ReadKey& key, bool exact, std::size_t room);
    void put_row(Json& rows, Json row);
    [[nodiscard]] bool has_exact(std::size_t tier) const;
    [[nodiscard]] bool is_in_networks(std::size_t key) const;

    const RuleSummary& rule_;
    const RuleView& view_;
    const SettingsByRule& settings_;
    const Sought& sought_;
    Keys keys_;
    bool cut_ = false;
};

}  // namespace sluice
