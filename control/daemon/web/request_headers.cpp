#include "control/daemon/web/request_headers.hpp"

#include <algorithm>

namespace sluice {
namespace {

char small(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool is_same_name(std::string_view a, std::string_view b) noexcept {
    return std::ranges::equal(a, b, [](char x, char y) { return small(x) == small(y); });
}

}  // namespace

std::string_view RequestHeaders::value(std::string_view name) const noexcept {
    const auto found = std::ranges::find_if(
        all_, [&](const RequestHeader& one) { return is_same_name(one.name, name); });
    return found == all_.end() ? std::string_view{} : found->value;
}

std::size_t RequestHeaders::times(std::string_view name) const noexcept {
    return static_cast<std::size_t>(std::ranges::count_if(
        all_, [&](const RequestHeader& one) { return is_same_name(one.name, name); }));
}

RequestHeaders headers_in(std::string_view bytes) {
    RequestHeaders headers;
    bytes.remove_prefix(std::min(bytes.find('\n'), bytes.size()));  // the first line is none
    while (!bytes.empty()) {
        bytes.remove_prefix(1);
        std::string_view line = bytes.substr(0, bytes.find('\n'));
        bytes.remove_prefix(line.size());
        line = line.substr(0, line.find_last_not_of("\r") + 1);
        if (line.empty()) {
            break;
        }
        const std::size_t colon = line.find(':');
        if (line.front() == ' ' || line.front() == '\t') {
            headers.mark_folded();
        } else if (colon != std::string_view::npos) {
            std::string_view value = line.substr(colon + 1);
            value.remove_prefix(std::min(value.find_first_not_of(" \t"), value.size()));
            headers.add(line.substr(0, colon), value.substr(0, value.find_last_not_of(" \t") + 1));
        }
    }
    return headers;
}

}  // namespace sluice
