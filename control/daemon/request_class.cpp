#include "control/daemon/request_class.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace sluice {
namespace {

struct ClassRow {
    std::string_view method;
    std::string_view path;
    RequestClass found;
};
constexpr auto kClassRows = std::to_array<ClassRow>({
    {"POST", "/v1/panic", RequestClass::Panic},
    {"GET", "/v1/health", RequestClass::Watching},
    {"HEAD", "/v1/health", RequestClass::Watching},
    {"GET", "/v1/metrics", RequestClass::Watching},
    {"HEAD", "/v1/metrics", RequestClass::Watching},
    {"GET", "/v1/live", RequestClass::Live},
    {"HEAD", "/v1/live", RequestClass::Live},
});

char lower(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool starts_as(std::string_view line, std::string_view name) noexcept {
    return line.size() >= name.size() && std::equal(name.begin(), name.end(), line.begin(),
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
            const std::size_t at = line.find_first_not_of(" \t", kLength.size());
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

std::string_view header_in(std::string_view bytes, std::string_view name) noexcept {
    std::string_view head = bytes.substr(0, head_size(bytes));
    while (!head.empty()) {
        std::string_view line = head.substr(0, head.find('\n'));
        head.remove_prefix(std::min(line.size() + 1, head.size()));
        if (starts_as(line, name)) {
            line.remove_prefix(std::min(line.find_first_not_of(" \t", name.size()), line.size()));
            return line.substr(0, line.find_last_not_of(" \t\r") + 1);
        }
    }
    return {};
}

RequestClass class_of(std::string_view method, std::string_view path) noexcept {
    const auto row = std::find_if(kClassRows.begin(), kClassRows.end(), [&](const ClassRow& one) {
        return one.method == method && one.path == path;
    });
    return row == kClassRows.end() ? RequestClass::Ordinary : row->found;
}

bool is_answerable(std::string_view bytes, std::size_t most) noexcept {
    const std::size_t head = head_size(bytes);
    if (head == std::string_view::npos) {
        return false;
    }
    if (!header_in(bytes, "transfer-encoding:").empty()) {
        return true;
    }
    const std::optional<std::size_t> body = body_size(bytes.substr(0, head));
    return body && (*body > most || bytes.size() - head >= *body);
}

std::optional<RequestClass> class_of(std::string_view bytes) noexcept {
    const bool full = bytes.size() >= kMostPeeked;
    const std::size_t head = head_size(bytes);
    if (head == std::string_view::npos) {
        return full ? std::optional{RequestClass::Ordinary} : std::nullopt;
    }
    const std::string_view line = bytes.substr(0, bytes.find_first_of("\r\n"));
    const std::string_view method = line.substr(0, line.find(' '));
    const std::string_view target = line.substr(std::min(method.size() + 1, line.size()));
    const RequestClass found = class_of(method, target.substr(0, target.find_first_of(" ?")));
    const std::optional<std::size_t> body = body_size(bytes.substr(0, head));
    if (found == RequestClass::Ordinary || !body ||
        *body > kMostPeeked - std::min(head, kMostPeeked)) {
        return RequestClass::Ordinary;
    }
    return bytes.size() - head >= *body ? std::optional{found} : std::nullopt;
}

}  // namespace sluice
