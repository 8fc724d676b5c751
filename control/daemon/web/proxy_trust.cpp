#include "control/daemon/web/proxy_trust.hpp"

#include "control/daemon/secret_file.hpp"
#include "control/random_secret.hpp"
#include "control/visible_text.hpp"
#include "lib/base/system_user.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace sluice {
namespace {

constexpr std::size_t kLongestUserName = 128;
bool shows_secret(const TrustedProxy& proxy, const RequestHeaders& headers) noexcept {
    return proxy.address && headers.has(proxy.secret_header) &&
           digest_of(headers.value(proxy.secret_header)) == proxy.secret;
}

constexpr auto kOnceOnly = std::to_array<std::string_view>(
    {"host", "authorization", "x-sluice-session", "origin", "sec-fetch-site", "content-type"});

}  // namespace

Result<std::vector<TrustedProxy>> open_proxies(const WebOptions& options) {
    std::vector<TrustedProxy> proxies;
    for (const WebProxy& proxy : options.behind_proxy) {
        TrustedProxy& trusted = proxies.emplace_back();
        if (!proxy.address) {
            const Result<SystemUser> user = user_named(proxy.user);
            if (!user) {
                return Error{user.error().code, "`behind_proxy` of web: " + user.error().what};
            }
            trusted.user = user->uid;
            continue;
        }
        const Result<std::string> secret =
            read_secret_file(proxy.secret_file, {"the secret of a proxy", "secret"});
        if (!secret) {
            return secret.error();
        }
        trusted.address = proxy.address;
        trusted.secret_header = proxy.secret_header;
        trusted.secret = digest_of(*secret);
    }
    return proxies;
}

ProxyTrust::ProxyTrust(const WebOptions& options, std::vector<TrustedProxy> proxies)
    : user_header_{options.user_header},
      role_header_{options.role_header},
      proxies_{std::move(proxies)} {}

bool ProxyTrust::knows(std::optional<uid_t> user,
                       const std::optional<VersionedAddress>& address) const noexcept {
    return std::ranges::any_of(proxies_, [&](const TrustedProxy& proxy) {
        return (proxy.user && proxy.user == user) || (proxy.address && proxy.address == address);
    });
}

bool ProxyTrust::is_proxy(std::optional<uid_t> user, const std::optional<VersionedAddress>& address,
                          const RequestHeaders& headers) const noexcept {
    return std::ranges::any_of(proxies_, [&](const TrustedProxy& proxy) {
        return (proxy.user && proxy.user == user) ||
               (proxy.address == address && shows_secret(proxy, headers));
    });
}

bool ProxyTrust::has_secret(const RequestHeaders& headers) const noexcept {
    return std::ranges::any_of(
        proxies_, [&](const TrustedProxy& proxy) { return shows_secret(proxy, headers); });
}

Result<ProxyTrust::User> ProxyTrust::user_of(const RequestHeaders& headers) const {
    User user{.name = std::string{headers.value(user_header_)}};
    if (headers.has(user_header_) &&
        (user.name.empty() || user.name.size() > kLongestUserName || has_control(user.name))) {
        return Error{Errc::BadSyntax, user_header_ +
                                          " names no user: it has 1 to 128 bytes and no "
                                          "control characters"};
    }
    if (!headers.has(role_header_)) {
        return user;
    }
    std::optional<AssignedRole> assigned = read_assigned_role(headers.value(role_header_));
    if (!assigned) {
        return Error{Errc::BadSyntax, role_header_ + " is " + std::string{kRolesThereAre}};
    }
    user.assigned = *std::move(assigned);
    return user;
}

std::string_view ProxyTrust::repeated_in(const RequestHeaders& headers) const noexcept {
    for (const std::string_view name : kOnceOnly) {
        if (headers.times(name) > 1) {
            return name;
        }
    }
    for (const std::string* name : {&user_header_, &role_header_}) {
        if (headers.times(*name) > 1) {
            return *name;
        }
    }
    for (const TrustedProxy& proxy : proxies_) {
        if (proxy.address && headers.times(proxy.secret_header) > 1) {
            return proxy.secret_header;
        }
    }
    return {};
}

}  // namespace sluice
