#include "control/cli/field_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

namespace sluice {
namespace {

// What the rule language has beyond kFields.
constexpr auto kUnsupportedFields = std::to_array<std::string_view>({
    "payload",
    "http.request.method",
    "http.host",
    "http.request.uri",
    "http.request.uri.path",
    "http.request.uri.query",
    "http.user_agent",
    "http.referer",
    "tls.handshake.type",
    "tls.sni",
    "tls.alpn",
    "tls.ja4",
    "quic.packet_type",
    "quic.version",
    "quic.token_len",
    "quic.sni",
    "dns.qr",
    "dns.qname",
    "dns.qtype",
    "proto.l7",
    "proto.scheme",
});
// These take a name in brackets.
constexpr auto kUnsupportedFamilies =
    std::to_array<std::string_view>({"http.request.headers[", "http.cookies["});

constexpr std::size_t kFarthest = 64;  // longer names are nobody's misspelling

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i] == b[j] ? 0U : 1U);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
        }
    }
    return row[b.size()];
}

std::string_view nearest_field(std::string_view name) {
    const FieldRow* best = &kFields.front();
    std::size_t least = edit_distance(name, best->name);
    for (const FieldRow& row : kFields) {
        const std::size_t distance = edit_distance(name, row.name);
        if (distance < least) {
            least = distance;
            best = &row;
        }
    }
    return best->name;
}

std::optional<Field> find_field(std::string_view name) {
    const auto* const row =
        std::find_if(kFields.begin(), kFields.end(),
                     [name](const FieldRow& candidate) { return candidate.name == name; });
    return row == kFields.end() ? std::nullopt : std::optional{row->field};
}

bool is_unsupported_field(std::string_view name) {
    return std::find(kUnsupportedFields.begin(), kUnsupportedFields.end(), name) !=
               kUnsupportedFields.end() ||
           std::any_of(kUnsupportedFamilies.begin(), kUnsupportedFamilies.end(),
                       [name](std::string_view family) { return name.starts_with(family); });
}

FieldFault fault_of(const std::string& name) {
    if (is_unsupported_field(name)) {
        return {true, fmt::format("field '{}' is not built yet", name)};
    }
    if (name.size() > kFarthest) {
        return {false, "no such field: the name is too long for any"};
    }
    return {false, fmt::format("no field '{}'; the nearest is '{}'", name, nearest_field(name))};
}

}  // namespace

std::variant<std::vector<Field>, FieldFault> parse_field_list(
    const std::vector<std::string>& names) {
    std::vector<Field> fields;
    for (const std::string& name : names) {
        const std::optional<Field> field = find_field(name);
        if (!field) {
            return fault_of(name);
        }
        if (is_from_database(*field)) {
            return FieldFault{false, fmt::format("field '{}' comes from a database, not from the "
                                                 "frame; `explain` shows it with a rule file that "
                                                 "names one",
                                                 name)};
        }
        fields.push_back(*field);
    }
    return fields;
}

std::variant<Tunnels, std::string> parse_tunnels(const std::vector<std::string>& names) {
    if (names.empty()) {
        return Tunnels{true, true, true};
    }
    Tunnels tunnels;
    if (names.size() == 1 && names.front() == "none") {
        return tunnels;
    }
    for (const std::string& name : names) {
        if (name == "gre") {
            tunnels.gre = true;
        } else if (name == "vxlan") {
            tunnels.vxlan = true;
        } else if (name == "ipip") {
            tunnels.ipip = true;
        } else {
            return fmt::format("no tunnel '{}'; give none, or a list of gre, vxlan, ipip", name);
        }
    }
    return tunnels;
}

}  // namespace sluice
