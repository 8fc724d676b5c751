#include "lib/meter/open_connections.hpp"

// How the connections of one key are linked, and linked again in memory that another process left.
namespace sluice {

void OpenConnections::append(LinePool& pool, PoolLine line) noexcept {
    OpenConnection& added = at(pool, line);
    Chain& chain = chains_[chain_of(added)];
    added.newer = kNoLine;
    added.older = chain.newest;
    keep_store_order();
    if (chain.newest == kNoLine) {
        chain.oldest = line;
    } else {
        at(pool, chain.newest).newer = line;
    }
    keep_store_order();
    chain.newest = line;
    keep_store_order();
    open_ += counts(chain_of(added)) ? 1 : 0;
}

void OpenConnections::move_to_end(LinePool& pool, PoolLine line) noexcept {
    const unsigned chain = chain_of(at(pool, line));
    if (line != chains_[chain].newest) {
        move_to_chain(pool, line, chain, chain);
    }
}

// Until it is found at the end of a chain, it is found from the end of the other.
void OpenConnections::move_to_chain(LinePool& pool, PoolLine line, unsigned from,
                                    unsigned to) noexcept {
    OpenConnection& moved = at(pool, line);
    const PoolLine older = moved.older;
    const PoolLine newer = moved.newer;
    if (older == kNoLine) {
        chains_[from].oldest = newer;
    } else {
        at(pool, older).newer = newer;
    }
    keep_store_order();
    moved.newer = kNoLine;
    keep_store_order();
    if (chains_[to].newest == kNoLine) {
        chains_[to].oldest = line;
    } else {
        at(pool, chains_[to].newest).newer = line;
    }
    keep_store_order();
    if (newer == kNoLine) {
        chains_[from].newest = older;
    } else {
        at(pool, newer).older = older;
    }
    keep_store_order();
    moved.older = chains_[to].newest;
    keep_store_order();
    chains_[to].newest = line;
}

void OpenConnections::leave(LinePool& pool, PoolLine line, Left how) noexcept {
    const unsigned of = chain_of(at(pool, line));
    const PoolLine older = at(pool, line).older;
    const PoolLine newer = at(pool, line).newer;
    if (older == kNoLine) {
        chains_[of].oldest = newer;
    } else {
        at(pool, older).newer = newer;
    }
    keep_store_order();
    if (newer == kNoLine) {
        chains_[of].newest = older;
    } else {
        at(pool, newer).older = older;
    }
    keep_store_order();
    open_ -= counts(of) ? 1 : 0;
    keep_store_order();
    pool.index().remove(
        pool, line,
        counts(of) ? IndexedAs{group(), static_cast<std::size_t>(how)} : IndexedAs::unlisted());
    pool.give_back(line);
}

void OpenConnections::adopt(LinePool& pool, PoolLine self, PoolLine line) noexcept {
    at(pool, line).indexed.owner = self;
    append(pool, line);
    pool.index().add(pool, line,
                     counts(chain_of(at(pool, line))) ? IndexedAs{group()} : IndexedAs::unlisted());
}

// None stays longer than the last of its chain; the one that was on its way there had just been
// seen.
void OpenConnections::settle_order(LinePool& pool, unsigned chain) noexcept {
    if (chains_[chain].newest != kNoLine) {
        const std::int64_t last = at(pool, chains_[chain].newest).seen;
        for (PoolLine line = chains_[chain].oldest; line != kNoLine; line = at(pool, line).newer) {
            at(pool, line).seen = std::min(at(pool, line).seen, last);
        }
    }
}

void OpenConnections::link_again(LinePool& pool, PoolLine self, std::array<std::uint32_t, 2> found,
                                 PoolLine moved) noexcept {
    const std::array<Chain, 2> before = chains_;
    chains_ = {};
    open_ = 0;
    for (const unsigned chain : {kHalfOpen, kEstablished}) {
        PoolLine line = before[chain].oldest;
        for (std::uint32_t left = found[chain]; left != 0; --left) {
            const PoolLine newer = at(pool, line).newer;
            adopt(pool, self, line);
            line = newer;
        }
    }
    settle_order(pool, kHalfOpen);
    settle_order(pool, kEstablished);
    if (moved != kNoLine) {
        const PoolLine newest = chains_[chain_of(at(pool, moved))].newest;
        at(pool, moved).seen = newest == kNoLine ? at(pool, moved).seen : at(pool, newest).seen;
        adopt(pool, self, moved);
    }
}

}  // namespace sluice
