#include "lib/wire/bytes_io.hpp"

namespace sluice {

void Writer::raw(ByteView bytes) {
    if (!bytes.empty()) {
        const std::size_t before = out_.size();
        out_.resize(before + bytes.size());
        std::memcpy(out_.data() + before, bytes.data(), bytes.size());
    }
}

}  // namespace sluice
