#pragma once
#include "lib/policy/keys/key_setting.hpp"
#include "lib/policy/overrides/override_builder.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sluice {

// Settings made at run time for keys of a rule, as rows of its overrides: one more setting beside
// ten thousand is read alone, with the outcome of reading all of them anew, in their order.
class SettingRows {
public:
    // Brings the rows up to the settings that are of this rule. The rule has the keys and limits
    // of every call before; settings are read as they stand (no `dynamic`). One that does not fit
    // the rule gives no row.
    void follow(const Rule& rule, const KeySettings& all, const TextNames* names);

    [[nodiscard]] const OpenRows& rows() const noexcept { return rows_; }
    [[nodiscard]] std::size_t size() const noexcept { return settings_.size(); }
    // Why the setting with this index, of those of this rule, does not fit it.
    [[nodiscard]] const std::optional<OverrideFault>& fault(std::size_t setting) const noexcept {
        return faults_[setting];
    }

private:
    void forget(const std::vector<std::size_t>& gone);
    void add(const Rule& rule, const std::vector<const KeySetting*>& fresh, const TextNames* names);
    // Bytes and pieces of settings that have gone outweigh those of the others.
    [[nodiscard]] bool is_worn() const noexcept;

    KeySettings settings_{};                              // none of them new
    std::vector<std::uint32_t> numbers_{};                // by setting: its row's line
    std::vector<std::optional<OverrideFault>> faults_{};  // likewise
    OpenRows rows_{};
    std::uint32_t next_ = 0;
};

// False: the rule's keys were others when it was set, so that the same words would name other
// clients.
[[nodiscard]] bool is_of_keys(const KeySetting& set, std::span<const GroupingKey> keys,
                              const TextNames& names);
// The same as what is wrong with it.
[[nodiscard]] std::optional<OverrideFault> find_other_key(const KeySetting& set, const Rule& rule,
                                                          const TextNames* names);

// The text that a setting stands for, with these numbers; it points into both.
[[nodiscard]] OverrideText text_of(const KeySetting& set, const NumbersText& numbers);

}  // namespace sluice
