#include "lib/policy/keys/key_range.hpp"

#include "lib/match/address_key.hpp"
#include "lib/packet/ip_address.hpp"
#include "lib/policy/keys/key_text.hpp"
#include "lib/policy/values/network_text.hpp"
#include "lib/rules/network_bans.hpp"

#include <algorithm>

namespace sluice {
namespace {

std::string in_quotes(std::string_view text) {
    return "`" + std::string{text} + "`";
}

Wide addresses_but_one(IpVersion version, unsigned length) noexcept {
    return sluice::addresses_but_one(static_cast<std::uint8_t>(version), length);
}

IpAddress address_of(IpVersion version, Wide number) noexcept {
    IpAddress address;
    for (unsigned at = version == IpVersion::V4 ? 4 : 16; at-- > 0; number >>= 8) {
        address.bytes[at] = static_cast<std::byte>(number & 0xFF);
    }
    return address;
}

Result<KeyRange> network_in(std::string_view text) {
    const Result<IpPrefix> network = parse_network(text);
    if (!network) {
        return network.error();
    }
    const Wide first = wide_key(network->version, network->address);
    return KeyRange{0, network->version, first,
                    first | addresses_but_one(network->version, network->length)};
}

std::string_view without_blanks(std::string_view text) noexcept {
    const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
    return text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

// The range of addresses that a text names, be the keys what they may.
Result<KeyRange> range_in(std::string_view text) {
    const std::size_t dash = text.find('-');
    if (dash == std::string_view::npos) {
        return network_in(text);
    }
    const auto first = parse_address(without_blanks(text.substr(0, dash)));
    const auto last = parse_address(without_blanks(text.substr(dash + 1)));
    if (!first || !last) {
        return Error{Errc::BadSyntax, in_quotes(text) +
                                          " is no range: it has two addresses, such as "
                                          "192.0.2.5-192.0.2.20"};
    }
    if (first->version != last->version) {
        return Error{Errc::BadSyntax, in_quotes(text) + " begins and ends in other versions of IP"};
    }
    const KeyRange range{0, first->version, wide_key(first->version, first->address),
                         wide_key(last->version, last->address)};
    if (range.last < range.first) {
        return Error{Errc::OutOfRange, in_quotes(text) + " ends before it begins"};
    }
    return range;
}

std::string keys_text(const KeyPart& part, IpVersion version) {
    const unsigned length = part.length(version);
    return length == (version == IpVersion::V4 ? 32 : 128)
               ? "single addresses"
               : "networks of /" + std::to_string(length);
}

// nullopt: the range has whole keys of this kind.
std::optional<Error> fault_under(const KeyPart& part, const KeyRange& range,
                                 std::string_view text) {
    // A network that has addresses beside those that are unwrapped is one of these.
    const auto is_unwrapped = [&](Wide number) {
        const VersionedAddress end{range.version, address_of(range.version, number)};
        return unwrapped(end, part.unwrapping) != end;
    };
    if (is_unwrapped(range.first) && is_unwrapped(range.last)) {
        return Error{Errc::OutOfRange,
                     in_quotes(text) + " is written as the IPv4 network inside it"};
    }
    const Wide in_key = addresses_but_one(range.version, part.length(range.version));
    if ((range.first & in_key) == 0 && (range.last & in_key) == in_key) {
        return std::nullopt;
    }
    const bool is_narrower = (range.first | in_key) >= range.last;
    return Error{Errc::OutOfRange, in_quotes(text) +
                                       (is_narrower ? " is narrower than a key" : " cuts a key") +
                                       ": the rule groups by " + keys_text(part, range.version)};
}

Error wrong_kind(std::span<const GroupingKey> keys, std::string_view text, const TextNames& names) {
    return {Errc::BadSyntax, in_quotes(text) +
                                 " is no single key, and networks and ranges stand for keys of one "
                                 "address alone; this rule groups by " +
                                 (keys.empty() ? "[]" : shape_of(keys.front(), names))};
}

}  // namespace

bool may_be_range(std::string_view text) noexcept {
    return text.find_first_of("/-") != std::string_view::npos;
}

Result<KeyRange> read_key_range(std::span<const GroupingKey> keys, std::string_view text,
                                std::optional<std::size_t> tier, const TextNames& names) {
    std::optional<KeyRange> found;
    std::optional<Error> wrong;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if ((tier && *tier != i + 1) || keys[i].size() != 1 || !keys[i].front().is_address()) {
            continue;
        }
        Result<KeyRange> range = range_in(text);
        if (!range) {
            return range.error();
        }
        if (std::optional<Error> fault = fault_under(keys[i].front(), *range, text)) {
            wrong = wrong ? wrong : fault;
            continue;
        }
        if (found) {
            return Error{Errc::BadSyntax, in_quotes(text) + " can be of keys of tier " +
                                              std::to_string(found->index + 1) + " and of tier " +
                                              std::to_string(i + 1)};
        }
        range->index = static_cast<std::uint8_t>(i);
        found = *range;
    }
    if (found) {
        return *found;
    }
    return wrong ? *wrong : wrong_kind(keys, text, names);
}

std::optional<ReadKey> single_key(std::span<const GroupingKey> keys, const KeyRange& range) {
    const KeyPart& part = keys[range.index].front();
    const Wide in_key = addresses_but_one(range.version, part.length(range.version));
    if (range.last - range.first != in_key) {
        return std::nullopt;
    }
    ReadKey key{.index = range.index};
    key.bytes.append_address(part, {range.version, address_of(range.version, range.first)});
    key.text = to_text(range);
    return key;
}

std::string to_text(const KeyRange& range) {
    const Wide but_one = range.last - range.first;
    const bool is_network = (but_one & (but_one + 1)) == 0 && (range.first & but_one) == 0;
    const std::string first = to_text(range.version, address_of(range.version, range.first));
    if (!is_network) {
        return first + "-" + to_text(range.version, address_of(range.version, range.last));
    }
    unsigned length = range.version == IpVersion::V4 ? 32 : 128;
    while (addresses_but_one(range.version, length) < but_one) {
        --length;
    }
    return but_one == 0 ? first : first + "/" + std::to_string(length);
}

}  // namespace sluice
