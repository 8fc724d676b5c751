#pragma once
#include "tests/bench/prefix_steps.hpp"

#include "lib/base/wide.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace sluice::bench {

// rte_fib (DIR24_8) or rte_fib6 (TRIE) over the same prefixes, with next hops of four bytes. Needs
// an initialised EAL.
template <typename Key>
class RteFib {
public:
    // Ends the program when DPDK takes them not.
    explicit RteFib(const std::vector<Prefix<Key>>& prefixes);
    ~RteFib();
    RteFib(const RteFib&) = delete;
    RteFib& operator=(const RteFib&) = delete;

    // At most 32 keys.
    void find_each(std::span<const Key> keys, std::uint32_t* values) const;
    // What it has taken of DPDK's memory, with the tree that it is updated by.
    [[nodiscard]] std::size_t bytes() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace sluice::bench
