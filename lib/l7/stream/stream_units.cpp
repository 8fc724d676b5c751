#include "lib/l7/stream/stream_units.hpp"

#include "lib/l7/dns/dns_units.hpp"
#include "lib/l7/http1/resync.hpp"
#include "lib/l7/stream/refused_reason.hpp"
#include "lib/l7/stream/stream_segment.hpp"
#include "lib/l7/stream/unit_text.hpp"
#include "lib/l7/stream/wanted_protocols.hpp"
#include "lib/match/column_compare.hpp"
#include "lib/packet/tcp_flags.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace sluice {
namespace {

// By ServiceProtocol.
constexpr std::array kProtocolTexts{ConstantText{"http"}, ConstantText{"tls"}, ConstantText{"dns"},
                                    ConstantText{"quic"}};
constexpr std::array kProtocolUnits{Per::Request, Per::Handshake, Per::Query, Per::Handshake};

static_assert(ChunkLines::kMost + FramingBytes::kFreeBehindSeveral > FramingBytes::kKept,
              "lines that are told apart are all known");

// The verdict of bytes that are forwarded.
constexpr StickyVerdict kPassed{0};

}  // namespace

// One segment on its way through the table and the readers.
class StreamUnits::Segment {
public:
    Segment(StreamUnits& owner, ByteView payload, const UnitSource& packet,
            UnitSink& units) noexcept
        : owner_{owner},
          packet_{packet},
          units_{units},
          segment_{segment_of(payload, packet)},
          context_{.packet = packet, .head_bytes = owner.head_bytes_} {}

    void run() noexcept {
        ConnectionTable& table = owner_.table_;
        if (packet_.service.is_unreadable && !segment_.payload.empty()) [[unlikely]] {
            offer_.why = RefusedWhy::Unreadable;
            return conclude_refused();
        }
        if (!segment_.payload.empty() && !goes_on()) {
            units_.drop(Reason::LostHead);
            return;
        }
        for (table.take(segment_, owner_.scratch(), packet_.now, offer_); offer_.parses();
             table.next(offer_)) {
            if (units_.is_refused() && goes_unread_at_doubt()) {
                table.not_mine(offer_);  // nothing that follows changes what becomes of the packet
            } else {
                offer_.kind == Offered::Framed ? read_body() : read();
            }
        }
        if (voids_upgrades() && !owner_.voided_.empty()) [[unlikely]] {
            void_again();
        }
        if (units_.is_refused() && goes_unread_at_doubt()) {
            table.go_unread(offer_, UnreadReason::Doubtful);
        }
        conclude();
    }

private:
    // False: bytes further ahead went on to the server and are forgotten.
    [[nodiscard]] bool goes_on() noexcept {
        const ServicePacket& packet = packet_.service;
        if (segment_.acknowledged) {
            return owner_.table_.begin_at(segment_,
                                          {.first = packet.acknowledged,
                                           .sent = packet.sent,
                                           .is_head = !packet.is_midstream},
                                          packet_.now);
        }
        return !packet.is_beginning ||
               owner_.table_.begin_at(segment_, {.first = packet.first, .sent = packet.first},
                                      packet_.now);
    }

    // A body has its head's verdict.
    void read_body() noexcept {
        if (!has_unit_) {
            continues_ = true;
            offer_.judged =
                std::max(offer_.judged,
                         owner_.table_.verdict_of(segment_.digest, offer_.seq - 1, offer_.seq));
        }
        // Lines of several segments may be kept as one: each is compared by itself.
        frames_ = frames_ || offer_.bytes.data() == owner_.scratch_.get();
        const HttpUnits::BodyReading body =
            HttpUnits::read_body(offer_.bytes, offer_.framing, units_);
        if (body.is_broken || (body.is_doubtful && (goes_unread_at_doubt() || is_enforced()))) {
            give_up();
        } else {
            owner_.table_.framed(offer_, body.bytes, body.rest, body.lines.all());
        }
    }

    void read() noexcept {
        // A unit of a protocol whose beginning cannot be looked for may begin where the bytes do.
        const bool is_header = ProxyHeaders::begins_at(packet_, offer_.seq);
        const bool is_amid = !is_header && offer_.kind == Offered::Resync;
        const bool may_miss_some = packet_.service.may_miss_some;
        const bool is_searched = is_amid && begins_with_a_line();
        if (is_searched && may_miss_some && !skip_to_request()) {
            return;
        }
        const bool is_found = is_searched && (may_miss_some || skip_to_start());
        const bool is_guess = is_amid && !is_found;
        context_.before = offer_.framing;
        StreamReading reading = is_header ? owner_.proxies_.read(offer_.bytes, packet_, units_)
                                          : owner_.read(offer_.bytes, context_, units_);
        has_header_ |= is_header;
        if (reading.what == StreamReading::What::NeedMore) {
            if (reading.is_doubtful && is_enforced()) {
                return give_up();  // its server may have the end
            }
            if (is_guess && reading.need.may_be_none) {
                reading = {};
            } else if (may_miss_some) {
                return owner_.table_.hold_back(offer_);
            }
        }
        if (reading.what != StreamReading::What::NotMine && !is_header) {
            owner_.table_.note_protocol(offer_, reading.protocol);
        }
        switch (reading.what) {
            case StreamReading::What::NotMine:
                return give_up();
            case StreamReading::What::NeedMore:
                return owner_.table_.more(offer_, reading.need);
            case StreamReading::What::Skip:
                frames_ = true;
                // A malformed message is refused, and its repeats with it.
                owner_.table_.finish(
                    offer_, reading.head,
                    reading.is_doubtful && is_enforced() ? StickyVerdict::Blocked : kPassed,
                    reading.body);
                break;
            case StreamReading::What::Unit:
                if (reading.upgrade == HttpUpgrade::H2c && voids_upgrades() && !void_upgrade()) {
                    return give_up();
                }
                finish(reading);
                break;
        }
        if (reading.is_doubtful && goes_unread_at_doubt()) {
            owner_.table_.go_unread(offer_, UnreadReason::Doubtful);
        }
    }
    [[nodiscard]] bool is_enforced() const noexcept { return packet_.service.is_enforced(); }
    [[nodiscard]] bool begins_with_a_line() const noexcept {
        return packet_.service.service == nullptr ||
               packet_.service.service->protocol == ServiceProtocol::Http;
    }
    [[nodiscard]] bool goes_unread_at_doubt() const noexcept {
        return owner_.stance_ == ReadingStance::Anywhere;
    }

    // No reader follows these bytes. Of a service's connection whose beginning is not known, what
    // comes next may begin a unit all the same.
    void give_up() noexcept {
        if (owner_.stance_ != ReadingStance::Service || packet_.service.is_midstream) {
            owner_.table_.not_mine(offer_);
        } else {
            owner_.table_.go_unread(offer_, UnreadReason::Other);
        }
    }

    [[nodiscard]] bool voids_upgrades() const noexcept {
        return is_enforced() && packet_.service.service->on_h2c == OnH2c::Strip;
    }
    // The request asks to go on in HTTP/2 in lines that no server knows from then on. False: some
    // of them have been forwarded, or there is no room to remember them.
    [[nodiscard]] bool void_upgrade() noexcept {
        const UpgradeLines& upgrade = owner_.http_.head().upgrade_lines;
        const std::uint32_t begin = segment_.payload_seq();
        const auto lines = upgrade.lines();
        const std::uint64_t lost = owner_.voided_.evicted();
        const auto source = static_cast<SourceId>(segment_.source ^ segment_.source >> 32);
        const bool has_room =
            !upgrade.is_cut() &&
            std::all_of(lines.begin(), lines.end(), [&](const HeadRange& line) {
                const StreamRange range{offer_.seq + line.begin, offer_.seq + line.end};
                return sequence_distance(begin, range.from) >= 0 &&
                       owner_.voided_.add({segment_.digest, source}, range,
                                          packet_.service.acknowledged, packet_.now);
            });
        units_.count(UnitEvent::UpgradeLinesLost,
                     static_cast<unsigned>(owner_.voided_.evicted() - lost));
        return has_room;
    }
    // The segment's bytes of such lines are voided. What repeats lines that are known no more may
    // be anything.
    void void_again() noexcept {
        const std::uint32_t begin = segment_.payload_seq();
        const auto size = static_cast<std::uint32_t>(segment_.payload.size());
        Normalization change;
        offer_.differs |= !owner_.voided_.mark(segment_.digest, {begin, begin + size},
                                               packet_.service.acknowledged, change);
        for (const PayloadRange& line : change.voided()) {
            units_.normalize().void_line(line);
        }
    }

    // Lines that may be no request do not pass where the server may have bytes that nobody read.
    // False: the offer does not begin with a request.
    bool skip_to_request() noexcept {
        using What = LinesLook::What;
        const std::int64_t known = sequence_distance(offer_.seq, segment_.payload_seq());
        const std::size_t fresh =
            offer_.bytes.size() - static_cast<std::size_t>(std::clamp<std::int64_t>(
                                      known, 0, static_cast<std::int64_t>(offer_.bytes.size())));
        const LinesLook look = look_through_lines(offer_.bytes, fresh);
        const ByteView line = offer_.bytes.subspan(look.at);
        if (look.what == What::Half || look.what == What::Doubtful) {
            owner_.table_.hold_back(offer_);
        } else if (look.what == What::None || look.at >= offer_.may_begin ||
                   (look.what == What::MayBe && line.size() >= context_.head_bytes &&
                    HttpUnits::is_word(line))) {
            give_up();
        } else if (look.what == What::MayBe) {
            owner_.table_.keep_line(offer_, look.at, !is_request_at_end(line));
        } else {
            offer_.skip(look.at);
            return true;
        }
        return false;
    }
    bool skip_to_start() noexcept {
        const RequestStart start = find_request_start(offer_.bytes, 0, context_.stance());
        const bool may_begin = start.is_found && start.at < offer_.may_begin;
        if (may_begin) {
            offer_.skip(start.at);
        }
        return may_begin;
    }

    void finish(const StreamReading& reading) noexcept {
        const std::uint32_t from = offer_.seq;
        owner_.table_.finish(offer_, reading.head, StickyVerdict::Undecided, reading.body);
        judged_.from = has_unit_ ? judged_.from : from;
        judged_.to = from + extent_of(reading);
        has_unit_ = true;
        if (reading.ends_connection) {
            owner_.table_.end_reading(offer_);
        }
    }

    // Concludes the packet beside its units.
    void conclude() noexcept {
        const std::uint32_t begin = segment_.payload_seq();
        const std::uint32_t end = begin + static_cast<std::uint32_t>(segment_.payload.size());
        if ((has_unit_ || has_header_ || frames_ || offer_.kind == Offered::Held) &&
            !offer_.differs) {
            owner_.table_.note_seen(offer_);
        }
        if (has_unit_ && packet_.answers &&
            owner_.table_.may_await_answer(offer_, acknowledged_by(packet_))) {
            units_.note_awaits();
        }
        if (offer_.differs) {
            conclude_differing();
        }
        if (packet_.service.client_ends && context_.stance() == ReadingStance::Service) {
            owner_.table_.end_at(offer_, packet_.service.client_fin);
        }
        owner_.table_.conclude();
        if (offer_.kind == Offered::Refused) {
            conclude_refused();
        }
        if (blocks(offer_.judged)) {
            units_.drop_repeat();
        }
        // Differing bytes are dropped, and those in whose place they stand keep their verdict.
        const bool is_open = offer_.judged == StickyVerdict::Undecided && !offer_.differs;
        if (is_open) {
            units_.follow({.connection = segment_.digest,
                           .from = continues_ ? begin - 1 : begin,
                           .to = end,
                           .carrier = owner_.carrier()});
        }
        if (has_unit_ || is_open) {
            // Bodies that the segment goes on with are judged with their heads.
            const std::uint32_t from = has_unit_ ? judged_.from : begin;
            const bool ends_later = !has_unit_ || sequence_distance(judged_.to, end) > 0;
            units_.remember({.connection = segment_.digest,
                             .from = from,
                             .to = ends_later ? end : judged_.to,
                             .carrier = owner_.carrier(),
                             .is_whole = has_unit_ && sequence_distance(begin, from) >= 0});
        }
    }

    // The first bytes stand; which of them a server has seen, nobody knows without a service.
    void conclude_differing() noexcept {
        units_.drop(Reason::Overlap);
        if (goes_unread_at_doubt()) {
            owner_.table_.go_unread(offer_, UnreadReason::Differs);
        }
    }
    void conclude_refused() noexcept {
        const Service* const service = packet_.service.service;
        if (offer_.why == RefusedWhy::Unheard && segment_.acknowledged) {
            units_.normalize().is_probe = true;  // the server is asked what it expects
            return;
        }
        if (offer_.why != RefusedWhy::Unreadable || service == nullptr ||
            service->on_unreadable == OnUnreadable::Refuse) {
            units_.drop(reason_of(offer_.why));
        } else if (service->on_unreadable == OnUnreadable::Count) {
            charge_unread();
        }
    }
    // One request for each segment that the bytes would fill, and for what ends half a head.
    void charge_unread() noexcept {
        constexpr std::size_t kMss = 1460;
        const std::size_t size = std::max<std::size_t>(segment_.payload.size(), 1);
        for (std::size_t at = 0; at < size; at += kMss) {
            const auto protocol = static_cast<std::size_t>(packet_.service.service->protocol);
            if (UnitTexts* const texts = units_.add(kProtocolUnits[protocol])) {
                texts->set(TextField::ProtoL7, kProtocolTexts[protocol].view());
            }
        }
    }

    StreamUnits& owner_;
    const UnitSource& packet_;
    UnitSink& units_;
    TcpSegment segment_;
    StreamContext context_;
    StreamOffer offer_;
    StickyBytes judged_;
    bool has_unit_ = false;
    bool has_header_ = false;  // of the PROXY protocol
    bool frames_ = false;      // bytes of no unit say where the next one begins
    bool continues_ = false;   // it begins in a body, whose verdict stands before its first byte
};

StreamUnits::StreamUnits(const ConnectionBudget& budget, OnAmbiguous on_ambiguous,
                         ReadingStance stance, KeptMemory& memory)
    : stance_{stance},
      head_bytes_{budget.head_bytes},
      table_{budget, stance, memory},
      scratch_{std::make_unique<std::byte[]>(budget.head_bytes + kMaxSegment)},
      proxies_{stance == ReadingStance::Service ? budget.connections : 0, memory},
      voided_{memory},
      http_{on_ambiguous} {}

// Under other rules, and while packets were forwarded unread, segments may have been no reader's.
void StreamUnits::note_unseen(const UnitSource& packet) noexcept {
    const bool may_have_missed = packet.unread_bursts != unread_bursts_ ||
                                 (packet.load != load_ && stance_ != ReadingStance::Service);
    if (may_have_missed) [[unlikely]] {
        table_.note_unseen(packet.now);
        load_ = packet.load;
        unread_bursts_ = packet.unread_bursts;
    }
}

void StreamUnits::find(ByteView payload, const UnitSource& packet, UnitSink& units) noexcept {
    if (packet.service.is_proxied && !proxies_.note_client(payload, packet, units)) [[unlikely]] {
        return;
    }
    if (payload.empty() && (packet.headers.tcp_flags & (kTcpFin | kTcpSyn | kTcpRst)) == 0) {
        return;
    }
    note_unseen(packet);
    Segment{*this, payload, packet, units}.run();
}

void StreamUnits::settle(const StickyBytes& bytes, UnitOutcome fate) noexcept {
    constexpr std::array kVerdicts{kPassed, StickyVerdict::Blocked, StickyVerdict::Unjudged};
    table_.settle(bytes.connection, bytes.from, bytes.to,
                  kVerdicts[static_cast<std::size_t>(fate)]);
}

bool StreamUnits::refused(const StickyBytes& bytes) const noexcept {
    return blocks(table_.verdict_of(bytes.connection, bytes.from, bytes.to));
}

}  // namespace sluice
