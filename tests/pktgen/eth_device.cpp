#include "tests/pktgen/eth_device.hpp"

#include "tests/pktgen/device_text.hpp"
#include "tests/pktgen/free_pages.hpp"

#include <algorithm>
#include <cstdio>
#include <vector>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <sched.h>
#include <unistd.h>

namespace sluice::pktgen {
namespace {

constexpr unsigned kBuffers = 16'383;  // and as many for each further queue
constexpr unsigned kCache = 256;
constexpr std::uint16_t kDescriptors = 1024;
constexpr unsigned kMegabytes = 128;  // and as many for each further queue

// Mbufs for the descriptors of both ports, and one for each frame sent in either direction.
// The fill ring of net_af_xdp takes two mbufs for each receive descriptor. A pool of few mbufs
// causes few page faults at the start.
unsigned buffers_for(const Options& options) {
    const std::uint64_t most = std::uint64_t{kBuffers} * options.queues;
    if (!options.count || *options.count > most || options.warm_up > most) {
        return static_cast<unsigned>(most);
    }
    const std::uint64_t in_rings = std::uint64_t{6} * kDescriptors * options.queues;
    return static_cast<unsigned>(std::min(most, in_rings + 2 * (*options.count + options.warm_up)));
}

int first_cpu() {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (::sched_getaffinity(0, sizeof(allowed), &allowed) == 0) {
        for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
            if (CPU_ISSET(cpu, &allowed)) {
                return cpu;
            }
        }
    }
    return 0;
}

// Whether as much is free; says so where it is not, since without them it is slower.
bool has_huge_pages(unsigned megabytes) {
    const std::uint64_t free = free_huge_megabytes();
    if (free < megabytes) {
        std::fprintf(stderr,
                     "sluice-pktgen: %u MB of huge pages wanted, %llu MB are free: without any, "
                     "which is slower\n",
                     megabytes, static_cast<unsigned long long>(free));
    }
    return free >= megabytes;
}

Error fault(const std::string& device, const std::string& what, int code) {
    return {Errc::NotSupported,
            "port " + device + ": " + what + ": " + rte_strerror(code < 0 ? -code : code)};
}

std::vector<std::string> eal_words(const Options& options) {
    const int cpu = options.cpu >= 0 ? options.cpu : first_cpu();
    std::vector<std::string> words{"sluice-pktgen",
                                   "--lcores",
                                   "0@" + std::to_string(cpu),
                                   "--no-telemetry",
                                   "--log-level",
                                   "warning",
                                   "--file-prefix",
                                   "pktgen" + std::to_string(::getpid())};
    const unsigned megabytes = kMegabytes * options.queues;
    if (has_huge_pages(2 * megabytes)) {
        words.insert(words.end(), {"--in-memory", "-m", std::to_string(2 * megabytes)});
    } else {
        words.insert(words.end(), {"--no-huge", "--no-shconf", "-m", std::to_string(megabytes)});
    }
    std::vector<std::string> devices{options.transmit};
    if (options.receive != options.transmit) {
        devices.push_back(options.receive);
    }
    bool any_pci = false;
    bool is_shared = false;
    for (const std::string& device : devices) {
        any_pci = any_pci || is_pci(device);
        // The other end maps our memory, a file for each segment otherwise.
        is_shared = is_shared || device.starts_with("net_virtio_user");
        if (is_pci(device)) {
            words.insert(words.end(), {"-a", device});
        } else {
            words.push_back("--vdev=" + device);
        }
    }
    if (!any_pci) {
        words.emplace_back("--no-pci");
    }
    if (is_shared) {
        words.emplace_back("--single-file-segments");
    }
    words.insert(words.end(), options.eal.begin(), options.eal.end());
    return words;
}

Result<Done> set_up_queue(const std::string& device, std::uint16_t id, std::uint16_t queue,
                          rte_mempool* buffers) {
    std::uint16_t rx = kDescriptors;
    std::uint16_t tx = kDescriptors;
    (void)rte_eth_dev_adjust_nb_rx_tx_desc(id, &rx, &tx);
    const auto socket = static_cast<unsigned>(std::max(rte_eth_dev_socket_id(id), 0));
    if (const int failed = rte_eth_rx_queue_setup(id, queue, rx, socket, nullptr, buffers);
        failed != 0) {
        return fault(device, "has no receive queue " + std::to_string(queue), failed);
    }
    if (const int failed = rte_eth_tx_queue_setup(id, queue, tx, socket, nullptr); failed != 0) {
        return fault(device, "has no transmit queue " + std::to_string(queue), failed);
    }
    return Done{};
}

Result<Done> set_up(const std::string& device, std::uint16_t id, std::uint16_t queues,
                    rte_mempool* buffers) {
    const rte_eth_conf conf{};
    if (const int failed = rte_eth_dev_configure(id, queues, queues, &conf); failed != 0) {
        return fault(device, "refuses " + std::to_string(queues) + " queues", failed);
    }
    for (std::uint16_t queue = 0; queue < queues; ++queue) {
        if (Result<Done> done = set_up_queue(device, id, queue, buffers); !done) {
            return done;
        }
    }
    if (const int failed = rte_eth_dev_start(id); failed != 0) {
        return fault(device, "does not start", failed);
    }
    (void)rte_eth_promiscuous_enable(id);
    return Done{};
}

}  // namespace

Result<Done> start_eal_for(const Options& options) {
    std::vector<std::string> words = eal_words(options);
    std::vector<char*> argv;
    argv.reserve(words.size());
    for (std::string& word : words) {
        argv.push_back(word.data());
    }
    if (rte_eal_init(static_cast<int>(argv.size()), argv.data()) < 0) {
        return Error{Errc::NotSupported,
                     std::string{"DPDK does not start: "} + rte_strerror(rte_errno) +
                         "; the lines above say why: names and arguments of the devices, memory"};
    }
    return Done{};
}

Result<rte_mempool*> make_buffers(const Options& options) {
    rte_mempool* buffers = rte_pktmbuf_pool_create("pktgen", buffers_for(options), kCache, 0,
                                                   RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
    if (buffers == nullptr) {
        return Error{Errc::NoMemory,
                     std::string{"no memory for frames: "} + rte_strerror(rte_errno)};
    }
    return buffers;
}

Result<EthDevice> EthDevice::start(const std::string& device, std::uint16_t queues,
                                   rte_mempool* buffers) {
    EthDevice made{.id = 0, .name = device};
    if (rte_eth_dev_get_port_by_name(port_name(device).c_str(), &made.id) != 0) {
        return Error{
            Errc::NotSupported,
            "port " + device +
                (is_pci(device)
                     ? " is none that DPDK knows; is it bound to a driver that DPDK can use "
                       "(dpdk-devbind.py --status)?"
                     : " does not come up; the lines above say why")};
    }
    if (const Result<Done> done = set_up(device, made.id, queues, buffers); !done) {
        return done.error();
    }
    return made;
}

std::uint32_t EthDevice::link_speed() const {
    rte_eth_link link{};
    (void)rte_eth_link_get_nowait(id, &link);
    return link.link_speed == RTE_ETH_SPEED_NUM_UNKNOWN ? 0 : link.link_speed;
}

bool EthDevice::has_link() const {
    rte_eth_link link{};
    return rte_eth_link_get_nowait(id, &link) == 0 && link.link_status == RTE_ETH_LINK_UP;
}

void EthDevice::stop() const {
    (void)rte_eth_dev_stop(id);
    (void)rte_eth_dev_close(id);
}

}  // namespace sluice::pktgen
