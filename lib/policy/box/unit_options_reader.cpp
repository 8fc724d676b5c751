#include "lib/policy/box/box_parts.hpp"

#include "lib/policy/box/box_values.hpp"
#include "lib/policy/file_keys/box_keys.hpp"

#include <array>

namespace sluice {
namespace {

// `both` and `stricter` name one policy: every reading is judged, and the strictest verdict holds.
constexpr auto kAmbiguousWords = std::to_array<std::string_view>({"refuse", "both", "stricter"});
constexpr std::array kAmbiguousPolicies{OnAmbiguous::Refuse, OnAmbiguous::Both, OnAmbiguous::Both};

constexpr std::string_view kTimes = "from 100ms to 10m, such as 10s";

void read_connections(const YamlNode& node, const ReadContext& context, ConnectionOptions& into) {
    const MapReader map{node, box_keys::kConnections, context, "`connections`"};
    read_amount(map, "max", kConnectionsRange, context, into.max);
    read_bytes(map, "head_bytes", kHeadBytesRange, context, into.head_bytes);
    read_time(map, "timeout", {kHalfHeadRange, kTimes}, context, into.timeout);
    read_word(map, "when_full", kFullConnectionsNames, into.when_full);
}

void read_fragments(const YamlNode& node, const ReadContext& context, FragmentOptions& into) {
    const MapReader map{node, box_keys::kFragments, context, "`fragments`"};
    read_word(map, "policy", kFragmentPolicyNames, into.policy);
    read_amount(map, "table", kFragmentsRange, context, into.table);
    read_time(map, "timeout", {kFragmentTimeRange, kTimes}, context, into.timeout);
}

void read_http(const YamlNode& node, const ReadContext& context, UnitOptions& into) {
    const MapReader map{node, box_keys::kHttp, context, "`http`"};
    if (const std::optional<std::size_t> word = map.word("on_ambiguous", kAmbiguousWords)) {
        into.on_ambiguous = kAmbiguousPolicies[*word];
    }
}

void read_quic(const YamlNode& node, const ReadContext& context, UnitOptions& into) {
    const MapReader map{node, box_keys::kQuicInitials, context, "`quic_initials`"};
    into.quic_initials_percent =
        map.percent("budget").value_or(static_cast<unsigned>(into.quic_initials_percent));
}

}  // namespace

void read_unit_options(const MapReader& packets, const ReadContext& context, UnitOptions& into) {
    if (const YamlNode* node = packets.find("connections")) {
        read_connections(*node, context, into.connections);
    }
    if (const YamlNode* node = packets.find("fragments")) {
        read_fragments(*node, context, into.fragments);
    }
    if (const YamlNode* node = packets.find("http")) {
        read_http(*node, context, into);
    }
    if (const YamlNode* node = packets.find("quic_initials")) {
        read_quic(*node, context, into);
    }
}

}  // namespace sluice
