#include "lib/l7/proxy/client_source.hpp"

#include "lib/base/token.hpp"

namespace sluice {

bool is_header_name(std::string_view name) noexcept {
    return name.size() <= kMaxClientHeader && is_token(name);
}

bool are_sound(const ClientSource& clients) {
    return are_sound(clients.proxies) && clients.hops >= 1 && clients.hops <= kMostClientHops &&
           is_header_name(clients.header);
}

}  // namespace sluice
