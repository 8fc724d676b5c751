#include "key_limit.skel.h"

#include <array>
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

// Feeds UDP frames of 60 bytes to a program in the kernel, on this thread and so on one core, as
// frames of INTERFACE. What the kernel does with a frame is done before the call returns (but for
// what it defers to other threads), so this thread's CPU time is what the frames cost.
//
//     kernel_feed key_limit|feed INTERFACE TABLE
//
// Commands, one a line; each is answered by one line of JSON:
//
//     sources KEYS FIRST EVERY   who sends: KEYS sources in turn from number FIRST on, and one
//     frame
//                                in EVERY of the resident (0: none)
//     limit RATE BURST           packets a second of each key
//     run COUNT                  live frames: as from a driver, each in a page of its own
//     alone COUNT                the program alone, without a driver
//     pace PPS MS                live frames at that rate
//     counts                     nothing: the answer alone
namespace sluice::bench {
namespace {

constexpr std::size_t kFrame = 60;
constexpr std::uint32_t kAtOnce = 1 << 15;
constexpr std::uint32_t kBatch = 64;
using Frame = std::array<std::uint8_t, kFrame>;

// To the interface's own address, which a dummy in a namespace of its own is given: all zeros but
// for the locally administered bit.
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

    void obey(const std::string& line) {
        std::istringstream words{line};
        std::string command;
        words >> command;
        std::uint64_t a = 0;
        std::uint64_t b = 0;
        std::uint64_t c = 0;
        words >> a >> b >> c;
        const double cpu = thread_ns();
        const auto wall = std::chrono::steady_clock::now();
        if (command == "sources") {
            skeleton_->data->keys = a;
            skeleton_->bss->first = b;
            skeleton_->bss->resident_every = c;
        } else if (command == "limit" && a != 0 && b != 0) {
            skeleton_->data->gap = 1'000'000'000 / a;
            skeleton_->bss->burst_gaps = (b - 1) * skeleton_->data->gap;
        } else if (command == "run") {
            run(a);
        } else if (command == "alone") {
            test_run(static_cast<std::uint32_t>(a), 0);
        } else if (command == "pace") {
            pace(a, std::chrono::milliseconds{b});
        } else if (command != "counts") {
            errno = EINVAL;
            fail(line.c_str());
        }
        const std::chrono::duration<double, std::nano> took =
            std::chrono::steady_clock::now() - wall;
        answer(thread_ns() - cpu, took.count());
    }

private:
    void run(std::uint64_t count) {
        for (std::uint64_t left = count; left != 0;) {
            const auto now = static_cast<std::uint32_t>(std::min<std::uint64_t>(left, kAtOnce));
            test_run(now, BPF_F_TEST_XDP_LIVE_FRAMES);
            left -= now;
        }
    }

    // Behind its time by no more than a batch; what a busy machine held up is not made up for.
    void pace(std::uint64_t rate, std::chrono::nanoseconds length) {
        const auto gap = std::chrono::nanoseconds{1'000'000'000ULL * kBatch / rate};
        const auto start = std::chrono::steady_clock::now();
        for (auto due = start; due < start + length;) {
            test_run(kBatch, BPF_F_TEST_XDP_LIVE_FRAMES);
            due += gap;
            std::this_thread::sleep_until(due);
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

    void answer(double cpu_ns, double wall_ns) const {
        const auto& counts = *skeleton_->bss;
        std::printf(
            "{\"cpu_ns\": %.0f, \"wall_ns\": %.0f, \"seen\": %llu, \"admitted\": %llu, "
            "\"resident_seen\": %llu, \"resident_admitted\": %llu, \"without_bucket\": %llu, "
            "\"map\": %d}\n",
            cpu_ns, wall_ns, counts.seen, counts.admitted, counts.resident_seen,
            counts.resident_admitted, counts.without_bucket, bpf_map__fd(skeleton_->maps.buckets));
        std::fflush(stdout);
    }

    Frame frame_ = udp_frame();
    key_limit_bpf* skeleton_;
    int program_ = -1;
    xdp_md context_{};
};

}  // namespace
}  // namespace sluice::bench

int main(int count, char** arguments) {
    if (count != 4) {
        std::fprintf(stderr, "usage: kernel_feed key_limit|feed INTERFACE TABLE\n");
        return 2;
    }
    sluice::bench::Feed feed{arguments[1], arguments[2],
                             static_cast<std::uint32_t>(std::strtoul(arguments[3], nullptr, 10))};
    std::puts("ready");
    std::fflush(stdout);
    for (std::string line; std::getline(std::cin, line);) {
        feed.obey(line);
    }
    return 0;
}
