#include "lib/share/core.hpp"
#include "tests/bench/peers/meter_table.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <sstream>
#include <string>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_ip.h>
#include <rte_launch.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>

// What one writes in an afternoon with DPDK alone: packets of two ports forwarded to each other by
// one worker, under one token bucket for each IPv4 source, by rte_hash and rte_meter.
//
//     hash_meter EAL... -- KEYS RATE BURST MBUFS pass|drop
//
// The last word is for packets whose source found no place in the full table. Commands, one a line:
// `counts` (answered by one line of JSON), `limit RATE BURST` (answered likewise).
namespace sluice::bench {
namespace {

constexpr std::uint16_t kPorts = 2;
constexpr std::uint16_t kRing = 1024;
constexpr std::uint32_t kResident = 0x0B000001;

// Written by the worker alone; the main core reads them.
struct Counts {
    Counter received;
    Counter admitted;
    Counter refused;
    Counter without_bucket;
    Counter resident_seen;
    Counter resident_admitted;
};

struct Forwarder {
    MeterTable table;
    bool passes_when_full = false;
    Counts counts;
    std::atomic<bool> runs{true};
};

[[noreturn]] void fail(const char* what) {
    std::fprintf(stderr, "hash_meter: %s\n", what);
    std::exit(1);
}

void start_port(std::uint16_t port, rte_mempool* pool) {
    const rte_eth_conf plain{};
    if (rte_eth_dev_configure(port, 1, 1, &plain) != 0 ||
        rte_eth_rx_queue_setup(port, 0, kRing, SOCKET_ID_ANY, nullptr, pool) != 0 ||
        rte_eth_tx_queue_setup(port, 0, kRing, SOCKET_ID_ANY, nullptr) != 0 ||
        rte_eth_dev_start(port) != 0) {
        fail("a port did not start");
    }
}

// Of frames that are not plain IPv4; none of them is admitted.
constexpr std::uint32_t kNoSource = 0;

std::uint32_t source_of(const rte_mbuf* frame) {
    const auto* link = rte_pktmbuf_mtod(frame, const rte_ether_hdr*);
    const auto* header = reinterpret_cast<const rte_ipv4_hdr*>(link + 1);
    if (link->ether_type != rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4) ||
        header->version_ihl != RTE_IPV4_VHL_DEF) {
        return kNoSource;
    }
    return rte_be_to_cpu_32(header->src_addr);
}

// As testpmd's mac mode does.
void rewrite_addresses(rte_mbuf* frame, const rte_ether_addr& own) {
    auto* link = rte_pktmbuf_mtod(frame, rte_ether_hdr*);
    link->dst_addr = rte_ether_addr{{0x02, 0, 0, 0, 0, 0}};
    link->src_addr = own;
}

bool is_admitted(const Forwarder& forwarder, std::uint32_t source, Verdict verdict) {
    return source != kNoSource && (verdict == Verdict::Admitted ||
                                   (verdict == Verdict::NoBucket && forwarder.passes_when_full));
}

void forward_burst(Forwarder& forwarder, std::uint16_t port, const rte_ether_addr& own) {
    std::array<rte_mbuf*, kMeterBurst> frames;
    const std::uint16_t got = rte_eth_rx_burst(port, 0, frames.data(), kMeterBurst);
    if (got == 0) {
        return;
    }
    std::array<std::uint32_t, kMeterBurst> sources;
    std::array<Verdict, kMeterBurst> verdicts;
    for (std::uint16_t i = 0; i < got; ++i) {
        rte_prefetch0(rte_pktmbuf_mtod(frames[i], const void*));
    }
    for (std::uint16_t i = 0; i < got; ++i) {
        sources[i] = source_of(frames[i]);
    }
    forwarder.table.judge({sources.data(), got}, rte_rdtsc(), verdicts.data());
    Counts& counts = forwarder.counts;
    std::uint64_t without_bucket = 0;
    std::uint16_t kept = 0;
    for (std::uint16_t i = 0; i < got; ++i) {
        const bool passes = is_admitted(forwarder, sources[i], verdicts[i]);
        if (sources[i] == kResident) [[unlikely]] {
            counts.resident_seen.add(1);
            counts.resident_admitted.add(passes ? 1 : 0);
        }
        without_bucket += verdicts[i] == Verdict::NoBucket ? 1U : 0U;
        if (passes) {
            rewrite_addresses(frames[i], own);
            frames[kept++] = frames[i];
        } else {
            rte_pktmbuf_free(frames[i]);
        }
    }
    counts.received.add(got);
    counts.admitted.add(kept);
    counts.refused.add(got - kept);
    counts.without_bucket.add(without_bucket);
    const std::uint16_t sent = rte_eth_tx_burst(port ^ 1, 0, frames.data(), kept);
    rte_pktmbuf_free_bulk(frames.data() + sent, kept - sent);
}

int work(void* argument) {
    Forwarder& forwarder = *static_cast<Forwarder*>(argument);
    std::array<rte_ether_addr, kPorts> own{};
    for (std::uint16_t port = 0; port < kPorts; ++port) {
        (void)rte_eth_macaddr_get(port, &own[port]);
    }
    while (forwarder.runs.load(std::memory_order_relaxed)) {
        forwarder.table.adopt();
        for (std::uint16_t port = 0; port < kPorts; ++port) {
            forward_burst(forwarder, port, own[port ^ 1]);
        }
    }
    return 0;
}

void answer(const Forwarder& forwarder) {
    const Counts& counts = forwarder.counts;
    const std::chrono::duration<double> at = std::chrono::steady_clock::now().time_since_epoch();
    std::printf(
        "{\"at\": %.9f, \"received\": %lu, \"admitted\": %lu, \"refused\": %lu, "
        "\"without_bucket\": %lu, \"resident_seen\": %lu, \"resident_admitted\": %lu, \"bytes\": "
        "%zu}\n",
        at.count(), counts.received.read(), counts.admitted.read(), counts.refused.read(),
        counts.without_bucket.read(), counts.resident_seen.read(), counts.resident_admitted.read(),
        forwarder.table.bytes());
    std::fflush(stdout);
}

void obey_until_end(Forwarder& forwarder) {
    for (std::string line; std::getline(std::cin, line);) {
        std::istringstream words{line};
        std::string command;
        std::uint64_t rate = 0;
        std::uint64_t burst = 0;
        words >> command >> rate >> burst;
        if (command == "limit" && !forwarder.table.set_limit({rate, burst})) {
            fail("no such limit");
        }
        answer(forwarder);
    }
}

int run(int count, char** words) {
    if (count != 6) {
        fail("wants EAL... -- KEYS RATE BURST MBUFS pass|drop");
    }
    const auto number = [&](int at) { return std::strtoull(words[at], nullptr, 10); };
    Forwarder forwarder{
        .table = MeterTable{static_cast<std::uint32_t>(number(1)), {number(2), number(3)}},
        .passes_when_full = std::strcmp(words[5], "pass") == 0};
    rte_mempool* pool = rte_pktmbuf_pool_create("frames", static_cast<unsigned>(number(4)), 256, 0,
                                                RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
    if (!forwarder.table.is_made() || pool == nullptr || rte_eth_dev_count_avail() != kPorts) {
        fail("not enough memory, or not two ports");
    }
    for (std::uint16_t port = 0; port < kPorts; ++port) {
        start_port(port, pool);
    }
    const unsigned worker = rte_get_next_lcore(~0U, 1, 0);
    if (rte_eal_remote_launch(work, &forwarder, worker) != 0) {
        fail("no second lcore for the worker");
    }
    std::puts("ready");
    std::fflush(stdout);
    obey_until_end(forwarder);
    forwarder.runs = false;
    rte_eal_mp_wait_lcore();
    return 0;
}

}  // namespace
}  // namespace sluice::bench

int main(int count, char** words) {
    const int used = rte_eal_init(count, words);
    if (used < 0) {
        std::fprintf(stderr, "hash_meter: the EAL did not start\n");
        return 1;
    }
    return sluice::bench::run(count - used, words + used);
}
