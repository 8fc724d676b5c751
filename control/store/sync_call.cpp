#include "control/store/sync_call.hpp"

#include "control/store/function_text.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <hiredis/hiredis.h>

namespace sluice {
namespace {

// A fixed layout, little-endian, as the function unpacks it.
class Packed {
public:
    Packed& byte(std::uint8_t value) { return raw(&value, sizeof(value)); }
    Packed& word(std::uint16_t value) { return raw(&value, sizeof(value)); }
    Packed& number(double value) { return raw(&value, sizeof(value)); }
    Packed& whole(std::uint64_t value) {
        return number(static_cast<double>(std::min(value, kMostStoreNumber)));
    }
    Packed& digest(std::uint64_t value) { return raw(&value, sizeof(value)); }
    [[nodiscard]] std::string take() { return std::move(bytes_); }

private:
    Packed& raw(const void* from, std::size_t size) {
        bytes_.append(static_cast<const char*>(from), size);
        return *this;
    }
    std::string bytes_;
};

constexpr std::uint8_t kDeclares = 1;
constexpr std::uint8_t kOfWindow = 2;
constexpr std::uint8_t kAsks = 4;

struct Term {
    double first = 0;
    double second = 0;
    std::uint8_t lasts = 0;
    [[nodiscard]] bool operator==(const Term&) const = default;
};

double as_double(std::uint64_t value) {
    return static_cast<double>(std::min(value, kMostStoreNumber));
}

Term term_of(const StoreEntry& entry) {
    return entry.window_us == 0
               ? Term{as_double(entry.period_ns), as_double(entry.parts),
                      entry.lasts == kGaugeLasts ? kGaugeLasts : std::uint8_t{0}}
               : Term{as_double(entry.window_us), as_double(entry.phase_us), entry.lasts};
}

std::size_t number_of(const Term& term, std::vector<Term>& terms) {
    const auto found = std::find(terms.begin(), terms.end(), term);
    const auto at = static_cast<std::size_t>(found - terms.begin());
    if (found == terms.end()) {
        terms.push_back(term);
    }
    return at;
}

void pack_entry(Packed& out, const StoreEntry& entry, std::size_t term) {
    const bool window = entry.window_us != 0;
    const bool declares = entry.kind == StoreEntryKind::Declare;
    const bool asks = entry.kind == StoreEntryKind::Ask;
    const int kind = asks ? kAsks : (declares ? kDeclares : 0) | (window ? kOfWindow : 0);
    out.digest(entry.digest).byte(entry.step);
    out.byte(static_cast<std::uint8_t>(kind));
    out.byte(static_cast<std::uint8_t>(term)).whole(entry.units);
    if (asks) {
        out.whole(entry.most);
        return;
    }
    if (window) {
        const auto most = static_cast<std::int64_t>(kMostStoreNumber);
        out.number(static_cast<double>(std::clamp(entry.epoch, -most, most)));
    }
}

Error not_ours() {
    return {Errc::BadSyntax, "the store's function answers in a form of its own"};
}

// The whole numbers of an array; false: something else stands in it.
bool read_numbers(const redisReply& reply, std::vector<std::int64_t>& numbers) {
    if (reply.type != REDIS_REPLY_ARRAY) {
        return false;
    }
    for (const redisReply* each : std::span{reply.element, reply.elements}) {
        if (each == nullptr || each->type != REDIS_REPLY_INTEGER) {
            return false;
        }
        numbers.push_back(each->integer);
    }
    return true;
}

std::uint64_t count_in(std::int64_t value) {
    return value < 0 ? 0 : static_cast<std::uint64_t>(value);
}

constexpr std::size_t kHead = 5;
constexpr std::size_t kOfWindowLevel = 4;
constexpr std::int64_t kExpired = 1;
constexpr std::int64_t kSkewed = 2;
constexpr std::size_t kOfAnswer = 3;

std::size_t numbers_of(const StoreEntry& entry) {
    if (entry.kind == StoreEntryKind::Ask) {
        return kOfAnswer;
    }
    return entry.window_us == 0 ? 1 : kOfWindowLevel;
}

bool read_levels(std::span<const std::int64_t> numbers, const StoreBatch& batch,
                 std::vector<StoreLevel>& levels) {
    for (const StoreEntry& entry : batch.entries) {
        const std::size_t needed = numbers_of(entry);
        if (numbers.size() < needed) {
            return false;
        }
        StoreLevel level{.current = count_in(numbers[0])};
        if (needed == kOfAnswer) {
            level.less_in_us = count_in(numbers[1]);
            level.refused = numbers[2] != 0;
        } else if (needed == kOfWindowLevel) {
            level.previous = count_in(numbers[1]);
            level.epoch = numbers[2];
            level.expired = numbers[3] == kExpired;
            level.skewed = numbers[3] == kSkewed;
        }
        levels.push_back(level);
        numbers = numbers.subspan(needed);
    }
    return numbers.empty();
}

}  // namespace

std::string redis_command(std::span<const std::string> words) {
    std::string out = fmt::format("*{}\r\n", words.size());
    for (const std::string& word : words) {
        out += fmt::format("${}\r\n", word.size());
        out += word;
        out += "\r\n";
    }
    return out;
}

std::string_view error_of(const redisReply& reply) noexcept {
    return reply.type == REDIS_REPLY_ERROR ? std::string_view{reply.str, reply.len}
                                           : std::string_view{};
}

std::string partition_key(std::string_view cluster, std::uint16_t partition) {
    return fmt::format("sluice:{{{}:{:02}}}", cluster, partition);
}

std::string roster_key(std::string_view cluster) {
    return fmt::format("sluice:{{{}:roster}}", cluster);
}

std::string call_command(CallBy by, std::string name, std::string key,
                         std::span<const std::string> arguments) {
    const bool is_script = by == CallBy::Script;
    std::vector<std::string> words{is_script ? "EVALSHA" : "FCALL",
                                   is_script ? std::string{kStoreScriptSha} : name, "1",
                                   std::move(key)};
    if (is_script) {
        words.push_back(std::move(name));
    }
    words.insert(words.end(), arguments.begin(), arguments.end());
    return redis_command(words);
}

std::string sync_command(std::string_view cluster, const StoreCaller& caller,
                         const StoreBatch& batch, CallBy by) {
    std::vector<Term> terms;
    Packed entries;
    for (const StoreEntry& entry : batch.entries) {
        pack_entry(entries, entry, number_of(term_of(entry), terms));
    }
    Packed head;
    head.word(caller.size).word(caller.slot).byte(caller.again ? 1 : 0);
    head.whole(caller.incarnation).whole(batch.seq).whole(caller.reckoned_us);
    head.whole(caller.born).whole(caller.birth);
    Packed packed_terms;
    for (const Term& term : terms) {
        packed_terms.number(term.first).number(term.second).byte(term.lasts);
    }
    return call_command(
        by, "sl1_sync", partition_key(cluster, batch.partition),
        std::array<std::string, 3>{head.take(), packed_terms.take(), entries.take()});
}

Result<StoreAnswerTo> sync_answer(const redisReply& reply, const StoreBatch& batch) {
    std::vector<std::int64_t> numbers;
    if (!read_numbers(reply, numbers) || numbers.size() < kHead || numbers[0] < 0 ||
        numbers[0] > static_cast<std::int64_t>(StoreOutcome::Fenced)) {
        return not_ours();
    }
    StoreAnswerTo answer{.outcome = static_cast<StoreOutcome>(numbers[0]),
                         .born = count_in(numbers[1]),
                         .now_us = count_in(numbers[2]),
                         .utc_us = count_in(numbers[3]),
                         .last = count_in(numbers[4])};
    const std::span<const std::int64_t> rest = std::span{numbers}.subspan(kHead);
    if (answer.outcome == StoreOutcome::Fenced) {
        answer.held = rest.size() == 1 ? count_in(rest[0]) : 0;
        return rest.size() == 1 ? Result<StoreAnswerTo>{answer} : not_ours();
    }
    const bool applied = answer.outcome == StoreOutcome::Applied;
    if (applied ? !read_levels(rest, batch, answer.levels) : !rest.empty()) {
        return not_ours();
    }
    return answer;
}

std::string join_command(const Joining& joining, CallBy by) {
    return call_command(
        by, "sl1_join", roster_key(joining.cluster),
        std::array<std::string, 5>{std::to_string(joining.size), std::string{joining.node},
                                   std::to_string(joining.life), std::to_string(joining.seen),
                                   digest_text(joining.secret_digest)});
}

std::string leave_command(const Joining& joining, CallBy by) {
    return call_command(
        by, "sl1_leave", roster_key(joining.cluster),
        std::array<std::string, 2>{std::string{joining.node}, std::to_string(joining.life)});
}

std::string digest_text(std::uint64_t secret_digest) {
    return fmt::format("{:016x}", secret_digest);
}

std::string tick_command(const std::string& key, std::uint64_t reckoned_us, std::uint64_t born,
                         CallBy by) {
    Packed head;
    head.whole(reckoned_us).whole(born);
    return call_command(by, "sl1_tick", key, std::array<std::string, 1>{head.take()});
}

Result<TickAnswer> tick_answer(const redisReply& reply) {
    std::vector<std::int64_t> numbers;
    if (!read_numbers(reply, numbers) || numbers.size() != 3) {
        return not_ours();
    }
    return TickAnswer{.born = count_in(numbers[1]), .now_us = count_in(numbers[2])};
}

Result<JoinAnswer> join_answer(const redisReply& reply) {
    constexpr std::size_t kParts = 6;
    std::vector<std::int64_t> numbers;
    if (!read_numbers(reply, numbers) || numbers.size() < kParts || numbers[0] < 0 ||
        numbers[0] > static_cast<std::int64_t>(JoinOutcome::NameHeld) ||
        count_in(numbers[1]) > UINT16_MAX) {
        return not_ours();
    }
    return JoinAnswer{.outcome = static_cast<JoinOutcome>(numbers[0]),
                      .slot = static_cast<std::uint16_t>(count_in(numbers[1])),
                      .incarnation = count_in(numbers[2]),
                      .size = count_in(numbers[3]),
                      .revision = count_in(numbers[4]),
                      .utc_us = count_in(numbers[5])};
}

}  // namespace sluice
