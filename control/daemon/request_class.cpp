#include "control/daemon/request_class.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace sluice {
namespace {

struct ClassRow {
    std::string_view start;  // of the request line; the path ends behind it
    RequestClass found;
};
constexpr auto kClassRows = std::to_array<ClassRow>({
    {"POST /v1/panic", RequestClass::Panic},
    {"GET /v1/health", RequestClass::Watching},
    {"HEAD /v1/health", RequestClass::Watching},
    {"GET /v1/metrics", RequestClass::Watching},
    {"HEAD /v1/metrics", RequestClass::Watching},
});

char lower(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool starts_as(std::string_view line, std::string_view name) noexcept {
    return line.size() >= name.size() &&
           std::equal(name.begin(), name.end(), line.begin(),
                      [](char a, char b) { return a == lower(b); });
}

// How many bytes follow the head. nullopt: the head does not say it in a number.
std::optional<std::size_t> body_size(std::string_view head) noexcept {
    constexpr std::string_view kLength = "content-length:";
    std::size_t size = 0;
    while (!head.empty()) {
        const std::string_view line = head.substr(0, head.find('\n'));
        head.remove_prefix(std::min(line.size() + 1, head.size()));
        if (starts_as(line, "transfer-encoding:")) {
            return std::nullopt;
        }
        if (starts_as(line, kLength)) {
            const std::size_t at = line.find_first_not_of(' ', kLength.size());
            const char* first = line.data() + std::min(at, line.size());
            if (std::from_chars(first, line.data() + line.size(), size).ec != std::errc{}) {
                return std::nullopt;
            }
        }
    }
    return size;
}

// The size of the head with the empty line that ends it; npos: it is not whole.
std::size_t head_size(std::string_view bytes) noexcept {
    const std::size_t strict = bytes.find("\r\n\r\n");
    const std::size_t lax = bytes.find("\n\n");
    return std::min(strict == std::string_view::npos ? strict : strict + 4,
                    lax == std::string_view::npos ? lax : lax + 2);
}

}  // namespace

std::optional<RequestClass> class_of(std::string_view bytes) noexcept {
    const bool full = bytes.size() >= kMostPeeked;
    const std::size_t head = head_size(bytes);
    if (head == std::string_view::npos) {
        return full ? std::optional{RequestClass::Ordinary} : std::nullopt;
    }
    const auto row = std::find_if(kClassRows.begin(), kClassRows.end(), [&](const ClassRow& one) {
        const char next = bytes.size() > one.start.size() ? bytes[one.start.size()] : '\0';
        return bytes.starts_with(one.start) && (next == ' ' || next == '?');
    });
    const std::optional<std::size_t> body = body_size(bytes.substr(0, head));
    if (row == kClassRows.end() || !body || *body > kMostPeeked - std::min(head, kMostPeeked)) {
        return RequestClass::Ordinary;
    }
    return bytes.size() - head >= *body ? std::optional{row->found} : std::nullopt;
}

}  // namespace sluice
