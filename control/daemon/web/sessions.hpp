#pragma once
#include "control/daemon/nobody.hpp"
#include "control/daemon/pace.hpp"
#include "control/daemon/web/role.hpp"
#include "lib/base/result.hpp"
#include "lib/l7/crypto/sha256.hpp"

#include <chrono>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace sluice {

// Somebody who has shown a secret and uses the dashboard until an instant.
struct Session {
    std::string user;
    Role role = Role::View;
    std::chrono::steady_clock::time_point end{};
    std::string tenant{};  // that the user belongs to; empty: an operator
    // The digest of the named token that it began with, and ends with. nullopt: a link.
    std::optional<Sha256Digest> token{};
    // The user who made the link that it began with; of a named token nobody.
    uid_t made_by = kNobody;
};

// The sessions of the dashboard. They are kept by the digests of their tokens, in memory alone, and
// so end with sluiced. Their number is bounded: of one user's the one that was idle for longest
// makes room; where all places are taken, that of all users; none of who may do more than the new
// one. All users of a tenant are one, and make room for each other alone.
class Sessions {
public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::size_t kMost = 256;
    static constexpr std::size_t kMostOfUser = 16;
    static constexpr std::chrono::hours kLongest{12};
    // Sessions of one user in one role that may begin: so few that nobody pushes others' lines out
    // of the audit.
    static constexpr unsigned kBegunAtOnce = 32;
    static constexpr std::chrono::seconds kBegunEvery{10};

    // The token of the new session; an Error (Busy): all places are those of stronger users, or too
    // many have begun of this one, or (Unreachable) the system has no random bytes.
    [[nodiscard]] Result<std::string> begin(Session session, Clock::time_point now);
    // nullopt: there is none of that token, or it has ended.
    [[nodiscard]] std::optional<Session> find(std::string_view token, Clock::time_point now);
    void end(std::string_view token);
    [[nodiscard]] std::size_t count(Clock::time_point now);

private:
    struct Place {
        Session session;
        Clock::time_point used{};
    };
    using Places = std::map<Sha256Digest, Place>;

    void drop_ended(Clock::time_point now);
    [[nodiscard]] bool make_room(const Session& session);
    [[nodiscard]] bool takes_pace(const Session& session, Clock::time_point now);

    std::mutex mutex_;
    Places places_;
    // Paces of users and tenants who have begun one lately.
    std::map<std::pair<std::string, Role>, Pace> begun_;
};

}  // namespace sluice
