#include "lib/l7/http1/body_watch.hpp"

#include "lib/l7/http1/byte_classes.hpp"

namespace sluice {
namespace {

bool is_watched_space(std::byte byte) noexcept {
    return http1::is(byte, http1::kLineSpace) || byte == http1::kLf ||
           http1::is(byte, http1::kHighSpace);
}

}  // namespace

BodyWatch::Look BodyWatch::look_at(ByteView data) noexcept {
    for (std::size_t at = 0; at < data.size() && looks(); ++at) {
        const bool is_space = is_watched_space(data[at]);
        if (!is_space || looks_ > kMostSpace) {
            looks_ = 0;
            return {at + 1, is_space || http1::is(data[at], http1::kToken)};
        }
        ++looks_;
    }
    return {looks() ? data.size() : 0, false};
}

}  // namespace sluice
