#pragma once
#include "control/daemon/web/request_headers.hpp"
#include "control/daemon/web/role.hpp"
#include "lib/base/result.hpp"
#include "lib/l7/crypto/sha256.hpp"
#include "lib/rules/web_options.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace sluice {

// The proxies of `behind_proxy`, with what they are known by.
struct TrustedProxy {
    std::optional<uid_t> user{};  // by the Unix socket
    std::optional<VersionedAddress> address{};
    std::string secret_header{};
    Sha256Digest secret{};
};
// Opens the secrets of proxies, and looks up their users.
[[nodiscard]] Result<std::vector<TrustedProxy>> open_proxies(const WebOptions& options);

// Believes the headers of these proxies, and of nobody else.
class ProxyTrust {
public:
    ProxyTrust(const WebOptions& options, std::vector<TrustedProxy> proxies);

    // True if such a connection may be a proxy's; by TCP the secret is still to be shown.
    [[nodiscard]] bool knows(std::optional<uid_t> user,
                             const std::optional<VersionedAddress>& address) const noexcept;
    // True if it is a proxy's.
    [[nodiscard]] bool is_proxy(std::optional<uid_t> user,
                                const std::optional<VersionedAddress>& address,
                                const RequestHeaders& headers) const noexcept;

    // True if the headers have the secret of any proxy by TCP.
    [[nodiscard]] bool has_secret(const RequestHeaders& headers) const noexcept;

    struct User {
        std::string name;  // empty: the proxy names nobody
        AssignedRole assigned{};
    };
    // The user that a proxy names; an Error: nobody can know whom or what it means.
    [[nodiscard]] Result<User> user_of(const RequestHeaders& headers) const;
    [[nodiscard]] const std::string& user_header() const noexcept { return user_header_; }

    // The first of the headers that are gone by that a request has twice; empty: none.
    [[nodiscard]] std::string_view repeated_in(const RequestHeaders& headers) const noexcept;

private:
    std::string user_header_;
    std::string role_header_;
    std::vector<TrustedProxy> proxies_;
};

}  // namespace sluice
