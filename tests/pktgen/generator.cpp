#include "tests/pktgen/generator.hpp"

#include "tests/pktgen/pause_watch.hpp"
#include "tests/pktgen/probe.hpp"

#include <algorithm>
#include <vector>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

namespace sluice::pktgen {
namespace {

constexpr double kPause =
    50e-6;  // seconds between two looks at the clock; a turn takes a tenth of it
constexpr double kMostDrainSeconds = 60;  // where others send for ever
// After so long a silence the generator sleeps between two looks. What is no pause yet,
// kRestSeconds and kPause together, adds no more to a delay, which is longer than the silence, than
// quantiles are rounded by.
constexpr double kAwakeSeconds = 25e-3;
constexpr unsigned kRestUs = 50;
constexpr double kRestSeconds = 150e-6;  // with what the kernel's timers add

std::uint64_t ticks_of(double seconds, std::uint64_t hz) {
    constexpr double kForever = 1e9;
    return static_cast<std::uint64_t>(std::min(seconds, kForever) * static_cast<double>(hz));
}

double units_of_frame(const Rate& rate, const Traffic& traffic) {
    return rate.unit == Rate::Unit::Bits ? traffic.mean_wire_bits() : 1;
}

Pacer::Plan pace(const TrialPlan& plan, const Traffic& traffic, std::uint64_t hz) {
    const Rate& rate = plan.rate;
    if (rate.unit == Rate::Unit::Max) {
        return {};
    }
    return {rate.per_second, hz,
            static_cast<std::uint64_t>(static_cast<double>(plan.backlog) *
                                       units_of_frame(rate, traffic))};
}

double frames_per_second(const Rate& rate, const Traffic& traffic) {
    return rate.per_second / units_of_frame(rate, traffic);
}

}  // namespace

struct Generator::Course {
    const TrialPlan& plan;
    Traffic& traffic;
    Trial& trial;
    const Progress& progress;
    std::uint16_t from;  // ports
    std::uint16_t to;
    bool is_alone;  // no frames are sent the other way
    Queues& out;
    std::uint64_t hz;
    std::uint64_t begin;
    std::uint64_t first;  // number of its first frame: what is less is of an earlier trial
    Pacer pacer;
    PauseWatch watch;
    std::uint64_t made = 0;

    // The time, which is watched for pauses.
    std::uint64_t look() {
        const std::uint64_t now = rte_rdtsc();
        watch.look(now);
        return now;
    }

    [[nodiscard]] bool is_done() const { return trial.sent >= plan.count; }

    void finish(std::uint64_t now) {
        // What the port did not take in time was never sent.
        std::ranges::for_each(out, &Outbound::free);
        set_seconds(now);
        trial.longest_pause = static_cast<double>(watch.longest()) / static_cast<double>(hz);
        trial.skipped = static_cast<std::uint64_t>(static_cast<double>(pacer.skipped()) /
                                                   units_of_frame(plan.rate, traffic));
    }

    void set_seconds(std::uint64_t now) const {
        trial.seconds = static_cast<double>(now - begin) / static_cast<double>(hz);
    }
};

void Generator::Outbound::free() {
    rte_pktmbuf_free_bulk(pending.data(), pendings);
    pendings = 0;
}

Generator::~Generator() {
    for (Queues& queues : outbound_) {
        std::ranges::for_each(queues, &Outbound::free);
    }
    rte_pktmbuf_free_bulk(spare_.data(), spares_);
}

Trials Generator::run(const TrialPlan& plan, Directions& traffic, bool is_probed,
                      const Progress& progress) {
    const std::uint64_t hz = rte_get_tsc_hz();
    ticks_per_ns_ = static_cast<double>(hz) / 1e9;
    const std::uint64_t begin = rte_rdtsc();
    const bool is_alone = !traffic.back;
    const auto course_of = [&](Traffic& sent, Trial& trial, bool is_back) {
        trial.is_probed = is_probed;
        trial.is_back = is_back;
        trial.asked = frames_per_second(plan.rate, sent);
        return Course{.plan = plan,
                      .traffic = sent,
                      .trial = trial,
                      .progress = progress,
                      .from = is_back ? ports_.receive.id : ports_.transmit.id,
                      .to = is_back ? ports_.transmit.id : ports_.receive.id,
                      .is_alone = is_alone,
                      .out = outbound_[is_back ? 1 : 0],
                      .hz = hz,
                      .begin = begin,
                      .first = sent.next_number(),
                      .pacer = Pacer{pace(plan, sent, hz), begin},
                      .watch = PauseWatch{begin, ticks_of(kPause, hz)}};
    };
    Trials trials{std::make_unique<Trial>(), is_alone ? nullptr : std::make_unique<Trial>()};
    std::vector<Course> courses;
    courses.push_back(course_of(traffic.there, *trials.there, false));
    if (!is_alone) {
        courses.push_back(course_of(*traffic.back, *trials.back, true));
    }
    send_until_end(courses);
    drain(courses);
    for (const Course& course : courses) {
        course.trial.interrupted = wishes_.is_over();
    }
    return trials;
}

void Generator::send_until_end(std::span<Course> courses) {
    const Course& first = courses.front();
    const std::uint64_t end = first.begin + ticks_of(first.plan.seconds, first.hz);
    std::uint64_t next_progress = first.begin + first.hz;
    std::uint64_t now = first.begin;
    while (now < end && !wishes_.is_over() && !std::ranges::all_of(courses, &Course::is_done)) {
        for (Course& course : courses) {
            fill(course, now);
            flush(course);
            receive(course);
            now = course.look();
        }
        if (now >= next_progress) {
            for (const Course& course : courses) {
                course.set_seconds(now);
                course.progress(course.trial);
            }
            next_progress += first.hz;
        }
    }
    for (Course& course : courses) {
        course.finish(now);
    }
}

bool Generator::refill_spare(Trial& trial) {
    if (spares_ != 0) {
        return true;
    }
    if (rte_pktmbuf_alloc_bulk(ports_.buffers, spare_.data(), kBurst) != 0) {
        ++trial.no_buffer;
        return false;
    }
    spares_ = kBurst;
    return true;
}

// Until a queue has a burst: each keeps the frames of its sources, in their order.
void Generator::fill(Course& course, std::uint64_t now) {
    course.pacer.advance(now);
    const bool in_bits = course.plan.rate.unit == Rate::Unit::Bits;
    while (course.made < course.plan.count && course.pacer.is_due()) {
        Outbound& out = course.out[course.traffic.next_queue(ports_.queues)];
        if (out.pendings == kBurst || !refill_spare(course.trial)) {
            return;
        }
        rte_mbuf* frame = spare_[--spares_];
        const std::size_t bytes = course.traffic.next_bytes();
        course.traffic.write_next(rte_pktmbuf_mtod(frame, std::byte*), now);
        frame->data_len = static_cast<std::uint16_t>(bytes);
        frame->pkt_len = static_cast<std::uint32_t>(bytes);
        course.pacer.spend(in_bits ? course.traffic.next_wire_bits() : 1);
        course.traffic.advance();
        ++course.made;
        out.pending[out.pendings++] = frame;
    }
}

// Whole bursts if there are any, and what has waited for long; else all that waits.
void Generator::flush(Course& course) {
    const auto queues = std::span{course.out}.first(ports_.queues);
    const bool any_whole =
        std::ranges::any_of(queues, [](const Outbound& out) { return out.pendings == kBurst; });
    for (std::uint16_t queue = 0; queue < ports_.queues; ++queue) {
        Outbound& out = course.out[queue];
        if (out.wait.is_over(out.pendings, kBurst, any_whole)) {
            flush_queue(course, queue);
        }
    }
}

void Generator::flush_queue(Course& course, std::uint16_t queue) {
    Outbound& out = course.out[queue];
    if (out.pendings == 0) {
        return;
    }
    std::array<std::uint64_t, kBurst> bits{};
    for (std::uint16_t at = 0; at < out.pendings; ++at) {
        bits[at] = (out.pending[at]->pkt_len + kFcs + kWireOverhead) * 8;
    }
    const std::uint16_t taken =
        rte_eth_tx_burst(course.from, queue, out.pending.data(), out.pendings);
    course.trial.count_burst(std::span{bits}.first(out.pendings), taken, course.plan.drops_refused);
    if (taken < out.pendings) {
        keep_refused(course, out, taken);
    } else {
        out.pendings = 0;
    }
}

// They are offered again, or dropped as sent ones, which the device has lost.
void Generator::keep_refused(const Course& course, Outbound& out, std::uint16_t taken) {
    const auto left = static_cast<std::uint16_t>(out.pendings - taken);
    if (course.plan.drops_refused) {
        rte_pktmbuf_free_bulk(&out.pending[taken], left);
        out.pendings = 0;
        return;
    }
    std::copy_n(out.pending.begin() + taken, left, out.pending.begin());
    out.pendings = left;
}

void Generator::take(Course& course, rte_mbuf& frame, std::uint64_t now) const {
    Trial& trial = course.trial;
    const auto probe =
        read_probe({rte_pktmbuf_mtod(&frame, const std::byte*), rte_pktmbuf_data_len(&frame)});
    const bool is_ours =
        probe && probe->number >= course.first && (probe->number >= kFirstBack) == trial.is_back;
    if (!is_ours) {
        ++trial.foreign;
        return;
    }
    ++trial.received;
    trial.order.take(probe->number);
    if (course.watch.met_pause(probe->sent_at)) {
        ++trial.met_pauses;
        return;
    }
    trial.delays.add(static_cast<std::uint64_t>(
        static_cast<double>(ticks_since(probe->sent_at, now)) / ticks_per_ns_));
}

void Generator::receive_ours(Course& course, std::uint16_t queue) {
    Trial& trial = course.trial;
    std::array<rte_mbuf*, kReceived> frames;
    const std::uint16_t count = rte_eth_rx_burst(course.to, queue, frames.data(), kReceived);
    if (count == 0) {
        return;
    }
    if (trial.is_probed) {
        const std::uint64_t now = course.look();
        for (std::uint16_t at = 0; at < count; ++at) {
            take(course, *frames[at], now);
        }
    } else {
        trial.received += count;
    }
    rte_pktmbuf_free_bulk(frames.data(), count);
}

void Generator::receive_returned(Course& course, std::uint16_t queue) {
    std::array<rte_mbuf*, kReceived> frames;
    const std::uint16_t count = rte_eth_rx_burst(course.from, queue, frames.data(), kReceived);
    course.trial.returned += count;
    rte_pktmbuf_free_bulk(frames.data(), count);
}

void Generator::receive(Course& course) {
    for (std::uint16_t queue = 0; queue < ports_.queues; ++queue) {
        receive_ours(course, queue);
        if (course.is_alone && course.from != course.to) {
            receive_returned(course, queue);
        }
    }
}

void Generator::rest(std::span<Course> courses) {
    rte_delay_us_sleep(kRestUs);
    for (Course& course : courses) {
        course.watch.rested(rte_rdtsc(), ticks_of(kRestSeconds, course.hz));
    }
}

void Generator::drain(std::span<Course> courses) {
    const Course& first = courses.front();
    const std::uint64_t begin = rte_rdtsc();
    const std::uint64_t quiet = ticks_of(first.plan.linger, first.hz);
    const std::uint64_t most = ticks_of(kMostDrainSeconds, first.hz);
    const std::uint64_t awake = ticks_of(kAwakeSeconds, first.hz);
    const auto misses_some = [](const Course& course) { return course.trial.lost() != 0; };
    std::uint64_t last = begin;
    std::uint64_t now = begin;
    while (std::ranges::any_of(courses, misses_some) && !wishes_.is_given_up() &&
           now - last < quiet && now - begin < most) {
        if (now - last > awake) {
            rest(courses);
        }
        for (Course& course : courses) {
            const std::uint64_t before = course.trial.arrived();
            receive(course);
            now = course.look();
            last = course.trial.arrived() != before ? now : last;
        }
    }
}

}  // namespace sluice::pktgen
