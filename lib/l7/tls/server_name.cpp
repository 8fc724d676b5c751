#include "lib/l7/tls/server_name.hpp"

#include "lib/base/ascii.hpp"
#include "lib/l7/dns/dns_name.hpp"

#include "lib/packet/ip_address.hpp"

#include <algorithm>
#include <optional>
#include <span>

namespace sluice {
namespace {

constexpr std::size_t kMaxHostName = 253;

bool is_label_byte(char c) noexcept {
    return is_ascii_lower(c) || is_ascii_digit(c) || c == '-' || c == '_';
}

// Programs that decode labels of IDNA make `login` of `xn--login-`, which no IDN is sent as.
bool is_label(std::string_view label) noexcept {
    const bool is_odd = label.starts_with("xn--") && label.back() == '-';
    return !label.empty() && label.size() <= kMaxDnsLabel && !is_odd &&
           std::all_of(label.begin(), label.end(), is_label_byte);
}

// Absent: it is none. A last label of digits is the end of an IPv4 address (the URL Standard reads
// hosts so).
ServerNameKind kind_of_name(std::string_view name) noexcept {
    if (name.size() > kMaxHostName) {
        return ServerNameKind::Absent;
    }
    for (std::size_t at = 0;;) {
        const std::size_t dot = std::min(name.find('.', at), name.size());
        const std::string_view label = name.substr(at, dot - at);
        if (!is_label(label)) {
            return ServerNameKind::Absent;
        }
        if (dot == name.size()) {
            return std::all_of(label.begin(), label.end(), is_ascii_digit)
                       ? ServerNameKind::Address
                       : ServerNameKind::HostName;
        }
        at = dot + 1;
    }
}

// Clients connect to these: global and local unicast, and the loopback. nginx takes the text before
// the first colon for the name, so that db::1 would be its db.
bool is_reachable(const IpAddress& address) noexcept {
    const auto first = std::to_integer<unsigned>(address.bytes[0]);
    const auto second = std::to_integer<unsigned>(address.bytes[1]);
    const bool is_global = first >> 5 == 1;                     // 2000::/3
    const bool is_local = first >> 1 == 0x7E;                   // fc00::/7
    const bool is_of_link = first == 0xFE && second >> 6 == 2;  // fe80::/10
    return is_global || is_local || is_of_link || (first == 0 && second == 0);
}

}  // namespace

bool ServerName::assign(ByteView name) noexcept {
    clear();
    if (name.empty() || name.size() > kMaxSize) {
        return false;
    }
    if (std::find(name.begin(), name.end(), std::byte{':'}) != name.end()) [[unlikely]] {
        return assign_address({reinterpret_cast<const char*>(name.data()), name.size()});
    }
    std::transform(name.begin(), name.end(), text_.begin(), [](std::byte byte) {
        const auto c = static_cast<char>(byte);
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    const std::size_t size = name.size() - (name.back() == std::byte{'.'} ? 1 : 0);
    kind_ = kind_of_name({text_.data(), size});
    size_ = kind_ == ServerNameKind::Absent ? 0 : static_cast<std::uint8_t>(size);
    return kind_ != ServerNameKind::Absent;
}

bool ServerName::assign_address(std::string_view name) noexcept {
    const std::optional<VersionedAddress> address = parse_address(name);
    if (!address || !is_reachable(address->address)) {
        return false;
    }
    const std::span room = std::span{text_}.first<kMaxAddressText + 1>();
    size_ = static_cast<std::uint8_t>(write_text(address->version, address->address, room).size());
    kind_ = ServerNameKind::Address;
    return true;
}

}  // namespace sluice
