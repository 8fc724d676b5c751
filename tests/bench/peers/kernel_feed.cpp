#include "key_limit.skel.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <net/if.h>
#include <sched.h>

// Feeds UDP frames of 60 bytes to a program in the kernel, on one thread and so on one core, as
// frames of INTERFACE. What the kernel does with a frame is done before the call returns (but for
// what it defers to other threads), so the thread's CPU time is what the frames cost.
//
//     kernel_feed key_limit|feed INTERFACE TABLE
//
// Commands, one a line; each is answered by one line of JSON, whose `at` is CLOCK_MONOTONIC once it
// is done:
//
//     sources KEYS FIRST EVERY   who sends: KEYS sources in turn from number FIRST on, and of EVERY
//                                frames one is the resident's (0: none)
//     limit RATE BURST           packets a second of each key
//     run COUNT                  live frames: as from a driver, each in a page of its own
//     alone COUNT                the program alone, without a driver
//     change RATE BURST          a limit, while frames come to the program alone, and go on until
//                                one is refused (`first_refused_at`, 0 if none is within 5 s)
//     counts                     nothing: the answer alone
//
//     kernel_feed attach INTERFACE TABLE RATE BURST
//
// puts the limit before the interface's own frames, in the place of what is there, and ends: the
// program stays with the interface.
namespace sluice::bench {
namespace {

constexpr std::size_t kFrame = 60;
// Each call of the kernel's makes its pages anew, which takes tens of ms.
constexpr std::uint32_t kAtOnce = 1 << 20;
constexpr std::uint32_t kBatch = 64;
constexpr std::uint32_t kDuringChange = 1 << 16;
constexpr std::uint32_t kBeforeChange = 1 << 18;
constexpr std::chrono::seconds kMostOfChange{5};
using Frame = std::array<std::uint8_t, kFrame>;

// To the address that the interface is given.
Frame udp_frame() {
    Frame frame{0x02, 0,    0,    0, 0, 0x01, 0x02, 0, 0,    0, 0,  0x02,
                0x08, 0x00, 0x45, 0, 0, 46,   0,    0, 0x40, 0, 64, 17};
    const std::array<std::uint8_t, 4> destination{10, 77, 0, 2};
    std::copy(destination.begin(), destination.end(), frame.begin() + 30);
    const std::array<std::uint8_t, 8> udp{0x9C, 0x40, 0, 53, 0, 26, 0, 0};
    std::copy(udp.begin(), udp.end(), frame.begin() + 34);
    return frame;
}

std::uint64_t sum_of_header(const Frame& frame) {
    std::uint64_t sum = 0;
    for (std::size_t at = 14; at < 34; at += 2) {
        sum += static_cast<std::uint64_t>(frame[at] << 8 | frame[at + 1]);
    }
    return sum;
}

double thread_ns() {
    timespec time{};
    (void)::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

void fail(const char* what) {
    std::fprintf(stderr, "kernel_feed: %s: %s\n", what, std::strerror(errno));
    std::exit(1);
}

class Feed {
public:
    Feed(const std::string& program, const std::string& interface, std::uint32_t table)
        : skeleton_{key_limit_bpf__open()} {
        if (skeleton_ == nullptr || bpf_map__set_max_entries(skeleton_->maps.buckets, table) != 0) {
            fail("the program could not be opened");
        }
        skeleton_->data->keys = 1;
        skeleton_->bss->head_sum = sum_of_header(frame_);
        if (key_limit_bpf__load(skeleton_) != 0) {
            fail("the program could not be loaded");
        }
        program_ =
            bpf_program__fd(program == "feed" ? skeleton_->progs.feed : skeleton_->progs.key_limit);
        context_.data_end = kFrame;
        context_.ingress_ifindex = ::if_nametoindex(interface.c_str());
        if (context_.ingress_ifindex == 0) {
            fail(interface.c_str());
        }
    }
    Feed(const Feed&) = delete;
    Feed& operator=(const Feed&) = delete;
    ~Feed() { key_limit_bpf__destroy(skeleton_); }

    void attach(std::uint64_t rate, std::uint64_t burst) {
        set_limit(rate, burst);
        const int program = bpf_program__fd(skeleton_->progs.key_limit_forward);
        if (bpf_xdp_attach(static_cast<int>(context_.ingress_ifindex), program, 0, nullptr) != 0) {
            fail("the program could not be attached");
        }
    }

    void obey(const std::string& line) {
        std::istringstream words{line};
        std::string command;
        words >> command;
        // KEYS, RATE or COUNT; FIRST or BURST; EVERY.
        std::uint64_t amount = 0;
        std::uint64_t second = 0;
        std::uint64_t every = 0;
        words >> amount >> second >> every;
        const bool is_limit = amount != 0 && second != 0;
        const double cpu = thread_ns();
        if (command == "sources") {
            skeleton_->data->keys = amount;
            skeleton_->bss->first = second;
            skeleton_->bss->resident_every = every;
        } else if (command == "limit" && is_limit) {
            set_limit(amount, second);
        } else if (command == "run") {
            run(amount);
        } else if (command == "alone") {
            test_run(static_cast<std::uint32_t>(amount), 0);
        } else if (command == "change" && is_limit) {
            change_meanwhile(amount, second);
        } else if (command != "counts") {
            errno = EINVAL;
            fail(line.c_str());
        }
        answer(thread_ns() - cpu);
    }

private:
    void set_limit(std::uint64_t rate, std::uint64_t burst) {
        skeleton_->data->gap = 1'000'000'000 / rate;
        skeleton_->bss->burst_gaps = (burst - 1) * skeleton_->data->gap;
    }

    void change_meanwhile(std::uint64_t rate, std::uint64_t burst) {
        const volatile auto& seen = skeleton_->bss->seen;
        volatile auto& refused_at = skeleton_->bss->first_refused_at;
        const std::uint64_t enough = seen + kBeforeChange;
        std::atomic<bool> is_over{false};
        std::thread frames{[this, &is_over] {
            while (!is_over) {
                test_run(kDuringChange, 0);
            }
        }};
        // Not on the core of the frames: neither thread waits for the other.
        cpu_set_t all;
        std::memset(&all, 0xFF, sizeof(all));
        (void)::sched_setaffinity(0, sizeof(all), &all);
        while (seen < enough) {
            std::this_thread::yield();
        }
        refused_at = 0;
        const auto changed = std::chrono::steady_clock::now();
        changed_at_ = changed.time_since_epoch();
        set_limit(rate, burst);
        while (refused_at == 0 && std::chrono::steady_clock::now() < changed + kMostOfChange) {
            std::this_thread::yield();
        }
        is_over = true;
        frames.join();
    }

    void run(std::uint64_t count) {
        for (std::uint64_t left = count; left != 0;) {
            const auto now = static_cast<std::uint32_t>(std::min<std::uint64_t>(left, kAtOnce));
            test_run(now, BPF_F_TEST_XDP_LIVE_FRAMES);
            left -= now;
        }
    }

    void test_run(std::uint32_t count, std::uint32_t flags) {
        LIBBPF_OPTS(bpf_test_run_opts, options);
        options.data_in = frame_.data();
        options.data_size_in = kFrame;
        options.repeat = static_cast<int>(count);
        options.flags = flags;
        if (flags != 0) {
            options.ctx_in = &context_;
            options.ctx_size_in = sizeof(context_);
            options.batch_size = kBatch;
        }
        if (bpf_prog_test_run_opts(program_, &options) != 0) {
            fail("BPF_PROG_TEST_RUN");
        }
    }

    void answer(double cpu_ns) const {
        const std::chrono::duration<double> at =
            std::chrono::steady_clock::now().time_since_epoch();
        const auto& counts = *skeleton_->bss;
        std::printf(
            "{\"changed_at\": %.9f, \"first_refused_at\": %.9f, \"at\": %.9f, \"cpu_ns\": %.0f, "
            "\"seen\": %llu, \"admitted\": %llu, "
            "\"resident_seen\": %llu, \"resident_admitted\": %llu, \"without_bucket\": %llu, "
            "\"map\": %d}\n",
            changed_at_.count(), static_cast<double>(counts.first_refused_at) / 1e9, at.count(),
            cpu_ns, counts.seen, counts.admitted, counts.resident_seen, counts.resident_admitted,
            counts.without_bucket, bpf_map__fd(skeleton_->maps.buckets));
        std::fflush(stdout);
    }

    Frame frame_ = udp_frame();
    key_limit_bpf* skeleton_;
    int program_ = -1;
    xdp_md context_{};
    std::chrono::duration<double> changed_at_{0};
};

}  // namespace
}  // namespace sluice::bench

int main(int count, char** arguments) {
    const bool attaches = count == 6 && std::string{arguments[1]} == "attach";
    if (count != 4 && !attaches) {
        std::fprintf(stderr,
                     "usage: kernel_feed key_limit|feed INTERFACE TABLE\n"
                     "       kernel_feed attach INTERFACE TABLE RATE BURST\n");
        return 2;
    }
    sluice::bench::Feed feed{arguments[1], arguments[2],
                             static_cast<std::uint32_t>(std::strtoul(arguments[3], nullptr, 10))};
    if (attaches) {
        const std::uint64_t rate = std::strtoul(arguments[4], nullptr, 10);
        const std::uint64_t burst = std::strtoul(arguments[5], nullptr, 10);
        if (rate == 0 || burst == 0) {
            std::fprintf(stderr, "kernel_feed: RATE and BURST are at least 1\n");
            return 2;
        }
        feed.attach(rate, burst);
        return 0;
    }
    std::puts("ready");
    std::fflush(stdout);
    for (std::string line; std::getline(std::cin, line);) {
        feed.obey(line);
    }
    return 0;
}
