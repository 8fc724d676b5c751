#pragma once
#include "lib/base/check.hpp"
#include "lib/base/prefetch.hpp"
#include "lib/bucket/pool/digest_index.hpp"
#include "lib/bucket/pool/pool_line.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

// Memory for the states that do not fit a table's entry: lines of 64 bytes, handed out one by one
// from a free list that lies in the free lines themselves. Fixed size, one owner.
namespace sluice {

class LinePool {
public:
    // `lines` up to kMostLines. Pages are touched as they are handed out. Aborts if there is no
    // memory.
    explicit LinePool(std::size_t lines);
    // In memory of the caller, bytes_for(lines) of it, with any content. Where lines are in use
    // already, recover() follows.
    LinePool(void* memory, std::size_t lines) noexcept;
    [[nodiscard]] static constexpr std::size_t bytes_for(std::size_t lines) noexcept {
        return (std::min(lines, kMostLines) + 1) * kLineBytes;
    }

    // Only these lines are in use, by index: for memory that an earlier process left behind.
    void recover(const std::vector<bool>& used) noexcept;

    // A zeroed line; kNoLine when all are taken but for those that are kept.
    [[nodiscard]] PoolLine take() noexcept { return has_line() ? take_any() : kNoLine; }

    // So many free lines are given to nobody but within a KeptLines.
    void keep(std::size_t lines) noexcept { kept_ = lines; }
    // While it lives, take() gives the kept lines too.
    class KeptLines {
    public:
        explicit KeptLines(LinePool& pool) noexcept : pool_{pool}, kept_{pool.kept_} {
            pool_.kept_ = 0;
        }
        KeptLines(const KeptLines&) = delete;
        KeptLines& operator=(const KeptLines&) = delete;
        ~KeptLines() { pool_.kept_ = kept_; }

    private:
        LinePool& pool_;
        std::size_t kept_;
    };
    void give_back(PoolLine line) noexcept { give_back_chain(line, line, 1); }
    // `count` lines that form a chain, each naming the next in its first four bytes (a PoolLine),
    // at the price of one.
    void give_back_chain(PoolLine first, PoolLine last, std::uint32_t count) noexcept;

    [[nodiscard]] std::size_t free() const noexcept { return free_; }
    // True if take() would give a line now.
    [[nodiscard]] bool has_line() const noexcept { return free_ > kept_; }
    [[nodiscard]] std::size_t lines_to_give() const noexcept {
        return has_line() ? free_ - kept_ : 0;
    }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    // Makes some of the lines, from now on, ones that can be found by a digest.
    void make_index() { index_ = std::make_unique<DigestIndex>(size_); }
    [[nodiscard]] DigestIndex& index() noexcept { return *index_; }
    [[nodiscard]] const DigestIndex& index() const noexcept { return *index_; }

    // The address of a line, for prefetching.
    [[nodiscard]] const void* line_for(PoolLine line) const noexcept { return &lines_[line]; }
    void prefetch(PoolLine line) const noexcept { prefetch0(&lines_[line]); }

    // The line's bytes as a T, which is trivially copyable and at most a line.
    template <typename T>
    [[nodiscard]] T& at(PoolLine line) noexcept {
        return *reinterpret_cast<T*>(checked<T>(line));
    }
    template <typename T>
    [[nodiscard]] const T& at(PoolLine line) const noexcept {
        return *reinterpret_cast<const T*>(checked<T>(line));
    }

private:
    struct alignas(kLineBytes) Line {
        std::byte bytes[kLineBytes];
    };
    enum class Source : std::uint8_t { Caller, Heap, Pages };
    struct Unmap {
        std::size_t size;  // bytes
        Source from;
        void operator()(Line* lines) const noexcept;
    };

    using Lines = std::unique_ptr<Line[], Unmap>;
    [[nodiscard]] static Lines make_lines(std::size_t bytes);

    template <typename T>
    [[nodiscard]] std::byte* checked(PoolLine line) const noexcept {
        static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= kLineBytes);
        SLUICE_CHECK(line != kNoLine && line <= size_);
        return lines_[line].bytes;
    }

    [[nodiscard]] PoolLine take_any() noexcept;

    Lines lines_;  // the first is never handed out
    std::size_t size_;
    std::size_t free_;
    std::size_t kept_ = 0;
    PoolLine given_back_ = kNoLine;  // the latest; each names the one before it
    PoolLine untouched_ = 1;         // from here on, no line was ever taken
    std::unique_ptr<DigestIndex> index_;
};

}  // namespace sluice
