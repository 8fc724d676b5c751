#include "dataplane/box/packet_questions.hpp"

#include "dataplane/box/packet_findings.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace sluice {
namespace {

constexpr std::chrono::milliseconds kPacketTimeout{200};
constexpr std::chrono::microseconds kLookForAnswer{20};

// The place of the pair that is named; nullopt: there is none.
std::optional<std::size_t> pair_of(const AskPacket& request, const Ports& ports) {
    const std::vector<PairQueues>& pairs = ports.queues();
    const auto pair = std::find_if(pairs.begin(), pairs.end(), [&](const PairQueues& one) {
        return request.pair.empty() || one.name == request.pair;
    });
    return pair == pairs.end() ? std::nullopt : std::optional{pair - pairs.begin()};
}

FrameView view_of(const AskedFrame& frame) {
    const auto held = static_cast<std::uint32_t>(frame.bytes.size());
    return {frame.bytes, std::max(frame.wire_size, held)};
}

}  // namespace

PacketQuestions::PacketQuestions(const BoxConfig& box, const HashSecret& secret,
                                 WorkerFleet& workers, const Ports& ports)
    : treatment_{.policy = {.tunnels = box.tunnels, .malformed = box.malformed},
                 .units = unit_budget(few_units(box.units), 1),
                 .secret = secret},
      workers_{workers},
      ports_{ports} {}

bool PacketQuestions::is_lent() {
    PacketAnswer late;
    if (lent_ && workers_.packets(lent_->worker).take(late)) {
        lent_.reset();
    }
    return lent_.has_value();
}

std::optional<PacketAnswer> PacketQuestions::wait_for(OnTheWay& question) {
    DpdkWorker::PacketMailbox& mailbox = workers_.packets(question.worker);
    if (!mailbox.post(question.asker->question())) {
        return std::nullopt;
    }
    PacketAnswer answer;
    const auto end = std::chrono::steady_clock::now() + kPacketTimeout;
    do {
        if (mailbox.take(answer)) {
            return answer;
        }
        std::this_thread::sleep_for(kLookForAnswer);
    } while (std::chrono::steady_clock::now() < end);
    if (mailbox.withdraw()) {
        return std::nullopt;
    }
    lent_ = std::move(question);
    return std::nullopt;
}

Reply PacketQuestions::ask(const AskPacket& request,
                           const std::shared_ptr<const LoadedRules>& rules,
                           const UtcClock::Reading& clock) {
    const std::optional<std::size_t> pair = pair_of(request, ports_);
    if (!pair || request.packet.bytes.empty()) {
        return Failure{pair ? "a packet has bytes" : "there is no pair " + request.pair};
    }
    if (is_lent()) {
        return Failure{"a worker still works on the question before"};
    }
    const FrameView frame = view_of(request.packet);
    PacketAsker::Treatment treatment = treatment_;
    treatment.policy.captured = frame.wire_size > frame.bytes.size();
    Result<std::unique_ptr<PacketAsker>> made = PacketAsker::make(treatment, *rules);
    if (!made) {
        return Failure{made.error().what};
    }
    OnTheWay question{rules, *std::move(made)};
    const std::uint64_t name = port_name(ports_.queues()[*pair].name);
    const auto since_start = static_cast<std::uint64_t>((clock.at - Instant{}).count());
    Instant at{};
    for (const AskedFrame& before : request.before) {
        const auto age = static_cast<std::int64_t>(std::min(before.age_ns, since_start));
        at = std::max(at, clock.at - Nanoseconds{age});
        question.asker->follow({view_of(before), before.dir, name}, {at, clock.utc_ahead, {}});
    }
    question.asker->match({frame, request.packet.dir, name}, {clock.at, clock.utc_ahead, {}});
    const std::size_t workers = workers_.size();
    const auto owner = question.asker->owner(workers);
    const auto receiver = ports_.receiver_of(frame, *pair, request.packet.dir, workers);
    question.worker = owner.value_or(receiver.value_or(0));
    PacketState state{.lcore = workers_.lcore(question.worker),
                      .is_sure = owner.has_value() || receiver.has_value()};
    if (const std::optional<PacketAnswer> answer = wait_for(question)) {
        state.answered = answer->run.decided;
        state.enforces = answer->state == Running::State::Enforce;
        add_findings(*question.asker, answer->run, state);
    }
    return state;
}

}  // namespace sluice
