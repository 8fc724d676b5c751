#include "control/daemon/heatmap/shared_facts.hpp"

#include "lib/packet/ip_address.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace sluice {
namespace {

constexpr std::size_t kMostShared = 8;
constexpr double kLeastHere = 0.3;
constexpr double kLeastApart = 0.2;

using Fact = std::pair<std::string, std::string>;

// The networks of an address that are told.
void add_networks(const HeatField& field, std::set<Fact>& facts) {
    const std::optional<VersionedAddress> address = parse_address(field.value);
    if (!address) {
        return;
    }
    const bool is_v4 = address->version == IpVersion::V4;
    for (const unsigned length : is_v4 ? std::array{16U, 24U} : std::array{32U, 48U}) {
        const IpPrefix network{address->version, masked(address->address, length),
                               static_cast<std::uint8_t>(length)};
        facts.emplace(fmt::format("{}/{}", field.name, length), to_text(network));
    }
}

// Each once for a group, however many of its packets have it.
std::map<Fact, std::size_t> count_facts(const std::vector<const HeatName*>& names) {
    std::map<Fact, std::size_t> counts;
    for (const HeatName* name : names) {
        std::set<Fact> facts;
        for (const HeatField& field : name->facts) {
            facts.emplace(field.name, field.value);
            add_networks(field, facts);
        }
        for (const Fact& fact : facts) {
            ++counts[fact];
        }
    }
    return counts;
}

double part(std::size_t count, std::size_t of) {
    return of == 0 ? 0 : static_cast<double>(count) / static_cast<double>(of);
}

}  // namespace

std::vector<SharedFact> shared_facts(const std::vector<const HeatName*>& here,
                                     const std::vector<const HeatName*>& rest, bool with_payloads) {
    const std::map<Fact, std::size_t> of_rest = count_facts(rest);
    std::vector<SharedFact> shared;
    for (const auto& [fact, count] : count_facts(here)) {
        const auto other = of_rest.find(fact);
        const SharedFact one{fact.first, fact.second, part(count, here.size()),
                             part(other == of_rest.end() ? 0 : other->second, rest.size())};
        if ((with_payloads || !is_of_payload(fact.first)) && count > 1 && one.here >= kLeastHere &&
            one.here - one.rest >= kLeastApart) {
            shared.push_back(one);
        }
    }
    std::ranges::stable_sort(shared, [](const SharedFact& a, const SharedFact& b) {
        return a.here - a.rest > b.here - b.rest;
    });
    shared.resize(std::min(shared.size(), kMostShared));
    return shared;
}

bool is_of_payload(const std::string& field) {
    return !field.starts_with("ip.") && !field.starts_with("l4.") &&
           !field.starts_with("client.ip");
}

}  // namespace sluice
