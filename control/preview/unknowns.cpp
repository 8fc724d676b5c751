#include "control/preview/unknowns.hpp"

#include <fmt/format.h>

#include <string_view>

namespace sluice {
namespace {

class Unknowns {
public:
    void add(std::string_view code, std::string text) {
        list_.push_back({{"code", code}, {"text", std::move(text)}});
    }
    void add_if(bool holds, std::string_view code, std::string_view text) {
        if (holds) {
            add(code, std::string{text});
        }
    }
    [[nodiscard]] Json take() && { return std::move(list_); }

private:
    Json list_ = Json::array();
};

std::string listed(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) {
        text += (text.empty() ? "" : ", ") + name;
    }
    return text;
}

void add_units(const DraftRules& draft, const PreviewFacts& facts, Unknowns& unknown) {
    unknown.add_if(draft.reads_units, "encrypted",
                   "what is encrypted cannot be read: requests within TLS and QUIC are not among "
                   "the matches");
    unknown.add_if(draft.reads_units, "earlier_connections",
                   "connections that began before a rule in force read them are not read: their "
                   "requests are not among the matches");
    if (!facts.unread_fields.empty()) {
        unknown.add("unread_fields",
                    fmt::format("no rule in force reads {}: the box does not look for it now, and "
                                "no packet matched by it",
                                listed(facts.unread_fields)));
    }
}

void add_gaps(const DraftGaps& gaps, Unknowns& unknown) {
    unknown.add_if(gaps.one_bucket, "one_bucket",
                   "the draft has no key: all that matches has one bucket, so there are no groups "
                   "to compare");
    unknown.add_if(gaps.path_costs, "path_costs",
                   "requests are counted alike: what they cost by their paths is not known here");
    unknown.add_if(
        gaps.overrides, "overrides",
        "keys with numbers of their own, exempt and banned ones are judged by the rule's "
        "numbers");
    unknown.add_if(gaps.windows, "windows",
                   "windows began with the first packet, and on the box they begin by its clock: "
                   "what spans two of them there is refused less, or more");
    unknown.add_if(gaps.boxes, "boxes",
                   "packets of this box alone are judged: with those that the other boxes of the "
                   "cluster count under the same limit more would have been refused");
    unknown.add_if(gaps.hours, "hours",
                   "the draft is judged as active, whatever its hours are now");
    unknown.add_if(gaps.further_keys, "further_keys",
                   "limits behind the second key are not judged");
    unknown.add_if(gaps.shapes, "shaped",
                   "what exceeds would be held back and sent later as far as there is room: only "
                   "what has none would have been refused");
    unknown.add_if(gaps.lets_on, "let_on", "what exceeds would go on, tagged: nothing is dropped");
    if (!gaps.limits.empty()) {
        unknown.add("not_judged",
                    fmt::format("not judged: {}, which counts open connections or different values",
                                listed(gaps.limits)));
    }
}

void add_sampling(const DraftRules& draft, const PreviewLog& log, Unknowns& unknown) {
    if (log.bits() != 0 && draft.has_key) {
        unknown.add("sampled",
                    fmt::format("one group of {} was watched: the numbers of refusals and groups "
                                "are about; that of matches is exact",
                                std::uint64_t{1} << log.bits()));
        if (!draft.gaps.second_key.empty()) {
            unknown.add("not_judged",
                        fmt::format("not judged: {}, whose groups are of the second key: one of {} "
                                    "groups of the first shows but a part of them",
                                    listed(draft.gaps.second_key), std::uint64_t{1} << log.bits()));
        }
    }
    if (log.left_out() != 0) {
        unknown.add("left_out", fmt::format("{} packets of watched groups found no room: these "
                                            "groups would have been refused more than is said",
                                            log.left_out()));
    }
    if (log.latest().keyless != 0 && !draft.decides_alone) {
        unknown.add("keyless",
                    fmt::format("{} matching packets lack the draft's {}", log.latest().keyless,
                                draft.gaps.has_tiers ? "first key, and are not judged"
                                                     : "key, and are not limited by it"));
    }
    if (log.latest().decided != 0) {
        unknown.add("other_rules_first",
                    fmt::format("{} matching packets were refused or passed by other rules, "
                                "whatever the draft says: they are not among the matches above, "
                                "and the counters of the rule would have them",
                                log.latest().decided));
    }
}

}  // namespace

Json unknowns_json(const DraftRules& draft, const PreviewLog& log, const PreviewFacts& facts) {
    Unknowns unknown;
    add_units(draft, facts, unknown);
    add_gaps(draft.gaps, unknown);
    add_sampling(draft, log, unknown);
    unknown.add_if(!facts.was_judged, "not_judged",
                   "there was more traffic than could be judged: matches alone are known");
    if (facts.table_full != 0) {
        unknown.add("left_out", fmt::format("{} times there was no room for a further group of a "
                                            "key: what came of these would have been refused more "
                                            "than is said",
                                            facts.table_full));
    }
    unknown.add_if(!draft.decides_alone, "state_begins_empty",
                   "every group began with a full budget, in a table with room for all: what it "
                   "used before is not known");
    unknown.add_if(facts.rules_changed, "rules_changed",
                   "the rules in force changed meanwhile: what they refuse first is not the same");
    if (facts.seconds + 0.5 < facts.seconds_asked) {
        unknown.add("ended_early", fmt::format("it ended after {:.1f} s", facts.seconds));
    }
    return std::move(unknown).take();
}

}  // namespace sluice
