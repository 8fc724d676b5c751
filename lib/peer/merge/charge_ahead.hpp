#pragma once
#include "lib/bucket/meter/limit.hpp"
#include "lib/bucket/table/entry.hpp"
#include "lib/peer/merge/ledger.hpp"

#include <cstdint>

namespace sluice {

// What is charged to an account, whose bucket has room for it.
struct AheadCharge {
    Account account;
    Units cost;
    Due due;  // by the bucket, once charged
    Entry& entry;
};

// Charges token buckets that other workers charge too, before their owners know. One that is
// charged again while its amounts may wait gets a lease: units that are noted beforehand, so that
// most charges touch nothing but the bucket's entry, and neither the account's record nor what
// leads there.
class ChargeAhead {
public:
    // `max_unsynced`: as the limit has it.
    ChargeAhead(Ledger& ledger, const Limit& limit, std::uint64_t max_unsynced,
                Instant now) noexcept
        : ledger_{ledger}, leases_{limit.parts() == 1}, max_unsynced_{max_unsynced}, now_{now} {}

    // `charge` charges the copy, `copy` says how it stands. False: this worker may not go so far
    // ahead; nothing has been done.
    template <typename Charge, typename Copy>
    [[nodiscard, gnu::always_inline]] bool operator()(const AheadCharge& what, Charge&& charge,
                                                      Copy&& copy) const noexcept {
        // Without a branch: who owns an account is as random as the account. An owner has no lease,
        // but where the store of a cluster has the total.
        const bool leased =
            leases_ & (what.due == Due::Late) & (what.cost.count() <= what.entry.lease());
        if (leased | ledger_.owns_surely(what.account)) [[likely]] {
            what.entry.spend_lease(leased ? what.cost.count() : 0);
            charge();
            return true;
        }
        return ask(what, charge, copy);
    }

private:
    template <typename Charge, typename Copy>
    [[nodiscard, gnu::noinline]] bool ask(const AheadCharge& what, Charge&& charge,
                                          Copy&& copy) const noexcept {
        std::uint64_t most = max_unsynced_;
        if (ledger_.has_cluster()) [[unlikely]] {
            if (ledger_.owns(what.account)) {
                charge();
                return true;
            }
            most = ledger_.bound_of(what.account, most);
        }
        if (leases_) {
            end_lease(what.account, what.entry);
        }
        const Ledger::Ahead ahead =
            ledger_.go_ahead(what.account, what.cost.count(), most, now_, what.due);
        if (ahead.record == kNoRecord) [[unlikely]] {
            return false;
        }
        charge();
        if (ahead.units != 0) {
            ledger_.tell(ahead, what.account, copy(), now_);
        } else if (leases_ && ahead.again && what.due == Due::Late) {
            what.entry.set_lease(ledger_.lend(ahead.record, {most, what.entry.fresh_from()}, now_));
        }
        return true;
    }
    void end_lease(const Account& account, Entry& entry) const noexcept {
        if (const std::uint32_t units = entry.lease(); units != 0) {
            entry.set_lease(0);
            ledger_.give_back(account, units);
        }
    }

    Ledger& ledger_;
    bool leases_;
    std::uint64_t max_unsynced_;
    Instant now_;
};

}  // namespace sluice
