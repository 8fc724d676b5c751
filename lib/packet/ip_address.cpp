#include "lib/packet/ip_address.hpp"

#include <algorithm>
#include <charconv>

#include <arpa/inet.h>

namespace sluice {
namespace {

std::optional<VersionedAddress> parse_version(std::string_view text, int family,
                                              IpVersion version) {
    std::array<char, INET6_ADDRSTRLEN> terminated{};
    VersionedAddress parsed{.version = version, .address = {}};
    if (text.size() >= terminated.size()) {
        return std::nullopt;
    }
    std::copy(text.begin(), text.end(), terminated.begin());
    if (inet_pton(family, terminated.data(), parsed.address.bytes.data()) != 1) {
        return std::nullopt;
    }
    return parsed;
}

}  // namespace

static_assert(INET6_ADDRSTRLEN == kMaxAddressText + 1);

std::string_view write_text(IpVersion version, const IpAddress& address,
                            std::span<char, kMaxAddressText + 1> room) noexcept {
    const int family = version == IpVersion::V4 ? AF_INET : AF_INET6;
    const char* const text = inet_ntop(family, address.bytes.data(), room.data(), room.size());
    return text == nullptr ? std::string_view{} : std::string_view{text};
}

std::string to_text(IpVersion version, const IpAddress& address) {
    std::array<char, kMaxAddressText + 1> room;
    return std::string{write_text(version, address, room)};
}

std::string to_text(const IpPrefix& prefix) {
    const unsigned whole = prefix.version == IpVersion::V4 ? 32 : 128;
    std::string text = to_text(prefix.version, prefix.address);
    if (prefix.length < whole) {
        text += "/" + std::to_string(prefix.length);
    }
    return text;
}

std::optional<VersionedAddress> parse_address(std::string_view text) {
    if (text.find('\0') != std::string_view::npos) {
        return std::nullopt;
    }
    if (text.find(':') != std::string_view::npos) {
        return parse_version(text, AF_INET6, IpVersion::V6);
    }
    return parse_version(text, AF_INET, IpVersion::V4);
}

std::optional<IpPrefix> parse_prefix(std::string_view text, bool* host_bits_set) {
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos) {
        return std::nullopt;
    }
    const std::optional<VersionedAddress> address = parse_address(text.substr(0, slash));
    const std::string_view digits = text.substr(slash + 1);
    unsigned length = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), length);
    const bool whole = error == std::errc{} && end == digits.data() + digits.size();
    if (!address || !whole || (digits.size() > 1 && digits.front() == '0') ||
        length > (address->version == IpVersion::V4 ? 32U : 128U)) {
        return std::nullopt;
    }
    const bool host_bits = masked(address->address, length) != address->address;
    if (host_bits_set != nullptr) {
        *host_bits_set = host_bits;
    }
    if (host_bits) {
        return std::nullopt;
    }
    return IpPrefix{address->version, address->address, static_cast<std::uint8_t>(length)};
}

}  // namespace sluice
