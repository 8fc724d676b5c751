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

void expect(bool good, const char* what) {
    if (!good) {
        std::fprintf(stderr, "%s failed\n", what);
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

// Groups of 256 places that prefixes longer than /24 need, and a few more.
template <typename Key>
std::uint32_t groups_for(const std::vector<Prefix<Key>>& prefixes) {
    constexpr unsigned kWidth = std::is_same_v<Key, Wide> ? 128 : 32;
    std::vector<Key> groups;
    for (const Prefix<Key>& prefix : prefixes) {
        for (unsigned bits = 24; bits < prefix.length; bits += 8) {
            // Where it stands, and the level, which keeps groups of different levels apart.
            const Key top = prefix.first >> (kWidth - bits);
            groups.push_back(top << 8 | Key{bits});
        }
    }
    std::sort(groups.begin(), groups.end());
    const auto end = std::unique(groups.begin(), groups.end());
    return static_cast<std::uint32_t>(end - groups.begin()) + 1024;
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
            expect(rte_fib_add(v4, static_cast<std::uint32_t>(prefix.first),
                               static_cast<std::uint8_t>(prefix.length), prefix.value) == 0,
                   "rte_fib_add");
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
            expect(rte_fib6_add(v6, address.data(), static_cast<std::uint8_t>(prefix.length),
                                prefix.value) == 0,
                   "rte_fib6_add");
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
