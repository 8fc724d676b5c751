#include "lib/policy/limits/named_limits.hpp"

#include "lib/base/ascii.hpp"
#include "lib/policy/limits/limit_reader.hpp"
#include "lib/policy/problems/nearest.hpp"
#include "lib/policy/values/units_text.hpp"

#include <algorithm>
#include <vector>

namespace sluice {
namespace {

constexpr std::size_t kMaxLimitNameSize = 128;

// Unnamed limits are called `1`, `2`, and `t2.1` in tiers.
bool is_position(std::string_view name) noexcept {
    if (name.starts_with('t')) {
        const std::size_t dot = name.find('.');
        return dot != std::string_view::npos && is_position(name.substr(1, dot - 1)) &&
               is_position(name.substr(dot + 1));
    }
    return !name.empty() && std::all_of(name.begin(), name.end(), is_ascii_digit);
}

bool is_limit_name(std::string_view name) noexcept {
    const auto good = [](char c) {
        return is_ascii_alphanumeric(c) || c == '-' || c == '_' || c == '.';
    };
    return !name.empty() && name.size() <= kMaxLimitNameSize && !is_position(name) &&
           std::all_of(name.begin(), name.end(), good);
}

// A limit may leave `per` to the rules that use it. Without one, the unit of its rate decides.
std::optional<Per> what_it_counts(const YamlNode& limit) {
    const YamlNode* rate = value_of(limit, "rate");
    const bool bytes = rate != nullptr && !parse_rate(rate->text, Per::Packet) &&
                       parse_rate(rate->text, Per::Byte);
    return bytes ? std::optional{Per::Byte} : std::nullopt;
}

}  // namespace

void NamedLimits::read(const YamlNode& limits, const ReadContext& context) {
    if (!limits.is_map()) {
        context.problems.error(limits.at,
                               "`limits` is a map of names to limits, found " + kind_name(limits));
        return;
    }
    if (limits.entries.size() > kMaxLimits) {
        context.problems.error(limits.at,
                               "a file has at most " + std::to_string(kMaxLimits) + " limits");
        return;
    }
    for (const YamlEntry& entry : limits.entries) {
        if (!is_limit_name(entry.key.text)) {
            context.problems.error(entry.key.at,
                                   "a limit's name has 1 to 128 letters, digits, `-`, `_` and "
                                   "`.`, and is no position such as 1 or t2.1");
        }
        limits_.try_emplace(entry.key.text, Named{&entry.value, entry.key.at});
    }
}

const YamlNode* NamedLimits::find(const YamlNode& name, const ReadContext& context) {
    const auto found = limits_.find(name.text);
    if (found != limits_.end()) {
        found->second.used = true;
        return found->second.limit;
    }
    std::string suggestion;
    if (!context.problems.is_full()) {
        std::vector<std::string_view> names;
        names.reserve(limits_.size());
        for (const auto& [known, limit] : limits_) {
            names.push_back(known);
        }
        suggestion = did_you_mean(name.text, names);
    }
    context.problems.error(name.at, "there is no limit called `" + name.text + "`" + suggestion);
    return nullptr;
}

void NamedLimits::warn_of_unused(const ReadContext& context) const {
    for (const auto& [name, limit] : limits_) {
        if (!limit.used) {
            (void)read_limit(*limit.limit, what_it_counts(*limit.limit), context);
            context.problems.warning(limit.at, "no rule uses the limit `" + name + "`");
        }
    }
}

}  // namespace sluice
