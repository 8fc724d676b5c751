#pragma once
#include "lib/bucket/hash/group_key.hpp"
#include "lib/match/rule_bits.hpp"
#include "lib/packet/toward.hpp"
#include "lib/respond/act/answer_event.hpp"
#include "lib/respond/action.hpp"
#include "lib/respond/answer/answer_bounds.hpp"
#include "lib/respond/answer/answer_pace.hpp"
#include "lib/respond/answer/answer_plan.hpp"
#include "lib/respond/answer/answered_packet.hpp"
#include "lib/respond/answer/answered_traffic.hpp"
#include "lib/respond/answer/closed_quic.hpp"
#include "lib/respond/answer/every_nth.hpp"
#include "lib/respond/answer/frame_route.hpp"
#include "lib/respond/answer/made_segment.hpp"
#include "lib/respond/answer/quic_close.hpp"
#include "lib/respond/answer/tcp_answer.hpp"
#include "lib/respond/answer/written_responses.hpp"
#include "lib/respond/decision.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace sluice {

// The rules that decided, as answers need them.
struct AnswerContext {
    std::span<const Action> actions;
    const AnswerPlan& plan;
    std::uint64_t load = 0;  // of the rules
    Instant now{};
    Nanoseconds utc_ahead{};  // of the instant
    const KeyHasher& hash;
    // Some rule answers: what is forwarded is followed, for what its connections may be answered.
    bool follows = false;
};

// A frame that the box sends: a segment, or a datagram with this payload.
struct MadeFrame {
    Toward side = Toward::Source;
    bool is_datagram = false;
    MadeSegment segment;
    ByteView payload;
};
// A response, and a RST to the server.
inline constexpr std::size_t kMostMadeFrames = kMostResponseSegments + 1;

// The frames that one packet is answered with, good until the next packet.
struct MadeFrames {
    FrameRoute back;  // to where the packet came from
    FrameRoute on;    // to where it goes
    std::array<MadeFrame, kMostMadeFrames> frames;
    std::size_t count = 0;

    MadeFrame& add(const MadeFrame& frame) noexcept { return frames[count++] = frame; }
    [[nodiscard]] const FrameRoute& route(const MadeFrame& frame) const noexcept {
        return frame.side == Toward::Source ? back : on;
    }
};

// The answers of one worker: it carries out `reply`, `decoy`, `reset` and `dns_truncate`, and
// answers all that follows on connections that were answered.
class Answerer {
public:
    // All workers share `boards`. Aborts if there is no memory, or if OpenSSL has no AES.
    Answerer(std::size_t connections, AnswerBoards& boards);

    using Events = std::array<std::uint32_t, kAnswerEventCount>;

    // Connections that it has answered, for those who judge what comes on them.
    [[nodiscard]] AnsweredTraffic& answered() noexcept { return answered_; }
    // A packet of a connection that was answered: its decision says so from now on. False: it is of
    // another one.
    [[nodiscard]] bool follow(const AnsweredPacket& packet, const AnswerContext& context,
                              Decision& decision) noexcept;
    // A packet is about to be forwarded.
    void note_forwarded(const AnsweredPacket& packet, const AnswerContext& context) noexcept;
    // Carries out what was decided for it. What cannot be answered is dropped or reset, as its
    // decision says from now on.
    void answer(const AnsweredPacket& packet, const AnswerContext& context,
                Decision& decision) noexcept;

    // A datagram that repeats what was refused: true where it was closed, and is once more.
    [[nodiscard]] bool close_again(const AnsweredPacket& packet,
                                   const AnswerContext& context) noexcept;

    // Frames that follow(), answer() or close_again() wants sent.
    [[nodiscard]] const MadeFrames& made() const noexcept { return made_; }
    void note_unsent() noexcept { count(AnswerEvent::NotSent); }

    // Events since they were taken last; calls visit(event, times).
    template <typename Visit>
    void take_events(Visit&& visit) noexcept {
        for (std::size_t i = 0; has_events_ && i < events_.size(); ++i) {
            if (events_[i] != 0) {
                visit(i, events_[i]);
            }
        }
        events_ = {};
        has_events_ = false;
    }

private:
    struct Packet;

    [[nodiscard]] static std::uint32_t seconds_of(Instant now) noexcept {
        return static_cast<std::uint32_t>(now.time_since_epoch() / std::chrono::seconds{1});
    }
    [[nodiscard]] static std::uint32_t utc_of(const AnswerContext& context) noexcept {
        return seconds_of(context.now + context.utc_ahead);
    }
    void count(AnswerEvent event) noexcept {
        ++events_[static_cast<std::size_t>(event)];
        has_events_ = true;
    }
    [[nodiscard]] bool find_routes(const AnsweredPacket& packet) noexcept;
    [[nodiscard]] bool answer_tcp(const Packet& packet, const Action& action,
                                  Decision& decision) noexcept;
    [[nodiscard]] bool reset_both(const Packet& packet, AnswerEvent event) noexcept;
    [[nodiscard]] bool answer_stranger(const Packet& packet, const Action& action,
                                       Decision& decision) noexcept;
    [[nodiscard]] bool answer_unit(const Packet& packet, const Action& action,
                                   AnswerStanding standing, Decision& decision) noexcept;
    [[nodiscard]] bool answer_datagram(const Packet& packet, const Action& action,
                                       const Decision& decision) noexcept;
    [[nodiscard]] bool answer_query(const Packet& packet, const Action& action,
                                    std::uint32_t rule) noexcept;
    [[nodiscard]] bool close_quic(const Packet& packet) noexcept;
    [[nodiscard]] std::size_t write_close(const Packet& packet, ByteView dcid) noexcept;
    [[nodiscard]] std::size_t send_alert(const ResponsePlace& place) noexcept;
    [[nodiscard]] bool reset_unit(const Packet& packet, AnswerEvent event,
                                  Decision& decision) noexcept;
    [[nodiscard]] std::optional<AnswerEvent> why_reset(const Packet& packet, const Action& action,
                                                       AnswerStanding standing) noexcept;
    [[nodiscard]] bool may_answer(const Packet& packet) noexcept;
    AnsweredConnection& remember(const Packet& packet, AnsweredKind kind,
                                 const Decision& decision) noexcept;
    void begin_server(const Packet& packet, std::uint32_t request) noexcept;
    [[nodiscard]] std::size_t respond(const Packet& packet, const ResponsePlace& place,
                                      const AnsweredConnection& connection) noexcept;
    void wait(const Packet& packet, AnsweredConnection& connection) noexcept;
    [[nodiscard]] bool follow_waiting(const Packet& packet, AnsweredConnection& connection,
                                      Decision& decision) noexcept;
    [[nodiscard]] bool follow_waited_for(const Packet& packet, Decision& decision) noexcept;
    void end_overdue(const Packet& packet, AnsweredConnection& connection) noexcept;
    void answer_at_last(const Packet& packet, AnsweredConnection& connection) noexcept;
    void give_up(const Packet& packet, AnsweredConnection& connection) noexcept;
    void follow_client(const Packet& packet, AnsweredConnection& connection) noexcept;
    [[nodiscard]] bool reset_forgotten(const Packet& packet) noexcept;
    void repeat(const Packet& packet, AnsweredConnection& connection) noexcept;
    void end_client(const Packet& packet) noexcept;
    // A RST with that number has been made: what goes to the end inside ends its connection there.
    void note_reset(const Packet& packet, Toward side, std::uint32_t seq) noexcept;
    void follow_server(const Packet& packet) noexcept;

    AnsweredTraffic answered_;
    InitialSealer sealer_;
    std::unique_ptr<EveryNth[]> slips_ = std::make_unique<EveryNth[]>(kMaxRules);  // by rule
    MadeFrames made_;
    WrittenResponses responses_;
    AnswerPace pace_;
    ClosedQuic closed_quic_;
    std::array<std::byte, kMostQuicClose> quic_close_{};
    std::unique_ptr<std::byte[]> dns_;  // an answer is no larger than its query
    Events events_{};
    bool has_events_ = false;
};

}  // namespace sluice
