#include "lib/rules/client_source.hpp"

#include <algorithm>

namespace sluice {

bool is_header_name(std::string_view name) noexcept {
    constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
    return !name.empty() && name.size() <= kMaxClientHeader &&
           std::all_of(name.begin(), name.end(), [&](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      kMarks.find(c) != std::string_view::npos;
           });
}

bool are_sound(const ClientSource& clients) {
    return are_sound(clients.proxies) && clients.hops >= 1 && clients.hops <= kMostClientHops &&
           is_header_name(clients.header);
}

}  // namespace sluice
