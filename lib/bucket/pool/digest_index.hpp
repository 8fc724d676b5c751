#pragma once
#include "lib/base/lazy_array.hpp"
#include "lib/bucket/pool/pool_line.hpp"
#include "lib/share/core.hpp"
#include "lib/share/digest_owners.hpp"
#include "lib/share/half_word.hpp"
#include "lib/share/word.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace sluice {

// How a line that an index knows begins.
struct IndexedLine {
    PoolLine next = kNoLine;  // of the same chain
    PoolLine owner = kNoLine;
    std::uint64_t digest = 0;
};

// The group that a line is counted by, and the name that it is counted under once it is removed.
// Lines that are not listed are found like others and not counted.
struct IndexedAs {
    std::size_t group = 0;   // 0: nobody's
    std::size_t reason = 0;  // below kReasons
    bool is_listed = true;

    [[nodiscard]] static constexpr IndexedAs unlisted() noexcept { return {.is_listed = false}; }
};

// Finds lines of a pool by a keyed digest that stands in them, in constant time. Its memory is
// touched where lines are added, and does not outlive the process: who recovers a pool adds its
// lines again. One writer; others may look.
class DigestIndex {
public:
    static constexpr std::size_t kReasons = 4;
    // Groups that lines are counted by, while they are there. The first is nobody's.
    static constexpr std::size_t kGroups = std::size_t{1} << 15;

    explicit DigestIndex(std::size_t lines)
        : mask_{std::bit_ceil(lines / 2 + 1) - 1},
          heads_{zeroed_array<PoolLine>(mask_ + 1)},
          by_group_{zeroed_array<Counter>(kGroups)} {}

    // Makes other cores learn from `owners` from now on that this one may have a digest; nullptr:
    // from nobody. With as many places as this index has heads at least.
    void notify(const auto& pool, DigestOwners* owners, std::size_t core) noexcept {
        owners_ = owners;
        core_ = core;
        for (std::size_t at = 0; owners_ != nullptr && size_ != 0 && at <= mask_; ++at) {
            for (PoolLine line = heads_[at]; line != kNoLine;) {
                const auto& indexed = pool.template at<IndexedLine>(line);
                owners_->add(indexed.digest, core_);
                line = indexed.next;
            }
        }
    }

    [[nodiscard]] bool empty() const noexcept { return load_half_word(size_) == 0; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    // The first line of the chain that a digest belongs to; others of it may have other digests.
    [[nodiscard]] PoolLine first(std::uint64_t digest) const noexcept {
        return heads_[digest & mask_];
    }
    // The same for other cores, which may follow the chain meanwhile.
    [[nodiscard]] PoolLine shared_first(std::uint64_t digest) const noexcept {
        return load_half_word(heads_[digest & mask_]);
    }

    void add(auto& pool, PoolLine line, const IndexedAs& as) noexcept {
        auto& added = pool.template at<IndexedLine>(line);
        PoolLine& head = heads_[added.digest & mask_];
        store_half_word(added.next, head);
        store_half_word(head, line);
        store_half_word(size_, size_ + 1);
        if (as.is_listed) {
            ++added_;
            by_group_[as.group].add(1);
        }
        if (owners_ != nullptr) {
            owners_->add(added.digest, core_);
        }
    }
    // The line's group may be none by now.
    void remove(auto& pool, PoolLine line, const IndexedAs& as) noexcept {
        const auto& removed = pool.template at<IndexedLine>(line);
        PoolLine* at = &heads_[removed.digest & mask_];
        while (*at != kNoLine && *at != line) {
            at = &pool.template at<IndexedLine>(*at).next;
        }
        if (*at == line) {
            store_half_word(*at, removed.next);
            store_half_word(size_, size_ - 1);
            if (as.is_listed) {
                ++removed_[as.reason];
                leave_group(as.group, 1);
            }
            if (owners_ != nullptr && !has_beside(pool, removed.digest)) {
                owners_->remove(removed.digest, core_);
            }
        }
    }
    // So many lines of a group are in none from now on.
    void leave_group(std::size_t group, std::uint64_t lines) noexcept {
        if (group != 0) {
            by_group_[group].set(by_group_[group].read() - lines);
        }
    }
    // Lines of a group that are there. Anyone may read it.
    [[nodiscard]] const Counter& of_group(std::size_t group) const noexcept {
        return by_group_[group];
    }

    [[nodiscard]] std::uint64_t added() const noexcept { return added_; }
    [[nodiscard]] std::uint64_t removed(std::size_t reason) const noexcept {
        return removed_[reason];
    }

    // Lines whose own lines are still to be removed, as their user chains them.
    PoolLine to_clear = kNoLine;

private:
    // True if some line has a digest in the same place of `owners_`: it is in the same chain.
    [[nodiscard]] bool has_beside(const auto& pool, std::uint64_t digest) const noexcept {
        for (PoolLine line = first(digest); line != kNoLine;) {
            const auto& indexed = pool.template at<IndexedLine>(line);
            if (owners_->are_together(indexed.digest, digest)) {
                return true;
            }
            line = indexed.next;
        }
        return false;
    }

    std::size_t mask_;
    std::uint32_t size_ = 0;
    std::uint64_t added_ = 0;
    std::array<std::uint64_t, kReasons> removed_{};
    LazyArray<PoolLine> heads_;
    LazyArray<Counter> by_group_;
    DigestOwners* owners_ = nullptr;
    std::size_t core_ = 0;  // which of them this is
};

}  // namespace sluice
