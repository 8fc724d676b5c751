#include "control/daemon/api/change.hpp"
#include "control/daemon/api/event_json.hpp"
#include "control/daemon/cluster/cluster_part.hpp"
#include "control/daemon/rule_compile.hpp"
#include "control/visible_text.hpp"
#include "lib/base/whole_number.hpp"
#include "lib/rules/tenant_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <semaphore>
#include <thread>

namespace sluice {
namespace {

constexpr std::uint32_t kMostEvents = 1000;  // of one answer
// Answers of the dataplane to one request: more than it keeps, and an end where others tell much.
constexpr int kMostReads = 12;
constexpr std::uint32_t kLongestWait = 20;  // seconds
constexpr std::chrono::milliseconds kLookAgain{100};
// Waiting requests hold places of those for ordinary ones: the rest of them stays for others.
std::counting_semaphore<8> waiting_places{8};
std::counting_semaphore<8> tenant_waiting_places{8};  // likewise, of tenants' people

std::optional<std::uint64_t> number_of(std::string_view text, std::uint64_t most) {
    const std::optional<std::uint64_t> number = whole_number(text);
    return number && *number <= most ? number : std::nullopt;
}

// The request for events; or why it cannot be answered.
struct AskedEvents {
    GetEvents request{.most = kMostEvents};
    std::uint64_t cluster_from = 0;  // number of the cluster's; 0: the oldest
    std::string rule;                // empty: all
    std::string kind;                // as `event` of an answer names it; empty: all
    std::string tenant;              // whose people ask: they are told of its rules; empty: of all
    std::size_t newest = 0;          // of all that there are the last so many; 0: the first
    std::chrono::seconds wait{0};
    std::string wrong;
};

// Cursors are ORIGIN-NUMBER, in a cluster ORIGIN-NUMBER-NUMBER, which means nothing to readers.
bool read_cursor(std::string_view text, AskedEvents& asked) {
    constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
    const auto part = [&]() -> std::optional<std::uint64_t> {
        const std::size_t dash = std::min(text.find('-'), text.size());
        const auto number = number_of(text.substr(0, dash), kMost);
        text.remove_prefix(std::min(dash + 1, text.size()));
        return number;
    };
    const auto origin = part();
    const auto from = part();
    const auto of_cluster = text.empty() ? std::optional<std::uint64_t>{0} : part();
    if (!origin || !from || !of_cluster || !text.empty()) {
        return false;
    }
    asked.request.origin = *origin;
    asked.request.from = *from;
    asked.cluster_from = *of_cluster;
    return true;
}

// Kinds as answers have them: both edges of a ban are one.
bool is_event_kind(std::string_view kind) {
    return kind == "ban" ||
           std::ranges::find(kClusterEvents, kind, &ClusterEventRow::name) !=
               kClusterEvents.end() ||
           (!kind.starts_with("ban_") &&
            std::ranges::find(kKeyEventKindNames, kind) != std::ranges::end(kKeyEventKindNames));
}

AskedEvents read(const HttpRequest& request) {
    AskedEvents asked;
    asked.rule = argument(request, "rule", "");
    asked.kind = argument(request, "kind", "");
    asked.tenant = request.tenant;
    if (!asked.kind.empty() && !is_event_kind(asked.kind)) {
        asked.wrong = "there is no kind of event " + visible_line(asked.kind) +
                      "; `event` of an answer says which there are";
    }
    const auto newest = number_of(argument(request, "newest", "0"), kMostEvents);
    if (!newest) {
        asked.wrong = fmt::format("`newest` is a number of events up to {}", kMostEvents);
    }
    asked.newest = newest.value_or(0);
    const std::string from = argument(request, "from", "");
    if (!from.empty() && !read_cursor(from, asked)) {
        asked.wrong = "`from` is what `next` of an earlier answer said";
    }
    const auto wait = number_of(argument(request, "wait", "0"), kLongestWait);
    if (!wait) {
        asked.wrong = fmt::format("`wait` is a number of seconds up to {}", kLongestWait);
    }
    asked.wait = std::chrono::seconds{wait.value_or(0)};
    return asked;
}

// Not told of a rule's key.
bool concerns_everybody(const KeyEvent& event) {
    return event.kind == KeyEventKind::Lost || event.kind == KeyEventKind::Bridged ||
           event.kind == KeyEventKind::ChecksumsTrusted ||
           (event.kind == KeyEventKind::DebtsForgiven && event.rule.empty());
}

// Reads on from where it is; what other rules tell is passed over.
class EventReader {
public:
    // `log`: of the cluster; nullptr: there is none, or it is nothing to whoever asks.
    EventReader(AskedEvents& asked, DataplaneLink& link, const ClusterLog* log)
        : asked_{asked}, link_{link}, log_{log} {}

    // One answer of the dataplane. Whether there may be more at once; or why there is none.
    Result<bool> read() {
        const Result<Events> found = ask_for<Events>(link_, asked_.request);
        if (!found) {
            return found.error();
        }
        asked_.request.origin = found->origin;
        asked_.request.from = found->next;
        missed_ += found->missed;
        for (const KeyEvent& event : found->events) {
            if (is_wanted(event)) {
                add(event_json(event));
            }
            latest_ = event.utc_ns;
        }
        return !found->events.empty() && (asked_.newest != 0 || events_.size() < kMostEvents);
    }
    // Events of the cluster, by their time among the others. `is_end`: the dataplane has no more;
    // else those that are later than its last wait for the next answer.
    void read_cluster(bool is_end) {
        if (log_ == nullptr || !asked_.rule.empty()) {
            return;
        }
        const ClusterLog::Slice found = log_->read(asked_.cluster_from);
        missed_ += found.missed;
        asked_.cluster_from = found.next;
        for (const ClusterEvent& event : found.events) {
            if (!is_end && event.utc_ns > latest_) {
                asked_.cluster_from = event.number;
                break;
            }
            keep(event_json(event));  // they have their places among the others first
        }
        if (!found.events.empty()) {
            std::stable_sort(events_.begin(), events_.end(), [](const Json& a, const Json& b) {
                return a.at("time").get_ref<const std::string&>() <
                       b.at("time").get_ref<const std::string&>();
            });
        }
    }
    // How many were missed; of all rules', and so somebody of a tenant is told that there were.
    [[nodiscard]] std::uint64_t missed() const {
        return asked_.tenant.empty() ? missed_ : std::min<std::uint64_t>(missed_, 1);
    }
    [[nodiscard]] bool found_any() const { return !events_.empty() || missed_ != 0; }
    [[nodiscard]] auto& waiting() const {
        return asked_.tenant.empty() ? waiting_places : tenant_waiting_places;
    }
    [[nodiscard]] HttpResponse answer() {
        leave_newest();
        return json_response(
            {{"next", next_cursor()}, {"missed", missed()}, {"events", std::move(events_)}});
    }

private:
    [[nodiscard]] std::string next_cursor() const {
        std::string cursor = fmt::format("{}-{}", asked_.request.origin, asked_.request.from);
        return log_ == nullptr ? cursor : fmt::format("{}-{}", cursor, asked_.cluster_from);
    }
    [[nodiscard]] bool is_wanted(const KeyEvent& event) const {
        if (!asked_.tenant.empty() && tenant_of(event.rule) != asked_.tenant) {
            return false;
        }
        return asked_.rule.empty() || event.rule == asked_.rule || concerns_everybody(event);
    }
    void keep(Json event) {
        if (asked_.kind.empty() || event["event"].get_ref<const std::string&>() == asked_.kind) {
            events_.push_back(std::move(event));
        }
    }
    void add(Json event) {
        keep(std::move(event));
        // Half of them go at once, so that each is moved a few times at most.
        if (asked_.newest != 0 && events_.size() >= 2 * asked_.newest) {
            leave_newest();
        }
    }
    void leave_newest() {
        if (asked_.newest != 0 && events_.size() > asked_.newest) {
            events_.erase(events_.begin(),
                          events_.end() - static_cast<std::ptrdiff_t>(asked_.newest));
        }
    }

    AskedEvents& asked_;
    DataplaneLink& link_;
    const ClusterLog* log_;
    Json events_ = Json::array();
    std::int64_t latest_ = 0;  // of the dataplane's
    std::uint64_t missed_ = 0;
};

// Reads all that there is now.
Result<Done> read_all(EventReader& reader) {
    Result<bool> more = true;
    for (int reads = 0; more && *more && reads < kMostReads; ++reads) {
        more = reader.read();
    }
    if (!more) {
        return more.error();
    }
    reader.read_cluster(!*more);
    return Done{};
}

// Until there is something, where a place to wait is free; else what there is now.
Result<Done> read_waiting(EventReader& reader, std::chrono::seconds wait) {
    const auto deadline = std::chrono::steady_clock::now() + wait;
    Result<Done> read = read_all(reader);
    if (!read || reader.found_any() || wait.count() == 0 || !reader.waiting().try_acquire()) {
        return read;
    }
    while (read && !reader.found_any() && std::chrono::steady_clock::now() < deadline &&
           !compile_stop().stop_requested()) {
        std::this_thread::sleep_for(kLookAgain);
        read = read_all(reader);
    }
    reader.waiting().release();
    return read;
}

}  // namespace

HttpResponse get_events(const HttpRequest& request, Services& services) {
    AskedEvents asked = read(request);
    if (!asked.wrong.empty()) {
        return bad_request(asked.wrong);
    }
    const bool is_told = services.cluster != nullptr && asked.tenant.empty();
    EventReader reader{asked, services.link, is_told ? &services.cluster->log() : nullptr};
    if (const Result<Done> read = read_waiting(reader, asked.wait); !read) {
        return no_dataplane(read.error());
    }
    return reader.answer();
}

}  // namespace sluice
