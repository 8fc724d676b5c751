#pragma once
#include "control/daemon/rule_change.hpp"

#include <mutex>
#include <vector>

namespace sluice {

// Rules whose ttl has run out, kept for the audit until they are fetched.
class EndedRules {
public:
    // Those that have ended in `after` and had not in `before`.
    void add(const StoredRules& before, const StoredRules& after);
    // Those since the last call.
    [[nodiscard]] std::vector<EndedRule> take();

private:
    std::mutex mutex_;
    std::vector<EndedRule> ended_;
};

}  // namespace sluice
