#include "lib/engine/remote/asked_limit.hpp"

#include "lib/engine/check/on_full.hpp"
#include "lib/engine/check/own_numbers.hpp"
#include "lib/engine/check/tcp_connection.hpp"

namespace sluice {
namespace {

// Open or closed, as the rule's on_full says, and counted; where the store of the cluster was to be
// asked, open by `owner_down: open` alone.
Conformance without_answer(const LoadedLimit& limit, const LoadedRule& rule,
                           const CheckContext& context) noexcept {
    const bool open = limit.asks_store.is_asked() ? limit.asks_store.down == AskedDown::Open
                                                  : rule.on_full == OnFull::Open;
    count_event(context, open ? TableEvent::AskOpen : TableEvent::AskClosed);
    return open ? Conformance::Green : Conformance::NoRoom;
}

// Counted from 1 on: the name by which any worker under the same set finds a key's own numbers.
std::uint32_t name_of_own(const LimitCheck& check, const LoadedLimit& limit,
                          const LoadedRule& rule) noexcept {
    if (own_numbers(check, limit).numbers == nullptr) {
        return 0;
    }
    return 1 + static_cast<std::uint32_t>(check.own - rule.overrides->numbers.data());
}

template <typename Visit>
void for_each_asked(const PacketChecks& packet, const LoadedSet& set, Visit&& visit) noexcept {
    for (const EvaluatedUnit& unit : packet.units) {
        for (const Match& match : unit.matches) {
            const LoadedRule& rule = set.rules[match.rule];
            for (std::size_t i = 0; i < rule.limits.size(); ++i) {
                if (rule.limits[i].asked) {
                    visit(unit, packet.checks[match.first + i], rule.limits[i], rule);
                }
            }
        }
    }
}

}  // namespace

void check_asked(LimitCheck& check, const LoadedLimit& limit, const LoadedRule& rule,
                 const CheckContext& context) noexcept {
    const AskContext& ask = context.ask;
    check.entry = nullptr;
    check.at_owner = true;
    check.conformance = Conformance::Green;
    if (ask.pass != AskContext::Pass::Answered) {
        return;
    }
    const Answer* const answer = ask.reserve_client->answer(ask.place, ask.unit, limit.slot);
    if (answer == nullptr) {
        check.conformance = without_answer(limit, rule, context);
        return;
    }
    check.answered = answer->what == Answer::What::Judged;
    check.conformance = answer->conformance;
    check.aggregation_level = answer->aggregation_level;
}

void settle_asked(const AskedCheck& asked, const CheckContext& context, bool spends,
                  bool rejected) noexcept {
    const AskContext& ask = context.ask;
    const LimitCheck& check = asked.check;
    const bool admitted =
        check.conformance == Conformance::Green || check.conformance == Conformance::Yellow;
    const bool reserved = ask.pass == AskContext::Pass::Answered && admitted && check.answered;
    if (reserved && (spends || rejected)) {
        ask.reserve_client->keep_reserved(ask.place, ask.unit, slot_of(check.key));
    } else if (rejected) {
        ask.reserve_client->spend(ask.place,
                                  {.question = {.slot = slot_of(check.key),
                                                .own = name_of_own(check, asked.limit, asked.rule),
                                                .load = context.set.load,
                                                .hash = check.key.hash,
                                                .cost = check.cost},
                                   .unit = ask.unit,
                                   .store = asked.limit.asks_store});
    }
}

bool asks_owners(const PacketChecks& packet, const LoadedSet& set) noexcept {
    bool asks = false;
    for_each_asked(packet, set,
                   [&](const EvaluatedUnit&, const LimitCheck& check, const LoadedLimit&,
                       const LoadedRule&) { asks |= check.cost != Units{0}; });
    return asks;
}

bool asks_budgets(const PacketChecks& packet, const LoadedSet& set) noexcept {
    bool asks = false;
    for_each_asked(packet, set,
                   [&](const EvaluatedUnit&, const LimitCheck& check, const LoadedLimit&,
                       const LoadedRule& rule) {
                       asks |= rule.on_match == OnMatch::Bypass && check.asked && check.at_owner;
                   });
    return asks;
}

namespace {

// The connection that a unit opens, for limits that count open ones; a value that it shows has its
// place there.
ConnectionStart opened_by(const EvaluatedUnit& unit, const LimitCheck& check,
                          const LoadedLimit& limit, const KeyHasher& hash) noexcept {
    if (needs_value(limit.limit)) {
        return {.digest = check.value};
    }
    return algorithm_of(limit.limit) == Algorithm::Concurrency
               ? connection_start(unit.burst->ends_of(unit.row, hash),
                                  unit.burst->headers_of(unit.row),
                                  unit.burst->frame(unit.row).bytes)
               : ConnectionStart{};
}

}  // namespace

std::size_t list_questions(const PacketChecks& packet, const LoadedSet& set, const KeyHasher& hash,
                           std::span<WantedQuestion, kMaxQuestions> to) noexcept {
    std::size_t count = 0;
    for_each_asked(packet, set,
                   [&](const EvaluatedUnit& unit, const LimitCheck& check, const LoadedLimit& limit,
                       const LoadedRule& rule) {
                       if (!check.asked || !check.at_owner) {
                           return;
                       }
                       if (count < to.size()) {
                           const auto number = &unit - packet.units.data();
                           to[count] = {{.color = color_of_row(unit.burst->headers(), unit.row),
                                         .slot = limit.slot,
                                         .own = name_of_own(check, limit, rule),
                                         .load = set.load,
                                         .hash = check.key.hash,
                                         .cost = check.cost,
                                         .connection = opened_by(unit, check, limit, hash)},
                                        static_cast<std::uint8_t>(number),
                                        limit.asks_store};
                       }
                       ++count;
                   });
    return count <= to.size() ? count : SIZE_MAX;
}

}  // namespace sluice
