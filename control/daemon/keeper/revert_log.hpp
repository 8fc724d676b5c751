#pragma once
#include "control/daemon/audit.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace sluice {

// A trial that ended by itself, from its end until the dataplane runs the kept rules again; then it
// goes to the audit, in the name of sluiced.
class RevertLog {
public:
    explicit RevertLog(Audit& audit) noexcept : audit_{audit} {}

    void begin(std::uint64_t from, std::string why);
    [[nodiscard]] bool is_open() const noexcept { return revert_.has_value(); }
    void finish(std::uint64_t to);
    void forget() noexcept { revert_.reset(); }

private:
    struct Revert {
        std::uint64_t from = 0;
        std::string why;
    };

    Audit& audit_;
    std::optional<Revert> revert_;
};

}  // namespace sluice
