#pragma once
#include "lib/policy/problems/problem.hpp"

#include <cstddef>
#include <string>

namespace sluice {

// Settings made at run time for keys of one rule that have another effect than they say, or none:
// each kind is one warning, which names the first.
class SettingFaults {
public:
    // Its numbers were brought back to a bound.
    void note_held(const std::string& key) { first_held_ = held_++ == 0 ? key : first_held_; }
    void note_unfit(const std::string& key, const std::string& why) {
        first_unfit_ = unfit_++ == 0 ? key + ": " + why : first_unfit_;
    }
    void tell(Problems& problems, Position at) const {
        if (held_ != 0) {
            problems.warning(at, "of " + std::to_string(held_) + (held_ == 1 ? " key" : " keys") +
                                     " the numbers that were set are outside of `dynamic`: the "
                                     "nearest bound holds; the first is " +
                                     first_held_);
        }
        if (unfit_ != 0) {
            problems.warning(at, "settings of " + std::to_string(unfit_) +
                                     (unfit_ == 1 ? " key" : " keys") +
                                     " do not fit the rule any more, and have no effect; the "
                                     "first is " +
                                     first_unfit_);
        }
    }

private:
    std::size_t held_ = 0;
    std::size_t unfit_ = 0;
    std::string first_held_{};
    std::string first_unfit_{};
};

}  // namespace sluice
