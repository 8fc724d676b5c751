#pragma once
#include "lib/policy/clauses/overlaps.hpp"
#include "lib/policy/services/service_reader.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace sluice {

// A service of the set, as the file has it.
struct PlacedService {
    Position at;
    Position when;                // of its condition
    std::size_t summary = 0;      // its index in CompiledRules::services
    std::vector<Clause> clauses;  // of its clients' packets
};

// The services of a file as one set: with their classifier, and what they mean for the rules.
class ServiceSet {
public:
    explicit ServiceSet(Problems& problems) noexcept : problems_{problems} {}

    // In the order of the file. What is off gets a summary, and no service.
    void add(const YamlNode& node, ReadService read, SetPool& pool, CompiledRules& compiled);

    // To be called once, when no error was found: the classifier, services that none reaches, what
    // this box cannot follow, and the stance of each rule.
    void finish(const RssMapping& box, SetPool& pool, const std::vector<PlacedRule>& rules,
                CompiledRules& compiled);

    // Beside each service of the set.
    [[nodiscard]] std::span<const PlacedService> placed() const noexcept { return placed_; }

private:
    void check_id(const YamlNode& node, const std::string& id);
    void compile(const SetPool& pool, CompiledRules& compiled);
    void warn_of_absent_pairs(const RssMapping& box, const CompiledRules& compiled);
    void check_rss_mapping(const RssMapping& box, const CompiledRules& compiled);
    void warn_of_rules(const std::vector<PlacedRule>& rules, const CompiledRules& compiled);

    Problems& problems_;
    std::map<std::string, Position> ids_;  // where each stands
    std::vector<PlacedService> placed_;
};

}  // namespace sluice
