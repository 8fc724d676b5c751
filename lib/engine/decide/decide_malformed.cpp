#include "lib/engine/decide/decide_malformed.hpp"

namespace sluice {
namespace {

Reason malformed_reason(Parsed parsed) noexcept {
    switch (parsed) {
        case Parsed::TruncatedL2:
            return Reason::TruncatedL2;
        case Parsed::TruncatedL3:
            return Reason::TruncatedL3;
        case Parsed::TruncatedL4:
            return Reason::TruncatedL4;
        case Parsed::BadIpHeader:
            return Reason::BadIpHeader;
        case Parsed::BadL4Header:
            return Reason::BadL4Header;
        default:
            return Reason::TooDeep;
    }
}

}  // namespace

Decision decide_malformed(Parsed parsed, const PacketPolicy& policy) noexcept {
    const Reason reason = malformed_reason(parsed);
    return policy.malformed == MalformedPolicy::Drop ? dropped_for(reason)
                                                     : Decision{.reason = reason};
}

void refuse_too_deep(const LoadedServices& services, const CoreState& core,
                     Decision& decision) noexcept {
    if (decision.reason != Reason::TooDeep || !forwards(decision.verdict)) {
        return;
    }
    if (services.enforces) {
        decision = dropped_for(Reason::TooDeep);
    } else {
        core.counters.would_refuse[static_cast<std::size_t>(Reason::TooDeep)].add(1);
    }
}

}  // namespace sluice
