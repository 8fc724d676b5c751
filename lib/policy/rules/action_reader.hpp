#pragma once
#include "lib/policy/yaml/map_reader.hpp"
#include "lib/respond/action.hpp"
#include "lib/respond/answer/response_spec.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace sluice {

inline constexpr std::uint16_t kTooManyRequests = 429;

struct ActionText {
    struct Fault {
        Position at;
        std::string what;
    };
    Action action;
    std::string text = "drop";
    Position at{};
    std::optional<ResponseSpec> response{};         // what a request is answered with
    std::uint16_t reply_status = kTooManyRequests;  // of a `reply` that gives none
    bool names_policy = false;                      // that response names the rule as a policy
    bool resets_rest = false;                       // what `dns_truncate` does not answer is reset
    std::optional<Fault> fault{};
};

// `on_exceed`, or what stands for one colour in `on_color`, or a ban's. `status` is that of a
// `reply` that gives none.
[[nodiscard]] ActionText read_action(const YamlNode& node, const ReadContext& context,
                                     std::uint16_t status = kTooManyRequests);

}  // namespace sluice
