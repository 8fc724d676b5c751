#include "lib/policy/placement/absent_pairs.hpp"

#include "lib/policy/placement/may_match.hpp"

#include <algorithm>

namespace sluice {
namespace {

bool names_pair(const Expression& tree) {
    return (tree.kind == Expression::Kind::Leaf && tree.leaf.field == Field::Port) ||
           std::any_of(tree.parts.begin(), tree.parts.end(), names_pair);
}

// Each pair has two ports, one after the other.
std::string names_of(const RssMapping& box) {
    std::string names;
    for (const PortRssMapping& port : box.ports) {
        if (port.dir == Direction::In) {
            names += (names.empty() ? "`" : ", `") + port.pair + "`";
        }
    }
    return names;
}

}  // namespace

std::optional<std::string> find_absent_pair(const Expression& when, const RssMapping& box) {
    const bool has_all_names =
        std::none_of(box.ports.begin(), box.ports.end(),
                     [](const PortRssMapping& port) { return port.pair.empty(); });
    if (!has_all_names || !names_pair(when) || !may_match(when, {.with_any_list = true})) {
        return std::nullopt;
    }
    const bool holds_somewhere =
        std::any_of(box.ports.begin(), box.ports.end(), [&](const PortRssMapping& port) {
            return may_match(when, {.dir = static_cast<std::uint64_t>(port.dir),
                                    .port = port_name(port.pair),
                                    .with_any_list = true});
        });
    return holds_somewhere ? std::nullopt
                           : std::optional{"`when` holds at no port of this box, whose pairs are " +
                                           names_of(box)};
}

}  // namespace sluice
