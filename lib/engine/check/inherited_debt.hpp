#pragma once
#include "lib/bucket/table/remote_debt.hpp"
#include "lib/engine/check/wider_keys.hpp"

namespace sluice {

// The debt of a new bucket from the start: what its key and the wider ones owe by then, here, in
// tables of earlier processes, and at other workers that the key's packets have met.
class InheritedDebt {
public:
    InheritedDebt(const LoadedLimit& limit, const CheckContext& context, WiderKeys& wider) noexcept
        : limit_{limit},
          context_{context},
          wider_{wider},
          store_{context.core.buckets},
          registry_{store_.registry},
          elsewhere_{store_, context.now} {}

    // True if any bucket may owe something from the start.
    [[nodiscard]] bool is_possible() const noexcept {
        return store_.coarsened(context_.now.at) || elsewhere_.is_possible(limit_.slot);
    }
    // Charges it to a fresh bucket, which is about to be filed at `at`.
    void charge_to(Cell& cell, const AnyLimit& numbers, const BucketAt& at) noexcept;
    // The two parts of that, for a key that has other numbers than what the wider ones owe is
    // counted by.
    void charge_wider_to(Cell& cell, const AnyLimit& numbers, const BucketAt& at) noexcept;
    void charge_own_to(Cell& cell, const AnyLimit& numbers, const BucketAt& at) noexcept;

private:
    void take_from_wider(Cell& cell, const AnyLimit& numbers, const BucketAt& at) noexcept;
    void take_from_wider_elsewhere(Cell& cell, const AnyLimit& numbers,
                                   const BucketAt& at) noexcept;
    [[nodiscard]] bool owes_elsewhere(const BucketAt& at) const noexcept {
        return elsewhere_.is_possible(limit_.slot) && !is_taken_over(at);
    }
    void leave_what_is_left(Cell& cell, const AnyLimit& numbers, Entry& parent) noexcept;
    void note(RemoteDebt::Taken taken) noexcept;
    [[nodiscard]] bool is_taken_over(const BucketAt& at) const noexcept;

    const LoadedLimit& limit_;
    const CheckContext& context_;
    WiderKeys& wider_;
    BucketStore& store_;
    LimitRegistry& registry_;
    RemoteDebt elsewhere_;
};

}  // namespace sluice
