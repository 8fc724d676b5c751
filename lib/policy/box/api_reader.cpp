#include "lib/policy/box/box_parts.hpp"

#include "lib/base/whole_number.hpp"
#include "lib/policy/file_keys/options_reader.hpp"

#include <string_view>

namespace sluice {

std::optional<ListenText> read_listen(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) {
        return std::nullopt;
    }
    std::string_view host = text.substr(0, colon);
    const bool in_brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
    host = in_brackets ? host.substr(1, host.size() - 2) : host;
    const std::optional<VersionedAddress> address = parse_address(host);
    const std::uint16_t port = whole_number<std::uint16_t>(text.substr(colon + 1)).value_or(0);
    if (!address || (address->version == IpVersion::V6) != in_brackets || port == 0) {
        return std::nullopt;
    }
    return ListenText{*address, port};
}

std::optional<ApiOptions> read_api(const YamlNode& node, const ReadContext& context) {
    ApiOptions api;
    read_part(node, "api", context, api);
    if (!node.is_map()) {
        return std::nullopt;
    }
    const YamlNode* listen = value_of(node, "listen");
    const std::optional<ListenText> place =
        listen == nullptr || !listen->is_scalar() ? std::nullopt : read_listen(listen->text);
    if (!place) {
        context.problems.error(listen == nullptr ? node.at : listen->at,
                               "`listen` is an address and a port, such as \"127.0.0.1:8480\" or "
                               "\"[::1]:8480\"");
        return std::nullopt;
    }
    api.address = place->address;
    api.port = place->port;
    if (api.token_file.empty()) {
        context.problems.error(node.at,
                               "`api` needs a `token_file`: whoever reaches the address is asked "
                               "for the token in it");
        return std::nullopt;
    }
    return api;
}

}  // namespace sluice
