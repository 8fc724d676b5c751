#pragma once
#include "control/daemon/api/api.hpp"
#include "control/json.hpp"
#include "lib/rules/rule_set.hpp"

#include <cstdint>
#include <string>

namespace sluice {

// The number of keys of the running rules that owe more than another set of rules would let them,
// as the dataplane counts them in its tables.
class OwedCounter {
public:
    OwedCounter(const RuleSet& next, std::uint64_t generation, Services& services)
        : next_{next}, generation_{generation}, services_{services} {}

    // {"keys":…,"seconds":…,"whole":…}: of a limit that both have; `seconds` until the last of the
    // keys is admitted again, `whole` where all tables were read. null: nobody can say.
    [[nodiscard]] Json count(const std::string& rule, const std::string& limit);
    // False: the dataplane could not be asked about some limit.
    [[nodiscard]] bool is_known() const noexcept { return known_; }

private:
    const RuleSet& next_;
    std::uint64_t generation_;
    Services& services_;
    bool known_ = true;
    int reads_left_ = 64;  // of all limits; some ms of the dataplane's main lcore each
};

}  // namespace sluice
