#pragma once
#include "lib/rules/load/loaded_set.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace sluice {

// The keys that have gone into penalty boxes lately, by their bytes: of so many, the latest.
class KnownKeys {
public:
    static constexpr std::size_t kMost = 16'384;
    using PairOf = std::function<std::string(std::uint64_t)>;

    void note(const std::string& rule, std::string key) {
        const auto [at, is_new] = known_.emplace(rule, std::move(key));
        if (!is_new) {
            return;
        }
        order_.push_back(at);
        if (order_.size() > kMost) {
            known_.erase(order_.front());
            order_.pop_front();
        }
    }
    void add_to(std::vector<std::string>& names, const std::string& rule) const {
        for (auto at = known_.lower_bound({rule, ""}); at != known_.end() && at->first == rule;
             ++at) {
            names.push_back(at->second);
        }
    }

private:
    using Known = std::set<std::pair<std::string, std::string>>;
    Known known_;
    std::deque<Known::const_iterator> order_;
};

}  // namespace sluice
