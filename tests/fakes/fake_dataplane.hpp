#pragma once
#include "lib/wire/fd.hpp"
#include "lib/wire/frame_buffer.hpp"
#include "lib/wire/message.hpp"
#include "tests/fakes/fake_preview.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace sluice {

// Answers on a dataplane's socket as one would, without ports or packets, in a thread of its own.
class FakeDataplane {
public:
    // `asked` hears of every request, in a word.
    using Asked = std::function<void(const std::string& request)>;
    explicit FakeDataplane(std::string path, Asked asked = {});
    ~FakeDataplane();
    FakeDataplane(const FakeDataplane&) = delete;
    FakeDataplane& operator=(const FakeDataplane&) = delete;

    // Rules that it runs from the start.
    void run(const ApplyRules& rules);
    // From now on rules are refused for this reason; "": taken again.
    void refuse(const std::string& why);
    // From now on nothing is answered.
    void hang(bool hangs);
    // From now on it counts so many packets a second, by a clock of its own that has just begun:
    // all at its first worker and port; a quarter of them exceeds each rule.
    void count(std::uint64_t packets_per_second);
    // From now on it is in a cluster, whose store answers.
    void join_cluster();
    // Questions about packets wait, and all that comes behind them, until it is told otherwise.
    void hold_packets(bool holds);
    // Keys in the penalty box of each rule that bans, from 10.0.0.1 on, of which the second has no
    // name; one, unless it is told.
    void ban_keys(std::uint64_t count);
    // From now on it says that it applied another generation.
    void misunderstand(bool misunderstands);

    [[nodiscard]] ApplyRules running();
    // What it would start with again.
    [[nodiscard]] ApplyRules kept();
    [[nodiscard]] std::size_t times_applied();

    // What it counts: the same each time, so that tests know the numbers.
    [[nodiscard]] static Stats stats_of(const ApplyRules& running, bool panic);

private:
    struct Client {
        Fd fd;
        FrameBuffer in;
    };
    void serve();
    void accept_client();
    void receive(Client& client);
    [[nodiscard]] Reply answer(const Request& request);
    [[nodiscard]] Reply apply(const ApplyRules& request, bool keep);
    [[nodiscard]] Reply keep(const KeepRules& request);
    [[nodiscard]] bool hangs();
    void grow(Stats& stats) const;

    std::string path_;
    Asked asked_;
    Fd listener_;
    Fd stop_in_;
    Fd stop_out_;
    std::vector<Client> clients_;

    std::mutex mutex_;  // of what stands below
    ApplyRules running_;
    ApplyRules kept_;
    std::size_t times_applied_ = 0;
    bool panic_ = false;
    bool hangs_ = false;
    bool misunderstands_ = false;
    bool holds_packets_ = false;
    FakePreview preview_;
    std::uint64_t banned_keys_ = 1;
    bool is_in_cluster_ = false;
    std::uint64_t packets_per_second_ = 0;
    std::chrono::steady_clock::time_point counts_since_{};
    std::condition_variable let_go_;
    std::string refusal_;

    std::thread thread_;
};

}  // namespace sluice
