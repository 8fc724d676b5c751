#include "lib/engine/remote/reserve_server.hpp"

#include "lib/engine/burst/adopt.hpp"
#include "lib/engine/burst/packet.hpp"
#include "lib/engine/check/ask_bucket.hpp"

namespace sluice {
namespace {

constexpr std::size_t kExpiredAtOnce = 8;

// Units left to a watched key, as its owner has them; units offered are noted by those who ask.
[[gnu::noinline]] void note_left(std::uint32_t limit, const LimitCheck& check, CoreState& core,
                                 Now now) noexcept {
    if (!core.watching->is_watched(limit, check.key.hash)) {
        return;
    }
    if (HeatRecord* const record = core.watching->find(limit, check.key.hash)) {
        const LimitRegistry& registry = core.buckets.registry;
        const Units left =
            remaining(registry.cell_of(*check.entry), *check.numbers, registry.pool(), now);
        record->note(0, false, heat_left(left, most_of(*check.numbers)));
    }
}

}  // namespace

struct ReserveServer::Bucket {
    LimitCheck check;
    const LoadedLimit* limit = nullptr;  // nullptr: the rules have no such limit
    const LoadedRule* rule = nullptr;
    bool is_other = false;  // the key has numbers under another rule set than this one

    // Anything that names a key under a limit: a question, a reservation.
    template <typename Named>
    Bucket(const Named& named, Units cost, const LoadedSet& set) noexcept {
        const auto& asked = set.meter_plan.asked;
        const std::uint32_t index = named.slot < asked.size() ? asked[named.slot] : 0;
        if (index == 0) {
            return;
        }
        const LimitPlan& plan = set.meter_plan.limits[index - 1];
        rule = &set.rules[plan.rule];
        limit = &rule->limits[plan.index];
        check.key = {GroupKey{named.hash}, named.slot};
        check.cost = cost;
        check.asked = true;
        if (needs_value(limit->limit)) {
            check.value = static_cast<std::uint32_t>(named.connection.digest);
        }
        check.own = nullptr;
        const bool known = named.load == set.load;
        is_other = named.own != 0 && !known;
        if (named.own != 0 && known && rule->overrides != nullptr &&
            named.own <= rule->overrides->numbers.size()) {
            check.own = &rule->overrides->numbers[named.own - 1];
        }
    }
};

ReserveServer::ReserveServer(std::size_t self, AskLanes& lanes, const Bounds& bounds)
    : self_{self},
      lanes_{lanes},
      reservations_{{lanes.workers(), bounds.questions, bounds.lifetime}} {}

void ReserveServer::serve(const LoadedSet& set, CoreState& core, Now now) noexcept {
    adopt(set, core, now);
    for (std::size_t asker = 0; asker < lanes_.workers(); ++asker) {
        lanes_.between(asker, self_).questions.drain([&](const Question& question) {
            take(asker, question, set, core, now);
        });
    }
    counters_.count(AskEvent::Expired, reservations_.expire(now.at, kExpiredAtOnce,
                                                            [&](const Reservation& reservation) {
                                                                charge(reservation, set, core, now);
                                                            }));
    counters_.held.set(reservations_.size());
}

void ReserveServer::take(std::size_t asker, const Question& question, const LoadedSet& set,
                         CoreState& core, Now now) noexcept {
    switch (question.kind) {
        case Question::Kind::Ask: {
            const Answer answer = evaluate(asker, question, set, core, now);
            counters_.count(lanes_.between(asker, self_).answers.put(answer) ? AskEvent::Answered
                                                                             : AskEvent::Unsent);
            return;
        }
        case Question::Kind::Spend:
            spend(question, set, core, now);
            return;
        default:
            break;
    }
    const bool goes_on = question.kind == Question::Kind::Commit;
    const auto settled = reservations_.settle(
        asker, question.ticket,
        goes_on ? Reservations::Settled::Charged : Reservations::Settled::Cancelled);
    if (!settled) {
        return;
    }
    counters_.count(goes_on ? AskEvent::Charged : AskEvent::Cancelled);
    if (goes_on) {
        charge(*settled, set, core, now);
    }
}

// Units of a wider key's bucket are charged at once: its reservations are not counted by key.
Answer ReserveServer::evaluate(std::size_t asker, const Question& question, const LoadedSet& set,
                               CoreState& core, Now now) noexcept {
    Answer answer{.ticket = question.ticket};
    Bucket bucket{question, question.cost, set};
    if (bucket.limit == nullptr || bucket.is_other) {
        return answer;
    }
    LimitCheck& check = bucket.check;
    const std::uint32_t value = needs_value(bucket.limit->limit) ? check.shown_value() : 0;
    const QuestionContext asked{
        question.color, reservations_.reserved(question.hash, question.slot), question.connection,
        reservations_.reserves(question.hash, question.slot, value)};
    const CheckContext context{set, core, now, no_frames_, no_headers_, 0, nullptr, {}, &asked};
    check_limit(check, *bucket.limit, *bucket.rule, context);
    answer.conformance = check.conformance;
    answer.what = check.entry == nullptr || check.conformance == Conformance::NoRoom
                      ? Answer::What::NoPlace
                      : Answer::What::Judged;
    if (check.entry == nullptr) {
        return answer;
    }
    answer.aggregation_level = check.entry->stamp().aggregation_level;
    if (check.conformance == Conformance::Red) {
        const LimitRegistry& registry = core.buckets.registry;
        answer.wait = wait_later(registry.cell_of(*check.entry), *check.numbers, registry.pool(),
                                 now, {{question.cost, question.color}, asked.reserved})
                          .value_or(kNever);
    }
    const bool at_once = is_admitted(check.conformance) && answer.aggregation_level != 0;
    commit(check, context, at_once, false);
    if (is_admitted(check.conformance) && !at_once) {
        const auto lost =
            reservations_.reserve(asker, question.ticket,
                                  {.hash = question.hash,
                                   .load = question.load,
                                   .units = check.counts_already() ? Units{0} : question.cost,
                                   .own = question.own,
                                   .slot = question.slot,
                                   .conformance = check.conformance,
                                   .connection = question.connection,
                                   .value = value},
                                  now.at);
        counters_.count(AskEvent::Reserved);
        if (lost) {
            counters_.count(AskEvent::Expired);
            charge(*lost, set, core, now);
        }
    }
    return answer;
}

// Spends as much as there is of the cost, and no more than nobody has been promised.
void ReserveServer::spend(const Question& question, const LoadedSet& set, CoreState& core,
                          Now now) noexcept {
    Bucket bucket{question, question.cost, set};
    if (bucket.limit == nullptr) {
        return;
    }
    const QuestionContext asked{question.color,
                                reservations_.reserved(question.hash, question.slot)};
    const CheckContext context{set, core, now, no_frames_, no_headers_, 0, nullptr, {}, &asked};
    LimitCheck& check = bucket.check;
    check_limit(check, *bucket.limit, *bucket.rule, context);
    if (check.entry == nullptr) {
        return;
    }
    if (asked.reserved.all() != Units{0}) {
        const LimitRegistry& registry = core.buckets.registry;
        const Units left =
            remaining(registry.cell_of(*check.entry), *check.numbers, registry.pool(), now);
        const Units promised = std::min(left, asked.reserved.all());
        check.cost = std::min(check.cost, Units{left.count() - promised.count()});
    }
    commit(check, context, false, check.cost != Units{0});
}

void ReserveServer::charge(const Reservation& reservation, const LoadedSet& set, CoreState& core,
                           Now now) noexcept {
    // A value that counts costs nothing, and counts for longer once it has been shown again.
    const Units least{reservation.value != 0 ? 1U : 0U};
    Bucket bucket{reservation, std::max(reservation.units, least), set};
    if (bucket.limit == nullptr) {
        return;
    }
    const QuestionContext promised{.connection = reservation.connection};
    const CheckContext context{set, core, now, no_frames_, no_headers_, 0, nullptr, {}, &promised};
    LimitCheck& check = bucket.check;
    check_limit(check, *bucket.limit, *bucket.rule, context);
    if (check.entry == nullptr) {
        return;
    }
    const bool fits = is_admitted(check.conformance);
    check.conformance = fits ? reservation.conformance : check.conformance;
    commit(check, context, fits, !fits);
    if (core.watching != nullptr) [[unlikely]] {
        note_left(set.meter_plan.asked[reservation.slot] - 1, check, core, now);
    }
}

}  // namespace sluice
