#include "lib/policy/values/network_text.hpp"

#include <charconv>
#include <string>

namespace sluice {
namespace {

std::string host_bits_message(std::string_view text) {
    const std::optional<VersionedAddress> address = parse_address(text.substr(0, text.find('/')));
    const std::string_view length = text.substr(text.find('/') + 1);
    unsigned bits = 0;
    (void)std::from_chars(length.data(), length.data() + length.size(), bits);
    return "`" + std::string{text} + "` has host bits set; the network is " +
           to_text(address->version, masked(address->address, bits)) + "/" + std::string{length};
}

}  // namespace

Result<IpPrefix> parse_network(std::string_view text) {
    bool host_bits = false;
    if (const std::optional<IpPrefix> prefix = parse_prefix(text, &host_bits)) {
        return *prefix;
    }
    if (host_bits) {
        return Error{Errc::OutOfRange, host_bits_message(text)};
    }
    if (const std::optional<VersionedAddress> address = parse_address(text)) {
        const std::uint8_t whole = address->version == IpVersion::V4 ? 32 : 128;
        return IpPrefix{address->version, address->address, whole};
    }
    return Error{Errc::BadSyntax, "expected an address or network such as 192.0.2.0/24, found `" +
                                      std::string{text} + "`"};
}

}  // namespace sluice
