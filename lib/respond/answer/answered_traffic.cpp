#include "lib/respond/answer/answered_traffic.hpp"

#include "lib/respond/answer/answer_bounds.hpp"

namespace sluice {
namespace {

std::int32_t ahead(std::uint32_t from, std::uint32_t at) noexcept {
    return static_cast<std::int32_t>(at - from);
}

}  // namespace

bool goes_on(const AnsweredConnection& connection, std::uint32_t seq) noexcept {
    return ahead(connection.request, seq) >= -kReachBehind &&
           ahead(connection.received, seq) <= kReachAhead;
}

AnsweredTraffic::Met AnsweredTraffic::meet(const ConnectionEnds& ends, const SegmentNumbers& came,
                                           Instant now) noexcept {
    if (came.begins()) {
        return {};
    }
    const std::uint64_t digest = ends.along();
    AnsweredConnection* const client = connections_.find(digest, now);
    if (client != nullptr && goes_on(*client, came.seq)) {
        const bool passes = client->waits && !came.reaches(client->request);
        return {.client = client, .goes_on = passes};
    }
    return {.is_server =
                came.has(kTcpAck) && has_server(servers_, digest, came.ack, seconds_of(now))};
}

void AnsweredTraffic::forget(const ConnectionEnds& ends, std::uint32_t seq, Instant now) noexcept {
    forget_server(servers_, ends.against(), seq);
    AnsweredConnection* const client = connections_.find(ends.along(), now);
    if (client != nullptr && !client->waits) {
        AnsweredConnections::remove(*client);
    }
}

AnsweredConnection* AnsweredTraffic::waiting_behind(const ConnectionEnds& ends,
                                                    Instant now) noexcept {
    AnsweredConnection* const client = connections_.find(ends.against(), now);
    return client != nullptr && client->waits ? client : nullptr;
}

void AnsweredTraffic::end_wait(std::uint64_t client, Instant now) noexcept {
    AnsweredConnection* const connection = connections_.find(client, now);
    if (connection != nullptr && connection->waits) {
        AnsweredConnections::remove(*connection);
    }
}

}  // namespace sluice
