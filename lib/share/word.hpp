#pragma once
#include <atomic>
#include <bit>
#include <cstdint>

// A 64-bit word of a structure that one core writes and others may read at any time: plain moves on
// the machine, and no data race in the language. The owner reads its own words as they are.
namespace sluice {

inline void store_word(std::uint64_t& word, std::uint64_t value) noexcept {
    // Release, so that words written before it are seen before it.
    std::atomic_ref<std::uint64_t>{word}.store(value, std::memory_order_release);
}

[[nodiscard]] inline std::uint64_t load_word(const std::uint64_t& word) noexcept {
    // std::atomic_ref<const T> comes with C++26; loading writes nothing.
    return std::atomic_ref<std::uint64_t>{const_cast<std::uint64_t&>(word)}.load(
        std::memory_order_acquire);
}
static_assert(std::atomic_ref<std::uint64_t>::is_always_lock_free);

// Two such words side by side, 16 bytes aligned.
struct WordPair {
    std::uint64_t first = 0;
    std::uint64_t second = 0;
};

// Puts `to` there if `from` still is, in one step also for the owner, who may be writing. False:
// something else is there by now.
[[nodiscard]] inline bool exchange_words(WordPair& at, const WordPair& from,
                                         const WordPair& to) noexcept {
    // Two words at once are no std::atomic_ref that is sure to be free of locks.
    __extension__ using Both = unsigned __int128;
    const auto both = [](const WordPair& pair) { return std::bit_cast<Both>(pair); };
    return __sync_bool_compare_and_swap(reinterpret_cast<Both*>(&at), both(from), both(to));
}

// Asks for a line that another core has in its cache, to write it: a prefetch that only reads would
// leave the other's copy there, and the write would wait for its end. (The compiler has this only
// for machines that are sure to know it; others take it for no operation.)
[[gnu::always_inline]] inline void prefetch_to_write(const void* line) noexcept {
    asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(line)));
}

// Stores before it are in memory before stores after it, for a reader of that memory once this
// process has been killed. The machine keeps stores in order: this is a barrier for the compiler
// only, without an instruction.
[[gnu::always_inline]] inline void keep_store_order() noexcept {
    std::atomic_signal_fence(std::memory_order_seq_cst);
}

}  // namespace sluice
