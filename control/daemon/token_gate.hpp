#pragma once
#include "control/daemon/request_class.hpp"
#include "control/daemon/secret_file.hpp"
#include "lib/base/result.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

// The gate for those who say the token by TCP. Comparing takes as long for a wrong one as for the
// right one, wherever they differ.
class TokenGate {
public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::size_t kLongest = kLongestSecret;
    // Refusals that are answered: others are only counted.
    static constexpr unsigned kRefusalsAtOnce = 20;
    static constexpr std::chrono::milliseconds kRefusalEvery{200};
    // Refusals of these that are recorded: so few that strangers push nothing out of the audit.
    static constexpr unsigned kRecordsAtOnce = 5;
    static constexpr std::chrono::minutes kRecordEvery{10};

    // Reads the token from a file that read_secret_file() takes.
    [[nodiscard]] static Result<TokenGate> open(const std::string& path);
    explicit TokenGate(std::string_view token);
    TokenGate(TokenGate&& other) noexcept : token_{other.token_} {}
    TokenGate(const TokenGate&) = delete;
    TokenGate& operator=(const TokenGate&) = delete;
    TokenGate& operator=(TokenGate&&) = delete;
    ~TokenGate() = default;

    // The value of an Authorization header: `Bearer TOKEN`.
    [[nodiscard]] bool admits(std::string_view authorization) const noexcept;
    // True if this refusal is one of those that are answered.
    [[nodiscard]] bool answers_refusal(Clock::time_point now) {
        const std::lock_guard lock{mutex_};
        return answered_.take(now);
    }
    // And of those, one that is recorded.
    [[nodiscard]] bool records_refusal(Clock::time_point now) {
        const std::lock_guard lock{mutex_};
        return recorded_.take(now);
    }

private:
    // So many at once, and one more each `every`.
    struct Pace {
        unsigned at_once;
        Clock::duration every;
        unsigned spent = 0;
        Clock::time_point counted_to{};

        [[nodiscard]] bool take(Clock::time_point now);
    };

    std::array<char, kLongest> token_{};  // behind its end, zeroes
    std::mutex mutex_;
    Pace answered_{kRefusalsAtOnce, kRefusalEvery};
    Pace recorded_{kRecordsAtOnce, kRecordEvery};
};

// The class by class_of(), where nobody without the token takes a place from those who say it.
[[nodiscard]] std::optional<RequestClass> class_by_token(std::string_view bytes,
                                                         const TokenGate& gate) noexcept;

}  // namespace sluice
