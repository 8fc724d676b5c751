#include "lib/policy/texts/text_form.hpp"

#include "lib/base/ascii.hpp"
#include "lib/l7/http1/host.hpp"
#include "lib/l7/http1/path.hpp"
#include "lib/l7/http1/texts.hpp"
#include "lib/l7/quic/long_header.hpp"
#include "lib/l7/tls/server_name.hpp"
#include "lib/packet/ip_address.hpp"
#include "lib/packet/text_name.hpp"
#include "lib/policy/problems/nearest.hpp"
#include "lib/policy/texts/letter_case.hpp"
#include "lib/policy/texts/name_form.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace sluice {
namespace {

using Fault = std::optional<std::string>;

// The text as an expression has it, where a backslash and a quote stand behind another.
std::string written(std::string_view text) {
    constexpr std::string_view kHex = "0123456789abcdef";
    std::string out;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte > 0x7E) {
            out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
        } else {
            out += c == '\\' || c == '"' ? std::string{'\\', c} : std::string{c};
        }
    }
    return out;
}

bool ends_at_end(TextHow how) noexcept {
    return how == TextHow::Equals || how == TextHow::EndsWith;
}

// Bytes that may stand before and behind a text when it is brought into its form.
struct Around {
    std::string before;
    std::string after;
};

template <typename Normalise>
Fault fault_of_form(const ComparedText& compared, const Around& around, std::string_view why,
                    Normalise normalise) {
    const std::string whole = around.before + std::string{compared.text} + around.after;
    const std::string form = normalise(whole);
    const bool is_form = compared.ignore_case ? lowered(form) == lowered(whole) : form == whole;
    if (is_form) {
        return std::nullopt;
    }
    const bool is_around = form.size() >= around.before.size() + around.after.size() &&
                           form.starts_with(around.before) && form.ends_with(around.after);
    const std::string_view meant =
        is_around
            ? std::string_view{form}.substr(
                  around.before.size(), form.size() - around.before.size() - around.after.size())
            : std::string_view{};
    return never_so(why, meant);
}

// A name as packets have it: octets that are not printable as `\DDD`; to its end, no dot there
// unless a label has it, and the root as a dot.
std::string query_name(std::string_view text, bool to_end) {
    std::string name;
    for (const char c : text) {
        const auto octet = static_cast<unsigned char>(c);
        if (octet > 0x20 && octet < 0x7F) {
            name += c;
            continue;
        }
        const std::string digits = std::to_string(octet);
        name += '\\' + std::string(3 - digits.size(), '0') + digits;
    }
    while (to_end && name.size() > 1 && name.back() == '.' && name[name.size() - 2] != '\\') {
        name.pop_back();
    }
    return name.empty() ? "." : name;
}

Fault fault_of_query_name(const ComparedText& compared) {
    return fault_of_form(
        compared, {},
        "no dot stands at a name's end, and what is not printable is a backslash and three digits",
        [&](std::string_view text) { return query_name(text, ends_at_end(compared.how)); });
}

std::string normal_host(std::string_view host) {
    std::vector<std::byte> room(host.size() + kMaxAddressText);
    HeadShapes shapes;
    return std::string{http1::as_text(normalise_host(bytes_of(host), room, shapes))};
}

// The end of a host matters alone: what is no host keeps what stands behind a colon.
Fault fault_of_host(const ComparedText& compared) {
    if (!ends_at_end(compared.how)) {
        return std::nullopt;
    }
    return fault_of_form(compared, {compared.how == TextHow::EndsWith ? "a" : "", ""},
                         "no port and no dot stand at a host's end, and IPv6 is as in RFC 5952",
                         normal_host);
}

std::string_view without_port(std::string_view name) noexcept {
    const std::size_t colon = name.find(':');
    const bool is_port = colon != std::string_view::npos && colon + 1 < name.size() &&
                         std::all_of(name.begin() + static_cast<std::ptrdiff_t>(colon) + 1,
                                     name.end(), is_ascii_digit);
    return is_port ? name.substr(0, colon) : name;
}

// An end of a name begins anywhere, with the dot before a label too.
Fault fault_of_server_name(const ComparedText& compared) {
    if (!ends_at_end(compared.how)) {
        return std::nullopt;
    }
    const bool is_end = compared.how == TextHow::EndsWith;
    if (is_end && std::count(compared.text.begin(), compared.text.end(), ':') > 1) {
        return std::nullopt;  // an address of IPv6
    }
    const std::string before{is_end ? "a" : ""};
    const std::string_view wanted = without_port(compared.text);
    ServerName name;
    if (!name.assign(bytes_of(before + std::string{wanted}))) {
        return never_so(
            "a server name has 1 to 253 bytes, in labels of letters, digits, - and _, "
            "or is an address without brackets and port",
            "");
    }
    return fault_of_form(
        compared, {before, ""},
        "no port and no dot stand at a server name's end, and IPv6 is as in RFC 5952",
        [&](std::string_view text) {
            return name.assign(bytes_of(without_port(text))) ? std::string{name.text()}
                                                             : std::string{text};
        });
}

// The rest that makes a path of a part of one: an escape that has begun ends as one that stays, and
// the last segment goes on.
std::string rest_of_path(std::string_view part) {
    constexpr std::string_view kHex = "0123456789ABCDEF";
    constexpr std::string_view kStays = "00FA0B0C00000000";  // behind each first digit
    if (part.ends_with('%')) {
        return "2Fx";
    }
    const std::size_t digit = part.size() >= 2 && part[part.size() - 2] == '%'
                                  ? kHex.find(raised(part.substr(part.size() - 1)))
                                  : std::string_view::npos;
    return digit == std::string_view::npos ? "x" : std::string{kStays[digit]} + "x";
}

Fault fault_of_path(const ComparedText& compared) {
    const std::string_view text = compared.text;
    const bool from_begin = compared.how == TextHow::Equals || compared.how == TextHow::StartsWith;
    if (text.find_first_of("?#") != std::string_view::npos) {
        return never_so("a path ends before ? and #; what follows ? is http.request.uri.query", "");
    }
    if (from_begin && !text.empty() && text != "*" && text.front() != '/') {
        return never_so("a path begins with a slash", "/" + std::string{text});
    }
    return fault_of_form(
        compared, {from_begin ? "" : "/a", ends_at_end(compared.how) ? "" : rest_of_path(text)},
        "a path has its normal form: one / in a row, no segments . and .., "
        "%XX in capitals, and only for what is reserved or not ASCII",
        normal_path);
}

Fault fault_of_method(const ComparedText& compared) {
    const bool is_token = compared.text.empty() ? false : is_text_name(compared.text);
    return is_token ? std::nullopt : Fault{never_so("a method is a word such as GET", "")};
}

// t13d1516h2_8daaf6152771_02713d6af862: ten characters, and twice twelve digits of a hash.
Fault fault_of_ja4(const ComparedText& compared) {
    constexpr std::size_t kSize = 36;
    constexpr std::size_t kHashes = 10;
    const std::string text =
        compared.ignore_case ? lowered(compared.text) : std::string{compared.text};
    bool is_one = text.size() == kSize;
    for (std::size_t i = kHashes; is_one && i < kSize; ++i) {
        const bool is_bar = i == kHashes || i == kHashes + 13;
        is_one =
            is_bar ? text[i] == '_' : is_ascii_digit(text[i]) || (text[i] >= 'a' && text[i] <= 'f');
    }
    if (compared.how == TextHow::Equals && !is_one) {
        return never_so("a fingerprint is such as t13d1516h2_8daaf6152771_02713d6af862", "");
    }
    const bool from_begin = compared.how == TextHow::Equals || compared.how == TextHow::StartsWith;
    const auto is_begin = [](std::string_view one) {
        return one.empty() || one[0] == 't' || one[0] == 'q';
    };
    if (from_begin && !is_begin(text)) {
        const std::string small = lowered(text);
        return never_so("a fingerprint begins with t (over TCP) or q (over QUIC)",
                        is_begin(small) ? small : "");
    }
    return std::nullopt;
}

template <Fault (*kFault)(const ComparedText&)>
Fault fault_of_name(const ComparedText& compared) {
    Fault fault = find_name_form_fault(compared);
    return fault ? fault : kFault(compared);
}

struct FormRow {
    TextField field;
    Fault (*find)(const ComparedText& compared);
};
constexpr auto kForms = std::to_array<FormRow>({
    {TextField::DnsQname, fault_of_name<fault_of_query_name>},
    {TextField::HttpMethod, fault_of_method},
    {TextField::HttpHost, fault_of_name<fault_of_host>},
    {TextField::HttpPath, fault_of_path},
    {TextField::TlsSni, fault_of_name<fault_of_server_name>},
    {TextField::TlsJa4, fault_of_ja4},
    {TextField::QuicSni, fault_of_name<fault_of_server_name>},
});

bool holds(const ComparedText& compared, std::string_view word) {
    switch (compared.how) {
        case TextHow::Equals:
            return word == compared.text;
        case TextHow::StartsWith:
            return word.starts_with(compared.text);
        case TextHow::EndsWith:
            return word.ends_with(compared.text);
        default:
            return word.find(compared.text) != std::string_view::npos;
    }
}

// A method that is written in small letters by mistake.
Fault find_method_doubt(const ComparedText& compared) {
    constexpr auto kMethods = std::to_array<std::string_view>(
        {"GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"});
    const std::string method = raised(compared.text);
    const bool is_slip = compared.field == TextField::HttpMethod && !compared.ignore_case &&
                         compared.how == TextHow::Equals && method != compared.text &&
                         std::find(kMethods.begin(), kMethods.end(), method) != kMethods.end();
    return is_slip ? std::optional{" has the case that was sent, and \"" +
                                   std::string{compared.text} + "\" is not \"" + method + "\""}
                   : std::nullopt;
}

// A `*` that is meant for any text, as in paths and names of other programs; here it is a byte.
// The path of `OPTIONS *` is one.
Fault find_wildcard_doubt(const ComparedText& compared) {
    constexpr auto kGlobbed =
        std::to_array<TextField>({TextField::HttpPath, TextField::HttpHost, TextField::TlsSni,
                                  TextField::QuicSni, TextField::DnsQname});
    const std::string_view text = compared.text;
    const bool is_globbed =
        std::find(kGlobbed.begin(), kGlobbed.end(), compared.field) != kGlobbed.end();
    if (!is_globbed || text == "*" || text.find('*') == std::string_view::npos) {
        return std::nullopt;
    }
    const std::string begin =
        " has `*` as it stands, which is no wildcard here; for any text write `";
    const std::string field{row_of(compared.field).name};
    const std::string_view front = text.substr(0, text.find('*'));
    const std::string_view back = text.substr(text.rfind('*') + 1);
    const bool is_one = front.size() + back.size() + 1 == text.size();
    if (is_one && back.empty() && compared.how != TextHow::Contains &&
        compared.how != TextHow::EndsWith) {
        return begin + "starts_with(" + field + ", \"" + written(front) + "\")`";
    }
    if (is_one && front.empty() && compared.how != TextHow::Contains &&
        compared.how != TextHow::StartsWith) {
        return begin + "ends_with(" + field + ", \"" + written(back) + "\")`";
    }
    return begin + "matches` with a regular expression";
}

}  // namespace

std::string never_so(std::string_view why, std::string_view meant) {
    const std::string what = " is never so: " + std::string{why};
    return meant.empty() ? what : what + "; write \"" + written(meant) + "\"";
}

// The normal form takes at most three bytes for one.
std::string normal_path(std::string_view path) {
    std::vector<std::byte> room(3 * path.size());
    HeadShapes shapes;
    return std::string{http1::as_text(normalise_path(bytes_of(path), room, shapes))};
}

std::span<const std::string_view> words_of(TextField field) noexcept {
    switch (field) {
        case TextField::ProtoL7:
            return kL7Names;
        case TextField::ProtoScheme:
            return kSchemes;
        case TextField::QuicPacketType:
            return kQuicPacketTypes;
        default:
            return {};
    }
}

std::optional<std::string> find_form_fault(const ComparedText& compared) {
    const std::span<const std::string_view> words = words_of(compared.field);
    if (!words.empty()) {
        const bool some = std::any_of(words.begin(), words.end(),
                                      [&](std::string_view word) { return holds(compared, word); });
        return some ? std::nullopt
                    : Fault{" is one of " + list_of(words) + "; found \"" +
                            std::string{compared.text} + "\"" + did_you_mean(compared.text, words)};
    }
    const auto row = std::find_if(kForms.begin(), kForms.end(),
                                  [&](const FormRow& one) { return one.field == compared.field; });
    return row == kForms.end() ? std::nullopt : row->find(compared);
}

std::optional<std::string> find_form_doubt(const ComparedText& compared) {
    Fault wildcard = find_wildcard_doubt(compared);
    return wildcard ? wildcard : find_method_doubt(compared);
}

}  // namespace sluice
