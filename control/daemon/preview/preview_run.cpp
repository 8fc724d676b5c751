#include "control/daemon/preview/preview_run.hpp"

#include "control/daemon/api/change.hpp"

#include <algorithm>
#include <ctime>
#include <utility>

namespace sluice {
namespace {

// Processor time that a judgement may take, however often it begins anew with fewer groups.
constexpr std::chrono::seconds kMostProcessorTime{6};

// Packets are judged as they are counted, from the trace's beginning to the last read: of other
// times are only packets of a clock that was set.
constexpr std::chrono::nanoseconds kAround = std::chrono::seconds{10};

std::chrono::nanoseconds thread_time() {
    timespec used{};
    (void)::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return std::chrono::seconds{used.tv_sec} + std::chrono::nanoseconds{used.tv_nsec};
}

std::int64_t utc_ns() {
    return std::chrono::nanoseconds{std::chrono::system_clock::now().time_since_epoch()}.count();
}

constexpr std::string_view name_of(PreviewRun::State state) {
    switch (state) {
        case PreviewRun::State::Watching:
            return "watching";
        case PreviewRun::State::Judging:
            return "judging";
        case PreviewRun::State::Done:
            return "done";
        default:
            return "ended";
    }
}

}  // namespace

std::optional<std::string> why_over(const Result<Reply>& reply) {
    if (!reply) {
        switch (reply.error().code) {
            case Errc::Busy:
                return std::nullopt;
            case Errc::Unreachable:
                return "the dataplane is away";
            default:
                return reply.error().what;
        }
    }
    if (const auto* const failure = std::get_if<Failure>(&*reply)) {
        return failure->what;
    }
    const auto* const shown = std::get_if<PreviewedPackets>(&*reply);
    if (shown == nullptr) {
        return "the dataplane answered something else";
    }
    if (shown->known) {
        return std::nullopt;
    }
    return shown->other_start ? "the dataplane was started anew since"
                              : "a newer preview has taken its place";
}

PreviewRun::PreviewRun(PreviewTerms terms, DataplaneLink& link)
    : draft_{std::move(terms.draft)},
      begun_{std::move(terms.begun)},
      lasts_{terms.lasts},
      link_{link},
      from_{utc_ns()},
      log_{from_ - kAround.count(),
           from_ + (std::chrono::nanoseconds{terms.lasts} + kAround).count(), draft_.has_key} {
    facts_.unread_fields = begun_.unread_fields;
    facts_.seconds_asked = std::chrono::duration<double>{terms.lasts}.count();
}

double PreviewRun::lasted(Clock::time_point now) const {
    const std::chrono::duration<double> since = now - began_;
    return std::min(since.count(), facts_.seconds_asked);
}

void PreviewRun::run(const std::stop_token& stop) {
    const bool is_whole = watch(stop);
    stop_trace();
    if (is_whole) {
        judge_all(stop);
    }
}

bool PreviewRun::watch(const std::stop_token& stop) {
    while (Clock::now() < began_ + lasts_ || !is_read_) {
        {
            std::unique_lock lock{mutex_};
            (void)changed_.wait_for(lock, stop, kReadEvery, [&] { return state_ == State::Ended; });
            if (Clock::now() - read_at_ > kUnread && state_ != State::Ended) {
                state_ = State::Ended;
                why_ = "nobody had read it for ten seconds";
                changed_.notify_all();
            }
            if (state_ == State::Ended || stop.stop_requested()) {
                return false;
            }
        }
        if (!gather()) {
            return false;
        }
    }
    const std::lock_guard lock{mutex_};
    if (state_ == State::Watching) {
        state_ = State::Judging;
    }
    changed_.notify_all();
    return state_ == State::Judging;
}

bool PreviewRun::gather() {
    Result<Reply> reply = link_.call(ReadPreview{begun_.origin, begun_.number, log_.bits()});
    if (std::optional<std::string> why = why_over(reply)) {
        end(*std::move(why));
        return false;
    }
    is_read_ = reply.has_value();
    if (!is_read_) {
        return true;
    }
    auto* const shown = std::get_if<PreviewedPackets>(&*reply);
    facts_.rules_changed =
        facts_.rules_changed || (generation_ != 0 && generation_ != shown->generation);
    generation_ = shown->generation;
    log_.add(std::move(*shown));
    const std::lock_guard lock{mutex_};
    matched_ = matched_of(draft_, log_.latest().counted);
    bits_ = draft_.has_key ? log_.bits() : std::uint8_t{0};
    return true;
}

// With half of the groups, and half again, where all of them are more than can be judged.
void PreviewRun::judge_all(const std::stop_token& stop) {
    facts_.seconds = lasted(Clock::now());
    const std::chrono::nanoseconds end = thread_time() + kMostProcessorTime;
    const auto is_wanted = [&] {
        const std::lock_guard lock{mutex_};
        return state_ != State::Ended && !stop.stop_requested();
    };
    const JudgingBounds bounds{.goes_on = [&] { return is_wanted() && thread_time() < end; }};
    std::optional<JudgedDraft> judged;
    const DraftRules* rules = draft_.judged_at(log_.bits());
    if (!draft_.decides_alone) {
        while (rules != nullptr) {
            judged = judge(*rules, log_.sorted(), log_.bits(), bounds);
            if (judged || !bounds.goes_on() || !log_.halve()) {
                break;
            }
            rules = draft_.judged_at(log_.bits());
        }
        facts_.was_judged = judged || rules == nullptr;
        facts_.table_full = judged ? judged->table_full : 0;
    }
    Json result = preview_answer({rules == nullptr ? draft_ : *rules, log_, judged, facts_, from_});
    const std::lock_guard lock{mutex_};
    if (state_ != State::Ended) {
        bits_ = draft_.has_key ? log_.bits() : std::uint8_t{0};
        result_ = std::move(result);
        state_ = State::Done;
    }
    changed_.notify_all();
}

void PreviewRun::stop_trace() {
    (void)link_.call(EndTrace{begun_.origin, begun_.number});
}

void PreviewRun::end(std::string why) {
    const std::lock_guard lock{mutex_};
    if (state_ != State::Ended) {
        state_ = State::Ended;
        why_ = std::move(why);
        result_ = Json();
    }
    changed_.notify_all();
}

PreviewRun::View PreviewRun::read(std::chrono::seconds wait) {
    std::unique_lock lock{mutex_};
    read_at_ = Clock::now();
    (void)changed_.wait_for(lock, wait,
                            [&] { return state_ == State::Done || state_ == State::Ended; });
    read_at_ = Clock::now();
    return {state_, why_,
            Json{{"state", name_of(state_)},
                 {"rule", draft_.id},
                 {"from", utc_ns_text(from_)},
                 {"seconds", std::chrono::duration_cast<std::chrono::seconds>(lasts_).count()},
                 {"seconds_done", lasted(read_at_)},
                 {"matched", matched_},
                 {"unit", unit_of(draft_)},
                 {"one_in", std::uint64_t{1} << bits_},
                 {"result", result_}}};
}

}  // namespace sluice
