#include "tests/bench/rte_reference.hpp"

#include <cstdio>
#include <cstdlib>
#include <vector>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_hash.h>
#include <rte_hash_crc.h>
#include <rte_meter.h>
#include <valgrind/valgrind.h>

namespace sluice::bench {
namespace {

constexpr std::uint32_t kBurst = 32;
constexpr std::uint64_t kBytesPerSecond = 1'000'000'000;
constexpr std::uint32_t kPacket = 64;
constexpr std::size_t kPagesForPackets = 64;  // of 2 MB

std::size_t free_huge_pages() {
    std::size_t pages = 0;
    if (std::FILE* file =
            std::fopen("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "r")) {
        (void)std::fscanf(file, "%zu", &pages);
        (void)std::fclose(file);
    }
    return pages;
}

}  // namespace

struct RteReference::State {
    std::size_t keys = 0;
    rte_hash* hash = nullptr;
    rte_meter_srtcm_profile profile{};
    std::vector<rte_meter_srtcm> meters;
    std::uint64_t passed = 0;
};

RteReference::RteReference(std::size_t keys) : state_{std::make_unique<State>()} {
    rte_hash_parameters parameters{};
    parameters.name = "bench";
    // 80 % full, as ours is.
    parameters.entries = static_cast<std::uint32_t>(keys + keys / 4);
    parameters.key_len = sizeof(KeyWords);
    parameters.hash_func = rte_hash_crc;
    parameters.socket_id = -1;
    state_->keys = keys;
    state_->hash = rte_hash_create(&parameters);
    if (state_->hash == nullptr) {
        std::fprintf(stderr, "rte_hash_create failed\n");
        std::exit(1);
    }
    rte_meter_srtcm_params limit{kBytesPerSecond, kBytesPerSecond, kBytesPerSecond};
    (void)rte_meter_srtcm_profile_config(&state_->profile, &limit);
    state_->meters.resize(parameters.entries + 64);
    for (std::uint64_t key = 0; key < keys; ++key) {
        const KeyWords words = key_words(key);
        const std::int32_t at = rte_hash_add_key(state_->hash, words.data());
        if (at < 0) {
            std::fprintf(stderr, "rte_hash_add_key failed\n");
            std::exit(1);
        }
        (void)rte_meter_srtcm_config(&state_->meters[static_cast<std::size_t>(at)],
                                     &state_->profile);
    }
}

RteReference::~RteReference() {
    rte_hash_free(state_->hash);
}

void RteReference::run(std::size_t bursts, Random& random) {
    State& state = *state_;
    KeyWords keys[kBurst];
    const void* pointers[kBurst];
    std::int32_t found[kBurst];
    for (std::uint32_t i = 0; i < kBurst; ++i) {
        pointers[i] = &keys[i];
    }
    for (std::size_t burst = 0; burst < bursts; ++burst) {
        for (KeyWords& key : keys) {
            key = key_words(random.below(state.keys));
        }
        (void)rte_hash_lookup_bulk(state.hash, pointers, kBurst, found);
        for (const std::int32_t at : found) {
            __builtin_prefetch(&state.meters[static_cast<std::size_t>(at)], 1);
        }
        const std::uint64_t now = rte_rdtsc();
        for (const std::int32_t at : found) {
            state.passed +=
                rte_meter_srtcm_color_blind_check(&state.meters[static_cast<std::size_t>(at)],
                                                  &state.profile, now, kPacket) != RTE_COLOR_RED;
        }
    }
}

bool start_eal() {
    // Huge pages if enough of them are free, and none under valgrind, which has no room for where
    // they go.
    char program[] = "bench";
    char no_pci[] = "--no-pci";
    char quiet[] = "--log-level=error";
    char lcores[] = "--lcores=0";
    char in_memory[] = "--in-memory";
    char no_shared[] = "--no-shconf";  // two of them run side by side
    char no_huge[] = "--no-huge";
    char memory[] = "-m";
    char size[] = "6000";
    const bool huge = RUNNING_ON_VALGRIND == 0 && free_huge_pages() >= kPagesForPackets;
    std::vector<char*> arguments{program, no_pci, quiet, lcores};
    if (huge) {
        arguments.push_back(in_memory);
    } else {
        arguments.insert(arguments.end(), {no_shared, no_huge, memory, size});
    }
    std::printf("{\"id\": \"EAL\", \"case\": \"packet buffers\", \"page_size\": %d}\n",
                huge ? 2 << 20 : 4096);
    return rte_eal_init(static_cast<int>(arguments.size()), arguments.data()) >= 0;
}

}  // namespace sluice::bench
