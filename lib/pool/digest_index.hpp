#pragma once
#include "lib/pool/pool_line.hpp"
#include "lib/share/half_word.hpp"
#include "lib/share/word.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace sluice {

// How a line that an index knows begins.
struct IndexedLine {
    PoolLine next = kNoLine;  // of the same chain
    PoolLine owner = kNoLine;
    std::uint64_t digest = 0;
};

// Finds lines of a pool by a keyed digest that stands in them, in constant time. Its memory is
// touched where lines are added, and does not outlive the process: who recovers a pool adds its
// lines again. One writer; others may look.
class DigestIndex {
public:
    static constexpr std::size_t kReasons = 4;

    explicit DigestIndex(std::size_t lines)
        : mask_{std::bit_ceil(lines / 2 + 1) - 1}, heads_{heads_of(mask_ + 1)} {}

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

    void add(auto& pool, PoolLine line) noexcept {
        auto& added = pool.template at<IndexedLine>(line);
        PoolLine& head = heads_[added.digest & mask_];
        store_half_word(added.next, head);
        store_half_word(head, line);
        store_half_word(size_, size_ + 1);
        ++added_;
    }
    // `reason`: what it is counted under, below kReasons.
    void remove(auto& pool, PoolLine line, std::size_t reason) noexcept {
        const auto& removed = pool.template at<IndexedLine>(line);
        PoolLine* at = &heads_[removed.digest & mask_];
        while (*at != kNoLine && *at != line) {
            at = &pool.template at<IndexedLine>(*at).next;
        }
        if (*at == line) {
            store_half_word(*at, removed.next);
            store_half_word(size_, size_ - 1);
            ++removed_[reason];
        }
    }

    [[nodiscard]] std::uint64_t added() const noexcept { return added_; }
    [[nodiscard]] std::uint64_t removed(std::size_t reason) const noexcept {
        return removed_[reason];
    }

    // Lines whose own lines are still to be removed, as their user chains them.
    PoolLine to_clear = kNoLine;

private:
    struct Free {
        void operator()(PoolLine* heads) const noexcept { std::free(heads); }
    };
    // Of what is large, calloc() maps pages of zeroes.
    static std::unique_ptr<PoolLine[], Free> heads_of(std::size_t count) {
        auto* const heads = static_cast<PoolLine*>(std::calloc(count, sizeof(PoolLine)));
        if (heads == nullptr) {
            std::abort();
        }
        return std::unique_ptr<PoolLine[], Free>{heads};
    }

    std::size_t mask_;
    std::uint32_t size_ = 0;
    std::uint64_t added_ = 0;
    std::array<std::uint64_t, kReasons> removed_{};
    std::unique_ptr<PoolLine[], Free> heads_;
};

}  // namespace sluice
