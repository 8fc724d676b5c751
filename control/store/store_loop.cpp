#include "control/store/store_loop.hpp"

#include <chrono>
#include <span>
#include <utility>

namespace sluice {
namespace {

constexpr std::uint64_t kMeetEveryUs = 100'000;
constexpr std::uint64_t kReportEveryUs = 1'000'000;
constexpr int kTickMs = 20;

std::uint64_t monotonic_us() {
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(
                                          std::chrono::steady_clock::now().time_since_epoch())
                                          .count());
}

bool says_the_same(const StoreLinkReport& a, const StoreLinkReport& b) {
    return a.state == b.state && a.why == b.why && a.slot == b.slot;
}

}  // namespace

StoreLoop::StoreLoop(std::string socket, StoreLink link, Told told)
    : socket_{std::move(socket)}, link_{std::move(link)}, told_{std::move(told)} {}

void StoreLoop::run(int stop_fd) {
    for (;;) {
        meet_dataplane(monotonic_us());
        waited_.assign({{.fd = stop_fd, .events = POLLIN, .revents = 0},
                        {.fd = dataplane_ ? dataplane_->fd() : -1,
                         .events = dataplane_ ? dataplane_->events() : short{0},
                         .revents = 0}});
        link_.add_sockets(waited_);
        (void)::poll(waited_.data(), waited_.size(), kTickMs);
        if (waited_[0].revents != 0) {
            return;
        }
        link_.go_on(std::span{waited_}.subspan(2), monotonic_us);
        const std::uint64_t now_us = monotonic_us();
        if (waited_[1].revents != 0) {
            hear(now_us);
        }
        link_.keep(now_us);  // what has come in time is read before deadlines are looked at
        tell();
        report(now_us);
    }
}

void StoreLoop::meet_dataplane(std::uint64_t now_us) {
    if (dataplane_ || now_us < meet_at_us_) {
        return;
    }
    meet_at_us_ = now_us + kMeetEveryUs;
    Result<DataplaneEnd> end = DataplaneEnd::connect(socket_);
    if (end) {
        dataplane_ = *std::move(end);
        report_at_us_ = 0;
    }
}

void StoreLoop::lose_dataplane() {
    dataplane_.reset();
    link_.greet(std::nullopt);
}

void StoreLoop::hear(std::uint64_t now_us) {
    const Result<std::vector<StoreRequest>> requests = dataplane_->go_on();
    if (!requests) {
        lose_dataplane();
        return;
    }
    for (const StoreRequest& request : *requests) {
        if (const auto* hello = std::get_if<StoreHello>(&request)) {
            if (hello->version != kStoreLinkVersion) {
                lose_dataplane();
                return;
            }
            link_.greet(*hello);
        } else if (const auto* clocks = std::get_if<StoreClocks>(&request)) {
            link_.adopt(*clocks);
        } else {
            link_.take(std::get<StoreBatch>(request), now_us);
        }
    }
}

void StoreLoop::tell() {
    for (StoreReply& reply : link_.take_replies()) {
        if (dataplane_) {
            dataplane_->say(std::move(reply));
        }
    }
}

void StoreLoop::report(std::uint64_t now_us) {
    const StoreLinkReport report = link_.report(now_us);
    const bool changed = !says_the_same(report, reported_);
    if (changed) {
        told_(report);
    }
    if (dataplane_ && (changed || now_us >= report_at_us_)) {
        report_at_us_ = now_us + kReportEveryUs;
        dataplane_->say(report);
    }
    reported_ = report;
}

}  // namespace sluice
