#include "lib/policy/texts/pattern_news.hpp"

#include <cstring>

namespace sluice {
namespace {

// A header whose bytes are values of their types: a bool or an enum of others has no meaning.
std::optional<NewsHeader> next_header(ByteView& news, std::size_t patterns) {
    if (news.size() < sizeof(NewsHeader)) {
        return std::nullopt;
    }
    const auto what = static_cast<std::uint8_t>(news[offsetof(NewsHeader, news)]);
    const auto has = static_cast<std::uint8_t>(news[offsetof(NewsHeader, has_pattern)]);
    if (what > static_cast<std::uint8_t>(News::Cost) || has > 1) {
        return std::nullopt;
    }
    NewsHeader header;
    std::memcpy(&header, news.data(), sizeof(header));
    news = news.subspan(sizeof(header));
    const bool is_known = !header.has_pattern || header.pattern < patterns;
    return is_known ? std::optional{header} : std::nullopt;
}

std::optional<std::uint32_t> pattern_of(const NewsHeader& header) {
    return header.has_pattern ? std::optional{header.pattern} : std::nullopt;
}

std::optional<std::uint64_t> cost_in(ByteView news, std::size_t patterns) {
    const std::optional<NewsHeader> header = next_header(news, patterns);
    return header && header->news == News::Cost ? std::optional{header->size} : std::nullopt;
}

}  // namespace

PatternNews read_pattern_news(ByteView news, std::size_t patterns) {
    Unfinished last;
    while (const std::optional<NewsHeader> header = next_header(news, patterns)) {
        switch (header->news) {
            case News::Pattern:
            case News::All:
                last.pattern = pattern_of(*header);
                continue;
            case News::Cost:  // of no database
                return last;
            case News::Database:
            case News::Refusal:
                break;
        }
        if (news.size() < header->size) {
            break;
        }
        const ByteView bytes = news.first(header->size);
        if (header->news == News::Database) {
            return MadeDatabase{{bytes.begin(), bytes.end()},
                                cost_in(news.subspan(bytes.size()), patterns)};
        }
        return RefusedPattern{{reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                              pattern_of(*header)};
    }
    return last;
}

}  // namespace sluice
