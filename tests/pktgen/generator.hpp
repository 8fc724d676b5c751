#pragma once
#include "tests/pktgen/burst_wait.hpp"
#include "tests/pktgen/eth_device.hpp"
#include "tests/pktgen/pacer.hpp"
#include "tests/pktgen/traffic.hpp"
#include "tests/pktgen/trial.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>

struct rte_mbuf;

namespace sluice::pktgen {

struct TrialPlan {
    Rate rate;  // not `line`: what that is, the caller knows
    double seconds = std::numeric_limits<double>::infinity();
    std::uint64_t count = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t backlog = 256;  // frames
    bool drops_refused = false;   // a frame has one chance, as on a wire
    double linger = 0.1;          // seconds
};

// What is sent from the first port to the second, and back if anything is.
struct Directions {
    Traffic there;
    std::optional<Traffic> back;
};

// Sends and receives on one lcore: a burst out, a burst in, in turn.
class Generator {
public:
    struct Ports {
        EthDevice transmit;
        EthDevice receive;
        rte_mempool* buffers;
        std::uint16_t queues = 1;
    };
    // What the user wants: no more frames sent; then, not even those awaited that are under way.
    struct Wishes {
        bool (*is_over)();
        bool (*is_given_up)();
    };
    // `progress` is called each second.
    using Progress = std::function<void(const Trial&)>;
    Generator(const Ports& ports, const Wishes& wishes) : ports_{ports}, wishes_{wishes} {}
    ~Generator();
    Generator(const Generator&) = delete;
    Generator& operator=(const Generator&) = delete;

    [[nodiscard]] Trials run(const TrialPlan& plan, Directions& traffic, bool is_probed,
                             const Progress& progress);

private:
    static constexpr std::uint16_t kBurst = 32;
    static constexpr std::uint16_t kReceived = 64;  // at once

    // Frames that are to leave by one queue of a port.
    struct Outbound {
        std::array<rte_mbuf*, kBurst> pending{};
        std::uint16_t pendings = 0;
        BurstWait wait;
        void free();
    };
    using Queues = std::array<Outbound, kMostQueues>;
    struct Course;  // of one trial, one direction
    void send_until_end(std::span<Course> courses);
    void fill(Course& course, std::uint64_t now);
    void flush(Course& course);
    static void flush_queue(Course& course, std::uint16_t queue);
    static void keep_refused(const Course& course, Outbound& out, std::uint16_t taken);
    bool refill_spare(Trial& trial);
    void receive(Course& course);
    void receive_ours(Course& course, std::uint16_t queue);
    void receive_returned(Course& course, std::uint16_t queue);
    void take(Course& course, rte_mbuf& frame, std::uint64_t now) const;
    static void rest(std::span<Course> courses);
    void drain(std::span<Course> courses);

    Ports ports_;
    Wishes wishes_;
    double ticks_per_ns_ = 0;
    std::array<rte_mbuf*, kBurst> spare_{};
    std::uint16_t spares_ = 0;
    std::array<Queues, 2> outbound_{};  // there, back
};

}  // namespace sluice::pktgen
