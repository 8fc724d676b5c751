#include "lib/policy/rules/when_reader.hpp"

#include "lib/policy/expression/condition_reader.hpp"
#include "lib/policy/placement/may_match.hpp"

namespace sluice {

void read_when(const MapReader& map, const FileContext& file, ReadContext& context,
               ReadRule& read) {
    if (map.find("when") == nullptr) {
        context.versions = IpVersions{};
        return;
    }
    const std::optional<std::string> text = map.text("when");
    if (!text) {
        return;
    }
    read.everything = false;
    read.summary.when = *text;
    if (std::optional<ParsedExpression> when =
            read_condition(*map.find("when"), file.lists, context)) {
        read.asks_client = !when->clients.empty();
        read.when_is_whole = !when->has_unknown_list;
        read.when = std::move(when->tree);
        if (read.when_is_whole) {
            context.versions = versions_let_through(read.when);
        }
    }
}

}  // namespace sluice
