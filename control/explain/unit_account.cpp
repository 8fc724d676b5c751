#include "control/explain/unit_account.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sluice {
namespace {

std::string fate_text(const UnitAccount& unit) {
    if (!unit.refused) {
        return unit.is_known ? "not refused" : "refused with the packet";
    }
    std::string text = fmt::format("{} ({}), by {}", name_of(unit.refused->verdict),
                                   row_of(unit.refused->reason).help, unit.rule);
    if (const auto& shortage = unit.shortage) {
        text += fmt::format(": limit {}{}{} has {} left behind those before it, it costs {}",
                            shortage->limit, shortage->key.empty() ? "" : ", key ", shortage->key,
                            shortage->left, shortage->cost);
    }
    return text;
}

}  // namespace

std::string units_text(const std::vector<UnitAccount>& units) {
    if (units.empty()) {
        return {};
    }
    std::string text =
        "several in one packet\n"
        "  judged one by one, charged all or none; rules show the first\n";
    for (std::size_t i = 0; i < units.size(); ++i) {
        const UnitAccount& unit = units[i];
        text += fmt::format("  {} {} of {}: {}\n", unit.kind, i + 1, units.size(), fate_text(unit));
        for (const auto& named : unit.texts) {
            const NamedTexts& first = units.front().texts;
            if (unit.refused || std::ranges::find(first, named) == first.end()) {
                text += fmt::format("    {:<14} {}\n", named.first, named.second);
            }
        }
    }
    return text;
}

Json units_json(const std::vector<UnitAccount>& units) {
    Json all = Json::array();
    for (const UnitAccount& unit : units) {
        Json& json = all.emplace_back(Json{{"kind", unit.kind}, {"fields", Json::object()}});
        for (const auto& [name, text] : unit.texts) {
            json["fields"][name] = text;
        }
        json["refused"] = unit.is_known ? Json(unit.refused.has_value()) : Json();
        if (unit.refused) {
            json["reason"] = row_of(unit.refused->reason).name;
            json["rule"] = unit.rule;
        }
        if (const auto& shortage = unit.shortage) {
            json["limit"] = {{"name", shortage->limit},
                             {"key", shortage->key},
                             {"left", shortage->left},
                             {"cost", shortage->cost}};
        }
    }
    return all;
}

}  // namespace sluice
