#pragma once
#include "lib/l7/stream/checksum_trust.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace sluice {

// Sees when the checksums of a side of a service begin to be trusted: who watches is told once.
class TrustWatch {
public:
    using Tell = std::function<void(const std::string& service, std::string_view side)>;

    void look(const std::string& service, const ServiceChecksums& now, const Tell& tell) {
        ServiceChecksums& before = known_[service];
        if (begins(before.clients, now.clients)) {
            tell(service, "clients");
        }
        if (begins(before.servers, now.servers)) {
            tell(service, "servers");
        }
        before = now;
    }
    // Services that are gone, and come again, are told anew.
    template <typename Runs>
    void forget_but(Runs&& runs) {
        std::erase_if(known_, [&](const auto& one) { return !runs(one.first); });
    }

private:
    [[nodiscard]] static bool begins(ChecksumTrust before, ChecksumTrust now) noexcept {
        return now == ChecksumTrust::Trusting && before != ChecksumTrust::Trusting;
    }
    std::map<std::string, ServiceChecksums> known_;
};

}  // namespace sluice
