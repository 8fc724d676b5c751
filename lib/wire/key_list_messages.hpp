#pragma once
#include <cstdint>
#include <string>
#include <vector>

// The contents of the workers' tables, limit by limit and key by key.
namespace sluice {

// The counts of one limit of a rule with several, and its entries.
struct LimitStats {
    std::string name;
    std::uint64_t refused = 0;  // packets, and of a packet with several units each of these
    std::uint64_t entries = 0;  // in the tables of all workers

    static void fields(auto& archive, auto& m) { archive(m.name, m.refused, m.entries); }
};

// The most keys in one answer to ListKeys.
inline constexpr std::uint32_t kMostListedKeys = 1'000;

// The live keys of a rule, or those in its penalty boxes, a page of them: as the tables of all
// workers are read, which they go on writing. A key that is just being moved may be missed.
struct ListKeys {
    std::uint64_t generation = 0;  // that the rule is meant in; refused when another runs
    std::string rule;
    bool bans = false;
    // The end of the page before; 0, 0: from the beginning on.
    std::uint32_t worker = 0;
    std::uint64_t position = 0;
    std::uint32_t most = 0;  // from 1 to kMostListedKeys

    static void fields(auto& archive, auto& m) {
        archive(m.generation, m.rule, m.bans, m.worker, m.position, m.most);
        archive.check(m.most != 0 && m.most <= kMostListedKeys);
    }
};
// The ban that holds for a key, the strongest of several.
enum class KeyBan : std::uint8_t {
    None,     // or the bytes of the key are not known
    Box,      // in a penalty box of the rule
    Network,  // of a network that it lies in
    Own,      // by an operator or an override file
};
// A table holds digests of keys. Who has a text is one of the keys that the rules have counted the
// most packets for, or a ban that has begun under this dataplane.
struct ListedKey {
    std::uint8_t key = 0;    // of the rule's keys
    std::uint8_t limit = 0;  // of the rule's limits; of bans nothing
    bool named = false;
    std::string text{};        // part|part
    std::uint64_t digest = 0;  // what the table knows it by
    std::uint32_t lcore = 0;
    // In tables that are charged no more: the next packet of the key takes it over. No lcore has
    // it.
    bool carried = false;
    bool shared = false;       // by workers, of which this one is the first that has it
    std::uint8_t level = 0;    // of a wider network that stands for keys without a place, from 1 on
    bool own_numbers = false;  // it has some, and what is left is not known here
    std::uint64_t remaining = 0;
    std::uint64_t most = 0;
    std::int64_t left_ns = 0;  // until it equals a fresh key, or its ban ends
    KeyBan ban = KeyBan::None;

    static void fields(auto& archive, auto& m) {
        archive(m.key, m.limit, m.named, m.text, m.digest, m.lcore, m.carried, m.shared, m.level,
                m.own_numbers, m.remaining, m.most, m.left_ns);
        archive.word(m.ban, KeyBan::Own);
    }
};
struct KeyPage {
    std::vector<ListedKey> keys;
    bool ends = false;         // nothing comes behind it
    std::uint32_t worker = 0;  // where the next page begins
    std::uint64_t position = 0;
    std::uint64_t live = 0;  // entries of the rule at all workers, about

    static void fields(auto& archive, auto& m) {
        archive(m.keys, m.ends, m.worker, m.position, m.live);
    }
};

// The number of live keys of a limit that owe more than they could under other numbers, and for how
// long yet: answered in parts, as ListKeys is.
struct CountOwed {
    std::uint64_t generation = 0;  // that the rule is meant in; refused when another runs
    std::string rule;
    std::string limit;       // its name
    std::uint64_t most = 0;  // units of a fresh bucket under those numbers
    // So many units in so many ns come back under them; 0: all of them when the window has passed.
    std::uint64_t rate_units = 0;
    std::uint64_t rate_ns = 0;
    // The end of the answer before; 0, 0: from the beginning on.
    std::uint32_t worker = 0;
    std::uint64_t position = 0;

    static void fields(auto& archive, auto& m) {
        archive(m.generation, m.rule, m.limit, m.most, m.rate_units, m.rate_ns, m.worker,
                m.position);
    }
};
// Keys without numbers of their own are counted alone.
struct OwedKeys {
    std::uint64_t keys = 0;
    std::int64_t longest_ns = 0;  // until the last of them is admitted one unit again, at most
    bool ends = false;            // nothing comes behind it
    std::uint32_t worker = 0;     // where the next answer begins
    std::uint64_t position = 0;

    static void fields(auto& archive, auto& m) {
        archive(m.keys, m.longest_ns, m.ends, m.worker, m.position);
    }
};

}  // namespace sluice
