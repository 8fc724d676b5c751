#pragma once
#include "lib/packet/text_field.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Headers and cookies that rules name: http.request.headers["x-api-key"], http.cookies["id"].
namespace sluice {

struct TextName {
    enum class Kind : std::uint8_t { Header, Cookie };
    Kind kind = Kind::Header;
    std::string name{};  // as the rule file spells it first

    [[nodiscard]] bool operator==(const TextName&) const = default;
};
// Of a rule set: named_text(i) is the text of the i-th. Each stands there once.
using TextNames = std::vector<TextName>;

inline constexpr std::size_t kMaxTextNameSize = 128;

// What stands before the name, in brackets.
struct TextFamily {
    TextName::Kind kind;
    std::string_view field;
};
inline constexpr auto kTextFamilies = std::to_array<TextFamily>({
    {TextName::Kind::Header, "http.request.headers"},
    {TextName::Kind::Cookie, "http.cookies"},
});
[[nodiscard]] std::optional<TextName::Kind> find_text_family(std::string_view field) noexcept;

// A token (RFC 9110, 5.6.2) of at most kMaxTextNameSize bytes.
[[nodiscard]] bool is_text_name(std::string_view name) noexcept;

// The text of this name, which goes to the end where it is new. nullopt: there are kMaxNamedTexts.
// Headers are the same whatever the case of their letters, cookies are not (RFC 9110, RFC 6265).
[[nodiscard]] std::optional<TextField> add_text_name(const TextName& name, TextNames& names);

// http.request.headers["X-Api-Key"]
[[nodiscard]] std::string spelled(const TextName& name);
// A field of the table by its name, a named one as spelled.
[[nodiscard]] std::string name_of(TextField field, const TextNames& names);
// The same in one spelling for one meaning: what state belongs to, whatever else rules name.
[[nodiscard]] std::string state_name_of(TextField field, const TextNames& names);

// Every name is one, there is room for all, and none stands there twice.
[[nodiscard]] bool are_sound(const TextNames& names);
// A field of the table, or one that is named.
[[nodiscard]] constexpr bool is_known(TextField field, const TextNames& names) noexcept {
    return static_cast<std::size_t>(field) < kTextFields.size() + names.size();
}

}  // namespace sluice
