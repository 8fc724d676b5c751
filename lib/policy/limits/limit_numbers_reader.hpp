#pragma once
#include "lib/policy/yaml/map_reader.hpp"
#include "lib/rules/rule_set.hpp"

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

// The numbers of one limit, each with its unit. What is absent or wrong is reported at its place.
class LimitNumbersReader {
public:
    LimitNumbersReader(const MapReader& map, Per per, const ReadContext& context,
                       std::string_view algorithm) noexcept
        : map_{map}, context_{context}, algorithm_{algorithm}, per_{per} {}

    // `50/s`; for bytes also `20Mbit/s`.
    [[nodiscard]] std::optional<Rate> rate(std::string_view key) const;
    // Units: a count of things, or a size for bytes.
    [[nodiscard]] std::optional<Units> amount(std::string_view key) const;
    // `60s`.
    [[nodiscard]] std::optional<Nanoseconds> duration(std::string_view key) const;

    // Reports an error at the first of `keys` that it names, else at the first.
    void report(const Error& error, std::initializer_list<std::string_view> keys) const;
    // A burst that no full-sized packet fits in is allowed, and hardly meant.
    void warn_if_below_mtu(std::string_view key, Units burst) const;

    [[nodiscard]] const MapReader& map() const noexcept { return map_; }
    [[nodiscard]] const ReadContext& context() const noexcept { return context_; }
    // As written.
    [[nodiscard]] const std::string& text(std::string_view key) const {
        return map_.find(key)->text;
    }
    [[nodiscard]] bool counts_bytes() const noexcept { return per_ == Per::Byte; }
    // What stands behind a count of them: " packets"; sizes have their unit already.
    [[nodiscard]] std::string_view unit_word() const noexcept;

private:
    [[nodiscard]] const YamlNode* number_text(std::string_view key) const;

    const MapReader& map_;
    const ReadContext& context_;
    std::string_view algorithm_;
    Per per_;
};

}  // namespace sluice
