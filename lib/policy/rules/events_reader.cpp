#include "lib/policy/rules/events_reader.hpp"

#include "lib/policy/problems/nearest.hpp"

#include <algorithm>

namespace sluice {

EdgeEventSet read_events(const MapReader& rule, const ReadContext& context) {
    EdgeEventSet events;
    const YamlNode* list = rule.find("events");
    if (list == nullptr) {
        return events;
    }
    if (!list->is_list()) {
        context.problems.error(list->at,
                               "`events` must be a list of words, found " + kind_name(*list));
        return events;
    }
    for (const YamlNode& item : list->items) {
        const auto word = std::find(kEdgeEventNames.begin(), kEdgeEventNames.end(), item.text);
        if (!item.is_scalar() || word == kEdgeEventNames.end()) {
            context.problems.error(item.at, "`events` lists words of " + list_of(kEdgeEventNames) +
                                                "; found " + kind_name(item) +
                                                did_you_mean(item.text, kEdgeEventNames));
            continue;
        }
        const auto event = static_cast<EdgeEvent>(word - kEdgeEventNames.begin());
        events.add(event);
        if (event == EdgeEvent::Ban && rule.find("ban") == nullptr) {
            context.problems.warning(item.at, "the rule has no `ban` to report");
        }
    }
    return events;
}

std::string text_of(EdgeEventSet events) {
    std::string text;
    for (std::size_t i = 0; i < kEdgeEventCount; ++i) {
        if (events.has(static_cast<EdgeEvent>(i))) {
            text += (text.empty() ? "" : ", ") + std::string{kEdgeEventNames[i]};
        }
    }
    return text.empty() ? "none" : text;
}

}  // namespace sluice
