#include "control/daemon/api/sought.hpp"

#include "control/visible_text.hpp"
#include "lib/base/ascii.hpp"
#include "lib/packet/client_address.hpp"
#include "lib/policy/texts/letter_case.hpp"
#include "lib/policy/texts/text_form.hpp"
#include "lib/policy/values/network_text.hpp"
#include "lib/rules/group.hpp"
#include "lib/rules/text_part.hpp"

#include <fmt/format.h>

#include <algorithm>
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
    Sought sought{whole ? Sought::Kind::Address : Sought::Kind::Network, to_text(*network),
                  *network};
    const VersionedAddress outer{network->version, network->address};
    const VersionedAddress inner = unwrapped(outer, Unwrapping{Unwrapping::kAll});
    if (inner != outer && whole) {
        sought.inside = to_text(inner.version, inner.address);
    }
    return sought;
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
    return Sought{Sought::Kind::Host, std::move(host)};
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
        return sought.has_network() && overlap(network, sought.network);
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
        return wrong("`of` is an address, a network, the name of a host, or a key as part|part");
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
    if (looks_like_host(text)) {
        return read_host(text);
    }
    return Sought{Sought::Kind::Key, std::string{text}};
}

bool overlap(const IpPrefix& a, const IpPrefix& b) noexcept {
    const unsigned bits = std::min(a.length, b.length);
    return a.version == b.version && masked(a.address, bits) == masked(b.address, bits);
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
