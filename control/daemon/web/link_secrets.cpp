#include "control/daemon/web/link_secrets.hpp"

#include "control/random_secret.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

Result<std::string> LinkSecrets::make(Promise promise, Clock::time_point now) {
    Result<std::string> secret = random_secret();
    if (!secret) {
        return secret.error();
    }
    const std::lock_guard lock{mutex_};
    if (kept_.size() == kMost) {
        kept_.pop_front();
    }
    promise.until = now + kLife;
    kept_.push_back({digest_of(*secret), std::move(promise)});
    return secret;
}

std::optional<LinkSecrets::Promise> LinkSecrets::take(std::string_view secret,
                                                      Clock::time_point now) {
    const Sha256Digest digest = digest_of(secret);
    const std::lock_guard lock{mutex_};
    std::erase_if(kept_, [&](const Kept& one) { return one.promise.until <= now; });
    const auto found = std::ranges::find(kept_, digest, &Kept::digest);
    if (found == kept_.end()) {
        return std::nullopt;
    }
    Promise promise = std::move(found->promise);
    kept_.erase(found);
    return promise;
}

void LinkSecrets::put_back(std::string_view secret, Promise promise) {
    const std::lock_guard lock{mutex_};
    if (kept_.size() < kMost) {
        kept_.push_front({digest_of(secret), std::move(promise)});
    }
}

}  // namespace sluice
