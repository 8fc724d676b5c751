#include "control/daemon/web/proxy_trust.hpp"
#include "control/daemon/web/request_origin.hpp"
#include "control/random_secret.hpp"
#include "tests/fuzz/input.hpp"

#include <cstdint>
#include <string_view>

namespace {

using namespace sluice;
using test::require;

const ProxyTrust& any_trust() {
    static const ProxyTrust kTrust = [] {
        TrustedProxy proxy;
        proxy.address = parse_address("192.0.2.1");
        proxy.secret_header = "X-Key";
        proxy.secret = digest_of("0123456789abcdef");
        return ProxyTrust{WebOptions{}, {proxy}};
    }();
    return kTrust;
}

}  // namespace

// Any bytes as the head of a request: its host spells itself, and only whoever has the secret is a
// proxy, whose user and role are sound.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes{reinterpret_cast<const char*>(data), size};
    const RequestHeaders headers = headers_in(bytes);
    if (const std::optional<std::string> host = host_in(headers.value("host"))) {
        require(!host->empty());
        const bool is_v6 = host->find(':') != std::string::npos;
        require(host_in(is_v6 ? "[" + *host + "]" : *host) == host);
    }
    (void)asking_page(headers);
    (void)is_own_content_type(headers.value("content-type"));
    (void)any_trust().repeated_in(headers);
    const bool is_proxy = any_trust().is_proxy(std::nullopt, parse_address("192.0.2.1"), headers);
    require(is_proxy == (headers.value("x-key") == "0123456789abcdef"));
    require(!any_trust().is_proxy(std::nullopt, parse_address("192.0.2.2"), headers));
    require(!any_trust().is_proxy(0, std::nullopt, headers));
    if (const auto user = any_trust().user_of(headers)) {
        const AssignedRole& assigned = user->assigned;
        require(assigned.role != Role::None);
        require(assigned == AssignedRole{} || headers.has("x-sluice-role"));
        require((assigned.role == Role::Tenant) == is_tenant_name(assigned.tenant));
    }
    return 0;
}
