#include "lib/l7/tls/server_name.hpp"

#include "lib/base/ascii.hpp"
#include "lib/l7/dns/dns_name.hpp"

#include <algorithm>

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

}  // namespace

bool ServerName::assign(ByteView name) noexcept {
    clear();
    if (name.empty() || name.size() > kMaxSize) {
        return false;
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

}  // namespace sluice
