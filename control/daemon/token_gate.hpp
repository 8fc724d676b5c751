#pragma once
#include "control/daemon/refusal_pace.hpp"
#include "control/daemon/request_class.hpp"
#include "control/daemon/secret_file.hpp"
#include "lib/base/result.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

// The gate for those who say the token by TCP. Comparing takes as long for a wrong one as for the
// right one, wherever they differ.
class TokenGate {
public:
    using Clock = RefusalPace::Clock;
    static constexpr std::size_t kLongest = kLongestSecret;

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
    [[nodiscard]] RefusalPace& pace() noexcept { return pace_; }

private:
    std::array<char, kLongest> token_{};  // behind its end, zeroes
    RefusalPace pace_;
};

// The class by class_of(), where nobody without the token takes a place from those who say it.
[[nodiscard]] std::optional<RequestClass> class_by_token(std::string_view bytes,
                                                         const TokenGate& gate) noexcept;

}  // namespace sluice
