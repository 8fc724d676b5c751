#include "lib/policy/rules/action_reader.hpp"

#include "lib/policy/file_keys/rule_keys.hpp"
#include "lib/policy/problems/nearest.hpp"
#include "lib/policy/rules/answer_reader.hpp"
#include "lib/policy/texts/letter_case.hpp"
#include "lib/policy/values/units_text.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace sluice {
namespace {

void read_tag(const MapReader& map, ActionText& action, const ReadContext& context);
void read_shape(const MapReader& map, ActionText& action, const ReadContext& context);

// Every action of the language with what may stand beside it, and who reads that. One that is not
// built is known all the same, so that a slip in it is found.
using ReadAction = void (*)(const MapReader& map, ActionText& action, const ReadContext& context);
template <Verdict kVerdict>
void read_plain(const MapReader& /*map*/, ActionText& action, const ReadContext& /*context*/) {
    action.action.verdict = kVerdict;
}
template <void (*kRead)(const MapReader&, ActionText&)>
void read_answer(const MapReader& map, ActionText& action, const ReadContext& /*context*/) {
    kRead(map, action);
}
struct ActionRow {
    std::string_view name;
    std::span<const KeyRow> keys;
    ReadAction read = nullptr;  // nullptr: it is not built
};
constexpr auto kActions = std::to_array<ActionRow>({
    {"drop", rule_keys::kPlainAction, read_plain<Verdict::Drop>},
    {"tag", rule_keys::kTagAction, read_tag},
    {"pass", rule_keys::kPlainAction, read_plain<Verdict::Pass>},
    {"reset", rule_keys::kPlainAction, read_plain<Verdict::Reset>},
    {"reply", rule_keys::kReplyAction, read_answer<read_reply>},
    {"decoy", rule_keys::kDecoyAction, read_answer<read_decoy>},
    {"shape", rule_keys::kShapeAction, read_shape},
    {"dns_truncate", rule_keys::kDnsTruncateAction, read_answer<read_dns_truncate>},
});

constexpr auto kActionWords = [] {
    std::array<std::string_view, kActions.size()> words;
    for (std::size_t i = 0; i < words.size(); ++i) {
        words[i] = kActions[i].name;
    }
    return words;
}();

// The row that an action names; nullopt (reported) if it names none.
std::optional<std::size_t> find_action(const YamlNode& node, const ReadContext& context) {
    const YamlNode* named = value_of(node, "action");
    if (named == nullptr) {
        context.problems.error(node.at, "this needs `action` (" + list_of(kActionWords) + ")");
        return std::nullopt;
    }
    const auto row = named->is_scalar()
                         ? std::find(kActionWords.begin(), kActionWords.end(), named->text)
                         : kActionWords.end();
    if (row == kActionWords.end()) {
        context.problems.error(named->at, "`action` is one of " + list_of(kActionWords) +
                                              "; found " + kind_name(*named) +
                                              did_you_mean(named->text, kActionWords));
        return std::nullopt;
    }
    return static_cast<std::size_t>(row - kActionWords.begin());
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
        if (value->is_scalar() && lowered(value->text) == row.name) {
            return row.value;
        }
    }
    const Result<std::uint64_t> code =
        value->is_scalar() ? parse_number(value->text, 63) : Result<std::uint64_t>{Error{}};
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
    action.action.verdict = Verdict::Tag;
    TagValues& tag = action.action.tag;
    tag.dscp = read_dscp(map, context);
    if (const std::optional<std::uint64_t> pcp = map.number("pcp", 7)) {
        tag.pcp = static_cast<std::uint8_t>(*pcp);
    }
    if (map.find("dscp") == nullptr && map.find("pcp") == nullptr) {
        context.problems.error(map.node().at, "the action tag needs `dscp`, `pcp` or both");
    }
    action.text += tag.dscp ? " dscp " + map.find("dscp")->text : "";
    action.text += tag.pcp ? " pcp " + map.find("pcp")->text : "";
}

constexpr auto kOverflowWords = std::to_array<std::string_view>({"drop", "pass"});
constexpr std::array kOverflowVerdicts{Verdict::Drop, Verdict::Pass};

void read_shape(const MapReader& map, ActionText& action, const ReadContext& context) {
    action.action.verdict = Verdict::Shape;
    ShapeValues& shape = action.action.shape;
    shape.overflow = kOverflowVerdicts[map.word("overflow", kOverflowWords).value_or(0)];
    const std::optional<std::string> text = map.text("max_delay");
    if (map.find("max_delay") == nullptr) {
        context.problems.error(map.node().at,
                               "the action shape needs `max_delay`, how long a packet may be held");
    }
    const Result<Nanoseconds> most = text ? parse_duration(*text) : Result<Nanoseconds>{Error{}};
    if (text && (!most || *most <= Nanoseconds{0} || *most > kLongestDelay)) {
        context.problems.error(map.find("max_delay")->at,
                               "`max_delay` is a duration of at most 1m, such as 50ms or 2s");
    }
    shape.max_delay = most ? *most : Nanoseconds{0};
    action.text += " up to " + text.value_or("") + ", then " + std::string{name_of(shape.overflow)};
}

}  // namespace

ActionText read_action(const YamlNode& node, const ReadContext& context, std::uint16_t status) {
    ActionText action;
    if (!node.is_map()) {
        context.problems.error(
            node.at, "an action must be a map such as {action: drop}, found " + kind_name(node));
        return action;
    }
    const std::optional<std::size_t> index = find_action(node, context);
    if (!index) {
        return action;
    }
    action.text = kActions[*index].name;
    const MapReader map{node, kActions[*index].keys, context, "the action " + action.text};
    action.at = map.find("action")->at;
    if (kActions[*index].read == nullptr) {
        context.not_enforced(action.at, "the action " + action.text);
        return action;
    }
    action.reply_status = status;
    kActions[*index].read(map, action, context);
    if (action.fault) {
        context.problems.error(action.fault->at, action.fault->what);
    }
    return action;
}

}  // namespace sluice
