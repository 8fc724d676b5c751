#pragma once
#include "lib/base/config_key.hpp"
#include "lib/packet/ip_address.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace sluice {

// A proxy whose headers say who uses the dashboard: by the Unix socket the user that it runs as, by
// TCP its address and a secret that it says.
struct WebProxy {
    std::string user;                           // empty: it comes by TCP
    std::optional<VersionedAddress> address{};  // nullopt: it comes by the Unix socket
    std::string secret_file;                    // relative to sluice.yaml
    std::string secret_header;                  // the header that has what is in that file
};

// The dashboard. Only sluiced reads it.
struct WebOptions {
    std::string path;  // of its Unix socket; empty: by TCP
    VersionedAddress address{};
    std::uint16_t port = 0;
    std::vector<std::string> hosts;  // names by which browsers call it, in small letters
    std::string tokens_file;         // relative to sluice.yaml; empty: no named tokens
    std::vector<WebProxy> behind_proxy;
    std::string user_header = "X-Sluice-User";  // these two are believed from proxies alone
    std::string role_header = "X-Sluice-Role";
};

template <>
inline constexpr auto kConfigKeys<WebProxy> = std::tuple{
    ConfigKey{"user", &WebProxy::user, form::Text{}},
    BareKey{"address"},
    ConfigKey{"secret_file", &WebProxy::secret_file, form::Text{}},
    ConfigKey{"secret_header", &WebProxy::secret_header, form::Text{}},
};
template <>
inline constexpr auto kConfigKeys<WebOptions> = std::tuple{
    BareKey{"listen"},
    ConfigKey{"hosts", &WebOptions::hosts, form::Own{}},
    ConfigKey{"tokens_file", &WebOptions::tokens_file, form::Text{}},
    ConfigKey{"behind_proxy", &WebOptions::behind_proxy, form::Own{}},
    ConfigKey{"user_header", &WebOptions::user_header, form::Text{}},
    ConfigKey{"role_header", &WebOptions::role_header, form::Text{}},
};

inline constexpr std::size_t kMostWebHosts = 32;
inline constexpr std::size_t kMostWebProxies = 16;

// 127.0.0.0/8 or ::1, nothing of which leaves the box.
[[nodiscard]] constexpr bool is_loopback(const VersionedAddress& address) noexcept {
    if (address.version == IpVersion::V4) {
        return address.address.bytes[0] == std::byte{127};
    }
    IpAddress one{};
    one.bytes[15] = std::byte{1};
    return address.version == IpVersion::V6 && address.address == one;
}

}  // namespace sluice
