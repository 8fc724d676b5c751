#include "lib/respond/act/answerer.hpp"

#include "lib/base/check.hpp"
#include "lib/l7/dns/dns_datagram.hpp"
#include "lib/packet/transport.hpp"
#include "lib/respond/act/answerer_packet.hpp"
#include "lib/respond/answer/dns_answer.hpp"
#include "lib/respond/answer/tls_alert.hpp"

#include <algorithm>

namespace sluice {
namespace {

// A query over UDP is no longer than the frame that it is in.
constexpr std::size_t kMostQuery = 16'384;

InitialSealer sealer_or_abort() {
    Result<InitialSealer> made = InitialSealer::make();
    SLUICE_CHECK(made.has_value());
    return *std::move(made);
}

AnsweredKind kind_of(AnsweredUnit unit) noexcept {
    return unit == AnsweredUnit::ClientHello ? AnsweredKind::Alert
           : unit == AnsweredUnit::HttpHead  ? AnsweredKind::Head
                                             : AnsweredKind::Response;
}

}  // namespace

Answerer::Answerer(std::size_t connections, AnswerBoards& boards)
    : answered_{connections, boards},
      sealer_{sealer_or_abort()},
      dns_{std::make_unique<std::byte[]>(kMostQuery)} {}

bool Answerer::find_routes(const AnsweredPacket& packet) noexcept {
    if (FrameRoute::find(packet.headers, packet.frame.bytes, Toward::Destination, made_.on) !=
        RouteFault::None) {
        return false;
    }
    made_.back = made_.on.reversed();
    return true;
}

void Answerer::answer(const AnsweredPacket& packet, const AnswerContext& context,
                      Decision& decision) noexcept {
    made_.count = 0;
    const Action& action = context.actions[decision.action];
    Packet of{.seen = packet, .context = context, .tcp = {}};
    bool answered = false;
    if (!find_routes(packet)) {
        count(AnswerEvent::NoRoute);
    } else if (const auto facts = read_tcp_facts(packet.headers, packet.frame.bytes)) {
        of.tcp = *facts;
        answered = answer_tcp(of, action, decision);
    } else {
        answered = answer_datagram(of, action, decision);
    }
    if (!answered) {
        made_.count = 0;
        decision.verdict = Verdict::Drop;
        decision.action = kDropAction;
    }
}

// Packets without an answer of their kind go the way of reset ones, where the rule says so.
bool Answerer::answer_tcp(const Packet& packet, const Action& action, Decision& decision) noexcept {
    if (decision.reason == Reason::Midstream || decision.reason == Reason::BehindEnd) {
        // A service, and no rule, resets a connection that nobody knows, or that its client has
        // given up, at its server's number.
        return reset_both(packet, AnswerEvent::Reset);
    }
    const AnswerStanding standing =
        answered_.served().standing_of(packet.seen, {packet.seen.headers, packet.context.hash},
                                       packet.tcp.numbers(), packet.context.now);
    if (standing == AnswerStanding::Unproven) {
        return answer_stranger(packet, action, decision);
    }
    if (action.verdict != Verdict::Reset && packet.seen.unit != AnsweredUnit::None &&
        action.answer.response != 0) {
        return answer_unit(packet, action, standing, decision);
    }
    if (!resets_segments(action, packet.context.actions)) {
        count(AnswerEvent::NotAnswerable);
        return false;
    }
    return reset_unit(packet, AnswerEvent::Reset, decision);
}

// Strangers, which have not completed a handshake, may not be where they say they are: they get a
// RST at most, which is no larger than what came, and no connection of their server's ends.
bool Answerer::answer_stranger(const Packet& packet, const Action& action,
                               Decision& decision) noexcept {
    const bool is_unit = packet.seen.unit != AnsweredUnit::None;
    const bool resets = resets_segments(action, packet.context.actions) ||
                        (is_unit && packet.seen.handshake == Handshake::OneWay);
    const auto back = reset_toward_sender(packet.tcp);
    if (!resets || !back) {
        count(is_unit ? AnswerEvent::Unproven : AnswerEvent::NotAnswerable);
        return false;
    }
    decision.verdict = Verdict::Reset;
    made_.add({.side = Toward::Source, .segment = *back});
    count(AnswerEvent::Reset);
    return true;
}

// The connection stays known to its end, so that its client gets the same again for what it
// repeats, and its server a RST for what it still sends. An answer to an earlier request, which may
// be on its way, passes.
AnsweredConnection& Answerer::remember(const Packet& packet, AnsweredKind kind,
                                       const Decision& decision) noexcept {
    const AnswerContext& context = packet.context;
    const ConnectionEnds ends = connection_ends(packet.seen.headers, context.hash);
    const auto [connection, displaces] = answered_.begin(ends, context.now);
    if (displaces) {
        count(AnswerEvent::Evicted);
    }
    const ResponsePlace place = response_to(packet.tcp);
    connection.load = context.load;
    connection.wait = decision.wait;
    connection.rule = decision.rule;
    connection.limit = decision.limit;
    connection.action = decision.action;
    connection.kind = kind;
    connection.request = place.request;
    connection.begin = place.seq;
    connection.end = place.seq;
    connection.received = place.received;
    connection.date = static_cast<std::uint16_t>(utc_of(context));
    return connection;
}

void Answerer::note_reset(const Packet& packet, Toward side, std::uint32_t seq) noexcept {
    ConnectionEnds ends = connection_ends(packet.seen.headers, packet.context.hash);
    const bool goes_inside = ends.from_outside == (side == Toward::Destination);
    if (side == Toward::Source) {
        ends = ends.other_way();
    }
    if (goes_inside) {
        answered_.note_reset({.ends = ends, .seq = seq});
    }
}

// Segments that its server still sends go to nobody from now on.
void Answerer::begin_server(const Packet& packet, std::uint32_t request) noexcept {
    answered_.begin_server(connection_ends(packet.seen.headers, packet.context.hash), request,
                           packet.context.now);
}

// False: it is a RST itself.
bool Answerer::reset_both(const Packet& packet, AnswerEvent event) noexcept {
    const auto back = reset_toward_sender(packet.tcp);
    if (!back) {
        count(AnswerEvent::NotAnswerable);
        return false;
    }
    made_.add({.side = Toward::Source, .segment = *back});
    note_reset(packet, Toward::Source, back->seq);
    if (const auto on = reset_toward_receiver(packet.tcp, packet.tcp.seq)) {
        made_.add({.side = Toward::Destination, .segment = *on});
        note_reset(packet, Toward::Destination, on->seq);
    }
    count(event);
    return true;
}

// The connection of a unit is gone with it: what repeats it is reset again.
bool Answerer::reset_unit(const Packet& packet, AnswerEvent event, Decision& decision) noexcept {
    decision.verdict = Verdict::Reset;
    if (ends_connection(packet.seen, packet.context.actions[decision.action],
                        packet.context.actions)) {
        (void)remember(packet, AnsweredKind::Reset, decision);
        if (!packet.seen.may_wait) {
            begin_server(packet, packet.tcp.seq);
        }
    }
    return reset_both(packet, event);
}

// Why a unit gets no answer but a RST; nullopt: it gets one.
std::optional<AnswerEvent> Answerer::why_reset(const Packet& packet, const Action& action,
                                               AnswerStanding standing) noexcept {
    const bool is_hello = packet.seen.unit == AnsweredUnit::ClientHello;
    // A decoy of CONNECT would open a tunnel (RFC 9110, 9.3.6).
    const bool tunnels =
        packet.seen.unit == AnsweredUnit::HttpConnect && action.verdict == Verdict::Decoy;
    if (tunnels || (is_hello && !action.answer.tls_alert) || standing == AnswerStanding::Ended) {
        return AnswerEvent::Reset;
    }
    if (packet.seen.may_wait && (is_hello || standing == AnswerStanding::Unframed)) {
        return AnswerEvent::MayBeAnswering;
    }
    return may_answer(packet) ? std::nullopt : std::optional{AnswerEvent::Paced};
}

bool Answerer::may_answer(const Packet& packet) noexcept {
    const IpAddress& source = packet.seen.headers.src;
    return pace_.take(packet.context.hash.digest(source.bytes), seconds_of(packet.context.now));
}

bool Answerer::answer_unit(const Packet& packet, const Action& action, AnswerStanding standing,
                           Decision& decision) noexcept {
    if (const std::optional<AnswerEvent> why = why_reset(packet, action, standing)) {
        return reset_unit(packet, *why, decision);
    }
    const AnsweredKind kind = kind_of(packet.seen.unit);
    AnsweredConnection& connection = remember(packet, kind, decision);
    if (standing == AnswerStanding::UnderWay && kind != AnsweredKind::Alert) {
        wait(packet, connection);
        return true;
    }
    begin_server(packet, packet.tcp.seq);
    const ResponsePlace place = response_to(packet.tcp);
    connection.end = response_end(place, respond(packet, place, connection));
    if (const auto on = reset_toward_receiver(packet.tcp, packet.tcp.seq)) {
        made_.add({.side = Toward::Destination, .segment = *on});
        note_reset(packet, Toward::Destination, on->seq);
    }
    count(kind == AnsweredKind::Alert        ? AnswerEvent::TlsAlert
          : action.verdict == Verdict::Decoy ? AnswerEvent::Decoyed
                                             : AnswerEvent::Replied);
    return true;
}

// Returns the size of the response, whatever of it is lost on its way. One that is sent again has
// the date of the first time, as all of its bytes.
std::size_t Answerer::respond(const Packet& packet, const ResponsePlace& place,
                              const AnsweredConnection& connection) noexcept {
    if (connection.kind == AnsweredKind::Alert) {
        return send_alert(place);
    }
    const AnswerContext& context = packet.context;
    const AnswerTerms& terms = context.actions[connection.action].answer;
    const std::uint32_t second = utc_of(context);
    const auto age = static_cast<std::uint16_t>(second - connection.date);
    const WrittenResponse& response = responses_.get(
        {.load = context.load,
         .response = terms.response,
         .is_head = connection.kind == AnsweredKind::Head,
         .has_timestamps = place.timestamps.has_value(),
         .numbers = context.plan.quota(
             {.limit = connection.limit, .rule = connection.rule, .wait = connection.wait})},
        second - age, context.plan.response(terms));
    for (std::size_t i = 0; i < response.cut.count; ++i) {
        MadeFrame& frame =
            made_.add({.side = Toward::Source,
                       .segment = response_segment(place, response.view(), response.cut, i)});
        frame.segment.payload_sum = &response.sums[i];
    }
    return response.size;
}

std::size_t Answerer::send_alert(const ResponsePlace& place) noexcept {
    const ByteView alert = kTlsAccessDenied;
    const ResponseCut cut = cut_response(alert.size(), place.timestamps.has_value());
    made_.add({.side = Toward::Source, .segment = response_segment(place, alert, cut, 0)});
    return alert.size();
}

bool Answerer::answer_datagram(const Packet& packet, const Action& action,
                               const Decision& decision) noexcept {
    const PacketHeaders& headers = packet.seen.headers;
    const bool is_udp = headers.proto == kProtoUdp;
    const bool is_query = headers.dport == kDnsPort || packet.seen.unit == AnsweredUnit::DnsQuery;
    if (is_udp && is_query && action.verdict != Verdict::Reset) {
        return answer_query(packet, action, decision.rule);
    }
    const bool truncates = action.verdict == Verdict::Reply && action.answer.response == 0;
    if (is_udp && packet.seen.unit == AnsweredUnit::ClientHello && !truncates) {
        return close_quic(packet);
    }
    count(AnswerEvent::NotAnswerable);
    return false;
}

bool Answerer::answer_query(const Packet& packet, const Action& action,
                            std::uint32_t rule) noexcept {
    const ByteView query = payload_of(packet.seen);
    const DnsAnswer kind = action.answer.response == 0        ? DnsAnswer::Truncated
                           : action.verdict == Verdict::Decoy ? DnsAnswer::Empty
                                                              : DnsAnswer::Refused;
    if (query.size() > kMostQuery || rule >= kMaxRules || !slips_[rule].take(action.answer.slip)) {
        return false;
    }
    const std::size_t size = write_dns_answer(query, kind, {dns_.get(), query.size()});
    if (size == 0) {
        count(AnswerEvent::NotAnswerable);
        return false;
    }
    made_.add({.is_datagram = true, .payload = {dns_.get(), size}});
    count(kind == DnsAnswer::Truncated ? AnswerEvent::DnsTruncated
          : kind == DnsAnswer::Refused ? AnswerEvent::DnsRefused
                                       : AnswerEvent::DnsEmpty);
    return true;
}

}  // namespace sluice
