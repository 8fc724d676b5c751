#include "lib/peer/merge/cluster_terms.hpp"

#include "lib/bucket/table/own_bucket.hpp"

#include <algorithm>

namespace sluice {
namespace {

constexpr std::uint64_t kEndlessUnits = UINT64_MAX;

std::uint64_t units_of(Wide units) noexcept {
    return static_cast<std::uint64_t>(std::min<Wide>(units, kEndlessUnits));
}

// The least that both levels may be ahead, each over all boxes and workers.
struct LeastAhead {
    Wide boxes;
    Wide workers;
};

// Workers that share with the owner of a key, of all boxes.
Wide other_workers(const ClusterQuestion& question) noexcept {
    return static_cast<Wide>(question.machines) * (question.workers - 1);
}

Wide workers_way(const ClusterQuestion& question, std::uint64_t most) noexcept {
    const Wide given = units_given_in(question.merge_interval * 4, question.limit);
    // A window gives the more the more it counts; a bucket's rate is its own.
    const bool is_window = gcra_of(question.limit) == nullptr;
    const Wide scaled = is_window ? given * most / most_at_once(question.limit) : given;
    return scaled + question.largest_cost;
}

// U_w.
Wide worker_ahead(const ClusterQuestion& question, std::uint64_t most,
                  std::uint64_t part) noexcept {
    const Wide others = other_workers(question);
    if (others == 0 || question.max_unsynced != 0) {
        return others == 0 ? 0 : question.max_unsynced;
    }
    return std::max<Wide>(part / others, workers_way(question, most));
}

// An owner has room for a whole amount of any worker.
LeastAhead least_ahead(const ClusterQuestion& question, std::uint64_t most) noexcept {
    const Wide worker = worker_ahead(question, most, 0);
    return {
        static_cast<Wide>(question.machines - 1) * std::max<Wide>(question.largest_cost, worker),
        other_workers(question) * worker};
}

// The smallest burst that holds twice what both levels are ahead, each by its least or by its part
// of the default.
Wide burst_for(const LeastAhead& least) noexcept {
    if (least.workers == 0) {
        return 2 * least.boxes;
    }
    const Wide larger = std::max(least.boxes, least.workers);
    return std::max<Wide>(2 * (least.boxes + least.workers), (16 * larger + 6) / 7);
}

std::uint64_t least_burst(const ClusterQuestion& question) noexcept {
    constexpr int kRounds = 16;
    std::uint64_t most = most_at_once(question.limit);
    for (int round = 0; round < kRounds; ++round) {
        const std::uint64_t next = units_of(burst_for(least_ahead(question, most)));
        if (next <= most) {
            return most;
        }
        most = next;
    }
    return 0;
}

// The burst or count of a limit that boxes can share by sums; 0: it is none. The days of a zone are
// no windows of one length.
std::uint64_t merged_most(const AnyLimit& limit) noexcept {
    return algorithm_of(limit) == Algorithm::DayWindow ? 0 : most_at_once(limit);
}

// The reason why no numbers make the limit a merged one; nullptr: it depends on its numbers.
const char* why_never(const AnyLimit& limit) noexcept {
    switch (algorithm_of(limit)) {
        case Algorithm::SlidingLog:
            return "sliding_log keeps when each unit came, and boxes tell each other sums";
        case Algorithm::FixedWindow:
            return "each key's windows begin with its first unit, which only the store could say";
        case Algorithm::DayWindow:
            return "windows by the clock of a zone are of one box";
        case Algorithm::ColorMeter:
            return "colour meters are of one box";
        default:
            return "its algorithm is not shared by boxes";
    }
}

bool may_be_asked(const AnyLimit& limit) noexcept {
    const Algorithm algorithm = algorithm_of(limit);
    return merged_most(limit) != 0 || algorithm == Algorithm::SlidingLog ||
           algorithm == Algorithm::FixedWindow;
}

ClusterTerms not_merged(const ClusterQuestion& question, const char* why,
                        std::uint64_t least) noexcept {
    const bool asks = question.requests && may_be_asked(question.limit);
    return {.sharing = asks ? ClusterSharing::Asked : ClusterSharing::Refused,
            .why = why,
            .least = least};
}

// Terms of open connections, which one worker of each box counts for a key.
ClusterTerms gauge_terms(std::uint64_t count, std::uint64_t machines) noexcept {
    const std::uint64_t others = machines - 1;
    const std::uint64_t ahead =
        std::clamp<std::uint64_t>(count / kClusterOvershootPart / others, 1, kMostMaxUnsynced);
    if (2 * others * ahead > count) {
        return {.why = "all boxes together could pass more than half of its count beyond it",
                .least = 2 * others};
    }
    return {.sharing = ClusterSharing::Merged, .box_unsynced = ahead, .overshoot = others * ahead};
}

}  // namespace

bool has_gauges(const AnyLimit& limit) noexcept {
    return algorithm_of(limit) == Algorithm::Concurrency;
}

ClusterTerms cluster_terms_for(const ClusterQuestion& question) noexcept {
    if (const auto* limit = std::get_if<ConcurrencyLimit>(&question.limit)) {
        return gauge_terms(limit->numbers.count, question.machines);
    }
    const std::uint64_t most = merged_most(question.limit);
    if (most == 0) {
        return not_merged(question, why_never(question.limit), 0);
    }
    if (lasts_too_long(question.limit)) {
        return {.why = "its burst lasts longer than 416 days"};
    }
    if (std::max<Wide>(question.largest_cost, workers_way(question, most)) > kMostMaxUnsynced) {
        return {.why = "a box would be ahead of the others by more than 2^30"};
    }
    const Wide boxes = question.machines - 1;
    const Wide workers = other_workers(question);
    const std::uint64_t part = most / kClusterOvershootPart / (workers != 0 ? 2 : 1);
    const Wide worker = worker_ahead(question, most, part);
    if (workers != 0 && worker < question.largest_cost) {
        return {.why = "max_unsynced is below the largest cost"};
    }
    const Wide box = std::max({Wide{part} / boxes, Wide{question.largest_cost}, worker});
    const Wide overshoot = boxes * std::min<Wide>(box, kMostMaxUnsynced) +
                           workers * std::min<Wide>(worker, kMostMaxUnsynced);
    if (overshoot * 2 > most) {
        return not_merged(question,
                          "all boxes together could pass more than half of its burst or count "
                          "beyond it",
                          least_burst(question));
    }
    return {.sharing = ClusterSharing::Merged,
            .box_unsynced = units_of(std::min<Wide>(box, kMostMaxUnsynced)),
            .worker_unsynced = units_of(std::min<Wide>(worker, kMostMaxUnsynced)),
            .overshoot = units_of(overshoot)};
}

StoreAsking store_asking_of(const AnyLimit& limit) noexcept {
    constexpr std::int64_t kMicrosecond = 1'000;  // ns
    if (const Limit* gcra = gcra_of(limit)) {
        return {.most = most_at_once(limit), .period = gcra->period(), .parts = gcra->parts()};
    }
    if (const auto* log = std::get_if<SlidingLogLimit>(&limit)) {
        const bool is_kept =
            log->numbers.count <= kMostLogged && log->numbers.window % kMicrosecond == 0;
        return {.most = is_kept ? log->numbers.count : 0,
                .period = static_cast<std::uint64_t>(log->numbers.window / kMicrosecond),
                .count = AskedCount::Logged};
    }
    const auto* fixed = std::get_if<FixedWindowLimit>(&limit);
    if (fixed == nullptr || fixed->numbers.window % kMicrosecond != 0 ||
        fixed->utc_offset % kMicrosecond != 0) {
        return {};
    }
    const std::int64_t window = fixed->numbers.window;
    const std::int64_t phase = (fixed->utc_offset % window + window) % window;
    return {.most = fixed->numbers.count,
            .period = static_cast<std::uint64_t>(window / kMicrosecond),
            .parts = static_cast<std::uint64_t>(phase / kMicrosecond),
            .count = fixed->phase == WindowPhase::Clock   ? AskedCount::ByClock
                     : fixed->phase == WindowPhase::First ? AskedCount::ByKey
                                                          : AskedCount::ByHash};
}

std::uint64_t enough_box_unsynced(const ClusterQuestion& question, Nanoseconds round_trip,
                                  Nanoseconds sync) noexcept {
    return units_of(units_given_in(2 * (round_trip + sync), question.limit) +
                    question.largest_cost);
}

}  // namespace sluice
