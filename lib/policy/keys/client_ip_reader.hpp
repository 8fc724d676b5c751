#pragma once
#include "lib/packet/client_address.hpp"
#include "lib/policy/values/named_text.hpp"
#include "lib/policy/yaml/map_reader.hpp"
#include "lib/policy/yaml/scalar_places.hpp"
#include "lib/rules/rule_set.hpp"

#include <cstddef>
#include <vector>

namespace sluice {

// `client_ip` of a rule file: what client.ip is made of.
struct ClientIp {
    ClientView view;
    bool from_header = false;  // some clients are named by a header, which nothing reads yet
};

// Reports what is wrong, and what is not enforced yet as a warning.
[[nodiscard]] ClientIp read_client_ip(const YamlNode& node, const ReadContext& context);

// What client.ip is in this context.
[[nodiscard]] ClientView client_view(const ReadContext& context) noexcept;

// A rule uses client.ip at these places: an error where a header would have to be read.
void report_clients(const std::vector<std::size_t>& offsets, const ScalarPlaces& places,
                    const ReadContext& context);

[[nodiscard]] bool asks_for_client(bool condition_asks, const std::vector<GroupingKey>& keys);
// What client.ip is belongs to the rules that use it, though it stands at the top of the file:
// "prefixes 24|64, unwrap nat64 v4mapped".
void note_client(const ClientView& view, std::vector<NamedText>& settings);

}  // namespace sluice
