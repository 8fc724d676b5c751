#pragma once
#include "lib/packet/text_field.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Texts that rules name beside the fields of the table: headers and cookies, and what functions
// make of a field.
//
//     http.request.headers["x-api-key"]   path_prefix(http.request.uri.path, 2)
//     http.cookies["id"]                  registrable_domain(tls.sni)
namespace sluice {

struct TextName {
    enum class Kind : std::uint8_t { Header, Cookie, PathPrefix, RegistrableDomain };
    Kind kind = Kind::Header;
    std::string name{};         // of a header or cookie, as the rule file spells it first
    TextField source{};         // of a derived text: the field of the table that it is a part of
    std::uint8_t segments = 0;  // of PathPrefix: at most so many, from 1 to kMaxSegments

    [[nodiscard]] bool operator==(const TextName&) const = default;
    [[nodiscard]] bool is_derived() const noexcept { return kind >= Kind::PathPrefix; }
};
// The named texts of a rule set: named_text(i) is the text of the i-th. Each stands there once.
using TextNames = std::vector<TextName>;

inline constexpr std::size_t kMaxTextNameSize = 128;
inline constexpr std::uint8_t kMaxSegments = 64;

// A field that stands before the name, which is in brackets.
struct TextFamily {
    TextName::Kind kind;
    std::string_view field;
};
inline constexpr auto kTextFamilies = std::to_array<TextFamily>({
    {TextName::Kind::Header, "http.request.headers"},
    {TextName::Kind::Cookie, "http.cookies"},
});
[[nodiscard]] std::optional<TextName::Kind> find_text_family(std::string_view field) noexcept;

// A function that makes a text of a field, and of which fields.
struct TextFunction {
    TextName::Kind kind;
    std::string_view name;
    TextFieldSet sources;
    std::string_view takes;  // for people
};
inline constexpr auto kTextFunctions = std::to_array<TextFunction>({
    {TextName::Kind::PathPrefix,
     "path_prefix",
     {TextField::HttpPath},
     "a path, http.request.uri.path"},
    {TextName::Kind::RegistrableDomain,
     "registrable_domain",
     {TextField::HttpHost, TextField::TlsSni, TextField::QuicSni, TextField::DnsQname},
     "the name of a host, such as http.host, tls.sni, quic.sni or dns.qname"},
});
[[nodiscard]] const TextFunction* find_text_function(std::string_view name) noexcept;

// A token (RFC 9110, 5.6.2) of at most kMaxTextNameSize bytes.
[[nodiscard]] bool is_text_name(std::string_view name) noexcept;

// The text of this name, which goes to the end where it is new. nullopt: there are kMaxNamedTexts.
// Headers are the same whatever the case of their letters, cookies are not (RFC 9110, RFC 6265).
[[nodiscard]] std::optional<TextField> add_text_name(const TextName& name, TextNames& names);

// http.request.headers["X-Api-Key"], path_prefix(http.request.uri.path, 2)
[[nodiscard]] std::string spelled(const TextName& name);
// A field of the table by its name, a named one as spelled.
[[nodiscard]] std::string name_of(TextField field, const TextNames& names);
// The same in one spelling for one meaning: what state belongs to, whatever else rules name.
[[nodiscard]] std::string state_name_of(TextField field, const TextNames& names);

// True if it is the same whatever the case of its letters.
[[nodiscard]] bool is_folded(TextField field, const TextNames& names) noexcept;
// The name of a derived text; nullptr: it is none.
[[nodiscard]] const TextName* find_derived(TextField field, const TextNames& names) noexcept;
// The texts of these that are derived.
[[nodiscard]] TextFieldSet derived_of(TextFieldSet fields, const TextNames& names) noexcept;
// The texts that a parser has to find for these: of derived ones, their sources.
[[nodiscard]] TextFieldSet sources_of(TextFieldSet fields, const TextNames& names) noexcept;

// Every name is one, there is room for all, and none stands there twice.
[[nodiscard]] bool are_sound(const TextNames& names);
// A field of the table, or one that is named.
[[nodiscard]] constexpr bool is_known(TextField field, const TextNames& names) noexcept {
    return static_cast<std::size_t>(field) < kTextFields.size() + names.size();
}

}  // namespace sluice
