#include "lib/l7/stream/recent_bytes.hpp"

#include <cstring>

namespace sluice {

std::uint32_t RecentBytes::put(ByteView bytes) noexcept {
    const std::size_t at = end_ & (size_ - 1);
    if (at + bytes.size() > size_) {
        end_ += static_cast<std::uint32_t>(size_ - at);
    }
    const std::uint32_t place = end_;
    if (!bytes.empty()) {
        std::memcpy(&bytes_[place & (size_ - 1)], bytes.data(), bytes.size());
    }
    end_ += static_cast<std::uint32_t>(bytes.size());
    return place;
}

ByteView RecentBytes::at(std::uint32_t place, std::size_t size) const noexcept {
    const std::uint32_t behind = end_ - place;
    const std::size_t at = place & (size_ - 1);
    const bool is_there = behind >= size && behind <= size_ && at + size <= size_;
    return is_there ? ByteView{&bytes_[at], size} : ByteView{};
}

}  // namespace sluice
