#pragma once
#include "lib/base/config_key.hpp"
#include "lib/policy/yaml/map_reader.hpp"

#include <optional>
#include <string>
#include <string_view>

// Values of keys in each form. A wrong one is reported with its place; nullopt: it is wrong, or its
// key is not there, or says that there is none.
namespace sluice {

struct ValuePlace {
    const MapReader& map;
    std::string_view key;
    const ReadContext& context;
};
[[nodiscard]] std::optional<std::size_t> read_value(const ValuePlace& at, const form::Word& form);
[[nodiscard]] std::optional<std::uint64_t> read_value(const ValuePlace& at,
                                                      const form::Count& form);
[[nodiscard]] std::optional<std::uint64_t> read_value(const ValuePlace& at, const form::Size& form);
[[nodiscard]] std::optional<std::uint64_t> read_value(const ValuePlace& at, const form::Rate& form);
[[nodiscard]] std::optional<std::uint64_t> read_value(const ValuePlace& at,
                                                      const form::Plain& form);
[[nodiscard]] std::optional<unsigned> read_value(const ValuePlace& at, const form::Percent& form);
[[nodiscard]] std::optional<Nanoseconds> read_value(const ValuePlace& at, const form::Time& form);
[[nodiscard]] std::optional<std::string> read_value(const ValuePlace& at, const form::Text& form);
[[nodiscard]] std::optional<bool> read_value(const ValuePlace& at, const form::Flag& form);

// A value as the file would say it.
[[nodiscard]] std::string text_of(const form::Word& form, std::size_t value);
[[nodiscard]] std::string text_of(const form::Plain& form, std::uint64_t value);
[[nodiscard]] std::string text_of(const form::Percent& form, std::uint64_t value);
[[nodiscard]] std::string text_of(const form::Flag& form, bool value);

}  // namespace sluice
