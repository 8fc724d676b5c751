#include "tests/bench/rte_fib_reference.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <type_traits>

#include <rte_fib.h>
#include <rte_fib6.h>
#include <rte_malloc.h>

namespace sluice::bench {
namespace {

constexpr std::size_t kBurst = 32;

std::size_t bytes_taken() {
    rte_malloc_socket_stats stats{};
    (void)rte_malloc_get_socket_stats(0, &stats);
    return stats.heap_allocsz_bytes;
}

void expect(bool good, const char* what, int error = 0) {
    if (!good) {
        std::fprintf(stderr, "%s failed (%d)\n", what, error);
        std::exit(1);
    }
}

std::array<std::uint8_t, 16> bytes_of(Wide key) {
    std::array<std::uint8_t, 16> bytes{};
    for (std::size_t i = 16; i-- > 0; key >>= 8) {
        bytes[i] = static_cast<std::uint8_t>(key & 0xFF);
    }
    return bytes;
}

// Groups of 256 places for prefixes longer than /24. rte_fib6 sets one aside for each level of each
// prefix, shared or not.
template <typename Key>
std::uint32_t groups_for(const std::vector<Prefix<Key>>& prefixes) {
    std::uint32_t groups = 1024;
    std::uint64_t last = 0;
    for (const Prefix<Key>& prefix : prefixes) {
        if constexpr (std::is_same_v<Key, Wide>) {
            groups += prefix.length > 24 ? (prefix.length - 24 + 7) / 8 : 0;
        } else {
            if (prefix.length > 24 && prefix.first >> 8 != last) {
                last = prefix.first >> 8;
                ++groups;
            }
        }
    }
    return groups;
}

}  // namespace

template <typename Key>
struct RteFib<Key>::State {
    rte_fib* v4 = nullptr;
    rte_fib6* v6 = nullptr;
    std::size_t bytes = 0;

    void add(const std::vector<Prefix<std::uint64_t>>& prefixes) {
        rte_fib_conf conf{};
        conf.type = RTE_FIB_DIR24_8;
        conf.max_routes = static_cast<int>(prefixes.size() * 2 + 16);
        conf.dir24_8.nh_sz = RTE_FIB_DIR24_8_4B;
        conf.dir24_8.num_tbl8 = groups_for(prefixes);
        v4 = rte_fib_create("reference", 0, &conf);
        expect(v4 != nullptr, "rte_fib_create");
        for (const auto& prefix : prefixes) {
            const int error = rte_fib_add(v4, static_cast<std::uint32_t>(prefix.first),
                                          static_cast<std::uint8_t>(prefix.length), prefix.value);
            expect(error == 0, "rte_fib_add", error);
        }
    }
    void add(const std::vector<Prefix<Wide>>& prefixes) {
        rte_fib6_conf conf{};
        conf.type = RTE_FIB6_TRIE;
        conf.max_routes = static_cast<int>(prefixes.size() * 2 + 16);
        conf.trie.nh_sz = RTE_FIB6_TRIE_4B;
        conf.trie.num_tbl8 = groups_for(prefixes);
        v6 = rte_fib6_create("reference", 0, &conf);
        expect(v6 != nullptr, "rte_fib6_create");
        for (const auto& prefix : prefixes) {
            const auto address = bytes_of(prefix.first);
            const int error = rte_fib6_add(v6, address.data(),
                                           static_cast<std::uint8_t>(prefix.length), prefix.value);
            expect(error == 0, "rte_fib6_add", error);
        }
    }
};

template <typename Key>
RteFib<Key>::RteFib(const std::vector<Prefix<Key>>& prefixes) : state_{std::make_unique<State>()} {
    const std::size_t before = bytes_taken();
    state_->add(prefixes);
    state_->bytes = bytes_taken() - before;
}

template <typename Key>
RteFib<Key>::~RteFib() {
    rte_fib_free(state_->v4);
    rte_fib6_free(state_->v6);
}

template <typename Key>
void RteFib<Key>::find_each(std::span<const Key> keys, std::uint32_t* values) const {
    std::array<std::uint64_t, kBurst> hops;
    if constexpr (std::is_same_v<Key, Wide>) {
        std::uint8_t addresses[kBurst][16];
        for (std::size_t i = 0; i < keys.size(); ++i) {
            // In network order, as packets have it: two swapped words.
            const std::uint64_t words[2] = {
                __builtin_bswap64(static_cast<std::uint64_t>(keys[i] >> 64)),
                __builtin_bswap64(static_cast<std::uint64_t>(keys[i]))};
            __builtin_memcpy(addresses[i], words, sizeof(words));
        }
        (void)rte_fib6_lookup_bulk(state_->v6, addresses, hops.data(),
                                   static_cast<int>(keys.size()));
    } else {
        std::array<std::uint32_t, kBurst> addresses;
        for (std::size_t i = 0; i < keys.size(); ++i) {
            addresses[i] = static_cast<std::uint32_t>(keys[i]);
        }
        (void)rte_fib_lookup_bulk(state_->v4, addresses.data(), hops.data(),
                                  static_cast<int>(keys.size()));
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
        values[i] = static_cast<std::uint32_t>(hops[i]);
    }
}

template <typename Key>
std::size_t RteFib<Key>::bytes() const {
    return state_->bytes;
}

template class RteFib<std::uint64_t>;
template class RteFib<Wide>;

}  // namespace sluice::bench
