#pragma once
#include "lib/base/result.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>

namespace sluice {

// Who says the token may speak by TCP. What is compared takes as long for a wrong one as for the
// right one, wherever they differ.
class TokenGate {
public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::size_t kShortest = 16;  // bytes, of printable ASCII without a space
    static constexpr std::size_t kLongest = 512;
    // Refusals that are answered and recorded: others are only counted.
    static constexpr unsigned kRefusalsAtOnce = 20;
    static constexpr std::chrono::milliseconds kRefusalEvery{200};

    // From a file that belongs to root or to who runs this, that others may not read and only its
    // owner may write.
    [[nodiscard]] static Result<TokenGate> open(const std::string& path);
    explicit TokenGate(std::string_view token);
    TokenGate(TokenGate&& other) noexcept : token_{other.token_} {}
    TokenGate(const TokenGate&) = delete;
    TokenGate& operator=(const TokenGate&) = delete;
    TokenGate& operator=(TokenGate&&) = delete;
    ~TokenGate() = default;

    // The value of an Authorization header: `Bearer TOKEN`.
    [[nodiscard]] bool admits(std::string_view authorization) const noexcept;
    // Whether this refusal is one of those that are answered.
    [[nodiscard]] bool answers_refusal(Clock::time_point now);

private:
    std::array<char, kLongest> token_{};  // behind its end, zeroes
    std::mutex mutex_;
    unsigned spent_ = 0;  // of kRefusalsAtOnce
    Clock::time_point counted_to_{};
};

}  // namespace sluice
