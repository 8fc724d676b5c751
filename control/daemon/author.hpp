#pragma once
#include <sys/types.h>
#include <string>
#include <utility>

namespace sluice {

// The author of a change: a user of this machine, and, of those who come by the dashboard, the name
// of their session, or that a trusted proxy gives them.
struct Author {
    uid_t uid = 0;
    std::string name{};  // empty: they did not come by the dashboard

    Author() = default;
    // NOLINTNEXTLINE(google-explicit-constructor): a user is one who did not come by the dashboard
    Author(uid_t user) : uid{user} {}
    Author(uid_t user, std::string called) : uid{user}, name{std::move(called)} {}

    [[nodiscard]] bool operator==(const Author&) const = default;
};

}  // namespace sluice
