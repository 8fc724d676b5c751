#include "lib/policy/box/box_parts.hpp"

#include "lib/base/whole_number.hpp"
#include "lib/policy/file_keys/options_reader.hpp"

#include <string_view>

namespace sluice {
namespace {

// `192.0.2.1:8480` or `[2001:db8::1]:8480`.
bool read_listen(std::string_view text, ApiOptions& api) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) {
        return false;
    }
    std::string_view host = text.substr(0, colon);
    const bool in_brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
    host = in_brackets ? host.substr(1, host.size() - 2) : host;
    const std::optional<VersionedAddress> address = parse_address(host);
    api.port = whole_number<std::uint16_t>(text.substr(colon + 1)).value_or(0);
    if (!address || (address->version == IpVersion::V6) != in_brackets || api.port == 0) {
        return false;
    }
    api.address = *address;
    return true;
}

}  // namespace

std::optional<ApiOptions> read_api(const YamlNode& node, const ReadContext& context) {
    ApiOptions api;
    read_part(node, "api", context, api);
    if (!node.is_map()) {
        return std::nullopt;
    }
    const YamlNode* listen = value_of(node, "listen");
    if (listen == nullptr || !listen->is_scalar() || !read_listen(listen->text, api)) {
        context.problems.error(listen == nullptr ? node.at : listen->at,
                               "`listen` is an address and a port, such as \"127.0.0.1:8480\" or "
                               "\"[::1]:8480\"");
        return std::nullopt;
    }
    if (api.token_file.empty()) {
        context.problems.error(node.at,
                               "`api` needs a `token_file`: whoever reaches the address is asked "
                               "for the token in it");
        return std::nullopt;
    }
    return api;
}

}  // namespace sluice
