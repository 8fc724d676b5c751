#include "lib/policy/keys/key_text.hpp"

#include "lib/base/ascii.hpp"
#include "lib/base/whole_number.hpp"
#include "lib/packet/country.hpp"
#include "lib/packet/field_text.hpp"
#include "lib/policy/problems/nearest.hpp"
#include "lib/policy/texts/letter_case.hpp"
#include "lib/policy/values/network_text.hpp"
#include "lib/policy/values/units_text.hpp"
#include "lib/rules/text_part.hpp"

#include <algorithm>
#include <vector>

namespace sluice {
namespace {

constexpr std::size_t kMaxKeyText = 16384;

// The name of the key's part is put in front by a caller.
Error wrong(const std::string& what) {
    return {Errc::BadSyntax, what};
}

int hex_digit(char c) noexcept {
    if (is_ascii_digit(c)) {
        return c - '0';
    }
    const char lower = static_cast<char>(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// The bytes that `\xNN` stands for. nullopt: a backslash begins something else.
std::optional<std::string> unescaped(std::string_view text) {
    if (text.find('\\') == std::string_view::npos) {
        return std::string{text};
    }
    std::string bytes;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\\') {
            bytes += text[i];
            continue;
        }
        const bool whole = i + 3 < text.size() && text[i + 1] == 'x';
        const int high = whole ? hex_digit(text[i + 2]) : -1;
        const int low = whole ? hex_digit(text[i + 3]) : -1;
        if (high < 0 || low < 0) {
            return std::nullopt;
        }
        bytes += static_cast<char>(high * 16 + low);
        i += 3;
    }
    return bytes;
}

std::vector<std::string_view> split_at_bars(std::string_view text) {
    std::vector<std::string_view> parts;
    for (;;) {
        const std::size_t bar = text.find('|');
        parts.push_back(text.substr(0, bar));
        if (bar == std::string_view::npos) {
            return parts;
        }
        text.remove_prefix(bar + 1);
    }
}

// Two hexadecimal digits a byte, and nothing else.
bool read_digest(std::string_view text, TextDigest& digest) {
    bool good = text.size() == 2 * digest.size();
    for (std::size_t i = 0; good && i < digest.size(); ++i) {
        const int high = hex_digit(text[2 * i]);
        const int low = hex_digit(text[2 * i + 1]);
        good = high >= 0 && low >= 0;
        digest[i] = static_cast<std::byte>((high & 0xF) * 16 + (low & 0xF));
    }
    return good;
}

std::string quoted(std::string_view text) {
    return "`" + std::string{text} + "`";
}

// A part that has been read goes into the key.
using Wrong = std::optional<Error>;

Wrong read_address_part(const KeyPart& part, std::string_view text, ReadKey& key) {
    const Result<IpPrefix> network = parse_network(text);
    if (!network) {
        return wrong(network.error().what);
    }
    const unsigned whole = network->version == IpVersion::V4 ? 32 : 128;
    const unsigned length = part.length(network->version);
    const bool has_length = text.find('/') != std::string_view::npos;
    if (has_length && network->length != length) {
        return wrong(
            quoted(text) + " is no key of this rule: it groups by " +
            (length == whole ? "single addresses" : "networks of /" + std::to_string(length)));
    }
    // A network that has addresses beside those that are unwrapped is one of these.
    const bool unwraps = network->length >= kWrappingBits;
    const VersionedAddress named{network->version, network->address};
    const VersionedAddress inside = unwraps ? unwrapped(named, part.unwrapping) : named;
    if (inside != named && network->length < 128) {
        return wrong(quoted(text) + " is written as the IPv4 network inside it");
    }
    const std::uint8_t bits = part.length(inside.version);
    const VersionedAddress address{inside.version, masked(inside.address, bits)};
    key.bytes.append_address(part, address);
    key.text += to_text(IpPrefix{address.version, address.address, bits});
    return std::nullopt;
}

void append(const KeyPart& part, const TextValue& value, ReadKey& key) {
    key.bytes.append_text(part, value);
    key.text += text_of_value(row_of(*part.text), value.view(), value.has_digest);
}

Result<std::uint64_t> read_number_text(std::string_view text, std::uint64_t max) {
    if (!text.starts_with("0x")) {
        return parse_number(text, max);
    }
    const std::optional<std::uint64_t> value = whole_number(text.substr(2), 16);
    if (!value || *value > max) {
        return Error{Errc::BadSyntax,
                     quoted(text) + " is no hexadecimal number up to " + std::to_string(max)};
    }
    return *value;
}

// A number of a later layer, in one spelling.
Wrong read_number_part(const KeyPart& part, std::string_view text, ReadKey& key) {
    const Result<std::uint64_t> number = read_number_text(text, row_of(*part.text).max);
    if (!number) {
        return wrong(number.error().what);
    }
    append(part, text_value(part, bytes_of(std::to_string(*number))), key);
    return std::nullopt;
}

// A text, or the beginning of a long one, \h and the digest of the whole.
Wrong read_text_part(const KeyPart& as_written, std::string_view text, const TextNames& names,
                     ReadKey& key) {
    KeyPart part = as_written;
    part.lower = part.lower || is_folded(*part.text, names);
    constexpr std::size_t kDigits = 2 * kTextDigestSize;
    const std::size_t mark = text.find("\\h");
    const std::optional<std::string> bytes = unescaped(text.substr(0, mark));
    if (!bytes) {
        return wrong("a `\\` begins \\xNN, two hexadecimal digits, in " + quoted(text));
    }
    if (mark == std::string_view::npos) {
        append(part, text_value(part, bytes_of(*bytes)), key);
        return std::nullopt;
    }
    TextDigest digest;
    if (!read_digest(text.substr(mark + 2), digest) || bytes->size() != kept_of_long_text(part)) {
        return wrong("a text longer than " + std::to_string(part.room) + " bytes is its first " +
                     std::to_string(kept_of_long_text(part)) + ", \\h and " +
                     std::to_string(kDigits) + " hexadecimal digits; found " + quoted(text));
    }
    append(part, long_text_value(part, bytes_of(*bytes), digest), key);
    return std::nullopt;
}

Result<std::uint64_t> read_mac(std::string_view text) {
    std::uint64_t mac = 0;
    bool good = text.size() == 17;
    for (std::size_t i = 0; good && i < text.size(); i += 3) {
        const int high = hex_digit(text[i]);
        const int low = hex_digit(text[i + 1]);
        good = high >= 0 && low >= 0 && (i + 2 == text.size() || text[i + 2] == ':');
        mac = mac << 8 | static_cast<unsigned>((high & 0xF) * 16 + (low & 0xF));
    }
    return good ? Result{mac}
                : Error{Errc::BadSyntax, quoted(text) + " is no address such as 02:00:00:00:00:01"};
}

Result<std::uint64_t> read_word(std::string_view text, std::span<const std::string_view> words) {
    const auto found = std::find(words.begin(), words.end(), text);
    return found != words.end()
               ? Result{static_cast<std::uint64_t>(found - words.begin())}
               : Error{Errc::BadSyntax, quoted(text) + " is none of " + list_of(words)};
}

Result<std::uint64_t> read_name(Field field, std::string_view text) {
    if (field == Field::Dir) {
        return read_word(text, kDirWords);
    }
    if (field == Field::IpFrag) {
        return read_word(text, kFragWords);
    }
    return text.empty() ? Result<std::uint64_t>{Error{Errc::BadSyntax, "a name is missing"}}
                        : Result{port_name(text)};
}

Result<std::uint64_t> read_country(std::string_view text) {
    const std::uint16_t number = country_number(raised(text));
    return number != 0
               ? Result<std::uint64_t>{number}
               : Error{Errc::BadSyntax, quoted(text) + " is no code of two letters, such as NL"};
}

Result<std::uint64_t> read_value(Field field, std::string_view text) {
    switch (row_of(field).kind) {
        case FieldKind::Mac:
            return read_mac(text);
        case FieldKind::Name:
            return read_name(field, text);
        case FieldKind::Country:
            return read_country(text);
        default:
            return read_number_text(text, row_of(field).max);
    }
}

Wrong read_part(const KeyPart& part, std::string_view text, const TextNames& names, ReadKey& key) {
    if (part.text) {
        return row_of(*part.text).kind == TextKind::Number ? read_number_part(part, text, key)
                                                           : read_text_part(part, text, names, key);
    }
    const std::optional<std::string> bytes = unescaped(text);
    if (!bytes) {
        return wrong("a `\\` begins \\xNN, two hexadecimal digits, in " + quoted(text));
    }
    if (part.is_address()) {
        return read_address_part(part, *bytes, key);
    }
    const Result<std::uint64_t> value = read_value(part.field, *bytes);
    if (!value) {
        return wrong(value.error().what);
    }
    key.bytes.append_number(part.field, *value);
    key.text += value_text(part.field, *value, text);
    return std::nullopt;
}

std::string lengths_text(const KeyPart& part) {
    const std::string v4 = std::to_string(part.v4_length);
    return part.v6_length == 128 ? v4 : v4 + "|" + std::to_string(part.v6_length);
}

std::string shape_of(const KeyPart& part, const TextNames& names) {
    const std::string name = part.name(names);
    if (part.text) {
        return part.lower ? "lower(" + name + ")" : name;
    }
    const bool cut = part.is_address() && (part.v4_length < 32 || part.v6_length < 128);
    return cut ? "prefix(" + name + ", " + lengths_text(part) + ")" : name;
}

}  // namespace

std::string shape_of(const GroupingKey& key, const TextNames& names) {
    std::string text;
    for (const KeyPart& part : key) {
        text += (text.empty() ? "" : "|") + shape_of(part, names);
    }
    return text.empty() ? "[]" : text;
}

Result<ReadKey> read_key_text(const GroupingKey& key, std::string_view text,
                              const TextNames& names) {
    ReadKey read;
    if (text.size() > kMaxKeyText) {
        return Error{Errc::BadSyntax,
                     "a key has at most " + std::to_string(kMaxKeyText) + " bytes"};
    }
    const std::vector<std::string_view> parts =
        key.empty() && text.empty() ? std::vector<std::string_view>{} : split_at_bars(text);
    if (parts.size() != key.size()) {
        return Error{Errc::BadSyntax, quoted(text) + " has " + std::to_string(parts.size()) +
                                          (parts.size() == 1 ? " part" : " parts") +
                                          ", and the key " + shape_of(key, names) + " has " +
                                          std::to_string(key.size())};
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
        read.text += i == 0 ? "" : "|";
        if (const Wrong fault = read_part(key[i], parts[i], names, read)) {
            return Error{fault->code, key[i].name(names) + ": " + fault->what};
        }
    }
    return read;
}

std::optional<Error> find_narrower(const GroupingKey& key, std::string_view text) {
    const std::vector<std::string_view> texts = split_at_bars(text);
    for (std::size_t i = 0; i < std::min(key.size(), texts.size()); ++i) {
        const auto named = key[i].is_address() ? parse_address(texts[i]) : std::nullopt;
        if (!named) {
            continue;
        }
        const VersionedAddress inside = unwrapped(*named, key[i].unwrapping);
        const std::uint8_t length = key[i].length(inside.version);
        if (length != (inside.version == IpVersion::V4 ? 32 : 128)) {
            return Error{
                Errc::OutOfRange,
                quoted(texts[i]) + " is narrower than a key: the rule groups by networks " +
                    "of /" + std::to_string(length) + "; all of it is `" +
                    to_text(IpPrefix{inside.version, masked(inside.address, length), length}) +
                    "`"};
        }
    }
    return std::nullopt;
}

Result<ReadKey> read_key_of_rule(std::span<const GroupingKey> keys, MissingKey missing,
                                 std::string_view text, std::optional<std::size_t> tier,
                                 const TextNames& names) {
    if (tier && (*tier < 1 || *tier > keys.size())) {
        return Error{Errc::OutOfRange, "there is no tier " + std::to_string(*tier) +
                                           "; the rule has " + std::to_string(keys.size())};
    }
    std::optional<ReadKey> found;
    Error first{Errc::BadSyntax, "a rule that decides on sight has no keys"};
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (tier && *tier != i + 1) {
            continue;
        }
        Result<ReadKey> read = read_key_text(keys[i], text, names);
        // An empty text could be that of a packet too.
        if (text.empty() && !keys[i].empty() && missing == MissingKey::Share) {
            read = ReadKey{};
            read->bytes.append_shared();
        }
        if (!read) {
            first = i == 0 || tier ? read.error() : first;
            continue;
        }
        if (found) {
            return Error{Errc::BadSyntax, quoted(text) + " can be a key of tier " +
                                              std::to_string(found->index + 1) + " and of tier " +
                                              std::to_string(i + 1) + "; say which with --tier"};
        }
        read->index = static_cast<std::uint8_t>(i);
        found = *std::move(read);
    }
    return found ? Result<ReadKey>{*std::move(found)} : Result<ReadKey>{first};
}

Result<ReadKey> read_network_of_rule(std::span<const GroupingKey> keys, std::string_view text,
                                     std::optional<std::size_t> tier) {
    const std::size_t slash = text.rfind('/');
    const auto length = whole_number<unsigned>(text.substr(std::min(slash, text.size() - 1) + 1));
    if (slash == std::string_view::npos || !length) {
        return Error{Errc::BadSyntax, quoted(text) + " is no network, such as 192.0.2.0/24"};
    }
    const bool v6 = text.find(':') != std::string_view::npos;
    Error wrong{Errc::BadSyntax,
                "networks can be banned where a key is one address, as ip.src or prefix()"};
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if ((tier && *tier != i + 1) || keys[i].size() != 1 || !keys[i].front().is_address()) {
            continue;
        }
        GroupingKey wider = keys[i];
        KeyPart& part = wider.front();
        const std::uint8_t most = v6 ? part.v6_length : part.v4_length;
        if (*length >= most) {
            wrong = {Errc::OutOfRange, "a network of this key is shorter than /" +
                                           std::to_string(most) + ", found " + quoted(text)};
            continue;
        }
        (v6 ? part.v6_length : part.v4_length) = static_cast<std::uint8_t>(*length);
        part.unwrapping = {};
        Result<ReadKey> read = read_key_text(wider, text);
        if (read) {
            read->index = static_cast<std::uint8_t>(i);
            return read;
        }
        wrong = read.error();
    }
    return wrong;
}

}  // namespace sluice
