#include "lib/l7/http1/body_scanner.hpp"

#include <algorithm>

namespace sluice {

std::size_t BodyScanner::feed(ByteView bytes, HeadShapes& shapes) noexcept {
    switch (kind_) {
        case BodyFraming::Kind::Length: {
            const auto step = std::min<std::uint64_t>(left_, bytes.size());
            left_ -= step;
            return step;
        }
        case BodyFraming::Kind::Chunked:
            return chunks_.feed(bytes, shapes);
        case BodyFraming::Kind::UntilClose:
            return bytes.size();
        default:
            return 0;
    }
}

bool BodyScanner::skip(std::uint64_t bytes) noexcept {
    switch (kind_) {
        case BodyFraming::Kind::Chunked:
            return chunks_.skip(bytes);
        case BodyFraming::Kind::UntilClose:
            return true;
        default:
            is_broken_ = is_broken_ || bytes > left_;
            left_ -= std::min(left_, bytes);
            return !is_broken_;
    }
}

bool BodyScanner::is_done() const noexcept {
    switch (kind_) {
        case BodyFraming::Kind::Chunked:
            return chunks_.is_done();
        case BodyFraming::Kind::UntilClose:
            return false;
        default:
            return left_ == 0 && !is_broken_;
    }
}

}  // namespace sluice
