#pragma once
#include "lib/base/units.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>

// A key of a configuration file stands in one row of one table: its reader, the schema for editors,
// the wire and find_fault() loop over it. The table of a struct is its specialization of
// kConfigKeys. The default of a key is that of its member, which the bounds may leave out.
namespace sluice {

// Both ends included.
template <typename T>
struct ConfigRange {
    T least;
    T most;
    [[nodiscard]] constexpr bool holds(T value) const noexcept {
        return least <= value && value <= most;
    }
};
using CountRange = ConfigRange<std::uint64_t>;

// The forms that a value has in the file.
namespace form {

// A word by its number; the last `others` of them are other names of the value before them.
struct Word {
    std::span<const std::string_view> words;
    std::size_t others = 0;
    [[nodiscard]] constexpr std::size_t last() const noexcept { return words.size() - others - 1; }
};
// A count of things: `4096`, `256k`, `4M`, 1000-based.
struct Count {
    CountRange range;
};
// Bytes: `4096B`, `16KiB`, `16KB`.
struct Size {
    CountRange range;
};
// Packets a second: `500/s`.
struct Rate {
    CountRange range;
};
// A plain number, or the word `none`.
struct Plain {
    CountRange range;
    std::string_view too_small;  // for people: `at least 1`
    std::string_view none{};     // empty: no word says so
};
// A share: `25%`.
struct Percent {
    CountRange range{1, 100};
    std::string_view too_large{};  // for people: `at most 90%`
    unsigned unit = 1;             // the member's number of one percent
};
struct Time {
    ConfigRange<Nanoseconds> range;
    std::string_view text;  // for people: `from 100ms to 1h, such as 10s`
};
struct Text {
    std::string_view none{};  // the word for the empty text
};
struct Flag {};
// A map with the keys of the member, which is a struct or an optional one.
struct Map {};
// Keys in the map of the struct itself. Its row has no name.
struct Inline {};
// One that lib/policy has a read_own() for.
struct Own {};

}  // namespace form

template <typename Options, typename Value, typename Form>
struct ConfigKey {
    std::string_view name;
    Value Options::* member;
    Form form;
};
template <typename Options, typename Value, typename Form>
ConfigKey(std::string_view, Value Options::*, Form) -> ConfigKey<Options, Value, Form>;

// A word or number that the file may say.
template <typename Options, typename Value, typename Form>
[[nodiscard]] constexpr bool value_holds(const ConfigKey<Options, Value, Form>& row,
                                         const std::type_identity_t<Options>& options) noexcept {
    if constexpr (std::is_same_v<Form, form::Word>) {
        return static_cast<std::size_t>(options.*row.member) <= row.form.last();
    } else if constexpr (std::is_same_v<Form, form::Percent>) {
        return options.*row.member % row.form.unit == 0 &&
               row.form.range.holds(options.*row.member / row.form.unit);
    } else if constexpr (requires { row.form.range.holds(options.*row.member); }) {
        return row.form.range.holds(options.*row.member);
    } else {
        return true;
    }
}

// A map whose keys have members of the same struct.
template <typename Rows>
struct ConfigSection {
    std::string_view name;
    Rows rows;
};
template <typename Rows>
ConfigSection(std::string_view, Rows) -> ConfigSection<Rows>;

// A key without a member: `words` are all that it may say; none: it is read elsewhere.
struct BareKey {
    std::string_view name;
    bool built = true;
    std::span<const std::string_view> words{};
};
[[nodiscard]] constexpr bool value_holds(const BareKey&, const auto&) noexcept {
    return true;
}

// A tuple of rows.
template <typename Options>
inline constexpr std::tuple<> kConfigKeys{};

template <typename Options>
concept HasConfigKeys = std::tuple_size_v<std::remove_const_t<decltype(kConfigKeys<Options>)>> != 0;

// Calls `visit` with each of the rows, in their order.
template <typename... Rows>
constexpr void for_each_key(const std::tuple<Rows...>& rows, auto&& visit) {
    std::apply([&](const Rows&... row) { (visit(row), ...); }, rows);
}

}  // namespace sluice
