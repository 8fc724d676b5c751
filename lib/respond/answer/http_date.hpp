#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice {

inline constexpr std::size_t kHttpDateSize = 29;

// The text of an instant as HTTP writes it (IMF-fixdate, RFC 9110, 5.6.7), kept until another
// second is asked for: under a flood of answers it is made once a second.
class HttpDate {
public:
    // The text of so many seconds since 1970-01-01T00:00:00Z. Good until the next call.
    [[nodiscard]] std::string_view at(std::uint32_t second) noexcept {
        if (second != second_) [[unlikely]] {
            write(second);
        }
        return {text_.data(), text_.size()};
    }

private:
    void write(std::uint32_t second) noexcept;

    std::uint32_t second_ = 0;
    std::array<char, kHttpDateSize> text_ = [] {
        std::array<char, kHttpDateSize> text{};
        std::string_view{"Thu, 01 Jan 1970 00:00:00 GMT"}.copy(text.data(), text.size());
        return text;
    }();
};

}  // namespace sluice
