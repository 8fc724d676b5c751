#include "lib/l7/http1/resync.hpp"

#include "lib/l7/http1/byte_blocks.hpp"
#include "lib/l7/http1/head_finder.hpp"

namespace sluice {

RequestStart find_request_start(ByteView bytes, std::size_t from, HeadStance stance) noexcept {
    for (std::size_t at = from; at < bytes.size();) {
        const std::byte first = bytes[at];
        if (first == std::byte{'\r'} || first == std::byte{'\n'}) {
            ++at;
            continue;
        }
        HeadFinder finder{stance};
        const HeadStatus status = finder.find(bytes.subspan(at), kMaxHeadLimit);
        if (finder.has_line() || status == HeadStatus::H2Preface) {
            return {true, at};
        }
        if (status == HeadStatus::NeedMore) {
            return {false, at};
        }
        at = http1::find_byte(bytes, at, '\n');
    }
    return {false, bytes.size()};
}

}  // namespace sluice
