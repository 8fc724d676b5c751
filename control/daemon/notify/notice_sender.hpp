#pragma once
#include "control/daemon/notify/notice.hpp"
#include "control/daemon/notify/webhook_call.hpp"
#include "lib/base/result.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace sluice {

// Reads the secrets of webhooks; to be called while they can be read. Prepares libcurl where there
// are any, and so before there are threads.
[[nodiscard]] Result<std::vector<WebhookTarget>> open_webhooks(
    const std::vector<Webhook>& webhooks);

// Certificates that cannot verify anything would be found out by the first notice that is lost. To
// be called with the rights that notices are sent with: libcurl reads each `ca_file` anew.
[[nodiscard]] Result<Done> check_certificates(const std::vector<WebhookTarget>& targets);

// Sends notices in a thread of its own, which nobody waits for: one call at a time to each webhook,
// all webhooks at once. Without webhooks there is no thread.
class NoticeSender {
public:
    using Clock = std::chrono::steady_clock;
    // Notices that wait at the end are tried for so long; the rest is lost, and said in the log.
    static constexpr std::chrono::seconds kLastTries{2};
    static constexpr std::size_t kMostStrangers = 64;  // names; notices of more count together

    explicit NoticeSender(std::vector<WebhookTarget> targets,
                          std::chrono::milliseconds last_tries = kLastTries);
    NoticeSender(const NoticeSender&) = delete;
    NoticeSender& operator=(const NoticeSender&) = delete;
    NoticeSender(NoticeSender&&) = delete;
    NoticeSender& operator=(NoticeSender&&) = delete;
    ~NoticeSender();

    // To the webhook that it names; where there is none, it is counted.
    void post(const Notice& notice);
    // One attempt with a notice that says nothing, and how it ended; nullopt: there is no such
    // webhook. Waits for no longer than a call and the one before it may take.
    [[nodiscard]] std::optional<WebhookCall::Result> test(const std::string& name);
    // Nobody waits in test() from now on: sluiced's end waits for those who do.
    void end_tests();

    struct State {
        std::string name;
        std::size_t queued = 0;
        DeliveryQueue::Counts counts;
        std::string problem;  // of the last attempt; empty: it was sent, or there was none
    };
    [[nodiscard]] std::vector<State> states() const;
    // Notices for webhooks that there are not: all, and by the name of the webhook.
    [[nodiscard]] std::uint64_t strangers() const;
    [[nodiscard]] std::uint64_t strangers(const std::string& name) const;
    [[nodiscard]] bool has(const std::string& name) const;

private:
    struct Tested {
        std::string id;
        std::optional<WebhookCall::Result> result;
    };
    struct Lane {
        WebhookTarget target;
        DeliveryQueue queue;
        std::string problem;
        std::unique_ptr<WebhookCall> call;  // under way; the thread's alone
        std::string under_way;              // the id of its notice
    };
    void run();
    void start_due(Clock::time_point now);
    void finish(CURL* easy, int code, Clock::time_point now);
    void note_problem(Lane& lane, const std::string& problem) const;
    void drop_calls();
    [[nodiscard]] bool may_end(Clock::time_point now) const;
    [[nodiscard]] int pause(Clock::time_point now) const;
    [[nodiscard]] std::string next_id();
    [[nodiscard]] Lane* lane_called(const std::string& name);

    const std::chrono::milliseconds last_tries_;
    std::string host_;
    std::uint64_t start_;
    std::vector<Lane> lanes_;
    CURLM* multi_ = nullptr;
    mutable std::mutex mutex_;  // of all below, and of the queues
    std::condition_variable tested_;
    std::vector<Tested*> tests_;
    bool are_tests_over_ = false;
    std::uint64_t ids_ = 0;
    std::uint64_t strangers_ = 0;
    std::map<std::string, std::uint64_t> strangers_of_;  // bounded by kMostStrangers
    std::optional<Clock::time_point> end_;               // once the last tries have begun
    std::thread thread_;
};

}  // namespace sluice
