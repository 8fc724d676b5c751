#include "lib/policy/limits/lone_limits.hpp"

#include "lib/policy/limits/limit_reader.hpp"

namespace sluice {
namespace {

constexpr const char* kLimitsName = "limits";

// The list, out of either form.
const YamlNode* limit_list(const YamlNode& root, Problems& problems) {
    const bool is_named =
        root.is_map() && root.entries.size() == 1 && root.entries.front().key.text == "limits";
    const YamlNode& list = is_named ? root.entries.front().value : root;
    if (!list.is_list()) {
        problems.error(list.at,
                       "it is a list of limits, each behind `- `, found " + kind_name(list));
        return nullptr;
    }
    return &list;
}

std::optional<LoneLimit> read_lone(const YamlNode& item, const ReadContext& context) {
    if (!item.is_map()) {
        context.problems.error(item.at, "a limit must be a map, found " + kind_name(item) +
                                            (item.is_scalar() ? "; limits that have a name are "
                                                                "known in their rule file only"
                                                              : ""));
        return std::nullopt;
    }
    LimitText read = read_limit(item, std::nullopt, context);
    if (!read.numbers) {
        return std::nullopt;
    }
    LoneLimit limit{.at = item.at,
                    .numbers = *read.numbers,
                    .per = read.per,
                    .algorithm = {},
                    .text = std::move(read.text),
                    .bound = std::move(read.bound),
                    .words = {}};
    for (const YamlEntry& entry : item.entries) {
        if (entry.key.text == "algorithm") {
            limit.algorithm = entry.value.text;
        }
        limit.words.emplace_back(entry.key.text, entry.value.text);
    }
    return limit;
}

std::optional<std::vector<LoneLimit>> read_list(const YamlNode& root, std::size_t most,
                                                const ReadContext& context) {
    const YamlNode* const list = limit_list(root, context.problems);
    if (list == nullptr) {
        return std::nullopt;
    }
    if (list->items.empty() || list->items.size() > most) {
        context.problems.error(list->at, "there are one to " + std::to_string(most) +
                                             " limits, found " +
                                             std::to_string(list->items.size()));
        return std::nullopt;
    }
    std::vector<LoneLimit> limits;
    for (const YamlNode& item : list->items) {
        if (std::optional<LoneLimit> limit = read_lone(item, context)) {
            limits.push_back(*std::move(limit));
        }
    }
    return limits;
}

}  // namespace

LoneLimits read_lone_limits(std::string_view text, std::size_t most) {
    Problems problems{kLimitsName};
    LoneLimits read;
    read.limits = read_file(text, problems, [&](const LineIndex& lines, const YamlNode& root) {
        const ReadContext context{.lines = lines, .problems = problems, .strict = true};
        return read_list(root, most, context);
    });
    if (problems.has_errors()) {
        read.limits.reset();
    } else if (!read.limits) {
        problems.error({1, 1}, "there is no limit in it");
    }
    problems.sort_by_place();
    read.problems = problems.list();
    return read;
}

}  // namespace sluice
