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
    rows_[kSlot] = {.limit = &limit_, .coarser = {&wider_, 1}, .previous = {}, .version = 0};
    store_.adopt(rows_, 0, 1h, now_);
    // Each generation ends one key after the other, while the next comes in.
    for (std::uint64_t number = 0; number < 2 * keys; ++number) {
        if (number >= keys) {
            now_.at += 1us;
        }
        if (number % kBurst == 0) {
            (void)store_.begin_burst(now_);
        }
        Entry* entry = add(table_key(number));
        if (entry == nullptr) {
            std::fprintf(stderr, "no place while filling\n");
            std::exit(1);
        }
        const auto ends = now_.at + (number < keys ? 1us * (number + 1) : Nanoseconds{100s});
        entry->write({ends, 0});
    }
    first_ = keys;
}

TableKey AgedTable::table_key(std::uint64_t number) const noexcept {
    const KeyWords words = key_words(number);
    return {hash_(kIdentity, std::as_bytes(std::span{words})), kSlot};
}

void AgedTable::file(Entry& entry, const TableKey& key) noexcept {
    entry.file({now_.at, 0}, key.slot_and_tag, {});
    entry.release();
    store_.registry.came(kSlot);
    ++added_;
}

Entry* AgedTable::add(const TableKey& key) noexcept {
    Entry* entry = store_.keys.make_place(key, store_.registry, now_);
    if (entry != nullptr) {
        file(*entry, key);
    }
    return entry;
}

namespace {

// As the pipeline's key stage does it: hashing is inlined where the CPU has the rounds.
SLUICE_AES TableKey filed_by(const AesHash& aes, std::uint64_t number) noexcept {
    const KeyWords words = key_words(number);
    return {KeyHasher::key_under(kIdentity, aes.of_words(words[0], words[1])), kSlot};
}

// A key that was not there before, and the network it belongs to.
struct NewKey {
    std::uint64_t number;
    std::uint64_t network;
};

NewKey next_new(Random& random, std::uint64_t networks) noexcept {
    const std::uint64_t number = random() | std::uint64_t{1} << 63;
    return {number, ~(number & (networks - 1))};
}

}  // namespace

SLUICE_AES void AgedTable::ask_aes(std::span<Work> burst, Random& random) noexcept {
    const AesHash& aes = *hash_.aes();
    Random numbers = random;  // in registers, like the two below
    const std::uint64_t first = first_;
    const std::size_t keys = keys_;
    for (Work& work : burst) {
        work.key = filed_by(aes, first + numbers.below(keys));
        work.entry = store_.keys.prefetch_first<BucketTable::Into::FirstCache>(work.key);
    }
    random = numbers;
}

void AgedTable::ask(std::span<Work> burst, Random& random) noexcept {
    if (hash_.aes() != nullptr) [[likely]] {
        ask_aes(burst, random);
        return;
    }
    for (Work& work : burst) {
        work.key = table_key(first_ + random.below(keys_));
        work.entry = store_.keys.prefetch_first<BucketTable::Into::FirstCache>(work.key);
    }
}

void AgedTable::charge_entry(Entry& entry, const Limit& limit) noexcept {
    if (take(entry, limit, now_.at, Units{1})) [[likely]] {
        ++admitted_;
    } else {
        ++refused_;
    }
}

// Also of a key that has moved since it was seen, as the pipeline does it.
[[gnu::noinline]] Entry* AgedTable::place_slow(const TableKey& key) noexcept {
    Entry* entry = store_.keys.find(key);
    return entry != nullptr ? entry : add(key);
}

void AgedTable::decide(std::span<Work> burst) noexcept {
    const bool stale = store_.registry.stale();
    for (Work& work : burst) {
        Entry* entry = work.entry;
        if (entry == nullptr || entry->slot_and_tag() != work.key.slot_and_tag) [[unlikely]] {
            entry = place_slow(work.key);
        }
        if (entry == nullptr) [[unlikely]] {
            ++refused_;
            continue;
        }
        if (stale) [[unlikely]] {
            store_.registry.update(*entry, now_);
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
        store_.keys.probe_second(
            std::span<Work* const>{missed[burst % 2].data(), misses[burst % 2]}, store_.registry,
            now_);
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
        Entry* entry = add(table_key(number));
        if (entry == nullptr) {
            ++failures;
        } else {
            entry->write({now_.at + 100s, 0});
        }
    }
}

// Four lines are asked for: who floods a full table has his parent charged.
SLUICE_AES void AgedTable::ask_new_aes(std::span<NewWork> burst, Random& random,
                                       std::uint64_t networks) noexcept {
    const AesHash& aes = *hash_.aes();
    Random numbers = random;
    for (NewWork& work : burst) {
        const NewKey key = next_new(numbers, networks);
        work.key = filed_by(aes, key.number);
        work.parent = filed_by(aes, key.network);
        work.lines = store_.keys.prefetch_both(work.key);
        work.parent_lines = store_.parents.prefetch_both(work.parent);
    }
    random = numbers;
}

void AgedTable::ask_new(std::span<NewWork> burst, Random& random, std::uint64_t networks) noexcept {
    if (hash_.aes() != nullptr) [[likely]] {
        ask_new_aes(burst, random, networks);
        return;
    }
    for (NewWork& work : burst) {
        const NewKey key = next_new(random, networks);
        work.key = table_key(key.number);
        work.parent = table_key(key.network);
        work.lines = store_.keys.prefetch_both(work.key);
        work.parent_lines = store_.parents.prefetch_both(work.parent);
    }
}

void AgedTable::charge_parent(const NewWork& work) noexcept {
    Entry* entry = BucketTable::find_in(work.parent_lines, work.parent);
    if (entry == nullptr) {
        entry = store_.parents.make_place_in(work.parent_lines, work.parent, store_.registry, now_);
        if (entry == nullptr) {
            entry = &store_.rule_entry(kSlot);
        } else {
            entry->file({now_.at, 0}, work.parent.slot_and_tag, {0, 1});
            entry->release();
            store_.registry.came(kSlot);
        }
    }
    charge_entry(*entry, wider_numbers_);
    store_.note_parent(*entry);
}

void AgedTable::decide_new(std::span<const NewWork> burst) noexcept {
    for (const NewWork& work : burst) {
        Entry* entry = BucketTable::find_in(work.lines, work.key);
        if (entry == nullptr) [[likely]] {
            entry = store_.keys.make_place_in(work.lines, work.key, store_.registry, now_);
            if (entry == nullptr) [[likely]] {
                charge_parent(work);
                continue;
            }
            file(*entry, work.key);
        }
        charge_entry(*entry, numbers_);
    }
}

// Two bursts in flight.
void AgedTable::run_new_keys(std::size_t bursts, Random& random, std::uint64_t networks) {
    NewBurst work[2];
    ask_new(work[0], random, networks);
    for (std::size_t burst = 0; burst < bursts; ++burst) {
        now_.at += kPerBurst;
        (void)store_.begin_burst(now_);
        for (std::size_t at = 0; at < kBurst; at += kTurn) {
            ask_new(std::span{work[(burst + 1) % 2]}.subspan(at, kTurn), random, networks);
            decide_new(std::span{work[burst % 2]}.subspan(at, kTurn));
        }
    }
}

std::uint64_t AgedTable::lost() {
    std::uint64_t missing = 0;
    for (std::uint64_t number = first_; number < first_ + keys_; ++number) {
        missing += store_.keys.find(table_key(number)) == nullptr ? 1U : 0U;
    }
    return missing;
}

std::size_t AgedTable::bytes() const noexcept {
    return store_.keys.bytes() + store_.parents.bytes();
}

}  // namespace sluice::bench
