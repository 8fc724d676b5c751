#include "control/daemon/api/sought.hpp"

#include "control/visible_text.hpp"
#include "lib/base/ascii.hpp"
#include "lib/match/address_key.hpp"
#include "lib/packet/client_address.hpp"
#include "lib/policy/texts/letter_case.hpp"
#include "lib/policy/texts/text_form.hpp"
#include "lib/policy/values/network_text.hpp"
#include "lib/policy/values/range_set.hpp"
#include "lib/rules/group.hpp"
#include "lib/rules/text_part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <span>

namespace sluice {
namespace {

bool has_only(std::string_view text, std::string_view marks) {
    return std::ranges::all_of(text, [marks](char c) {
        return is_ascii_digit(c) || marks.find(c) != std::string_view::npos;
    });
}

// The name of a host without the dot that may end it.
std::string_view without_root(std::string_view text) {
    return text.substr(0, text.size() - (text.ends_with('.') ? 1 : 0));
}

// Letters, digits and bytes beyond ASCII with a dot among them: a name, and no path, word or MAC
// address. One label is a word, with or without a dot behind it.
bool looks_like_host(std::string_view text) {
    const auto of_name = [](char c) {
        return is_ascii_alphanumeric(c) || c == '-' || c == '_' || c == '.' || c == ':' ||
               static_cast<unsigned char>(c) >= 0x80;
    };
    return without_root(text).find('.') != std::string_view::npos &&
           std::ranges::all_of(text, of_name);
}

bool has_empty_label(std::string_view host) {
    return host.starts_with('.') || host.ends_with('.') ||
           host.find("..") != std::string_view::npos;
}

Error wrong(std::string what) {
    return {Errc::BadSyntax, std::move(what)};
}

Result<Sought> read_network(std::string_view text) {
    const Result<IpPrefix> network = parse_network(text);
    if (!network) {
        return network.error();
    }
    const bool whole = network->length == (network->version == IpVersion::V4 ? 32 : 128);
    const AddressRange range = range_of(*network);
    Sought sought{whole ? Sought::Kind::Address : Sought::Kind::Network, to_text(*network),
                  *network, range.first, range.last};
    const VersionedAddress outer{network->version, network->address};
    const VersionedAddress inner = unwrapped(outer, Unwrapping{Unwrapping::kAll});
    if (inner != outer && whole) {
        sought.inside = to_text(inner.version, inner.address);
    }
    return sought;
}

// `10.0.0.4-10.0.0.9`, as override files have it; one that is a network is that.
Result<Sought> read_range(std::string_view text) {
    KeyPart address;
    address.field = Field::IpSrc;
    const GroupingKey key{address};
    const Result<KeyRange> range = read_key_range(std::span{&key, 1}, text, 1);
    if (!range) {
        return range.error();
    }
    const std::string whole = to_text(*range);
    const std::size_t dash = whole.find('-');
    if (dash == std::string::npos) {
        return read_network(whole);
    }
    const auto first = parse_address(std::string_view{whole}.substr(0, dash));
    const auto last = parse_address(std::string_view{whole}.substr(dash + 1));
    std::uint8_t length = range->version == IpVersion::V4 ? 32 : 128;
    while (masked(first->address, length) != masked(last->address, length)) {
        --length;
    }
    return Sought{Sought::Kind::Range,
                  whole,
                  {range->version, masked(first->address, length), length},
                  first->address,
                  last->address};
}

// Two addresses with a dash between them.
bool looks_like_range(std::string_view text) {
    const std::size_t dash = text.find('-');
    return dash != std::string_view::npos && parse_address(text.substr(0, dash)) &&
           parse_address(text.substr(dash + 1));
}

// Two hexadecimal digits, six times, between colons.
bool is_mac(std::string_view text) {
    bool is = text.size() == 17;
    for (std::size_t i = 0; is && i < text.size(); ++i) {
        is = i % 3 == 2 ? text[i] == ':' : std::isxdigit(static_cast<unsigned char>(text[i])) != 0;
    }
    return is;
}

// The answer to texts that are none of what can be found; nullopt: it may be a key.
std::optional<Error> find_other_kind(std::string_view text) {
    if (const std::size_t at = text.find("://"); at != std::string_view::npos && at < 10) {
        const std::string_view rest = text.substr(at + 3);
        return wrong(fmt::format("`{}` is a URL; its host is to be found: {}", text,
                                 rest.substr(0, rest.find_first_of("/?#"))));
    }
    if (is_mac(text)) {
        return wrong(fmt::format("`{}` is a MAC address, which no rule counts by", text));
    }
    return std::nullopt;
}

// A name in small letters, without the dot that may end it.
Result<Sought> read_host(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    if (colon != std::string_view::npos) {
        const std::string_view name = text.substr(0, colon);
        return wrong(fmt::format("`{}` is neither an address nor the name of a host{}", text,
                                 has_only(text.substr(colon + 1), "")
                                     ? fmt::format("; without its port it is {}", name)
                                     : ""));
    }
    std::string host = lowered(without_root(text));
    if (has_empty_label(host)) {
        return wrong(fmt::format("`{}` has an empty label: two dots, or one before all", text));
    }
    if (std::ranges::any_of(host, [](char c) { return static_cast<unsigned char>(c) >= 0x80; })) {
        return wrong(fmt::format(
            "`{}` has letters beyond ASCII; http.host comes with A-labels, such as xn--bcher-kva",
            text));
    }
    const auto fault_as = [&host](TextField field) {
        return find_form_fault({.field = field, .how = TextHow::Equals, .text = host});
    };
    const std::optional<std::string> fault = fault_as(TextField::HttpHost);
    if (fault && fault_as(TextField::DnsQname)) {
        return wrong(fmt::format("http.host{}", *fault));
    }
    return Sought{.kind = Sought::Kind::Host, .text = std::move(host)};
}

// True if it was meant as an address or network, whether or not it is one. A key may begin with
// one: 10.0.0.0/24|80.
bool looks_like_network(std::string_view text) {
    if (text.find('|') != std::string_view::npos) {
        return false;
    }
    const std::string_view address = text.substr(0, text.find_first_of("/%"));
    return parse_address(address).has_value() ||
           (has_only(text, "./") && address.find('.') != std::string_view::npos);
}

struct Part {
    KeyPartHeader header;
    ByteView value;
};

// Takes the first part off canonical bytes; nullopt: they do not begin with one.
std::optional<Part> take_part(ByteView& key) {
    Part part;
    if (key.size() < sizeof(part.header)) {
        return std::nullopt;
    }
    std::memcpy(&part.header, key.data(), sizeof(part.header));
    key = key.subspan(sizeof(part.header));
    if (part.header.size > key.size()) {
        return std::nullopt;
    }
    part.value = key.first(part.header.size);
    key = key.subspan(part.header.size);
    return part;
}

bool is_sought(const KeyPart& form, const Part& part, const Sought& sought) {
    if (form.is_address()) {
        IpPrefix network{
            static_cast<IpVersion>(part.header.version), {}, part.header.prefix_length};
        const std::size_t size = std::min(part.value.size(), network.address.bytes.size());
        std::memcpy(network.address.bytes.data(), part.value.data(), size);
        return meets(network, sought);
    }
    if (!form.text || row_of(*form.text).kind == TextKind::Number) {
        return false;
    }
    const TextValue value = text_value(form, std::as_bytes(std::span{sought.text}));
    return value.has_digest == ((part.header.prefix_length & kDigestMark) != 0) &&
           std::ranges::equal(value.view(), part.value);
}

}  // namespace

Result<Sought> read_sought(std::string_view text) {
    if (text.empty()) {
        return wrong(
            "there is nothing to find: name an address, a network, a range, a host, or a key as "
            "part|part");
    }
    if (text.size() > kMostSought) {
        return wrong(fmt::format("`of` has at most {} bytes; found {}", kMostSought, text.size()));
    }
    if (std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < ' '; })) {
        return wrong("`" + visible_line(std::string{text}) +
                     "` has a control byte, which keys have as \\xNN");
    }
    if (looks_like_network(text)) {
        return read_network(text);
    }
    if (looks_like_range(text)) {
        return read_range(text);
    }
    if (std::optional<Error> fault = find_other_kind(text)) {
        return *std::move(fault);
    }
    if (looks_like_host(text)) {
        return read_host(text);
    }
    return Sought{.kind = Sought::Kind::Key, .text = std::string{text}};
}

bool meets(const IpPrefix& network, const Sought& sought) noexcept {
    const AddressRange range = range_of(network);
    return sought.has_network() && network.version == sought.network.version &&
           !(sought.last < range.first) && !(range.last < sought.first);
}

bool meets(const KeyRange& range, const Sought& sought) noexcept {
    return sought.has_network() && range.version == sought.network.version &&
           range.first <= wide_key(range.version, sought.last) &&
           wide_key(range.version, sought.first) <= range.last;
}

bool has_part(const GroupingKey& key, ByteView bytes, const Sought& sought) {
    for (const KeyPart& form : key) {
        const std::optional<Part> part = take_part(bytes);
        if (!part) {
            return false;
        }
        if (is_sought(form, *part, sought)) {
            return true;
        }
    }
    return false;
}

bool leaves_open(const GroupingKey& key, const Sought& sought) {
    const auto fits = [&](const KeyPart& part) {
        return part.is_address() ? sought.has_network()
                                 : part.text && row_of(*part.text).kind != TextKind::Number;
    };
    if (key.size() > 1) {
        return sought.text.find('|') == std::string::npos && std::ranges::any_of(key, fits);
    }
    return key.size() == 1 && key.front().is_address() && sought.has_network() &&
           sought.network.length < key.front().length(sought.network.version);
}

}  // namespace sluice
