#pragma once
#include "lib/l7/stream/track/track_verdict.hpp"
#include "tests/unit/l7/stream/track/tcp_model.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace sluice::test {

// All that a server takes was readable when it passed the box, under one identity for each of its
// connections.
class AcceptedCheck {
public:
    void note_passed(const Packet& packet, const TrackVerdict& verdict) {
        passed_.resize(std::max<std::size_t>(passed_.size(), packet.number + 1));
        passed_[packet.number] = {verdict.readable, verdict.id};
    }
    // Checks the bytes that the server has taken since the last time.
    void check(const TcpEnd& server) {
        if (server.state != TcpEnd::State::Open) {
            return;
        }
        const std::pair numbers{server.irs, server.iss};
        if (numbers != numbers_) {
            numbers_ = numbers;
            checked_ = 0;
            id_ = 0;
        }
        for (; checked_ < server.accepted.size(); ++checked_) {
            const Passed& by = passed_.at(server.accepted[checked_]);
            ASSERT_TRUE(by.readable) << "byte " << checked_;
            ASSERT_NE(by.id, 0U);
            id_ = id_ == 0 ? by.id : id_;
            ASSERT_EQ(by.id, id_) << "byte " << checked_;
            ++accepted;
        }
        if (id_ != 0) {
            ASSERT_EQ(ids_.try_emplace(id_, numbers).first->second, numbers);
        }
    }
    [[nodiscard]] std::size_t connections() const { return ids_.size(); }

    std::uint64_t accepted = 0;

private:
    struct Passed {
        bool readable = false;
        std::uint64_t id = 0;
    };
    std::vector<Passed> passed_;
    std::uint64_t checked_ = 0;
    std::uint64_t id_ = 0;
    std::pair<std::uint32_t, std::uint32_t> numbers_{};
    std::map<std::uint64_t, std::pair<std::uint32_t, std::uint32_t>> ids_;
};

inline TrackedSegment tracked(const Packet& packet, bool from_client, std::uint64_t ends) {
    return {.ends = ends,
            .from_low = from_client,
            .service = from_client ? std::uint16_t{0} : kNoService,
            .seq = packet.seq,
            .ack = packet.ack,
            .flags = packet.flags,
            .payload = packet.payload,
            .window = packet.window,
            .ttl = 64,
            .scale = packet.scale};
}

}  // namespace sluice::test
