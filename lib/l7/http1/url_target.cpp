#include "lib/l7/http1/url_target.hpp"

#include "lib/l7/http1/byte_classes.hpp"

#include <algorithm>

namespace sluice {
namespace {

bool is_url_slash(std::byte byte) noexcept {
    return byte == http1::kSlash || byte == http1::kBackslash;
}

std::size_t find_slash(ByteView text) noexcept {
    return static_cast<std::size_t>(std::find_if(text.begin(), text.end(), is_url_slash) -
                                    text.begin());
}

// Takes a dot, encoded or not, off the front.
bool take_dot(ByteView& segment) noexcept {
    if (!segment.empty() && segment[0] == http1::kDot) {
        segment = segment.subspan(1);
        return true;
    }
    const bool is_encoded = segment.size() >= 3 && segment[0] == http1::kPercent &&
                            segment[1] == std::byte{'2'} &&
                            http1::to_lower(segment[2]) == std::byte{'e'};
    segment = segment.subspan(is_encoded ? 3 : 0);
    return is_encoded;
}

// 1 and 2 of the segments . and .., 0 of all others.
unsigned dots_of(ByteView segment) noexcept {
    unsigned dots = 0;
    while (take_dot(segment)) {
        ++dots;
    }
    return segment.empty() && dots <= 2 ? dots : 0;
}

}  // namespace

bool begins_network_path(ByteView target) noexcept {
    return target.size() >= 2 && is_url_slash(target[0]) && is_url_slash(target[1]);
}

NetworkPath split_network_path(ByteView target) noexcept {
    if (!begins_network_path(target)) {
        return {{}, target};
    }
    const auto host = std::find_if_not(target.begin(), target.end(), is_url_slash);
    const ByteView rest = target.subspan(static_cast<std::size_t>(host - target.begin()));
    if (rest.empty()) {
        return {{}, target};
    }
    const std::size_t end = find_slash(rest);
    return {rest.first(end), rest.subspan(end)};
}

ByteView without_user(ByteView host) noexcept {
    const auto user = std::find(host.rbegin(), host.rend(), std::byte{'@'});
    return {user.base(), host.end()};
}

ByteView with_slashes(ByteView path, MutableBytes room) noexcept {
    if (room.size() < path.size()) {
        return {};
    }
    std::replace_copy(path.begin(), path.end(), room.begin(), http1::kBackslash, http1::kSlash);
    return room.first(path.size());
}

ByteView url_path(ByteView path, MutableBytes room) noexcept {
    if (room.size() <= path.size()) {
        return {};
    }
    std::size_t size = 0;
    ByteView rest = path.empty() ? path : path.subspan(1);
    for (bool is_last = false; !is_last;) {
        const ByteView segment = rest.first(find_slash(rest));
        is_last = segment.size() == rest.size();
        rest = rest.subspan(segment.size() + (is_last ? 0 : 1));
        const unsigned dots = dots_of(segment);
        if (dots == 2) {
            while (size > 0 && room[--size] != http1::kSlash) {
            }
        }
        if (dots == 0 || is_last) {
            room[size++] = http1::kSlash;
        }
        if (dots == 0) {
            std::copy(segment.begin(), segment.end(), room.begin() + static_cast<long>(size));
            size += segment.size();
        }
    }
    return room.first(size);
}

}  // namespace sluice
