#include "control/daemon/web/sessions.hpp"

#include "control/random_secret.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace sluice {
namespace {

bool is_of_tenant(const Session& session) {
    return session.role == Role::Tenant;
}

// The name by which sessions are counted.
const std::string& owner_of(const Session& session) {
    return is_of_tenant(session) ? session.tenant : session.user;
}

bool have_one_owner(const Session& a, const Session& b) {
    return is_of_tenant(a) == is_of_tenant(b) && owner_of(a) == owner_of(b);
}

// True if the session may end for that one.
bool makes_way(const Session& session, const Session& newer) {
    return session.role <= newer.role && (!is_of_tenant(newer) || have_one_owner(session, newer));
}

}  // namespace

Result<std::string> Sessions::begin(Session session, Clock::time_point now) {
    Result<std::string> token = random_secret();
    if (!token) {
        return token.error();
    }
    const std::lock_guard lock{mutex_};
    drop_ended(now);
    if (!takes_pace(session, now)) {
        return Error{Errc::Busy, "many sessions of this user have begun; one more may each " +
                                     std::to_string(kBegunEvery.count()) + " s"};
    }
    if (!make_room(session)) {
        return Error{Errc::Busy,
                     fmt::format("as many sessions as there may be, {} of {} or {} of all, are of "
                                 "stronger roles: a link of such a role makes room, `Leave` ends "
                                 "a session, and each ends by itself, or with sluiced",
                                 kMostOfUser, owner_of(session), kMost)};
    }
    places_.emplace(digest_of(*token), Place{std::move(session), now});
    return token;
}

std::optional<Session> Sessions::find(std::string_view token, Clock::time_point now) {
    const Sha256Digest digest = digest_of(token);
    const std::lock_guard lock{mutex_};
    const auto found = places_.find(digest);
    if (found == places_.end()) {
        return std::nullopt;
    }
    if (found->second.session.end <= now) {
        places_.erase(found);
        return std::nullopt;
    }
    found->second.used = now;
    return found->second.session;
}

void Sessions::end(std::string_view token) {
    const Sha256Digest digest = digest_of(token);
    const std::lock_guard lock{mutex_};
    places_.erase(digest);
}

std::size_t Sessions::count(Clock::time_point now) {
    const std::lock_guard lock{mutex_};
    drop_ended(now);
    return places_.size();
}

void Sessions::drop_ended(Clock::time_point now) {
    std::erase_if(places_, [&](const auto& one) { return one.second.session.end <= now; });
}

bool Sessions::takes_pace(const Session& session, Clock::time_point now) {
    std::erase_if(begun_, [&](const auto& one) { return one.second.is_fresh(now); });
    const auto [pace, is_new] =
        begun_.try_emplace({owner_of(session), session.role}, Pace{kBegunAtOnce, kBegunEvery});
    return pace->second.take(now);
}

bool Sessions::make_room(const Session& session) {
    std::size_t of_user = 0;
    auto idlest_of_user = places_.end();
    auto idlest = places_.end();
    for (auto one = places_.begin(); one != places_.end(); ++one) {
        const auto is_idler = [&](const Places::iterator& than) {
            return than == places_.end() || one->second.used < than->second.used;
        };
        const bool is_own = have_one_owner(one->second.session, session);
        of_user += is_own ? 1 : 0;
        if (!makes_way(one->second.session, session)) {
            continue;
        }
        idlest_of_user = is_own && is_idler(idlest_of_user) ? one : idlest_of_user;
        idlest = is_idler(idlest) ? one : idlest;
    }
    if (of_user >= kMostOfUser) {
        if (idlest_of_user == places_.end()) {
            return false;
        }
        places_.erase(idlest_of_user);
        return true;
    }
    if (places_.size() < kMost) {
        return true;
    }
    if (idlest == places_.end()) {
        return false;
    }
    places_.erase(idlest);
    return true;
}

}  // namespace sluice
