#include "control/daemon/web/request_origin.hpp"

#include "lib/base/whole_number.hpp"
#include "lib/packet/ip_address.hpp"

#include <algorithm>
#include <cstdint>

namespace sluice {
namespace {

constexpr std::size_t kLongestAuthority = 260;

std::string lower_case(std::string_view text) {
    std::string lower{text};
    for (char& c : lower) {
        c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    return lower;
}

bool is_of_host(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_';
}

std::optional<std::string> bracketed_host(std::string_view inner) {
    const std::optional<VersionedAddress> address = parse_address(inner);
    return address && address->version == IpVersion::V6
               ? std::optional{to_text(address->version, address->address)}
               : std::nullopt;
}

// Empty behind the host, or a colon and a port.
bool is_port_part(std::string_view rest) {
    return rest.empty() || (rest.front() == ':' && whole_number<std::uint16_t>(rest.substr(1)));
}

}  // namespace

std::optional<std::string> host_in(std::string_view authority) {
    if (authority.size() > kLongestAuthority) {
        return std::nullopt;
    }
    if (authority.starts_with('[')) {
        const std::size_t end = authority.find(']');
        return end != std::string_view::npos && is_port_part(authority.substr(end + 1))
                   ? bracketed_host(authority.substr(1, end - 1))
                   : std::nullopt;
    }
    const std::string_view host = authority.substr(0, authority.find(':'));
    if (host.empty() || !std::ranges::all_of(host, is_of_host) ||
        !is_port_part(authority.substr(host.size()))) {
        return std::nullopt;
    }
    return lower_case(host);
}

OwnHosts::OwnHosts() : hosts_{"localhost", "127.0.0.1", "::1"} {}

void OwnHosts::add(std::string_view host) {
    const std::optional<VersionedAddress> address = parse_address(host);
    hosts_.insert(address ? to_text(address->version, address->address) : lower_case(host));
}

HttpResponse foreign_page() {
    return problem_response(403, "origin",
                            "another page than the dashboard's asks for this, which only its own "
                            "may");
}

AskingPage asking_page(const RequestHeaders& headers) {
    if (headers.has("sec-fetch-site")) {
        const std::string_view site = headers.value("sec-fetch-site");
        return site == "same-origin" || site == "none" ? AskingPage::Own : AskingPage::Other;
    }
    if (!headers.has("origin")) {
        return AskingPage::Unsaid;
    }
    const std::string origin = lower_case(headers.value("origin"));
    const std::string host = lower_case(headers.value("host"));
    return !host.empty() && (origin == "http://" + host || origin == "https://" + host)
               ? AskingPage::Own
               : AskingPage::Other;
}

bool is_own_content_type(std::string_view type) {
    std::string_view bare = type.substr(0, type.find(';'));
    bare = bare.substr(0, bare.find_last_not_of(" \t") + 1);
    const std::string lower = lower_case(bare);
    return lower == "application/json" || lower == "application/yaml";
}

}  // namespace sluice
