#include "lib/engine/burst/burst_units.hpp"

#include "lib/engine/burst/burst.hpp"
#include "lib/engine/burst/held_units.hpp"
#include "lib/rules/load/meter_plan.hpp"

#include <algorithm>

namespace sluice {

AnsweredPacket Burst::answered(std::size_t row) const noexcept {
    AnsweredPacket packet{
        .headers = headers_of(row), .frame = frame(row), .handshake = handshake(row)};
    packet.connection = service(row).connection;
    if (!uses_units_ || units_->count(row) == 0) {
        return packet;
    }
    const BurstUnits::Unit& unit = units_->unit(row, 0);
    if (headers_.frag[row] == Fragment::Later) {
        return packet;  // its frame holds no query that could be answered
    }
    packet.may_wait = has_row(units_->awaiting(), row);
    if (unit.kind == Per::Request) {
        for (std::size_t i = 0; i < units_->count(row); ++i) {
            const BurstUnits::Unit& request = units_->unit(row, i);
            if (!request.is_other_reading) {
                packet.asks_more |= !packet.requests.push(request.asked);
            }
        }
        const AskedMethod method = unit.asked.method;
        packet.unit = method == AskedMethod::Head      ? AnsweredUnit::HttpHead
                      : method == AskedMethod::Connect ? AnsweredUnit::HttpConnect
                                                       : AnsweredUnit::HttpRequest;
    } else if (unit.kind == Per::Handshake) {
        packet.unit = AnsweredUnit::ClientHello;
        packet.quic_dcid = units_->quic_dcid(row);
    } else if (unit.kind == Per::Query && !has_tcp(row)) {
        packet.unit = AnsweredUnit::DnsQuery;
    }
    return packet;
}

BurstUnits::BurstUnits(UnitFinder finder, UnitCapacity room)
    : finder_{finder}, room_{room}, further_{std::make_unique<Burst[]>(kMaxFurtherBursts)} {}

BurstUnits::~BurstUnits() = default;

void BurstUnits::clear() noexcept {
    for (Burst& burst : further()) {
        burst.clear();
        burst.forget_units();
    }
    derived_ = {};
    found_.clear();
}

// The room that is left of a number per rule, in whole units.
static std::size_t fitting(std::size_t room, std::size_t each) noexcept {
    return each == 0 ? kMaxUnits : std::min(kMaxUnits, room / each);
}

void BurstUnits::begin(std::uint64_t load, const MeterPlan& plan, std::size_t rows) noexcept {
    load_ = load;
    found_.rows_left = rows;
    found_.most = std::min(fitting(kUnitsUnderAnyRules * kMaxRules, plan.rules.size()),
                           fitting(kUnitsUnderAnyRules * kMaxLimits, plan.limits.size()));
}

void BurstUnits::begin_row(std::size_t row) noexcept {
    found_.rows_left -= found_.rows_left != 0 ? 1 : 0;
    found_.first_unit[row] = static_cast<std::uint16_t>(found_.unit_count);
    found_.refused = false;
}

void BurstUnits::find(std::size_t row, const UnitSource& packet) noexcept {
    begin_row(row);
    room_ == UnitCapacity::Shares ? found_.arena.begin_packet() : found_.arena.begin_only_packet();
    UnitSink sink{found_, row, packet.service};
    finder_.find(finder_.parser, packet, sink);
    end_row(row, sink);
}

void BurstUnits::end_row(std::size_t row, UnitSink& sink) noexcept {
    if (found_.refused) [[unlikely]] {
        found_.counts[row] = 0;
        sink.count(UnitEvent::TooManyUnits);
        sink.drop(Reason::TooManyUnits);
    }
    found_.unit_count += found_.counts[row];
}

void BurstUnits::name_clients(std::size_t row, const ProxiedClients& clients) noexcept {
    for (std::size_t number = 0; number < found_.counts[row]; ++number) {
        Unit& unit = found_.unit_at(row, number);
        if (unit.kind == Per::Request && !clients.name(unit.texts)) {
            UnitSink{found_, row, {}}.count(UnitEvent::NoProxiedClient);
        }
    }
}

// A client that is a trusted proxy itself names the client of each request, as if it had made the
// connection. Where a packet has no units, a place for the first one holds the client alone.
void BurstUnits::name_proxied(std::size_t row, const ProxiedClients& clients,
                              HeaderColumns& headers) noexcept {
    ProxiedClients::hide_all(headers, row_bit(row));
    const VersionedAddress client = found_.clients[row];
    const bool is_unseen = client.version == IpVersion::None;
    const bool is_proxy = !is_unseen && clients.is_proxy(client);
    for (std::size_t number = 0; number < found_.counts[row]; ++number) {
        Unit& unit = found_.unit_at(row, number);
        unit.texts.set_client(is_proxy ? VersionedAddress{} : client);
    }
    if (is_unseen) {
        UnitSink{found_, row, {}}.count(UnitEvent::ProxyHeaderUnseen, found_.counts[row]);
    } else if (is_proxy) {
        name_clients(row, clients);
    } else if (found_.counts[row] == 0) {
        UnitTexts& alone = found_.unit_at(row, 0).texts;
        ++found_.unit_count;
        alone.clear();
        alone.set_client(client);
        headers.set_unit(row, alone);
    }
}

void BurstUnits::derive_texts(std::size_t row, const DerivedTexts& derived) noexcept {
    derived_ = derived.fields();
    for (std::size_t number = 0; number < found_.counts[row]; ++number) {
        derived.derive(found_.unit_at(row, number).texts);
    }
}

// The last segment of a head whose earlier ones were forwarded stays refused whichever rule dropped
// it: alone it could not be parsed again. What is held for its departure is not forwarded yet: sent
// again it is judged again, so that a copy gains nothing; the last segment of a head is dropped
// then, since what is held goes on by itself.
UnitOutcome BurstUnits::outcome_of(const Decision& decision, const StickyBytes& bytes,
                                   const MeterPlan& plan) const noexcept {
    if (decision.verdict == Verdict::Shape) {
        return bytes.is_whole ? UnitOutcome::Reverted : UnitOutcome::Refused;
    }
    if (forwards(decision.verdict)) {
        return UnitOutcome::Forwarded;
    }
    const bool by_units = decision.rule == kNoRule || concern(plan.rules[decision.rule]);
    return by_units || !bytes.is_whole ? UnitOutcome::Refused : UnitOutcome::Reverted;
}

// Bytes that follow a verdict of their burst, and complete no unit, have that verdict: a rule that
// drops their packet for itself says nothing of them.
void BurstUnits::settle(const Burst& burst, RowMask rows, const MeterPlan& plan) noexcept {
    for_each_row(rows & found_.remembered, [&](std::size_t row) {
        const Decision& decision = burst.packets()[row].decision;
        const bool only_follows = has_row(found_.following, row) && found_.counts[row] == 0;
        const bool is_undone = has_row(found_.crowded_out, row) && found_.sticky[row].is_whole &&
                               decision.reason == Reason::TooManyUnits;
        const UnitOutcome fate = is_undone       ? UnitOutcome::Reverted
                                 : !only_follows ? outcome_of(decision, found_.sticky[row], plan)
                                 : decision.reason == Reason::Retransmission
                                     ? UnitOutcome::Refused
                                     : UnitOutcome::Forwarded;
        finder_.settle(finder_.parser, found_.sticky[row], fate);
    });
    found_.remembered &= ~rows;
}

void BurstUnits::add_further(const Burst& burst, std::size_t row) noexcept {
    first_further_[row] = static_cast<std::uint16_t>(found_.further_count);
    for (std::uint8_t number = 1; number < found_.counts[row]; ++number) {
        of_further_[found_.further_count] = {static_cast<std::uint8_t>(row), number};
        const HeaderColumns& headers = burst.headers();
        (void)further_[found_.further_count / kMaxBurst].add(burst.frame(row), headers.dir[row],
                                                             headers.port[row]);
        ++found_.further_count;
    }
}

std::span<Burst> BurstUnits::further() noexcept {
    return {further_.get(), (found_.further_count + kMaxBurst - 1) / kMaxBurst};
}

std::size_t BurstUnits::first_of(const Burst& further) const noexcept {
    return static_cast<std::size_t>(&further - further_.get()) * kMaxBurst;
}

void BurstUnits::set_texts(Burst& further) noexcept {
    const FurtherUnit* const of = &of_further_[first_of(further)];
    for_each_row(further.live(), [&](std::size_t row) {
        const Unit& unit = this->unit(of[row].row, of[row].number);
        if (has_row(found_.proxied, of[row].row)) [[unlikely]] {
            ProxiedClients::hide_all(further.headers(), row_bit(row));
        }
        further.set_unit(row, unit.kind, unit.texts);
    });
    further.set_several(further.live());
}

BurstUnits::Place BurstUnits::place_of(Burst& burst, std::size_t row, std::size_t number) noexcept {
    if (number == 0) {
        return {&burst, row};
    }
    const std::size_t index = first_further_[row] + number - 1;
    return {&further_[index / kMaxBurst], index % kMaxBurst};
}

RowMask BurstUnits::rows_of(const Burst& further, RowMask packets) const noexcept {
    const FurtherUnit* const of = &of_further_[first_of(further)];
    RowMask rows = 0;
    for (std::size_t row = 0; row < further.size(); ++row) {
        rows |= has_row(packets, of[row].row) ? row_bit(row) : 0;
    }
    return rows;
}

void FreeUnits::operator()(BurstUnits* units) const noexcept {
    delete units;
}

void Burst::find_units_by(UnitFinder finder) {
    if (units_ == nullptr) {
        units_.reset(new BurstUnits{finder});
        return;
    }
    forget_units();
    units_->find_by(finder);
}

RowMask Burst::following() const noexcept {
    return uses_units_ ? units_->following() : 0;
}

const PacketHeaders& Burst::deciding_headers(std::size_t row) noexcept {
    const std::size_t count = has_row(several_, row) ? units_->count(row) : 1;
    const Decision& decision = packets_[row].decision;
    for (std::size_t number = 0; count > 1 && number < count; ++number) {
        const Decision& of = units_->decision(row, number);
        if (of.rule == decision.rule && of.verdict == decision.verdict) {
            const BurstUnits::Place place = units_->place_of(*this, row, number);
            return place.burst->headers_of(place.row);
        }
    }
    return headers_of(row);
}

ServicePacket Burst::service(std::size_t row) const noexcept {
    return has_row(of_services_, row) ? units_->service(row) : ServicePacket{};
}

// The rows of another worker have no services here.
void Burst::normalize(std::size_t row, const Normalization& change) noexcept {
    if (units_ == nullptr) {
        return;
    }
    if (normalized_ == 0) {
        units_->forget_services();
    }
    units_->services().normalize(row) = change;
    normalized_ = units_->services().normalized;
}

Normalization Burst::normalization(std::size_t row) const noexcept {
    return has_row(normalized_, row) ? units_->services().normalizations[row] : Normalization{};
}

void Burst::forget_units() noexcept {
    if (units_ != nullptr) {
        units_->clear();
    }
    headers_.forget_units();
    rows_of_kind_.fill(0);
    several_ = 0;
    uses_units_ = false;
}

}  // namespace sluice
