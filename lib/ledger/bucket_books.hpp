#pragma once
#include "lib/ledger/ledger.hpp"
#include "lib/meter/bucket_store.hpp"

#include <memory>

namespace sluice {

// The buckets of a core as the ledger sees them: token and leaky buckets, those of keys and those
// that full rules coarsen to.
class BucketBooks {
public:
    explicit BucketBooks(BucketStore& store);

    [[gnu::always_inline]] void prefetch(const Account& account) const noexcept {
        if (account.step == 0) {
            (void)store_.keys.prefetch_both(account.filed());
        }
    }
    [[nodiscard]] bool shares(const Account& account) const noexcept {
        return limit_of(account) != nullptr;
    }
    [[nodiscard]] Stand copy_of(const Account& account, Now now) noexcept;
    [[nodiscard]] bool apply(const Amount& amount, Now now, Stand& total) noexcept;
    [[nodiscard]] bool raise(const Account& account, const Stand& total, std::uint64_t units,
                             Now now) noexcept;

    // By how many units, at most, totals kept here were ever beyond a full bucket when an amount
    // had been added: what was measured of what README.md promises. By slot.
    [[nodiscard]] const Counter& worst_excess(LimitSlot slot) const noexcept {
        return worst_[slot];
    }

private:
    [[nodiscard]] const Limit* limit_of(const Account& account) const noexcept;
    [[nodiscard]] Entry* find(const Account& account, Now now) noexcept;
    [[nodiscard]] Entry* place(const Account& account, Now now) noexcept;
    void write(Entry& entry, const Gcra& bucket, Now now) noexcept;

    BucketStore& store_;
    std::unique_ptr<Counter[]> worst_;
};

}  // namespace sluice
