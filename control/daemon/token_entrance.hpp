#pragma once
#include "control/daemon/api_counters.hpp"
#include "control/daemon/entrance.hpp"
#include "control/daemon/token_gate.hpp"

#include <functional>
#include <string>
#include <utility>

namespace sluice {

// By TCP with the token of the API. Refusals are answered and recorded up to a number: the others
// are counted, and closed.
class TokenEntrance final : public Entrance {
public:
    using Refused = std::function<void(const std::string& source)>;
    TokenEntrance(TokenGate gate, Role role, ApiCounters& counters, Refused refused)
        : gate_{std::move(gate)}, role_{role}, counters_{counters}, refused_{std::move(refused)} {}

    [[nodiscard]] std::variant<Speaker, TurnedBack> admit(const Visit& visit) override;
    [[nodiscard]] AdmissionPolicy admission() override;

private:
    TokenGate gate_;
    Role role_;
    ApiCounters& counters_;
    Refused refused_;
};

}  // namespace sluice
