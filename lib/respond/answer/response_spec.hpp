#pragma once
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

// Units of a policy, by the registry of quota units.
enum class QuotaUnit : std::uint8_t { Requests, ContentBytes, ConcurrentRequests };

// The status, header fields and body of an action's response, and the policy that its quota fields
// name. A decoy has no policy, and no quota fields. lib/respond/answer/made_response.hpp says what
// can be sent.
struct ResponseSpec {
    struct Field {
        std::string name;
        std::string value;

        [[nodiscard]] auto operator<=>(const Field&) const = default;
    };
    std::uint16_t status = 429;
    std::vector<Field> fields;
    std::optional<std::string> body;  // nullopt: of a policy, its problem details (RFC 9457)
    std::string content_type;         // empty: as the body's kind has it
    std::string policy;               // its name, printable ASCII
    QuotaUnit unit = QuotaUnit::Requests;
    bool x_rate_limit = false;

    [[nodiscard]] auto operator<=>(const ResponseSpec&) const = default;
};

}  // namespace sluice
