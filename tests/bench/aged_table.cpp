#include "tests/bench/aged_table.hpp"

#include <cstdio>
#include <cstdlib>

namespace sluice::bench {
namespace {

using namespace std::chrono_literals;

constexpr LimitSlot kSlot = 1;
constexpr std::uint64_t kIdentity = 42;
constexpr Nanoseconds kPerBurst{300};
constexpr std::size_t kTurn = 16;

// A charge lasts 100 s, so that every key stays live, and the burst lasts for any measurement.
Limit slow_limit(std::uint64_t factor) {
    return *Limit::make({Units{factor}, 100s}, Units{100'000 * factor});
}

}  // namespace

AgedTable::AgedTable(std::size_t keys)
    : keys_{keys},
      hash_{{0x0123'4567'89AB'CDEF, 0xFEDC'BA98'7654'3210}},
      numbers_{slow_limit(1)},
      wider_numbers_{slow_limit(16)},
      limit_{TokenBucketLimit{numbers_}},
      wider_{TokenBucketLimit{wider_numbers_}},
      store_{keys * 94 / kFillPercent, 16},
      now_{Instant{1h}, {}} {
    rows_[kSlot] = {.limit = &limit_, .coarser = {&wider_, 1}, .former = {}, .version = 0};
    store_.adopt(rows_, 0, 1h, now_);
    // Each generation ends one key after the other, while the next comes in.
    for (std::uint64_t number = 0; number < 2 * keys; ++number) {
        if (number >= keys) {
            now_.at += 1us;
        }
        if (number % kBurst == 0) {
            (void)store_.begin_burst(now_);
        }
        Entry* entry = add(filed(number));
        if (entry == nullptr) {
            std::fprintf(stderr, "no place while filling\n");
            std::exit(1);
        }
        const auto ends = now_.at + (number < keys ? 1us * (number + 1) : Nanoseconds{100s});
        entry->write({ends, 0});
    }
    first_ = keys;
}

FiledKey AgedTable::filed(std::uint64_t number) const noexcept {
    const KeyWords words = key_words(number);
    return {hash_(kIdentity, std::as_bytes(std::span{words})), kSlot};
}

Entry* AgedTable::add(const FiledKey& key) noexcept {
    Entry* entry = store_.keys.make_place(key, store_.tenants, now_);
    if (entry != nullptr) {
        entry->file({now_.at, 0}, key.filed, {});
        entry->release();
        store_.tenants.came(kSlot);
        ++added_;
    }
    return entry;
}

// As the pipeline's key stage does it: hashing is inlined where the CPU has the rounds.
SLUICE_AES void AgedTable::ask_aes(std::span<Work> burst, Random& random) noexcept {
    const AesHash& aes = *hash_.aes();
    Random numbers = random;  // in registers, like the two below
    const std::uint64_t first = first_;
    const std::size_t keys = keys_;
    for (Work& work : burst) {
        const KeyWords words = key_words(first + numbers.below(keys));
        const std::uint64_t digest = aes.of_words(words[0], words[1]);
        work.key = {KeyHasher::filed_under(kIdentity, digest), kSlot};
        work.entry = store_.keys.prefetch_first(work.key);
    }
    random = numbers;
}

void AgedTable::ask(std::span<Work> burst, Random& random) noexcept {
    if (hash_.aes() != nullptr) [[likely]] {
        ask_aes(burst, random);
        return;
    }
    for (Work& work : burst) {
        work.key = filed(first_ + random.below(keys_));
        work.entry = store_.keys.prefetch_first(work.key);
    }
}

void AgedTable::charge_entry(Entry& entry, const Limit& limit) noexcept {
    if (take(entry, limit, now_.at, Units{1})) [[likely]] {
        ++admitted_;
    } else {
        ++refused_;
    }
}

[[gnu::noinline]] Entry* AgedTable::add_slow(const FiledKey& key) noexcept {
    return add(key);
}

void AgedTable::decide(std::span<Work> burst) noexcept {
    const bool stale = store_.tenants.stale();
    for (Work& work : burst) {
        Entry* entry = work.entry;
        if (entry == nullptr) [[unlikely]] {
            entry = add_slow(work.key);
        }
        if (entry == nullptr) [[unlikely]] {
            ++refused_;
            continue;
        }
        if (stale) [[unlikely]] {
            store_.tenants.update(*entry, now_);
        }
        charge_entry(*entry, numbers_);
    }
}

// Three bursts in flight: one whose first lines are asked for, one whose second lines are, and one
// that is decided; a few keys of each in turn, so that there is work while lines are on their way.
void AgedTable::run(std::size_t bursts, Random& random) {
    Burst work[3];
    std::array<Work*, kBurst> missed[2];
    std::size_t misses[2] = {0, 0};
    ask(work[0], random);
    misses[0] = store_.keys.probe_first(std::span<Work>{work[0]}, missed[0].data());
    ask(work[1], random);
    for (std::size_t burst = 0; burst < bursts; ++burst) {
        now_.at += kPerBurst;
        (void)store_.begin_burst(now_);
        Burst& deciding = work[burst % 3];
        Burst& probing = work[(burst + 1) % 3];
        Burst& asking = work[(burst + 2) % 3];
        BucketTable::probe_second(
            std::span<Work* const>{missed[burst % 2].data(), misses[burst % 2]});
        std::size_t found = 0;
        for (std::size_t at = 0; at < kBurst; at += kTurn) {
            ask(std::span{asking}.subspan(at, kTurn), random);
            found += store_.keys.probe_first(std::span<Work>{probing}.subspan(at, kTurn),
                                             missed[(burst + 1) % 2].data() + found);
            decide(std::span{deciding}.subspan(at, kTurn));
        }
        misses[(burst + 1) % 2] = found;
    }
}

void AgedTable::fill_up() {
    std::uint64_t number = first_ + keys_;
    for (std::uint64_t failures = 0; failures < 64; ++number) {
        (void)store_.begin_burst(now_);
        Entry* entry = add(filed(number));
        if (entry == nullptr) {
            ++failures;
        } else {
            entry->write({now_.at + 100s, 0});
        }
    }
}

bool AgedTable::find_parent(Work& work, std::uint64_t network) noexcept {
    const FiledKey key = filed(~network);
    work.entry = store_.parents.find(key);
    if (work.entry != nullptr) {
        return true;
    }
    work.entry = store_.parents.make_place(key, store_.tenants, now_);
    if (work.entry == nullptr) {
        return false;
    }
    work.entry->file({now_.at, 0}, key.filed, {0, 1});
    work.entry->release();
    store_.tenants.came(kSlot);
    return true;
}

void AgedTable::run_new_keys(std::size_t bursts, Random& random, std::uint64_t networks) {
    Burst work;
    std::array<std::uint64_t, kBurst> network;
    for (std::size_t burst = 0; burst < bursts; ++burst) {
        now_.at += kPerBurst;
        (void)store_.begin_burst(now_);
        for (std::size_t i = 0; i < kBurst; ++i) {
            const std::uint64_t number = random() | std::uint64_t{1} << 63;
            network[i] = number % networks;
            work[i].key = filed(number);
            (void)store_.keys.prefetch_first(work[i].key);
            store_.keys.prefetch_second(work[i].key);
            (void)store_.parents.prefetch_first(filed(~network[i]));
        }
        for (std::size_t i = 0; i < kBurst; ++i) {
            Entry* entry = store_.keys.find(work[i].key);
            if (entry == nullptr) {
                entry = add(work[i].key);
            }
            if (entry != nullptr) {
                charge_entry(*entry, numbers_);
            } else if (find_parent(work[i], network[i])) {
                charge_entry(*work[i].entry, wider_numbers_);
                store_.note_parent(*work[i].entry);
            } else {
                charge_entry(store_.rule_entry(kSlot), wider_numbers_);
            }
        }
    }
}

std::uint64_t AgedTable::lost() {
    std::uint64_t missing = 0;
    for (std::uint64_t number = first_; number < first_ + keys_; ++number) {
        missing += store_.keys.find(filed(number)) == nullptr ? 1U : 0U;
    }
    return missing;
}

std::size_t AgedTable::bytes() const noexcept {
    return store_.keys.bytes() + store_.parents.bytes();
}

}  // namespace sluice::bench
