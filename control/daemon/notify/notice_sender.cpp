#include "control/daemon/notify/notice_sender.hpp"

#include "control/daemon/secret_file.hpp"
#include "control/text_file.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <string_view>
#include <utility>

#include <unistd.h>

namespace sluice {
namespace {

constexpr std::chrono::milliseconds kLongestPause{1'000};
constexpr std::chrono::milliseconds kTestPatience{2 * WebhookCall::kWholeMs + 1'000};
constexpr const char* kNoAnswerAtEnd = "sluiced is ending, and waits for no answer";

WebhookCall::Result untried(std::string why) {
    return {DeliveryQueue::Outcome::TryAgain, 0, std::move(why)};
}

std::string host_name() {
    std::array<char, 256> name{};
    return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

// OpenSSL takes certificates, X509 CERTIFICATEs and TRUSTED CERTIFICATEs.
constexpr std::string_view kCertificate = "CERTIFICATE-----";

Result<Done> check_certificate(const Webhook& webhook) {
    if (webhook.ca_file.empty()) {
        return Done{};
    }
    const std::string owner = "the ca_file of the webhook `" + webhook.name + "`: ";
    const Result<std::string> text = read_text_file(webhook.ca_file);
    if (!text) {
        return Error{text.error().code, owner + text.error().what};
    }
    if (text->find(kCertificate) == std::string::npos) {
        return Error{Errc::BadSyntax,
                     owner + webhook.ca_file + " has no certificate in the form of PEM"};
    }
    return Done{};
}

}  // namespace

Result<std::vector<WebhookTarget>> open_webhooks(const std::vector<Webhook>& webhooks) {
    std::vector<WebhookTarget> targets;
    for (const Webhook& webhook : webhooks) {
        const std::string owner = "the secret of the webhook `" + webhook.name + "`";
        Result<std::string> secret = read_secret_file(webhook.secret_file, {owner, "secret"});
        if (!secret) {
            return secret.error();
        }
        targets.push_back({webhook, *std::move(secret)});
    }
    if (!targets.empty() && curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        return Error{Errc::TooMany, "libcurl cannot be used for notices"};
    }
    return targets;
}

Result<Done> check_certificates(const std::vector<WebhookTarget>& targets) {
    for (const WebhookTarget& target : targets) {
        if (Result<Done> done = check_certificate(target.webhook); !done) {
            return done;
        }
    }
    return Done{};
}

NoticeSender::NoticeSender(std::vector<WebhookTarget> targets, std::chrono::milliseconds last_tries)
    : last_tries_{last_tries},
      host_{host_name()},
      start_{
          static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count())} {
    for (WebhookTarget& target : targets) {
        lanes_.push_back({.target = std::move(target),
                          .queue = {},
                          .problem = {},
                          .call = nullptr,
                          .under_way = {}});
    }
    if (!lanes_.empty()) {
        multi_ = curl_multi_init();
        thread_ = std::thread{[this] { run(); }};
    }
}

NoticeSender::~NoticeSender() {
    if (lanes_.empty()) {
        return;
    }
    {
        const std::lock_guard lock{mutex_};
        end_ = Clock::now() + last_tries_;
    }
    curl_multi_wakeup(multi_);
    thread_.join();
    curl_multi_cleanup(multi_);
    for (const Lane& lane : lanes_) {
        if (lane.queue.size() != 0) {
            spdlog::warn("the webhook {} was not told of {} notices, which are lost",
                         lane.target.webhook.name, lane.queue.size());
        }
    }
}

void NoticeSender::post(const Notice& notice) {
    const std::lock_guard lock{mutex_};
    Lane* const lane = lane_called(notice.to);
    if (lane == nullptr) {
        ++strangers_;
        if (strangers_of_.size() < kMostStrangers || strangers_of_.contains(notice.to)) {
            ++strangers_of_[notice.to];
        }
        return;
    }
    std::string id = next_id();
    std::string body = body_of(notice, id, host_);
    lane->queue.push({.id = std::move(id), .body = std::move(body)});
    curl_multi_wakeup(multi_);
}

std::optional<WebhookCall::Result> NoticeSender::test(const std::string& name) {
    std::unique_lock lock{mutex_};
    Lane* const lane = lane_called(name);
    if (lane == nullptr) {
        return std::nullopt;
    }
    if (are_tests_over_) {
        return untried(kNoAnswerAtEnd);
    }
    Tested tested{.id = next_id(), .result = {}};
    tests_.push_back(&tested);
    lane->queue.push({.id = tested.id,
                      .body = body_of({.kind = NoticeKind::Test, .to = name}, tested.id, host_),
                      .once = true});
    curl_multi_wakeup(multi_);
    (void)tested_.wait_for(lock, kTestPatience,
                           [&] { return are_tests_over_ || tested.result.has_value(); });
    std::erase(tests_, &tested);
    if (tested.result) {
        return tested.result;
    }
    return untried(are_tests_over_ ? kNoAnswerAtEnd
                                   : "its turn did not come: others were sent before it");
}

void NoticeSender::end_tests() {
    const std::lock_guard lock{mutex_};
    are_tests_over_ = true;
    tested_.notify_all();
}

std::vector<NoticeSender::State> NoticeSender::states() const {
    const std::lock_guard lock{mutex_};
    std::vector<State> states;
    for (const Lane& lane : lanes_) {
        states.push_back(
            {lane.target.webhook.name, lane.queue.size(), lane.queue.counts(), lane.problem});
    }
    return states;
}

std::uint64_t NoticeSender::strangers() const {
    const std::lock_guard lock{mutex_};
    return strangers_;
}

std::uint64_t NoticeSender::strangers(const std::string& name) const {
    const std::lock_guard lock{mutex_};
    const auto found = strangers_of_.find(name);
    return found == strangers_of_.end() ? 0 : found->second;
}

// Webhooks are those of the start.
bool NoticeSender::has(const std::string& name) const {
    return std::any_of(lanes_.begin(), lanes_.end(),
                       [&](const Lane& lane) { return lane.target.webhook.name == name; });
}

void NoticeSender::run() {
    for (;;) {
        const Clock::time_point now = Clock::now();
        int wait_ms = 0;
        {
            const std::lock_guard lock{mutex_};
            if (may_end(now)) {
                break;
            }
            start_due(now);
            wait_ms = pause(now);
        }
        int running = 0;
        (void)curl_multi_perform(multi_, &running);
        int left = 0;
        bool any = false;
        while (const CURLMsg* const message = curl_multi_info_read(multi_, &left)) {
            finish(message->easy_handle, message->data.result, Clock::now());
            any = true;
        }
        if (!any) {
            (void)curl_multi_poll(multi_, nullptr, 0, wait_ms, nullptr);
        }
    }
    drop_calls();
}

// With the lock held, as are the next two.
void NoticeSender::start_due(Clock::time_point now) {
    for (Lane& lane : lanes_) {
        if (const DeliveryQueue::Waiting* const notice = lane.queue.begin(now)) {
            lane.call = std::make_unique<WebhookCall>(lane.target, *notice, std::time(nullptr));
            lane.under_way = notice->id;
            curl_multi_add_handle(multi_, lane.call->easy());
        }
    }
}

bool NoticeSender::may_end(Clock::time_point now) const {
    const bool is_empty = std::all_of(lanes_.begin(), lanes_.end(),
                                      [](const Lane& lane) { return lane.queue.size() == 0; });
    return end_ && (is_empty || now >= *end_);
}

int NoticeSender::pause(Clock::time_point now) const {
    Clock::time_point next = now + kLongestPause;
    next = end_ ? std::min(next, *end_) : next;
    for (const Lane& lane : lanes_) {
        next = std::min(next, lane.queue.due().value_or(next));
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - now);
    return static_cast<int>(std::max<std::int64_t>(left.count(), 0));
}

void NoticeSender::finish(CURL* easy, int code, Clock::time_point now) {
    const auto lane = std::find_if(lanes_.begin(), lanes_.end(), [&](const Lane& one) {
        return one.call != nullptr && one.call->easy() == easy;
    });
    curl_multi_remove_handle(multi_, easy);
    if (lane == lanes_.end()) {
        return;
    }
    const WebhookCall::Result result = lane->call->result(code);
    lane->call.reset();
    const std::lock_guard lock{mutex_};
    lane->queue.end(result.outcome, now);
    note_problem(*lane, result.problem);
    for (Tested* const tested : tests_) {
        if (tested->id == lane->under_way) {
            tested->result = result;
            tested_.notify_all();
        }
    }
}

// A line of the log for each change, not for each attempt.
void NoticeSender::note_problem(Lane& lane, const std::string& problem) const {
    if (lane.problem == problem) {
        return;
    }
    if (problem.empty()) {
        spdlog::info("the webhook {} takes notices again", lane.target.webhook.name);
    } else {
        spdlog::warn("the webhook {} does not take notices: {}", lane.target.webhook.name, problem);
    }
    lane.problem = problem;
}

void NoticeSender::drop_calls() {
    for (Lane& lane : lanes_) {
        if (lane.call != nullptr) {
            curl_multi_remove_handle(multi_, lane.call->easy());
            lane.call.reset();
        }
    }
}

std::string NoticeSender::next_id() {
    return fmt::format("{:016x}-{}", start_, ++ids_);
}

NoticeSender::Lane* NoticeSender::lane_called(const std::string& name) {
    const auto lane = std::find_if(lanes_.begin(), lanes_.end(), [&](const Lane& one) {
        return one.target.webhook.name == name;
    });
    return lane == lanes_.end() ? nullptr : &*lane;
}

}  // namespace sluice
