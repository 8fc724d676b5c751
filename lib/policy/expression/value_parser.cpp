#include "lib/policy/expression/value_parser.hpp"

#include "lib/base/ascii.hpp"
#include "lib/base/whole_number.hpp"
#include "lib/packet/ip_address.hpp"
#include "lib/policy/expression/number_names.hpp"
#include "lib/policy/expression/port_words.hpp"
#include "lib/policy/lists/list_set.hpp"
#include "lib/policy/problems/nearest.hpp"
#include "lib/policy/texts/letter_case.hpp"
#include "lib/policy/values/network_text.hpp"
#include "lib/policy/values/range_set.hpp"
#include "lib/policy/values/units_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace sluice {
namespace {

// The names that a comparison takes for numbers; none: its numbers have no names.
std::span<const NumberName> names_of(const Operand& operand) noexcept {
    return operand.text ? names_of_numbers(*operand.text) : names_of_numbers(*operand.field);
}

// 80-90 or 80:90, as other languages write it.
bool looks_like_range(std::string_view text) noexcept {
    const std::size_t middle = text.find_first_of("-:");
    return middle != 0 && text.find_first_not_of("0123456789-:") == std::string_view::npos &&
           middle != std::string_view::npos;
}

// For a word that is no number where numbers have names, which stand in quotes; else nothing.
std::string quotes_hint(const Operand& operand, std::string_view word) {
    const std::span<const NumberName> names = names_of(operand);
    if (const NumberName* known = find_number_name(names, word)) {
        return "; a name stands in quotes: write `\"" + std::string{known->name} + "\"`";
    }
    return names.empty() || word.empty() || is_ascii_digit(word.front())
               ? ""
               : "; its names stand in quotes, such as `\"" + std::string{names.front().name} +
                     "\"`";
}

// nullopt: the error has been noted.
std::optional<std::uint64_t> read_number(TokenReader& reader, const Token& token,
                                         std::string_view text, const Operand& operand) {
    const std::uint64_t max = most_of(operand);
    if (text.starts_with("0x")) {
        const std::optional<std::uint64_t> value = whole_number(text.substr(2), 16);
        if (!value || *value > max) {
            (void)reader.fail(token.offset, "`" + std::string{text} + "` is not a number up to " +
                                                std::to_string(max) + " for " + operand.name);
            return std::nullopt;
        }
        return value;
    }
    const Result<std::uint64_t> value = parse_number(text, max);
    if (value) {
        return *value;
    }
    (void)reader.fail(
        token.offset,
        looks_like_range(text)
            ? "a range stands in a set, with two dots: `" + operand.name + " in {80..90}`"
            : value.error().what + " (" + operand.name + ")" + quotes_hint(operand, text));
    return std::nullopt;
}

bool is_port(const Operand& operand) noexcept {
    return operand.field == Field::L4Sport || operand.field == Field::L4Dport;
}

// Ports have numbers alone: a word of letters is told that of the service that it names.
bool is_port_word(const Operand& operand, const Token& token) noexcept {
    return is_port(operand) && !token.text.empty() && token.text.find_first_of("0123456789") != 0 &&
           (token.kind == Token::Kind::Word || token.kind == Token::Kind::Text);
}

bool refuse_port_word(TokenReader& reader, const Operand& operand, const Token& token) {
    return reader.fail(token.offset, operand.name + " is a number from 0 to " +
                                         std::to_string(most_of(operand)) + "; found `" +
                                         token.text + "`" + number_of_port_word(token.text));
}

enum class Among : std::uint8_t { One, Set };

// A number, or in a set a range of them.
bool add_number(TokenReader& reader, const Token& token, const Operand& operand, Among among,
                RangeSet& values) {
    const std::string_view text = token.text;
    const std::size_t dots = text.find("..");
    if (dots != std::string_view::npos && among == Among::One) {
        return reader.fail(token.offset, "a range stands in a set: `" + operand.name + " in {" +
                                             token.text + "}`");
    }
    const std::optional<std::uint64_t> first =
        read_number(reader, token, text.substr(0, dots), operand);
    const std::optional<std::uint64_t> last =
        dots == std::string_view::npos || !first
            ? first
            : read_number(reader, token, text.substr(dots + 2), operand);
    if (!last) {
        return false;
    }
    if (*last < *first) {
        return reader.fail(token.offset, "the range `" + token.text + "` ends before it begins");
    }
    values.numbers.push_back({*first, *last});
    return true;
}

bool add_mac(TokenReader& reader, const Token& token, const Operand& operand, RangeSet& values) {
    std::uint64_t mac = 0;
    bool good = token.text.size() == 17;
    for (std::size_t i = 0; good && i < 17; i += 3) {
        const std::optional<std::uint64_t> octet =
            whole_number(std::string_view{token.text}.substr(i, 2), 16);
        good = octet.has_value() && (i == 15 || token.text[i + 2] == ':');
        mac = (mac << 8) | octet.value_or(0);
    }
    if (!good) {
        return reader.fail(token.offset, "expected a MAC address such as 02:00:00:00:00:01 for " +
                                             operand.name + ", found `" + token.text + "`");
    }
    values.numbers.push_back({mac, mac});
    return true;
}

std::optional<IpPrefix> read_network(TokenReader& reader, const Token& token,
                                     const Operand& operand) {
    const Result<IpPrefix> network = parse_network(token.text);
    if (network) {
        return *network;
    }
    (void)reader.fail(token.offset,
                      network.error().code == Errc::OutOfRange
                          ? network.error().what
                          : "expected an address or network such as 192.0.2.0/24 for " +
                                operand.name + ", found `" + token.text + "`");
    return std::nullopt;
}

// client.ip is a network where client_ip cuts it; one alone stands for itself.
bool fits_client(TokenReader& reader, const Token& token, const Operand& operand,
                 IpPrefix& network) {
    const std::uint8_t length =
        network.version == IpVersion::V4 ? operand.v4_length : operand.v6_length;
    const bool address_alone = token.text.find('/') == std::string::npos;
    if (address_alone && masked(network.address, length) == network.address) {
        network.length = length;
    }
    return network.length <= length ||
           reader.fail(token.offset, "client.ip is a network of /" + std::to_string(length) +
                                         " here (`client_ip`); `" + token.text +
                                         "` is finer, so it never matches");
}

bool add_address(TokenReader& reader, const Token& token, const Operand& operand,
                 RangeSet& values) {
    std::optional<IpPrefix> network = read_network(reader, token, operand);
    if (!network) {
        return false;
    }
    if (operand.prefix) {
        // prefix(f, n) equals a network only if that has no bits behind n.
        const std::uint8_t length =
            network->version == IpVersion::V4 ? operand.v4_length : operand.v6_length;
        const bool address_alone = token.text.find('/') == std::string::npos;
        if (masked(network->address, length) != network->address ||
            (!address_alone && network->length != length)) {
            return reader.fail(token.offset, "prefix() gives networks of length " +
                                                 std::to_string(length) + "; `" + token.text +
                                                 "` is none, so it never matches");
        }
        network->length = length;
    }
    if (operand.is_client() && !operand.prefix && !fits_client(reader, token, operand, *network)) {
        return false;
    }
    (network->version == IpVersion::V4 ? values.v4 : values.v6).push_back(range_of(*network));
    return true;
}

bool add_name(TokenReader& reader, const Token& token, const Operand& operand, RangeSet& values) {
    if (const std::optional<std::uint64_t> number = number_of_name(operand, token.text)) {
        values.numbers.push_back({*number, *number});
        return true;
    }
    const std::span<const std::string_view> words = words_of(operand);
    return reader.fail(token.offset, operand.name + " is one of " + list_of(words) + "; found \"" +
                                         token.text + "\"" + did_you_mean(token.text, words));
}

bool add_country(TokenReader& reader, const Token& token, const Operand& operand,
                 RangeSet& values) {
    const std::uint16_t number = country_number(raised(token.text));
    if (number == 0) {
        return reader.fail(token.offset, not_a_country(operand, token.text));
    }
    values.numbers.push_back({number, number});
    return true;
}

bool is_quoted(OperandKind kind) noexcept {
    return kind == OperandKind::Name || kind == OperandKind::Country || kind == OperandKind::Text;
}

bool add_named_number(TokenReader& reader, const Operand& operand,
                      std::span<const NumberName> names, RangeSet& values) {
    constexpr std::size_t kMostListed = 24;
    const Token token = reader.next();
    if (const NumberName* known = find_number_name(names, token.text)) {
        values.numbers.push_back({known->number, known->number});
        return true;
    }
    if (!token.text.empty() && std::ranges::all_of(token.text, is_ascii_digit)) {
        return reader.fail(token.offset, "a number stands without quotes: `" + token.text + "`");
    }
    std::vector<std::string_view> words;
    for (const NumberName& name : names) {
        words.push_back(name.name);
    }
    const std::string known = words.size() > kMostListed
                                  ? "a name such as \"" + std::string{words.front()} + "\""
                                  : "one of " + list_of(words);
    const std::string meant = did_you_mean(token.text, words);
    return reader.fail(
        token.offset, operand.name + " is a number or " + known + "; found \"" + token.text + "\"" +
                          (meant.empty() ? did_you_mean(raised(token.text), words) : meant));
}

// Takes one value of the operand's kind.
bool add_value(TokenReader& reader, const Operand& operand, Among among, RangeSet& values) {
    const std::span<const NumberName> names = names_of(operand);
    if (!names.empty() && reader.peek().kind == Token::Kind::Text) {
        return add_named_number(reader, operand, names, values);
    }
    const bool quoted = is_quoted(operand.kind);
    const Token token = reader.peek();
    if (is_port_word(operand, token)) {
        return refuse_port_word(reader, operand, token);
    }
    if (token.kind != (quoted ? Token::Kind::Text : Token::Kind::Word)) {
        return reader.fail_here(quoted ? "a text in double quotes for " + operand.name
                                       : "a value for " + operand.name + " (without quotes)");
    }
    (void)reader.next();
    switch (operand.kind) {
        case OperandKind::Number:
        case OperandKind::Flag:
            return add_number(reader, token, operand, among, values);
        case OperandKind::Mac:
            return add_mac(reader, token, operand, values);
        case OperandKind::Address:
            return add_address(reader, token, operand, values);
        case OperandKind::Name:
            return add_name(reader, token, operand, values);
        case OperandKind::Country:
            return add_country(reader, token, operand, values);
        default:
            values.texts.push_back(token.text);
            return true;
    }
}

// For a value that stands behind `in` by itself; no hint for a word between conditions.
std::string braces_hint(const Token& token) {
    const bool is_quoted_text = token.kind == Token::Kind::Text;
    const bool joins = token.text == "and" || token.text == "or" || token.text == "not";
    const bool is_value = is_quoted_text || (token.kind == Token::Kind::Word && !joins);
    return is_value ? fmt::format(", such as {{{1}{0}{1}}}", token.text, is_quoted_text ? "\"" : "")
                    : "";
}

}  // namespace

std::uint64_t most_of(const Operand& operand) noexcept {
    return operand.text ? row_of(*operand.text).max : row_of(*operand.field).max;
}

std::span<const std::string_view> words_of(const Operand& operand) {
    if (operand.field == Field::Dir) {
        return kDirWords;
    }
    return operand.field == Field::IpFrag ? std::span<const std::string_view>{kFragWords}
                                          : std::span<const std::string_view>{};
}

std::string not_a_country(const Operand& operand, std::string_view text) {
    return operand.name + " is a code of two letters, such as \"NL\"; found \"" +
           std::string{text} + "\"";
}

std::optional<std::uint64_t> number_of_name(const Operand& operand, std::string_view text) {
    const std::span<const std::string_view> words = words_of(operand);
    if (words.empty()) {
        return port_name(text);
    }
    const auto found = std::find(words.begin(), words.end(), lowered(text));
    return found == words.end() ? std::nullopt
                                : std::optional{static_cast<std::uint64_t>(found - words.begin())};
}

std::optional<RangeSet> parse_value(TokenReader& reader, const Operand& operand) {
    RangeSet values;
    if (!add_value(reader, operand, Among::One, values)) {
        return std::nullopt;
    }
    return values;
}

std::optional<RangeSet> parse_set(TokenReader& reader, const Operand& operand) {
    RangeSet values;
    if (reader.peek().kind == Token::Kind::List) {
        return list_set(reader, operand);
    }
    if (!reader.expect_symbol("{", "or $list after `in`" + braces_hint(reader.peek()))) {
        return std::nullopt;
    }
    if (reader.is(Token::Kind::Symbol, "}")) {
        (void)reader.fail_here("at least one value");
        return std::nullopt;
    }
    while (!reader.accept(Token::Kind::Symbol, "}")) {
        if (reader.is(Token::Kind::Symbol, ",")) {
            (void)reader.fail(reader.peek().offset,
                              "values in { } stand side by side, without commas");
            return std::nullopt;
        }
        if (!add_value(reader, operand, Among::Set, values)) {
            return std::nullopt;
        }
    }
    return values;
}

}  // namespace sluice
