#include "lib/policy/action_reader.hpp"

#include "lib/policy/nearest.hpp"
#include "lib/policy/units_text.hpp"

#include <array>
#include <span>

namespace sluice {
namespace {

constexpr auto kActions = std::to_array<std::string_view>(
    {"drop", "tag", "pass", "reset", "reply", "decoy", "shape", "dns_truncate", "quic_retry"});
constexpr std::size_t kTag = 1;
constexpr std::size_t kFirstLater = 3;

constexpr auto kPlainKeys = std::to_array<KeyRow>({{"action"}});
constexpr auto kTagKeys = std::to_array<KeyRow>({{"action"}, {"dscp"}, {"pcp"}});
// Parameters of the actions that are not built yet: known, so that a slip is still found.
constexpr auto kLaterKeys = std::to_array<KeyRow>({{"action"},
                                                   {"status"},
                                                   {"headers"},
                                                   {"body"},
                                                   {"content_type"},
                                                   {"tls_fallback"},
                                                   {"max_delay"},
                                                   {"overflow"},
                                                   {"slip"},
                                                   {"then"},
                                                   {"above"},
                                                   {"dscp"},
                                                   {"pcp"}});

// What may stand beside `action`, by the action.
std::span<const KeyRow> keys_of(const YamlNode& node) {
    const YamlNode* action = value_of(node, "action");
    const std::string_view name = action == nullptr ? "" : std::string_view{action->text};
    if (name == "drop" || name == "pass") {
        return kPlainKeys;
    }
    return name == kActions[kTag] ? std::span<const KeyRow>{kTagKeys} : kLaterKeys;
}

// DSCP names: RFC 2474 (CS), RFC 2597 (AF), RFC 3246 (EF), RFC 5865 (VA), RFC 8622 (LE).
struct DscpName {
    std::string_view name;
    std::uint8_t value;
};
constexpr auto kDscpNames = std::to_array<DscpName>({
    {"be", 0},    {"default", 0}, {"cs0", 0},   {"le", 1},    {"cs1", 8},
    {"af11", 10}, {"af12", 12},   {"af13", 14}, {"cs2", 16},  {"af21", 18},
    {"af22", 20}, {"af23", 22},   {"cs3", 24},  {"af31", 26}, {"af32", 28},
    {"af33", 30}, {"cs4", 32},    {"af41", 34}, {"af42", 36}, {"af43", 38},
    {"cs5", 40},  {"va", 44},     {"ef", 46},   {"cs6", 48},  {"cs7", 56},
});

std::optional<std::uint8_t> read_dscp(const MapReader& map, const ReadContext& context) {
    const YamlNode* value = map.find("dscp");
    if (value == nullptr) {
        return std::nullopt;
    }
    for (const DscpName& row : kDscpNames) {
        if (value->is_scalar() && value->text == row.name) {
            return row.value;
        }
    }
    const bool number = value->is_scalar() && value->plain;
    const Result<std::uint64_t> code =
        number ? parse_number(value->text, 63) : Result<std::uint64_t>{Error{}};
    if (code) {
        return static_cast<std::uint8_t>(*code);
    }
    context.problems.error(value->at,
                           "`dscp` is a number from 0 to 63 or a name such as ef, af11 or cs1; "
                           "found " +
                               kind_name(*value));
    return std::nullopt;
}

void read_tag(const MapReader& map, ActionText& action, const ReadContext& context) {
    action.tag.dscp = read_dscp(map, context);
    if (const std::optional<std::uint64_t> pcp = map.number("pcp", 7)) {
        action.tag.pcp = static_cast<std::uint8_t>(*pcp);
    }
    if (map.find("dscp") == nullptr && map.find("pcp") == nullptr) {
        context.problems.error(map.node().at, "the action tag needs `dscp`, `pcp` or both");
    }
    action.text += action.tag.dscp ? " dscp " + map.find("dscp")->text : "";
    action.text += action.tag.pcp ? " pcp " + map.find("pcp")->text : "";
}

}  // namespace

ActionText read_action(const YamlNode& node, const ReadContext& context) {
    ActionText action;
    const MapReader map{node, keys_of(node), context, "an action"};
    if (!map.is_map()) {
        return action;
    }
    if (map.find("action") == nullptr) {
        context.problems.error(node.at, "this needs `action` (" + list_of(kActions) + ")");
        return action;
    }
    const std::optional<std::size_t> index = map.word("action", kActions);
    if (!index) {
        return action;
    }
    action.text = kActions[*index];
    if (*index >= kFirstLater) {
        context.not_enforced(map.find("action")->at, "the action " + action.text);
        return action;
    }
    constexpr std::array kVerdicts{Verdict::Drop, Verdict::Tag, Verdict::Pass};
    action.verdict = kVerdicts[*index];
    if (*index == kTag) {
        read_tag(map, action, context);
    }
    return action;
}

}  // namespace sluice
