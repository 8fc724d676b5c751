#include "control/daemon/live/gzip.hpp"

#include <zlib.h>

namespace sluice {

std::optional<std::string> gzip(std::string_view text) {
    constexpr int kLevel = 3;
    constexpr int kGzip = 15 + 16;  // the largest window, in gzip's own wrapping
    constexpr int kMemory = 8;
    z_stream stream{};
    if (deflateInit2(&stream, kLevel, Z_DEFLATED, kGzip, kMemory, Z_DEFAULT_STRATEGY) != Z_OK) {
        return std::nullopt;
    }
    std::string out(deflateBound(&stream, text.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    const int done = deflate(&stream, Z_FINISH);
    out.resize(stream.total_out);
    (void)deflateEnd(&stream);
    return done == Z_STREAM_END ? std::optional{std::move(out)} : std::nullopt;
}

}  // namespace sluice
