#pragma once
#include "lib/policy/overrides/override_rows.hpp"
#include "lib/policy/overrides/setting_rows.hpp"
#include "lib/rules/rule_set.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace sluice {

// Override files as they were read for the rules that name them: to set one key, the million lines
// beside it are not read again. Any thread may use it.
class OverrideCache {
public:
    OverrideCache() = default;
    // Rows of `behind`, which outlives it, serve here too, and none is taken or replaced there: for
    // rules that nobody applies. Of its own it has those of one file.
    explicit OverrideCache(const OverrideCache& behind) noexcept : behind_{&behind} {}

    using Text = std::shared_ptr<const std::string>;
    using Rows = std::shared_ptr<const OverrideRows>;

    // The rows of a file of this text for a rule whose keys and limits are those of this one.
    // nullptr: it has not been read yet, or not lately.
    [[nodiscard]] Rows find(const Rule& rule, const Text& text);
    // `rows` are sorted.
    void keep(const Rule& rule, Text text, Rows rows);

    // The settings made at run time for keys of such a rule, to be brought up to what is set now
    // and given back; empty: nothing is known.
    [[nodiscard]] SettingRows take_settings(const Rule& rule);
    void give_settings(const Rule& rule, SettingRows rows);

private:
    struct LimitKept {
        std::string name;
        std::uint8_t key = 0;
        AnyLimit limit;

        [[nodiscard]] bool operator==(const LimitKept&) const = default;
    };
    // All of a rule that decides on how a line is read.
    struct Shape {
        std::vector<GroupingKey> keys;
        MissingKey missing_key{};
        std::vector<LimitKept> limits;

        [[nodiscard]] bool operator==(const Shape&) const = default;
    };
    struct Kept {
        Shape shape;
        Text text;
        Rows rows;
        std::uint64_t used_at = 0;

        [[nodiscard]] bool is_of(const Shape& rule, const Text& other) const;
    };

    struct KeptSettings {
        Shape shape;
        SettingRows rows;
        std::uint64_t used_at = 0;
    };

    [[nodiscard]] static Shape shape_of(const Rule& rule);
    // find() and take_settings() that leave everything as it is.
    [[nodiscard]] Rows look_up(const Rule& rule, const Text& text) const;
    [[nodiscard]] SettingRows copied_settings(const Rule& rule) const;
    void make_room(std::size_t rows);

    const OverrideCache* behind_ = nullptr;
    mutable std::mutex mutex_;
    std::map<std::string, Kept> kept_;              // by rule
    std::map<std::string, KeptSettings> settings_;  // likewise
    std::uint64_t uses_ = 0;
};

}  // namespace sluice
