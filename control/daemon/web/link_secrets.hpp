#pragma once
#include "control/daemon/nobody.hpp"
#include "control/daemon/web/role.hpp"
#include "lib/base/result.hpp"
#include "lib/l7/crypto/sha256.hpp"

#include <chrono>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

// Secrets of links that an operator has asked for on the box: each begins one session, once, and
// within five minutes. They are kept by their digests, and the oldest goes where there are many.
class LinkSecrets {
public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::size_t kMost = 32;
    static constexpr std::chrono::minutes kLife{5};

    // The session that a link is for.
    struct Promise {
        std::string user;
        Role role = Role::View;
        std::chrono::seconds lasts{};
        Clock::time_point until{};  // the link's end
        std::string tenant{};       // that the user belongs to; empty: an operator
        uid_t made_by = kNobody;    // who asked for it
    };
    [[nodiscard]] Result<std::string> make(Promise promise, Clock::time_point now);
    // Gives the session away. nullopt: there is no such secret, or it was used, or its time is
    // over.
    [[nodiscard]] std::optional<Promise> take(std::string_view secret, Clock::time_point now);
    // A session that was given away in vain can be taken once more.
    void put_back(std::string_view secret, Promise promise);

private:
    struct Kept {
        Sha256Digest digest{};
        Promise promise;
    };

    std::mutex mutex_;
    std::deque<Kept> kept_;  // the oldest first
};

}  // namespace sluice
