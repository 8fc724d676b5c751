#include "lib/l7/http1/forwarded_client.hpp"

#include "lib/packet/named_client.hpp"

#include <algorithm>
#include <string_view>

namespace sluice {
namespace {

constexpr std::size_t kMostDigits = 5;
constexpr unsigned kMostPort = 65'535;

std::string_view without_spaces(std::string_view text) noexcept {
    const std::size_t begin = text.find_first_not_of(" \t");
    return begin == std::string_view::npos
               ? std::string_view{}
               : text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

// Nothing, or a colon and a port.
bool is_port(std::string_view text) noexcept {
    if (text.empty()) {
        return true;
    }
    const std::string_view digits = text.substr(1);
    if (text.front() != ':' || digits.empty() || digits.size() > kMostDigits) {
        return false;
    }
    unsigned port = 0;
    for (const char c : digits) {
        if (c < '0' || c > '9') {
            return false;
        }
        port = 10 * port + static_cast<unsigned>(c - '0');
    }
    return port <= kMostPort;
}

std::optional<VersionedAddress> address_in(std::string_view text, IpVersion version,
                                           std::string_view port) noexcept {
    if (!is_port(port)) {
        return std::nullopt;
    }
    const std::optional<VersionedAddress> address = parse_address(text);
    return address && address->version == version ? address : std::nullopt;
}

std::optional<VersionedAddress> read_entry(std::string_view entry) noexcept {
    if (entry.starts_with('[')) {
        const std::size_t end = std::min(entry.find(']'), entry.size() - 1);
        return entry[end] == ']'
                   ? address_in(entry.substr(1, end - 1), IpVersion::V6, entry.substr(end + 1))
                   : std::nullopt;
    }
    const std::size_t colon = entry.find(':');
    if (colon != std::string_view::npos && entry.find(':', colon + 1) == std::string_view::npos) {
        return address_in(entry.substr(0, colon), IpVersion::V4, entry.substr(colon));
    }
    return parse_address(entry);
}

}  // namespace

std::optional<VersionedAddress> forwarded_client(ByteView list, std::size_t hops) noexcept {
    std::string_view rest{reinterpret_cast<const char*>(list.data()), list.size()};
    for (; hops > 0; --hops) {
        const std::size_t comma = rest.rfind(',');
        const bool is_first = comma == std::string_view::npos;
        if (hops == 1) {
            const auto named = read_entry(without_spaces(is_first ? rest : rest.substr(comma + 1)));
            return named ? std::optional{named_client(*named)} : std::nullopt;
        }
        if (is_first) {
            break;
        }
        rest = rest.substr(0, comma);
    }
    return std::nullopt;
}

}  // namespace sluice
