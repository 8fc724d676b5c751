#include "lib/l7/stream/held_bytes.hpp"

#include "lib/l7/stream/connection_budget.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace sluice {

namespace {

bool is_word_byte(std::byte byte) noexcept {
    constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
    const auto letter = static_cast<char>(byte);
    return (letter >= '0' && letter <= '9') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= 'a' && letter <= 'z') || kOthers.find(letter) != std::string_view::npos;
}
bool is_blank_byte(std::byte byte) noexcept {
    return byte == std::byte{' '} || byte == std::byte{'\t'};
}

}  // namespace

std::uint8_t LineTail::of(ByteView line) noexcept {
    const auto behind = std::ranges::find_if_not(line, is_word_byte);
    if (behind == line.end()) {
        return kWord;
    }
    return behind != line.begin() && std::all_of(behind, line.end(), is_blank_byte) ? kBlank : kAny;
}

bool LineTail::is_news(std::uint8_t tail, ByteView fresh) noexcept {
    return !(tail == kWord && std::ranges::all_of(fresh, is_word_byte)) &&
           !(tail == kBlank && std::ranges::all_of(fresh, is_blank_byte));
}

std::uint8_t LineEnds::scan(std::uint8_t ends, ByteView bytes) noexcept {
    constexpr unsigned kLast = kAfterFeed | kAfterReturn;
    unsigned state = ends;
    std::size_t at = 0;
    while ((state & kText) == 0 && at < bytes.size()) {
        if (bytes[at] == std::byte{'\n'} || bytes[at] == std::byte{'\r'}) {
            ++at;
        } else {
            state |= kText;
        }
    }
    for (; at < bytes.size(); ++at) {
        if ((state & kLast) == 0) {
            const void* feed = std::memchr(&bytes[at], '\n', bytes.size() - at);
            if (feed == nullptr) {
                break;
            }
            at = static_cast<std::size_t>(static_cast<const std::byte*>(feed) - bytes.data());
        }
        if (bytes[at] == std::byte{'\n'}) {
            state = (state & ~kLast) | ((state & kLast) != 0 ? kBlank : 0U) | kAfterFeed | kLine;
        } else {
            const bool returns = bytes[at] == std::byte{'\r'} && (state & kAfterFeed) != 0;
            state = (state & ~kLast) | (returns ? kAfterReturn : 0U);
        }
    }
    return static_cast<std::uint8_t>(state);
}

std::uint8_t CarriageReturns::scan(std::uint8_t returns, ByteView bytes) noexcept {
    std::size_t at = 0;
    while (at < bytes.size()) {
        const bool is_bare = (returns & kAfter) != 0 && bytes[at] != std::byte{'\n'};
        returns = static_cast<std::uint8_t>((returns & ~kAfter) | (is_bare ? kBare : 0));
        const void* const next = std::memchr(&bytes[at], '\r', bytes.size() - at);
        if (next == nullptr) {
            break;
        }
        at = static_cast<std::size_t>(static_cast<const std::byte*>(next) - bytes.data()) + 1;
        returns |= kAfter;
    }
    return returns;
}

// How many gaps of [at, end) would begin a piece of their own.
std::size_t HeldBytes::new_pieces(std::size_t at, std::size_t end) const noexcept {
    std::size_t made = 0;
    std::size_t from = at;
    bool behind_piece = false;
    for (std::size_t i = 0; i < head_.count && from < end; ++i) {
        const HeldPiece& piece = head_.pieces[i];
        if (piece.end() < from) {
            continue;
        }
        if (piece.at > from) {
            made += behind_piece ? 0 : 1;
            if (piece.at > end) {
                return made;
            }
        }
        behind_piece = true;
        from = std::max(from, piece.end());
    }
    return made + (from < end && !behind_piece ? 1 : 0);
}

Holding HeldBytes::hold(std::size_t at, ByteView bytes) noexcept {
    const std::size_t end = at + bytes.size();
    // One place is kept for the piece in order.
    const std::size_t most = HeldHead::kPieces - (at == 0 || head_.in_order() != 0 ? 0U : 1U);
    if (head_.count + new_pieces(at, end) > most) {
        return Holding::TooManyPieces;
    }
    std::size_t from = at;
    std::size_t piece = 0;
    while (from < end) {
        while (piece < head_.count && head_.pieces[piece].end() <= from) {
            ++piece;
        }
        if (piece < head_.count && head_.pieces[piece].at <= from) {
            from = head_.pieces[piece].end();
            continue;
        }
        const std::size_t stop =
            piece < head_.count ? std::min<std::size_t>(end, head_.pieces[piece].at) : end;
        if (!fill(piece, from, bytes.subspan(from - at, stop - from))) {
            return Holding::NoLines;
        }
        piece = 0;
        from = stop;
    }
    return Holding::Held;
}

// The bytes of a gap before `piece`: they go on the one that ends there, or are one.
bool HeldBytes::fill(std::size_t piece, std::size_t at, ByteView bytes) noexcept {
    const bool goes_on = piece != 0 && head_.pieces[piece - 1].end() == at;
    const std::size_t grown = goes_on ? piece - 1 : piece;
    if (!goes_on) {
        const auto begin = head_.pieces.begin();
        std::copy_backward(begin + static_cast<std::ptrdiff_t>(piece), begin + head_.count,
                           begin + head_.count + 1);
        head_.pieces[piece] = {.at = static_cast<std::uint16_t>(at)};
        ++head_.count;
    }
    const bool whole = append(head_.pieces[grown], bytes);
    if (head_.pieces[grown].size == 0) {
        erase(grown);
        return false;
    }
    if (grown + 1 < head_.count && head_.pieces[grown].end() == head_.pieces[grown + 1].at) {
        absorb_next(grown);
    }
    return whole;
}

bool HeldBytes::append(HeldPiece& piece, ByteView bytes) noexcept {
    while (!bytes.empty()) {
        if (piece.last == kNoLine || pool_.at<Line>(piece.last).end == kPayload) {
            const PoolLine line = pool_.take();
            if (line == kNoLine) {
                return false;
            }
            (piece.last == kNoLine ? piece.first : pool_.at<Line>(piece.last).next) = line;
            piece.last = line;
        }
        Line& line = pool_.at<Line>(piece.last);
        const std::size_t fits = std::min(bytes.size(), kPayload - line.end);
        std::memcpy(&line.bytes[line.end], bytes.data(), fits);
        line.end = static_cast<std::uint8_t>(line.end + fits);
        if (piece.at == 0) {
            head_.line_end = LineEnds::scan(head_.line_end, bytes.first(fits));
            head_.returns = CarriageReturns::scan(head_.returns, bytes.first(fits));
        }
        piece.size = static_cast<std::uint16_t>(piece.size + fits);
        bytes = bytes.subspan(fits);
    }
    return true;
}

// Line by line, each given back before its bytes find another: there is always room.
void HeldBytes::absorb_next(std::size_t piece) noexcept {
    HeldPiece& next = head_.pieces[piece + 1];
    while (next.first != kNoLine) {
        const Line line = pool_.at<Line>(next.first);
        pool_.give_back(next.first);
        next.first = line.next;
        (void)append(head_.pieces[piece],
                     ByteView{line.bytes}.subspan(line.begin, std::size_t{line.end} - line.begin));
    }
    erase(piece + 1);
}

void HeldBytes::erase(std::size_t piece) noexcept {
    const auto begin = head_.pieces.begin();
    std::copy(begin + static_cast<std::ptrdiff_t>(piece) + 1, begin + head_.count,
              begin + static_cast<std::ptrdiff_t>(piece));
    --head_.count;
}

bool HeldBytes::differs(std::size_t at, ByteView bytes) const noexcept {
    const std::size_t end = at + bytes.size();
    for (std::size_t i = 0; i < head_.count; ++i) {
        const HeldPiece& piece = head_.pieces[i];
        if (piece.end() <= at || piece.at >= end) {
            continue;
        }
        std::size_t here = piece.at;
        for (PoolLine next = piece.first; next != kNoLine;) {
            const Line& line = pool_.at<Line>(next);
            const std::size_t size = std::size_t{line.end} - line.begin;
            const std::size_t left = std::max(here, at);
            const std::size_t right = std::min(here + size, end);
            if (left < right && std::memcmp(&line.bytes[line.begin + left - here],
                                            &bytes[left - at], right - left) != 0) {
                return true;
            }
            here += size;
            next = line.next;
        }
    }
    return false;
}

std::size_t HeldBytes::copy(MutableBytes into) const noexcept {
    std::size_t done = 0;
    if (head_.in_order() == 0) {
        return done;
    }
    for (PoolLine next = head_.pieces[0].first; next != kNoLine;) {
        const Line& line = pool_.at<Line>(next);
        const std::size_t fits =
            std::min<std::size_t>(into.size() - done, std::size_t{line.end} - line.begin);
        std::copy_n(&line.bytes[line.begin], fits, into.data() + done);
        done += fits;
        next = line.next;
    }
    return done;
}

void HeldBytes::drop_front(std::size_t bytes) noexcept {
    while (head_.count != 0 && head_.pieces[0].end() <= bytes) {
        give_back(head_.pieces[0]);
        erase(0);
    }
    if (head_.count != 0 && head_.pieces[0].at < bytes) {
        HeldPiece& piece = head_.pieces[0];
        std::size_t left = bytes - piece.at;
        while (left != 0) {
            Line& line = pool_.at<Line>(piece.first);
            const std::size_t size = std::size_t{line.end} - line.begin;
            const std::size_t cut = std::min(left, size);
            line.begin = static_cast<std::uint8_t>(line.begin + cut);
            left -= cut;
            if (cut == size) {
                const PoolLine next = line.next;
                pool_.give_back(piece.first);
                piece.first = next;
            }
        }
        piece.size = static_cast<std::uint16_t>(piece.end() - bytes);
        piece.at = static_cast<std::uint16_t>(bytes);
    }
    for (std::size_t i = 0; i < head_.count; ++i) {
        head_.pieces[i].at = static_cast<std::uint16_t>(head_.pieces[i].at - bytes);
    }
}

void HeldBytes::give_back(HeldPiece& piece) noexcept {
    while (piece.first != kNoLine) {
        const PoolLine next = pool_.at<Line>(piece.first).next;
        pool_.give_back(piece.first);
        piece.first = next;
    }
    piece.last = kNoLine;
}

// Adds the piece's lines to `lines`.
bool HeldBytes::is_whole(const LinePool& pool, const HeldPiece& piece,
                         const std::vector<bool>& used, std::vector<PoolLine>& lines) {
    std::size_t size = 0;
    for (PoolLine next = piece.first; next != kNoLine;) {
        const bool is_mine = next < used.size() && !used[next] &&
                             std::find(lines.begin(), lines.end(), next) == lines.end();
        if (!is_mine) {
            return false;
        }
        lines.push_back(next);
        const Line& line = pool.at<Line>(next);
        const bool is_last = next == piece.last;
        if (line.begin >= line.end || line.end > kPayload || is_last != (line.next == kNoLine)) {
            return false;
        }
        size += std::size_t{line.end} - line.begin;
        next = line.next;
    }
    return size != 0 && size == piece.size;
}

bool HeldBytes::recover(LinePool& pool, PoolLine head, std::vector<bool>& used) {
    if (head == kNoLine || head >= used.size() || used[head]) {
        return false;
    }
    HeldHead& held = pool.at<HeldHead>(head);
    std::vector<PoolLine> lines{head};
    bool is_good = held.count != 0 && held.count <= HeldHead::kPieces;
    std::size_t end = 0;
    for (std::size_t i = 0; is_good && i < held.count; ++i) {
        const HeldPiece& piece = held.pieces[i];
        is_good = (i == 0 || piece.at > end) && piece.end() <= kMostHeadBytes &&
                  is_whole(pool, piece, used, lines);
        end = piece.end();
    }
    if (!is_good) {
        return false;
    }
    for (const PoolLine line : lines) {
        used[line] = true;
    }
    held.wanted = 0;
    held.line_end = 0;
    held.returns = 0;
    held.may_be_none = false;
    return true;
}

void HeldBytes::release() noexcept {
    for (std::size_t i = 0; i < head_.count; ++i) {
        give_back(head_.pieces[i]);
    }
    head_.count = 0;
}

}  // namespace sluice
