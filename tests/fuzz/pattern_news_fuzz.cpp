#include "lib/policy/texts/pattern_news.hpp"

#include <cstdint>
#include <cstdlib>
#include <span>

using namespace sluice;

// The first byte is how many patterns there are; the rest is what the compiling process wrote. No
// answer names a pattern that is not there, or holds more than came.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const ByteView all = std::as_bytes(std::span{data, size});
    if (all.empty()) {
        return 0;
    }
    const auto patterns = std::to_integer<std::size_t>(all.front());
    const PatternNews news = read_pattern_news(all.subspan(1), patterns);
    const auto* refused = std::get_if<RefusedPattern>(&news);
    const auto* unfinished = std::get_if<Unfinished>(&news);
    const std::optional<std::uint32_t> named = refused      ? refused->pattern
                                               : unfinished ? unfinished->pattern
                                                            : std::nullopt;
    if (named && *named >= patterns) {
        std::abort();
    }
    const auto* made = std::get_if<MadeDatabase>(&news);
    if ((made != nullptr && made->bytes.size() > size) ||
        (refused != nullptr && refused->what.size() > size)) {
        std::abort();
    }
    return 0;
}
