#include "lib/policy/rules/notify_reader.hpp"

#include "lib/policy/file_keys/rule_keys.hpp"
#include "lib/policy/problems/nearest.hpp"

#include <algorithm>
#include <string_view>

namespace sluice {
namespace {

class NotifyReader {
public:
    NotifyReader(const MapReader& rule, const NotifyTargets* targets, const ReadContext& context)
        : rule_{rule}, targets_{targets}, context_{context} {}

    std::optional<NotifyTerms> run() {
        const YamlNode& value = *rule_.find("notify");
        if (value.is_scalar() && !value.text.empty()) {
            terms_.on.fill(true);
            return take_name(value);
        }
        if (!value.is_map()) {
            context_.problems.error(value.at,
                                    "`notify` is the name of a webhook of sluice.yaml, or {to: "
                                    "NAME, on: [ban, limit, over, state]}; found " +
                                        kind_name(value));
            return std::nullopt;
        }
        const MapReader map{value, rule_keys::kNotify, context_, "`notify`"};
        const YamlNode* to = map.find("to");
        if (to == nullptr || !to->is_scalar() || to->text.empty()) {
            context_.problems.error(to == nullptr ? value.at : to->at,
                                    "`notify` needs `to`, the name of a webhook of sluice.yaml");
            return std::nullopt;
        }
        return read_on(map) ? take_name(*to) : std::nullopt;
    }

private:
    std::optional<NotifyTerms> take_name(const YamlNode& name) {
        terms_.to = name.text;
        if (targets_ == nullptr || targets_->have(name.text)) {
            return terms_;
        }
        if (!targets_->names) {
            context_.problems.warning(name.at,
                                      "no sluice.yaml was read, so nobody knows here "
                                      "whether it has the webhook `" +
                                          name.text + "`; --config names it");
            return terms_;
        }
        const std::vector<std::string_view> known{targets_->names->begin(), targets_->names->end()};
        context_.complain(name.at,
                          "sluice.yaml has no webhook `" + name.text + "` under `notify`" +
                              (known.empty() ? "" : ", which has " + list_of(known)) +
                              did_you_mean(name.text, known),
                          targets_->is_required_of(id()));
        return terms_;
    }

    [[nodiscard]] std::string_view id() const {
        const YamlNode* const own = rule_.find("id");
        return own == nullptr ? std::string_view{} : std::string_view{own->text};
    }

    bool read_on(const MapReader& map) {
        const YamlNode* list = map.find("on");
        if (list == nullptr) {
            terms_.on.fill(true);
            return true;
        }
        if (!list->is_list() || list->items.empty()) {
            context_.problems.error(list->at, "`on` is a list of " + list_of(kNotifyEventNames) +
                                                  "; found " + kind_name(*list));
            return false;
        }
        bool good = true;
        for (const YamlNode& item : list->items) {
            good = read_event(item) && good;
        }
        return good;
    }

    bool read_event(const YamlNode& item) {
        const auto word = std::find(kNotifyEventNames.begin(), kNotifyEventNames.end(), item.text);
        if (!item.is_scalar() || word == kNotifyEventNames.end()) {
            context_.problems.error(item.at, "`on` lists words of " + list_of(kNotifyEventNames) +
                                                 "; found " + kind_name(item) +
                                                 did_you_mean(item.text, kNotifyEventNames));
            return false;
        }
        const auto event = static_cast<NotifyEvent>(word - kNotifyEventNames.begin());
        terms_.on[static_cast<std::size_t>(event)] = true;
        if (event == NotifyEvent::Ban && rule_.find("ban") == nullptr) {
            context_.problems.warning(item.at, "the rule has no `ban` to tell of");
        }
        return true;
    }

    const MapReader& rule_;
    const NotifyTargets* targets_;
    const ReadContext& context_;
    NotifyTerms terms_;
};

}  // namespace

std::optional<NotifyTerms> read_notify(const MapReader& rule, const NotifyTargets* targets,
                                       const ReadContext& context) {
    return rule.find("notify") == nullptr ? std::nullopt
                                          : NotifyReader{rule, targets, context}.run();
}

std::string text_of(const NotifyTerms& terms) {
    std::string text = terms.to;
    for (std::size_t i = 0; i < kNotifyEventCount; ++i) {
        if (terms.on[i]) {
            text +=
                (text.size() == terms.to.size() ? ": " : ", ") + std::string{kNotifyEventNames[i]};
        }
    }
    return text;
}

// The end of an attack is seen by counts, so that only its start is asked for.
EdgeEventSet events_for(const NotifyTerms& terms, bool bans) noexcept {
    EdgeEventSet events;
    if (terms.has(NotifyEvent::Limit) || terms.has(NotifyEvent::Over)) {
        events.add(EdgeEvent::LimitStart);
    }
    if (bans && (terms.has(NotifyEvent::Ban) || terms.has(NotifyEvent::Over))) {
        events.add(EdgeEvent::Ban);
    }
    return events;
}

}  // namespace sluice
