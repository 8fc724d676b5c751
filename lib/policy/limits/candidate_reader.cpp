#include "lib/policy/limits/candidate_reader.hpp"

#include "lib/policy/file_keys/rule_keys.hpp"
#include "lib/policy/rules/rule_id.hpp"

#include <algorithm>
#include <set>

namespace sluice {
namespace {

constexpr std::size_t kMaxCandidates = 16;  // of a rule

YamlNode overlaid(const YamlNode& limit, const YamlNode& parameters) {
    YamlNode result = limit;
    for (const YamlEntry& entry : parameters.entries) {
        const auto same =
            std::find_if(result.entries.begin(), result.entries.end(),
                         [&](const YamlEntry& one) { return one.key.text == entry.key.text; });
        if (same == result.entries.end()) {
            result.entries.push_back(entry);
        } else {
            *same = entry;
        }
    }
    return result;
}

std::optional<Candidate> read_candidate(const YamlNode& node, const ReadContext& context) {
    const MapReader map{node, rule_keys::kCandidate, context, "a candidate"};
    const YamlNode* limits = map.find("limits");
    const std::string name = map.text("name").value_or("");
    if (!map.is_map()) {
        return std::nullopt;
    }
    if (map.find("name") == nullptr || limits == nullptr) {
        context.problems.error(node.at, "a candidate needs `name` and `limits`");
        return std::nullopt;
    }
    if (!is_rule_id(name)) {
        context.problems.error(map.find("name")->at,
                               "a candidate's name has 1 to 128 lower-case letters, digits and "
                               "`-`");
        return std::nullopt;
    }
    return Candidate{name, LimitChanges{*limits, context}};
}

}  // namespace

LimitChanges::LimitChanges(const YamlNode& limits, const ReadContext& context) {
    if (!limits.is_map() || limits.entries.empty()) {
        context.problems.error(limits.at,
                               "`limits` of a candidate is a map of the rule's limits to what is "
                               "other in them; found " +
                                   kind_name(limits));
        return;
    }
    for (const YamlEntry& entry : limits.entries) {
        if (entry.value.is_map()) {
            changes_.try_emplace(entry.key.text, Change{entry.key.at, &entry.value});
        } else {
            context.problems.error(entry.value.at,
                                   "what is other in a limit is a map, such as "
                                   "{rate: 25/s}; found " +
                                       kind_name(entry.value));
        }
    }
}

std::optional<YamlNode> LimitChanges::change(const std::string& name, const YamlNode& limit) const {
    const auto found = changes_.find(name);
    if (found == changes_.end()) {
        return std::nullopt;
    }
    const YamlNode& parameters = *found->second.parameters;
    const bool other = value_of(parameters, "algorithm") != nullptr || !limit.is_map();
    return other ? parameters : overlaid(limit, parameters);
}

std::vector<Candidate> read_candidates(const YamlNode& node, const ReadContext& context) {
    std::vector<Candidate> candidates;
    if (!node.is_list() || node.items.size() > kMaxCandidates) {
        context.problems.error(node.at, "`candidates` is a list of at most " +
                                            std::to_string(kMaxCandidates) +
                                            " maps of `name` and `limits`");
        return candidates;
    }
    std::set<std::string> names;
    for (const YamlNode& item : node.items) {
        std::optional<Candidate> candidate = read_candidate(item, context);
        if (!candidate) {
            continue;
        }
        if (!names.insert(candidate->name).second) {
            context.problems.error(item.at, "two candidates are called `" + candidate->name + "`");
            continue;
        }
        candidates.push_back(*std::move(candidate));
    }
    return candidates;
}

}  // namespace sluice
